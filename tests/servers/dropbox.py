"""A small server that speaks the documented endpoints of Dropbox, and that can be told to misbehave."""

import hashlib
import json
import re
from typing import Any

from tests.servers.cloud import Asked, Cloud, Content, File, Reply, Requests, saying

BLOCK = 4 << 20


def content_hash(content: Content) -> str:
    """As its documentation describes it: hash blocks of 4 MiB, then hash the hashes."""
    hashes, block = b"", b""
    for piece in content.blocks():
        block += piece
        while len(block) >= BLOCK:
            hashes += hashlib.sha256(block[:BLOCK]).digest()
            block = block[BLOCK:]
    if block:
        hashes += hashlib.sha256(block).digest()
    return hashlib.sha256(hashes).hexdigest()


class Dropbox(Cloud):
    """`page_size` entries at a time. A cursor is a place in the feed; `reset_cursors` makes the old ones useless."""

    lists = "/2/files/list_folder"
    downloads_at = "/2/files/download"

    def __init__(self, page_size: int = 500) -> None:
        super().__init__()
        self.page_size = page_size
        self.feed: list[dict[str, Any]] = []
        self.generation = 0
        self.hashes: dict[tuple[str, int], str] = {}
        self.revisions: dict[str, tuple[str, Content]] = {}

    def too_many(self, seconds: int) -> Reply:
        body = {"error_summary": "too_many_requests/..", "error": {"reason": {".tag": "too_many_requests"}}}
        return saying(429, body, Retry_After=str(seconds))

    def new_id(self) -> str:
        return f"id:{super().new_id()}"

    def note(self, file: File) -> None:
        self.feed.append({"file": file.id})

    def delete(self, path: str) -> None:
        with self.lock:
            self.files = {id: file for id, file in self.files.items() if file.path != path}
            self.feed.append({"deleted": path})

    def reset_cursors(self) -> None:
        self.generation += 1
        self.feed = [{"file": id} for id in self.files]

    def answer(self, requests: Requests, asked: Asked) -> None:
        if asked.path == "/oauth2/token":
            return self.renew(requests, asked)
        if not self.is_known(asked):
            return requests.send_json(401, refusal("expired_access_token"))
        match asked.path:
            case "/2/users/get_current_account":
                account = {"account_id": "dbid:account", "name": {"display_name": "Erika"}, "email": "e@example.com"}
                return requests.send_json(200, account)
            case "/2/files/list_folder":
                return self.list(requests, asked.json())
            case "/2/files/list_folder/continue":
                return self.go_on(requests, asked.json()["cursor"])
            case "/2/files/get_metadata":
                return self.describe(requests, asked.json()["path"])
            case "/2/files/download":
                assert asked.headers["Dropbox-API-Arg"].isascii()
                return self.download(requests, asked, json.loads(asked.headers["Dropbox-API-Arg"])["path"])
        return requests.send_json(404, {})

    def list(self, requests: Requests, given: dict[str, Any]) -> None:
        assert given["recursive"]
        assert 1 <= given["limit"] <= 2000
        path = given["path"]
        if path == "/":
            return requests.send_json(400, 'Specify the root folder as an empty string rather than as "/".')
        if path and not any(file.path.lower().startswith(f"{path.lower()}/") for file in self.files.values()):
            return requests.send_json(409, refusal("path/not_found/"))
        return self.send_page(requests, path, 0, self.generation)

    def go_on(self, requests: Requests, cursor: str) -> None:
        path, place, generation = json.loads(cursor)
        if generation != self.generation:
            return requests.send_json(409, refusal("reset/"))
        return self.send_page(requests, path, place, generation)

    def send_page(self, requests: Requests, path: str, place: int, generation: int) -> None:
        with self.lock:
            entries = [self.entry(each) for each in self.feed[place : place + self.page_size]]
            end = min(place + self.page_size, len(self.feed))
            is_below = (each and each["path_lower"].startswith(f"{path.lower()}/") for each in entries)
            shown = [each for each, is_shown in zip(entries, is_below, strict=True) if is_shown]
            has_more = end < len(self.feed)
        answer = {"entries": shown, "cursor": json.dumps([path, end, generation]), "has_more": has_more}
        return requests.send_json(200, answer)

    def entry(self, noted: dict[str, Any]) -> dict[str, Any] | None:
        if path := noted.get("deleted"):
            return {
                ".tag": "deleted",
                "name": path.rpartition("/")[2],
                "path_lower": path.lower(),
                "path_display": path,
            }
        if path := noted.get("folder"):
            return {".tag": "folder", "id": f"id:f{path}", "path_lower": path.lower(), "path_display": path}
        file = self.files.get(noted["file"])
        return self.metadata(file) if file else None

    def metadata(self, file: File) -> dict[str, Any]:
        version = file.id, file.revision
        if version not in self.hashes:
            self.hashes[version] = content_hash(file.content)
            self.revisions[self.rev(file)] = file.id, file.content
        return {
            ".tag": "file",
            "id": file.id,
            "name": file.name,
            "path_lower": file.path.lower(),
            "path_display": file.path,
            "rev": self.rev(file),
            "size": file.content.size,
            "content_hash": self.hashes[version],
            "is_downloadable": True,
            **file.extra,
        }

    def rev(self, file: File) -> str:
        return f"{int(file.id[-6:]):09x}{file.revision:04x}"

    def describe(self, requests: Requests, path: str) -> None:
        wanted = [file for file in self.files.values() if path.lower() in (file.id, file.path.lower())]
        if wanted:
            return requests.send_json(200, self.metadata(wanted[0]))
        if any(file.path.lower().startswith(f"{path.lower()}/") for file in self.files.values()):
            return requests.send_json(200, {".tag": "folder", "id": "id:folder", "name": path})
        return requests.send_json(409, refusal("path/not_found/"))

    def download(self, requests: Requests, asked: Asked, path: str) -> None:
        assert re.fullmatch("rev:[0-9a-f]{9,}", path)
        id, content = self.revisions.get(path.removeprefix("rev:"), ("", None))
        file = self.files.get(id)
        if file is None or content is None:
            return requests.send_json(409, refusal("path/not_found/"))
        if not file.extra.get("is_downloadable", True):
            return requests.send_json(409, refusal("unsupported_file/"))
        return self.send_file(requests, asked, File(id, file.name, file.path, content, served=file.served))


def refusal(summary: str) -> dict[str, Any]:
    return {"error_summary": f"{summary}...", "error": {".tag": summary.partition("/")[0]}}
