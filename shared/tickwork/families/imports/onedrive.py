"""OneDrive, through Microsoft Graph: its endpoints, its terms and its errors."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any
from urllib.parse import quote

from tickwork.errors import JobError, Permanent
from tickwork.families.imports.errors import NotThere, Resync, by_status, rate_limited, refused, understanding
from tickwork.families.imports.folders import Folder, Folders, path_of
from tickwork.families.imports.items import Account, Item, Page, a_cursor, an_id, as_dict, item
from tickwork.families.imports.remote import Refusal, Remote
from tickwork.tools.outbound.http import Limits, StreamedResponse

API = "https://graph.microsoft.com"
LOGIN = "https://login.microsoftonline.com"
VERSION = "/v1.0"
RENEWAL_PATH = "/{tenant}/oauth2/v2.0/token"
ITEMS_PER_PAGE = 1000
# The maximum is slightly more.
WATCHED_FOR = timedelta(days=29)


class OneDrive:
    """The changes of the whole drive are read, since nothing else is documented for all kinds of accounts, and those
    below the folder are kept."""

    def __init__(self, remote: Remote, api: str = API) -> None:
        self._remote = remote
        self._api = api + VERSION
        self._folders = Folders(self._folder)
        self._scope = cache(self._id_of)

    @understanding()
    def account(self) -> Account:
        found = self._remote.call("GET", f"{self._api}/me/drive")
        owner = as_dict(as_dict(found.get("owner")).get("user"))
        return Account(str(found.get("id", "")), str(owner.get("displayName", "")))

    @understanding()
    def watch(self, url: str, token: str) -> datetime:
        asked = {
            "changeType": "updated",
            "notificationUrl": url,
            "resource": "/me/drive/root",
            "expirationDateTime": (datetime.now(UTC) + WATCHED_FOR).isoformat().replace("+00:00", "Z"),
            "clientState": token,
        }
        found = self._remote.call("POST", f"{self._api}/subscriptions", body=asked)
        return datetime.fromisoformat(str(found["expirationDateTime"])).astimezone(UTC)

    @understanding()
    def changes(self, folder: str, cursor: str | None) -> Page:
        scope = self._scope(folder) if folder else None
        found = self._remote.call("GET", cursor or f"{self._api}/me/drive/root/delta?$top={ITEMS_PER_PAGE}")
        entries = [as_dict(each) for each in found["value"]]
        onward = found.get("@odata.nextLink")
        present = [each for each in entries if "deleted" not in each]
        for each in present:
            if "folder" in each or "root" in each:
                self._folders.learn(str(each["id"]), folder_of(each))
        return Page(
            items=[file for each in present if is_file(each) and (file := self._within(scope, each))],
            gone=[an_id(each["id"]) for each in entries if "deleted" in each],
            cursor=a_cursor(onward or found["@odata.deltaLink"]),
            is_last=onward is None,
        )

    @understanding()
    def find(self, named: str) -> Item:
        return self._file(self._remote.call("GET", self._url_of(named)))

    @understanding()
    def again(self, item: Item) -> Item:
        return self._file(self._remote.call("GET", self._item_url(item)))

    @contextmanager
    def open(self, item: Item, offset: int, limits: Limits) -> Iterator[StreamedResponse]:
        # It redirects to a URL that needs no token, so none is sent.
        headers = {"Accept-Encoding": "identity", **({"Range": f"bytes={offset}-"} if offset else {})}
        with self._remote.stream("GET", f"{self._item_url(item)}/content", headers=headers, limits=limits) as answer:
            yield answer

    def _file(self, found: dict[str, Any]) -> Item:
        if "folder" in found or "root" in found:
            raise Permanent("That is a folder. Pass it as remote_path", code="FOLDER")
        return file_of(found, self._folders.above(parent_of(found)))

    def _within(self, scope: str | None, entry: dict[str, Any]) -> Item | None:
        chain = self._folders.above(parent_of(entry))
        if scope is not None and scope not in (id for id, _ in chain):
            return None
        return file_of(entry, chain)

    def _id_of(self, folder: str) -> str:
        found = self._remote.call("GET", self._url_of(folder))
        if "folder" not in found and "root" not in found:
            raise Permanent("That is a file. Pass it in files", code="NOT_A_FOLDER")
        return str(found.get("id"))

    def _folder(self, id: str) -> Folder | None:
        try:
            return folder_of(self._remote.call("GET", f"{self._api}/me/drive/items/{quote(id, safe='')}"))
        except NotThere:
            return None

    def _url_of(self, named: str) -> str:
        if named.startswith("id:"):
            return f"{self._api}/me/drive/items/{quote(named.removeprefix('id:'), safe='')}"
        return f"{self._api}/me/drive/root:{quote(named)}"

    def _item_url(self, item: Item) -> str:
        drive = f"drives/{quote(item.drive, safe='')}" if item.drive else "me/drive"
        return f"{self._api}/{drive}/items/{quote(item.id, safe='')}"


def is_file(entry: dict[str, Any]) -> bool:
    return bool({"file", "package", "remoteItem"} & entry.keys()) and "folder" not in entry


def folder_of(entry: dict[str, Any]) -> Folder:
    return Folder(str(entry.get("name", "")), None if "root" in entry else parent_of(entry))


def parent_of(entry: dict[str, Any]) -> str | None:
    id = as_dict(entry.get("parentReference")).get("id")
    return None if id is None else str(id)


def file_of(entry: dict[str, Any], chain: list[tuple[str, Folder]]) -> Item:
    facet = as_dict(entry.get("file"))
    is_sound = "file" in entry and "malware" not in entry
    return item(
        entry["id"],
        # The tag of the content: the other one also changes when the item is renamed.
        entry.get("cTag") or entry.get("eTag") or "-",
        entry["name"],
        path_of(chain, str(entry["name"])),
        drive=as_dict(entry.get("parentReference")).get("driveId", ""),
        size=entry.get("size"),
        hash=hash_of(as_dict(facet.get("hashes"))),
        mime_type=facet.get("mimeType"),
        refusal="SHORTCUT" if "remoteItem" in entry else None if is_sound else "NOT_DOWNLOADABLE",
    )


def hash_of(hashes: dict[str, Any]) -> str | None:
    """Only the first is documented for all kinds of accounts."""
    if "quickXorHash" in hashes:
        return f"quickxor:{hashes['quickXorHash']}"
    if "sha256Hash" in hashes:
        return f"sha256:{str(hashes['sha256Hash']).lower()}"
    return f"sha1:{str(hashes['sha1Hash']).lower()}" if "sha1Hash" in hashes else None


def error_of(refusal: Refusal) -> JobError:
    code = str(as_dict(refusal.body.get("error")).get("code", ""))
    retry_after = refusal.headers.get("retry-after")
    match refusal.status:
        case 410:
            return Resync(refusal.headers.get("location"))
        case 503 | 504 | 509 if retry_after is not None:
            return rate_limited(retry_after)
        case 400 if code == "resyncRequired":
            return Resync()
        case _ if code in ("malwareDetected", "notSupported", "cannotOpenFile"):
            return refused("NOT_DOWNLOADABLE")
        case status:
            return by_status(status, retry_after)
