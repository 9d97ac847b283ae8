"""Dropbox: its endpoints, its terms and its errors."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tickwork.errors import JobError, Permanent
from tickwork.families.imports.errors import (
    NotThere,
    Resync,
    by_status,
    rate_limited,
    refused,
    unavailable,
    understanding,
)
from tickwork.families.imports.items import Account, Item, Page, a_cursor, as_dict, item
from tickwork.families.imports.remote import Refusal, Remote
from tickwork.tools.file_names import as_name
from tickwork.tools.outbound.http import Limits, StreamedResponse

API = "https://api.dropboxapi.com"
CONTENT = "https://content.dropboxapi.com"
RENEWAL_PATH = "/oauth2/token"
# The maximum; smaller pages would only be slower.
ENTRIES_PER_PAGE = 2000


class Dropbox:
    def __init__(self, remote: Remote, api: str = API, content: str = CONTENT) -> None:
        self._remote = remote
        self._api = api
        self._content = content

    @understanding()
    def account(self) -> Account:
        found = self._remote.call("POST", f"{self._api}/2/users/get_current_account")
        name = as_dict(found.get("name")).get("display_name") or found.get("email")
        return Account(str(found.get("account_id", "")), str(name or ""))

    def watch(self, url: str, token: str) -> None:
        """The URL for notifications is set once, in Dropbox's app console."""

    @understanding()
    def changes(self, folder: str, cursor: str | None) -> Page:
        if cursor is None:
            # The root is the empty path; ids are given as they are.
            asked: dict[str, Any] = {
                "path": folder,
                "recursive": True,
                "limit": ENTRIES_PER_PAGE,
                "include_non_downloadable_files": True,
            }
            found = self._remote.call("POST", f"{self._api}/2/files/list_folder", body=asked)
        else:
            found = self._remote.call("POST", f"{self._api}/2/files/list_folder/continue", body={"cursor": cursor})
        entries = [as_dict(each) for each in found["entries"]]
        return Page(
            items=[file_of(each) for each in entries if each.get(".tag") == "file"],
            gone=[as_name(str(each["path_display"])) for each in entries if each.get(".tag") == "deleted"],
            cursor=a_cursor(found["cursor"]),
            is_last=found["has_more"] is False,
        )

    @understanding()
    def find(self, named: str) -> Item:
        found = self._remote.call("POST", f"{self._api}/2/files/get_metadata", body={"path": named})
        if found.get(".tag") == "folder":
            raise Permanent("That is a folder. Pass it as remote_path", code="FOLDER")
        return file_of(found)

    def again(self, item: Item) -> Item:
        return self.find(item.id)

    @contextmanager
    def open(self, item: Item, offset: int, limits: Limits) -> Iterator[StreamedResponse]:
        # By revision, so that the listed version is downloaded. A header must be ASCII, and JSON can be.
        headers = {
            "Dropbox-API-Arg": json.dumps({"path": f"rev:{item.revision}"}),
            "Accept-Encoding": "identity",
            **({"Range": f"bytes={offset}-"} if offset else {}),
        }
        url = f"{self._content}/2/files/download"
        with self._remote.stream("POST", url, headers=headers, limits=limits) as answer:
            yield answer


def file_of(entry: dict[str, Any]) -> Item:
    can_be_fetched = entry.get("is_downloadable", True) and "symlink_info" not in entry
    return item(
        entry["id"],
        entry["rev"],
        entry["name"],
        entry.get("path_display") or f"/{entry['name']}",
        size=entry["size"],
        hash=f"dropbox:{entry['content_hash']}" if "content_hash" in entry else None,
        refusal=None if can_be_fetched else "SHORTCUT" if "symlink_info" in entry else "NOT_DOWNLOADABLE",
    )


def error_of(refusal: Refusal) -> JobError:
    """Most errors are a 409 whose summary says what is wrong: path/not_found/…"""
    summary = str(refusal.body.get("error_summary", ""))
    error = as_dict(refusal.body.get("error"))
    match refusal.status:
        case 409 if summary.startswith("reset"):
            return Resync()
        case 409 if "not_found" in summary:
            return NotThere()
        case 409 if "not_folder" in summary:
            return Permanent("That is a file. Pass it in files", code="NOT_A_FOLDER")
        case 409 if "restricted_content" in summary or "unsupported_file" in summary:
            return refused("NOT_DOWNLOADABLE")
        case 409 if "too_many" in summary:
            return rate_limited(refusal.headers.get("retry-after"))
        case 409 if "internal_error" in summary:
            return unavailable()
        case 409:
            return refused()
        case 429:
            return rate_limited(refusal.headers.get("retry-after") or error.get("retry_after"))
        case _:
            return by_status(refusal.status, refusal.headers.get("retry-after"))
