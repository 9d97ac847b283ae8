"""A small server that speaks the documented endpoints of Microsoft Graph for OneDrive, and misbehaves when told to."""

from base64 import b64encode
from functools import reduce
from operator import xor
from typing import Any
from urllib.parse import unquote

from tests.servers.cloud import Asked, CloudWithFolders, Content, File, Reply, Requests, saying

DRIVE = "b!drive-1"
ROOT = "root0"
ITEMS = ("/v1.0/me/drive/items/", f"/v1.0/drives/{DRIVE}/items/")


def quick_xor_hash(content: Content) -> str:
    """As its documentation describes it, a column of bytes after the other: all of one fall on the same bits."""
    data = b"".join(content.blocks())
    bits = 0
    for place in range(min(160, len(data))):
        column = reduce(xor, data[place::160]) << place * 11 % 160
        bits ^= (column & (1 << 160) - 1) ^ column >> 160
    bits ^= len(data) << 96
    return b64encode(bits.to_bytes(20, "little")).decode()


class Graph(CloudWithFolders):
    """`page_size` items at a time, changed ones more than once. `expire_tokens` asks for a resync."""

    lists = "/v1.0/me/drive/root/delta"
    downloads_at = "/download/"

    def __init__(self, page_size: int = 500) -> None:
        super().__init__(ROOT)
        self.page_size = page_size
        self.feed.append(("folder", ROOT))
        self.generation = 0
        self.subscriptions: list[dict[str, Any]] = []
        self.hashes: dict[tuple[str, int], str] = {}

    def too_many(self, seconds: int) -> Reply:
        return saying(429, {"error": {"code": "activityLimitReached"}}, Retry_After=str(seconds))

    def delete(self, path: str) -> None:
        file = next(file for file in self.files.values() if file.path == path)
        self.feed.append(("deleted", self.files.pop(file.id).id))

    def expire_tokens(self) -> None:
        self.generation += 1

    def answer(self, requests: Requests, asked: Asked) -> None:
        if asked.path == "/common/oauth2/v2.0/token":
            return self.renew(requests, asked)
        if asked.path.startswith("/download/"):
            return self.download(requests, asked)
        if not self.is_known(asked):
            return requests.send_json(401, {"error": {"code": "InvalidAuthenticationToken"}})
        if asked.path == "/v1.0/me/drive":
            return requests.send_json(200, {"id": DRIVE, "owner": {"user": {"displayName": "Erika", "id": "u1"}}})
        if asked.path == "/v1.0/subscriptions":
            self.subscriptions.append(asked.json())
            return requests.send_json(201, {"id": "s1", **asked.json()})
        if asked.path == self.lists:
            return self.delta(requests, asked)
        if asked.path.startswith("/v1.0/me/drive/root:"):
            return self.describe(requests, unquote(asked.path.removeprefix("/v1.0/me/drive/root:")))
        for prefix in ITEMS:
            if unquote(asked.path).startswith(prefix):
                return self.item(requests, unquote(asked.path).removeprefix(prefix))
        return requests.send_json(400, {"error": {"code": "invalidRequest"}})

    def delta(self, requests: Requests, asked: Asked) -> None:
        generation, place = map(int, asked.query.get("token", f"{self.generation}-0").split("-"))
        begin = f"{self.url}{self.lists}?token={self.generation}-0"
        if generation != self.generation:
            return requests.send_json(410, {"error": {"code": "resyncChangesApplyDifferences"}}, Location=begin)
        with self.lock:
            page = self.feed[place : place + self.page_size]
            end = min(place + self.page_size, len(self.feed))
            is_last = end >= len(self.feed)
            value = [entry for noted in page if (entry := self.entry(*noted))]
        link = "@odata.deltaLink" if is_last else "@odata.nextLink"
        return requests.send_json(200, {"value": value, link: f"{self.url}{self.lists}?token={generation}-{end}"})

    def entry(self, kind: str, id: str) -> dict[str, Any] | None:
        match kind:
            case "folder":
                return self.folder(next(path for path, each in self.folders.items() if each == id))
            case "deleted":
                return {"id": id, "deleted": {"state": "deleted"}, "file": {}}
            case _:
                return self.metadata(self.files[id]) if id in self.files else None

    def folder(self, path: str) -> dict[str, Any]:
        if path == "":
            return {"id": ROOT, "name": "root", "root": {}, "folder": {}}
        parent, _, name = path.rpartition("/")
        return {"id": self.folders[path], "name": name, "folder": {}, "parentReference": self.parent(parent)}

    def parent(self, path: str) -> dict[str, Any]:
        return {"driveId": DRIVE, "id": self.folders[path]}

    def metadata(self, file: File) -> dict[str, Any]:
        version = file.id, file.revision
        if version not in self.hashes:
            self.hashes[version] = quick_xor_hash(file.content)
        return {
            "id": file.id,
            "name": file.name,
            "size": file.content.size,
            "eTag": f'"{{{file.id}}},{file.revision}"',
            "cTag": f'"c:{{{file.id}}},{file.revision}"',
            "parentReference": self.parent(file.path.rpartition("/")[0]),
            "file": {"mimeType": "text/plain", "hashes": {"quickXorHash": self.hashes[version]}},
            **file.extra,
        }

    def describe(self, requests: Requests, path: str) -> None:
        found = next((file for file in self.files.values() if file.path.lower() == path.lower()), None)
        if found:
            return requests.send_json(200, self.metadata(found))
        if path in self.folders:
            return requests.send_json(200, self.folder(path))
        return requests.send_json(404, {"error": {"code": "itemNotFound"}})

    def item(self, requests: Requests, named: str) -> None:
        id, _, rest = named.partition("/")
        folder = next((path for path, each in self.folders.items() if each == id), None)
        if folder is not None and not rest:
            return requests.send_json(200, self.folder(folder))
        if id not in self.files:
            return requests.send_json(404, {"error": {"code": "itemNotFound"}})
        if rest == "content":
            place = f"{self.downloads_url}/download/{id}?tempauth=v1.preauthorised"
            return requests.send_bytes(302, b"", Location=place)
        return requests.send_json(200, self.metadata(self.files[id]))

    def download(self, requests: Requests, asked: Asked) -> None:
        # The real one refuses a token that it did not ask for.
        if "Authorization" in asked.headers or "tempauth" not in asked.query:
            return requests.send_json(401, {})
        file = self.files.get(asked.path.removeprefix("/download/"))
        return self.send_file(requests, asked, file) if file else requests.send_json(404, {})
