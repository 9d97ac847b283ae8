"""File names as they can be stored and shown, and the types that they indicate."""

import mimetypes
import re
import unicodedata
from pathlib import Path

MAX_NAME_LENGTH = 500
# Types that the mimetypes library leaves to the machine it runs on.
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
    """By the extension; unknown ones are left for the engine to refuse."""
    guessed, packed = mimetypes.guess_type(name)
    guessed = OTHER_TYPES.get(Path(name).suffix.lower()) or (None if packed else guessed)
    return (guessed or UNKNOWN_TYPE).lower()


def as_name(name: str) -> str:
    """The name as it can be stored: no half characters, no control characters."""
    kept = "".join(each if each.isprintable() else "_" for each in name.encode(errors="replace").decode())
    return unicodedata.normalize("NFC", kept)[-MAX_NAME_LENGTH:]


def as_file_name(name: str) -> str:
    """A name from outside: not a path, not hidden, no reversed text."""
    plain = as_name(re.sub(r"[/\\]", "_", name)).strip(" ")
    # A single dot is a folder, and a leading dot hides the file.
    plain = re.sub(r"^\.+", lambda dots: "_" * len(dots[0]), plain)
    return plain or "_"
