"""What files are called: names as they can be stored and shown, and the types that they speak of."""

import mimetypes
import re
import unicodedata
from pathlib import Path

MAX_NAME_LENGTH = 500
# What the library of mime types leaves to the machine that it runs on.
OTHER_TYPES = {
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".eml": "message/rfc822",
    ".csv": "text/csv",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
UNKNOWN_TYPE = "application/octet-stream"
MIME_TYPE = re.compile("[a-z0-9.+-]{1,100}/[a-z0-9.+-]{1,100}")


def mime_type_of(name: str) -> str:
    """By the extension; what nobody knows is left to the engine to refuse."""
    guessed, packed = mimetypes.guess_type(name)
    guessed = OTHER_TYPES.get(Path(name).suffix.lower()) or (None if packed else guessed)
    return (guessed or UNKNOWN_TYPE).lower()


def as_name(name: str) -> str:
    """The name as it can be stored: no halves of characters, nothing that a terminal obeys."""
    kept = "".join(each if each.isprintable() else "_" for each in name.encode(errors="replace").decode())
    return unicodedata.normalize("NFC", kept)[-MAX_NAME_LENGTH:]


def as_file_name(name: str) -> str:
    """A name that came from outside: nothing in it is a path, hidden, or written backwards."""
    plain = as_name(re.sub(r"[/\\]", "_", name)).strip(" ")
    # A single dot names a folder, and one at the beginning hides the file.
    plain = re.sub(r"^\.+", lambda dots: "_" * len(dots[0]), plain)
    return plain or "_"
