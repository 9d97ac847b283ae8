"""A small server that speaks the documented endpoints of Google Drive, and misbehaves when told to."""

import hashlib
import re
from typing import Any

from tests.servers.cloud import Asked, CloudWithFolders, File, Reply, Requests, saying, sha256_of

FOLDER = "application/vnd.google-apps.folder"
ROOT = "root-of-mine"
MAX_EXPORT_BYTES = 10_000_000


def refusal(reason: str, place: str = "") -> dict[str, Any]:
    return {"error": {"code": 403, "errors": [{"domain": "usageLimits", "reason": reason, "location": place}]}}


class Drive(CloudWithFolders):
    """`page_size` files at a time. A token is a place in the feed. An `export` among a file's extra fields is what
    a document of Google's own becomes."""

    lists = "/drive/v3/files"
    downloads_at = "/drive/v3/files/item"

    def __init__(self, page_size: int = 500) -> None:
        super().__init__(ROOT)
        self.page_size = page_size
        self.forgotten_before = 0
        self.has_sha256 = True
        self.subscriptions: list[dict[str, Any]] = []

    def too_many(self, seconds: int) -> Reply:
        return saying(403, refusal("userRateLimitExceeded"), Retry_After=str(seconds))

    def move_folder(self, path: str, to: str) -> None:
        """Its files move along, and only the folder itself is in the feed."""
        self.make_folder(to.rpartition("/")[0])
        self.folders[to] = self.folders.pop(path)
        for file in self.files.values():
            if file.path.startswith(f"{path}/"):
                file.path = to + file.path.removeprefix(path)
        self.feed.append(("folder", self.folders[to]))

    def delete(self, path: str) -> None:
        file = next(file for file in self.files.values() if file.path == path)
        self.feed.append(("removed", self.files.pop(file.id).id))

    def answer(self, requests: Requests, asked: Asked) -> None:
        if asked.path == "/token":
            return self.renew(requests, asked)
        if not self.is_known(asked):
            return requests.send_json(401, {"error": {"errors": [{"reason": "authError"}]}})
        match asked.path.removeprefix("/drive/v3/").split("/"):
            case ["about"]:
                return requests.send_json(200, {"user": {"displayName": "Erika", "permissionId": "0123"}})
            case ["files"]:
                return self.search(requests, asked.query)
            case ["files", "root"]:
                return requests.send_json(200, self.folder(""))
            case ["files", id]:
                return self.file(requests, asked, id)
            case ["files", id, "export"]:
                return self.export(requests, asked, self.files[id])
            case ["changes", "startPageToken"]:
                return requests.send_json(200, {"startPageToken": str(len(self.feed))})
            case ["changes", "watch"]:
                assert asked.query["pageToken"]
                self.subscriptions.append(asked.json())
                return requests.send_json(200, {"kind": "api#channel", **asked.json()})
            case ["changes"]:
                return self.changes(requests, int(asked.query["pageToken"]))
            case _ if asked.path == "/feeds/export":
                return requests.send_bytes(302, b"", Location=f"{self.downloads_url}/exported/{asked.query['id']}")
        return requests.send_json(404, {})

    def search(self, requests: Requests, query: dict[str, str] | Any) -> None:
        wanted = re.fullmatch(r"(?:name = '(.*)' and )?'([^']*)' in parents and trashed = false", query["q"])
        assert wanted, query["q"]
        name = None if wanted[1] is None else re.sub(r"\\(.)", r"\1", wanted[1])
        above = next((path for path, id in self.folders.items() if id == wanted[2]), None)
        if above is None:
            return requests.send_json(404, refusal("notFound"))
        with self.lock:
            folders = [path for path in self.folders if path and path.rpartition("/")[0] == above]
            files = [file for file in self.files.values() if file.path.rpartition("/")[0] == above]
        found: list[str | File] = [path for path in folders if name in (None, path.rpartition("/")[2])]
        found += [file for file in files if name in (None, file.name)]
        place = int(query.get("pageToken", 0))
        end = place + self.page_size
        page = [self.folder(each) if isinstance(each, str) else self.metadata(each) for each in found[place:end]]
        answer: dict[str, Any] = {"files": page}
        if end < len(found):
            answer["nextPageToken"] = str(end)
        return requests.send_json(200, answer)

    def file(self, requests: Requests, asked: Asked, id: str) -> None:
        folder = next((path for path, each in self.folders.items() if each == id), None)
        if folder is not None:
            return requests.send_json(200, self.folder(folder))
        if id not in self.files:
            return requests.send_json(404, refusal("notFound"))
        file = self.files[id]
        if asked.query.get("alt") != "media":
            return requests.send_json(200, self.metadata(file))
        if file.extra.get("capabilities", {}).get("canDownload") is False or "export" in file.extra:
            return requests.send_json(403, refusal("fileNotDownloadable"))
        return self.send_file(requests, asked, file)

    def export(self, requests: Requests, asked: Asked, file: File) -> None:
        content: bytes = file.extra["export"]
        if len(content) > MAX_EXPORT_BYTES:
            return requests.send_json(403, refusal("exportSizeLimitExceeded"))
        self.downloads[file.path] += 1
        return requests.send_bytes(200, content, Content_Type=asked.query["mimeType"])

    def changes(self, requests: Requests, place: int) -> None:
        if place < self.forgotten_before:
            return requests.send_json(400, refusal("invalid", "pageToken"))
        with self.lock:
            page = [self.change(*noted) for noted in self.feed[place : place + self.page_size]]
            end = min(place + self.page_size, len(self.feed))
            is_last = end >= len(self.feed)
        token = {"newStartPageToken" if is_last else "nextPageToken": str(end)}
        return requests.send_json(200, {"changes": page, **token})

    def change(self, kind: str, id: str) -> dict[str, Any]:
        if kind == "folder":
            path = next(path for path, each in self.folders.items() if each == id)
            return {"removed": False, "fileId": id, "file": self.folder(path)}
        if id not in self.files:
            return {"removed": True, "fileId": id}
        return {"removed": False, "fileId": id, "file": self.metadata(self.files[id])}

    def folder(self, path: str) -> dict[str, Any]:
        above, _, name = path.rpartition("/")
        parents = {"parents": [self.folders[above]]} if path else {}
        return {"id": self.folders[path], "name": name or "My Drive", "mimeType": FOLDER, "trashed": False, **parents}

    def metadata(self, file: File) -> dict[str, Any]:
        about: dict[str, Any] = {
            "id": file.id,
            "name": file.name,
            "mimeType": "text/plain",
            "parents": [self.folders[file.path.rpartition("/")[0]]],
            "trashed": False,
            "version": str(file.revision),
            "modifiedTime": f"2026-01-01T00:00:{file.revision:02d}.000Z",
        }
        about |= {name: value for name, value in file.extra.items() if name != "export"}
        if "export" in file.extra:
            kind = {"exportLinks": dict.fromkeys(EXPORTED, f"{self.url}/feeds/export?id={file.id}")}
            return {**about, **kind}
        if not about["mimeType"].startswith("application/vnd.google-apps."):
            md5 = hashlib.md5(usedforsecurity=False)
            for block in file.content.blocks():
                md5.update(block)
            about |= {"size": str(file.content.size), "headRevisionId": f"rev{file.revision}"}
            about |= {"md5Checksum": md5.hexdigest()}
            about |= {"sha256Checksum": sha256_of(file.content)} if self.has_sha256 else {}
        return about


EXPORTED = [
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "application/pdf",
]
