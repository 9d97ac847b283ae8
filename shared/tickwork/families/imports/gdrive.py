"""Google Drive: its endpoints, its terms and its errors."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any
from urllib.parse import quote, urlencode
from uuid import uuid4

from tickwork.errors import JobError, Permanent
from tickwork.families.imports.errors import Changed, NotThere, Resync, by_status, rate_limited, refused, understanding
from tickwork.families.imports.folders import Folder, Folders, path_of
from tickwork.families.imports.items import Account, Item, Page, an_id, as_dict, item
from tickwork.families.imports.remote import Refusal, Remote
from tickwork.tools.outbound.http import Limits, StreamedResponse

API = "https://www.googleapis.com"
LOGIN = "https://oauth2.googleapis.com"
EXPORTS_AT = "https://docs.google.com"
VERSION = "/drive/v3"
RENEWAL_PATH = "/token"
FILES_PER_PAGE = 1000
# The maximum is a week.
WATCHED_FOR = timedelta(days=6)

FIELDS = (
    "id,name,mimeType,size,md5Checksum,sha256Checksum,headRevisionId,version,modifiedTime,parents,trashed,"
    "capabilities/canDownload"
)
NATIVE = "application/vnd.google-apps."
FOLDER, SHORTCUT = f"{NATIVE}folder", f"{NATIVE}shortcut"
# What Google's own documents are exported as: they have no bytes of their own.
EXPORTS = {
    f"{NATIVE}document": ("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    f"{NATIVE}spreadsheet": ("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    f"{NATIVE}presentation": ("pdf", "application/pdf"),
}
EVERYWHERE = {"supportsAllDrives": "true", "includeItemsFromAllDrives": "true"}

RATE_LIMITS = {"userRateLimitExceeded", "rateLimitExceeded", "sharingRateLimitExceeded"}
DAILY_LIMITS = {"dailyLimitExceeded", "quotaExceeded", "dailyLimitExceededUnreg"}
NOT_DOWNLOADABLE = {
    "cannotDownloadFile",
    "cannotDownloadAbusiveFile",
    "cannotExportFile",
    "fileNotDownloadable",
    "fileNotExportable",
    "downloadQuotaExceeded",
}


class TooLargeToExport(Permanent):
    code = "EXPORT_TOO_LARGE"


class GoogleDrive:
    """The first time, the folder is walked; from then on the changes of the whole drive are read, and those below the
    folder are kept. A cursor consists of the token for those changes and the folders that are still to be walked."""

    def __init__(self, remote: Remote, api: str = API) -> None:
        self._remote = remote
        self._api = api + VERSION
        self._folders = Folders(self._folder)
        self._scope = cache(self._id_of)

    @understanding()
    def account(self) -> Account:
        user = as_dict(self._get("about", fields="user(displayName,permissionId)").get("user"))
        return Account(str(user.get("permissionId", "")), str(user.get("displayName", "")))

    @understanding()
    def watch(self, url: str, token: str) -> datetime:
        page = str(self._get("changes/startPageToken", supportsAllDrives="true").get("startPageToken"))
        until = int((datetime.now(UTC) + WATCHED_FOR).timestamp() * 1000)
        asked = {"id": str(uuid4()), "type": "web_hook", "address": url, "token": token, "expiration": str(until)}
        parameters = urlencode({"pageToken": page, "supportsAllDrives": "true"})
        found = self._remote.call("POST", f"{self._api}/changes/watch?{parameters}", body=asked)
        return datetime.fromtimestamp(int(found["expiration"]) / 1000, UTC)

    @understanding()
    def changes(self, folder: str, cursor: str | None) -> Page:
        scope = self._scope(folder)
        if cursor is None:
            # First, so that no changes during the walk are missed.
            token = str(self._get("changes/startPageToken", supportsAllDrives="true")["startPageToken"])
            to_walk: list[list[str | None]] = [[scope, None]]
        else:
            token, to_walk = json.loads(cursor)
        return self._walked(scope, token, to_walk) if to_walk else self._changed(scope, token)

    def _walked(self, scope: str, token: str, to_walk: list[list[str | None]]) -> Page:
        *others, (folder, page) = to_walk
        try:
            found = self._list(f"'{folder}' in parents and trashed = false", page)
        except NotThere:
            if folder == scope:
                raise
            # It was deleted before its turn: the changes that follow will say so.
            return Page(items=[], cursor=json.dumps([token, others]), is_last=False)
        entries = [as_dict(each) for each in found.get("files", [])]
        folders = [each for each in entries if each.get("mimeType") == FOLDER]
        for each in folders:
            self._folders.learn(str(each["id"]), Folder(str(each["name"]), folder))
        chain = self._folders.above(folder)
        onward: list[list[str | None]] = [[folder, found["nextPageToken"]]] if found.get("nextPageToken") else []
        return Page(
            items=[file_of(each, chain) for each in entries if each not in folders],
            cursor=json.dumps([token, [*others, *onward, *([str(each["id"]), None] for each in folders)]]),
            is_last=False,
        )

    def _changed(self, scope: str, token: str) -> Page:
        fields = f"nextPageToken,newStartPageToken,changes(removed,fileId,file({FIELDS}))"
        options = {"pageSize": str(FILES_PER_PAGE), "includeRemoved": "true", **EVERYWHERE}
        found = self._get("changes", pageToken=token, fields=fields, **options)
        changes = [as_dict(each) for each in found.get("changes", [])]
        files = [as_dict(each.get("file")) for each in changes]
        is_gone = [each.get("removed") or file.get("trashed") for each, file in zip(changes, files, strict=True)]
        present = [file for file, is_lost in zip(files, is_gone, strict=True) if not is_lost and "id" in file]
        for each in present:
            if each.get("mimeType") == FOLDER:
                self._folders.learn(str(each["id"]), folder_of(each))
        chains = [(each, self._folders.above(parent_of(each))) for each in present]
        within = [(each, chain) for each, chain in chains if scope in (id for id, _ in chain)]
        # When a folder is moved here, its files move too but do not appear as changed.
        to_walk = [[str(each["id"]), None] for each, _ in within if each.get("mimeType") == FOLDER]
        onward = found.get("nextPageToken")
        return Page(
            items=[file_of(each, chain) for each, chain in within if each.get("mimeType") != FOLDER],
            gone=[an_id(each["fileId"]) for each, is_lost in zip(changes, is_gone, strict=True) if is_lost],
            cursor=json.dumps([str(onward or found["newStartPageToken"]), to_walk]),
            is_last=onward is None and not to_walk,
        )

    @understanding()
    def find(self, named: str) -> Item:
        if named.startswith("id:"):
            return self._file(self._get(f"files/{quote(named[3:], safe='')}", fields=FIELDS, supportsAllDrives="true"))
        above, _, name = named.rpartition("/")
        found = self._named(name, self._scope(above))
        return self._file(found)

    def again(self, item: Item) -> Item:
        return self.find(f"id:{item.id}")

    @contextmanager
    def open(self, item: Item, offset: int, limits: Limits) -> Iterator[StreamedResponse]:
        id, export = quote(item.id, safe=""), item.details.get("export")
        if export is None:
            url = f"{self._api}/files/{id}?alt=media&supportsAllDrives=true"
            headers = {"Accept-Encoding": "identity", **({"Range": f"bytes={offset}-"} if offset else {})}
        elif offset:
            # Two exports may have different bytes.
            raise Changed()
        else:
            url, headers = f"{self._api}/files/{id}/export?{urlencode({'mimeType': export})}", {}
        try:
            with self._remote.stream("GET", url, headers=headers, limits=limits) as answer:
                yield answer
                return
        except TooLargeToExport:
            link = as_dict(self._get(f"files/{id}", fields="exportLinks").get("exportLinks")).get(str(export))
            if link is None:
                raise
        # Above 10 MB this link is needed. Tokens are only sent to Google's own host, whatever the link says.
        with self._remote.stream("GET", str(link), headers=headers, limits=limits) as answer:
            yield answer

    def _file(self, found: dict[str, Any]) -> Item:
        if found.get("mimeType") == FOLDER:
            raise Permanent("That is a folder. Pass it as remote_path", code="FOLDER")
        return file_of(found, self._folders.above(parent_of(found)))

    def _id_of(self, folder: str) -> str:
        if folder.startswith("id:"):
            return folder.removeprefix("id:")
        if folder == "":
            return str(self._get("files/root", fields="id").get("id"))
        above, _, name = folder.rpartition("/")
        found = self._named(name, self._scope(above))
        if found.get("mimeType") != FOLDER:
            raise Permanent("That is a file. Pass it in files", code="NOT_A_FOLDER")
        return str(found.get("id"))

    def _named(self, name: str, folder: str) -> dict[str, Any]:
        quoted = name.replace("\\", "\\\\").replace("'", "\\'")
        found = self._list(f"name = '{quoted}' and '{folder}' in parents and trashed = false", None).get("files")
        if not found:
            raise NotThere()
        if len(found) > 1:
            message = "Several files or folders have that name. Pass the id of one as id:…"
            raise Permanent(message, code="AMBIGUOUS_PATH")
        return as_dict(found[0])

    def _list(self, query: str, page: str | None) -> dict[str, Any]:
        more = {"pageToken": page} if page else {}
        fields = f"nextPageToken,files({FIELDS})"
        return self._get("files", q=query, fields=fields, pageSize=str(FILES_PER_PAGE), **EVERYWHERE, **more)

    def _folder(self, id: str) -> Folder | None:
        try:
            found = self._get(f"files/{quote(id, safe='')}", fields="id,name,parents", supportsAllDrives="true")
        except NotThere:
            return None
        return folder_of(found)

    def _get(self, path: str, **parameters: str) -> dict[str, Any]:
        return self._remote.call("GET", f"{self._api}/{path}?{urlencode(parameters)}")


def folder_of(entry: dict[str, Any]) -> Folder:
    return Folder(str(entry.get("name", "")), parent_of(entry))


def parent_of(entry: dict[str, Any]) -> str | None:
    parents = entry.get("parents")
    return str(parents[0]) if isinstance(parents, list) and parents else None


def file_of(entry: dict[str, Any], chain: list[tuple[str, Folder]]) -> Item:
    kind, name = str(entry["mimeType"]), str(entry["name"])
    if kind in EXPORTS:
        extension, mime_type = EXPORTS[kind]
        name = name if name.lower().endswith(f".{extension}") else f"{name}.{extension}"
        # Its version also counts changes that do not affect the text.
        revision = entry.get("modifiedTime") or entry.get("version")
        details = {"export": mime_type}
        return item(entry["id"], revision, name, path_of(chain, name), mime_type=mime_type, details=details)
    can_be_fetched = as_dict(entry.get("capabilities")).get("canDownload", True) and not kind.startswith(NATIVE)
    return item(
        entry["id"],
        entry.get("headRevisionId") or entry.get("md5Checksum") or entry.get("version") or "-",
        name,
        path_of(chain, name),
        size=entry.get("size"),
        hash=hash_of(entry),
        mime_type=kind,
        refusal=None if can_be_fetched else "SHORTCUT" if kind == SHORTCUT else "NOT_DOWNLOADABLE",
    )


def hash_of(entry: dict[str, Any]) -> str | None:
    if "sha256Checksum" in entry:
        return f"sha256:{entry['sha256Checksum']}"
    return f"md5:{entry['md5Checksum']}" if "md5Checksum" in entry else None


def error_of(refusal: Refusal) -> JobError:
    """A 403 can mean anything: its reason says what."""
    error = as_dict(refusal.body.get("error"))
    reasons = [as_dict(each) for each in error.get("errors") or [] if isinstance(each, dict)]
    reason, place = (str(reasons[0].get(name, "")) if reasons else "" for name in ("reason", "location"))
    retry_after = refusal.headers.get("retry-after")
    match refusal.status:
        case 403 if reason in RATE_LIMITS:
            return rate_limited(retry_after)
        case 403 if reason in DAILY_LIMITS:
            return rate_limited(retry_after or 3600)
        case 403 if reason == "exportSizeLimitExceeded":
            return TooLargeToExport("Google exports at most 10 MB of its own documents")
        case 403 if reason in NOT_DOWNLOADABLE:
            return refused("NOT_DOWNLOADABLE")
        case 410:
            return Resync()
        case 400 | 404 if place == "pageToken":
            return Resync()
        case status:
            return by_status(status, retry_after)
