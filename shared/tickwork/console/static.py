"""The files that pages load: styles, scripts and the icon. Their names have a version, so browsers keep them."""

import hashlib
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

from tickwork.console.protection import security_headers
from tickwork.settings import Settings

if TYPE_CHECKING:
    from flask import Request, Response

MIME_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml", ".txt": "text/plain"}


def static_file(request: "Request", settings: Settings) -> "Response | None":
    """None if the path is that of a page."""
    from flask import Response

    folder = f"{settings.console_path}/static/"
    if request.method not in ("GET", "HEAD") or not request.path.startswith(folder):
        return None
    name = request.path.removeprefix(folder)
    if name not in files():
        return Response("There is no such file.\n", 404, content_type="text/plain")
    headers = {**security_headers(settings, "none"), "Cache-Control": "public, max-age=31536000, immutable"}
    mime_type = MIME_TYPES[name[name.rindex(".") :]]
    return Response(files()[name], 200, headers, content_type=f"{mime_type}; charset=utf-8")


@cache
def files() -> dict[str, bytes]:
    folder = resources.files("tickwork.console").joinpath("static")
    return {each.name: each.read_bytes() for each in folder.iterdir() if each.name.endswith(tuple(MIME_TYPES))}


@cache
def version() -> str:
    """Of all files together: part of their addresses, so that a new version is loaded at once."""
    digest = hashlib.sha256()
    for name, content in sorted(files().items()):
        digest.update(name.encode() + content)
    return digest.hexdigest()[:12]
