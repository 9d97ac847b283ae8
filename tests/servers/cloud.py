"""What the servers of all cloud drives have in common: files, tokens, trouble on demand, and what was asked of them."""

import hashlib
import json
import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Protocol
from urllib.parse import parse_qs, urlsplit

CLIENT_ID = "app-of-the-tests"
CLIENT_SECRET = "canary-client-secret-71c9"
MIB = 1 << 20


class Content(Protocol):
    """The bytes of a file, which need not be in memory."""

    @property
    def size(self) -> int: ...
    def blocks(self, offset: int = 0) -> Iterator[bytes]: ...


@dataclass(frozen=True)
class Bytes:
    data: bytes

    @property
    def size(self) -> int:
        return len(self.data)

    def blocks(self, offset: int = 0) -> Iterator[bytes]:
        yield self.data[offset:]


@dataclass(frozen=True)
class Generated:
    """A large file, every MiB of which is different, made while it is sent."""

    size: int
    seed: int = 1

    def blocks(self, offset: int = 0) -> Iterator[bytes]:
        noise = random.Random(self.seed).randbytes(MIB - 8)
        for number in range(offset // MIB, -(-self.size // MIB)):
            begin = number * MIB
            block = number.to_bytes(8, "big") + noise
            yield block[max(offset - begin, 0) : min(self.size - begin, MIB)]


def sha256_of(content: Content) -> str:
    digest = hashlib.sha256()
    for block in content.blocks():
        digest.update(block)
    return digest.hexdigest()


@dataclass
class File:
    """`served` is what a download brings, where that is not what was listed."""

    id: str
    name: str
    path: str
    content: Content
    revision: int = 1
    served: Content | None = None
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Asked:
    """One request, as it came."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes
    port: int

    def json(self) -> Any:
        return json.loads(self.body)


Reply = Callable[["Requests", Asked], None]


class Cloud:
    """One account of one provider. Subclasses speak its protocol in `answer`."""

    # Where the paths of its lists and of its downloads begin.
    lists = downloads_at = ""

    def __init__(self) -> None:
        self.files: dict[str, File] = {}
        self.refresh_tokens = ["canary-refresh-token-0"]
        self.access_token = ""
        self.rotates = False
        self.expires_in = 14_400
        self.is_revoked = False
        self.knows_app = True
        self.knows_ranges = True
        self.renewals = 0
        self.asked: list[Asked] = []
        self.downloads: Counter[str] = Counter()
        self.trouble: list[tuple[str, Reply]] = []
        self.lock = threading.RLock()
        self.url = self.downloads_url = ""

    def answer(self, requests: "Requests", asked: Asked) -> None:
        raise NotImplementedError

    def too_many(self, seconds: int) -> Reply:
        """Its way to ask for a pause."""
        raise NotImplementedError

    def put(self, path: str, content: bytes | Content, **extra: Any) -> File:
        """A new file, or a new revision of the one that is there."""
        held = Bytes(content) if isinstance(content, bytes) else content
        with self.lock:
            known = next((file for file in self.files.values() if file.path == path), None)
            if known:
                known.content, known.revision = held, known.revision + 1
                known.extra.update(extra)
            else:
                known = File(self.new_id(), path.rpartition("/")[2], path, held, extra=extra)
                self.files[known.id] = known
            self.note(known)
            return known

    def new_id(self) -> str:
        return f"item{len(self.files) + 1:06d}"

    def note(self, file: File) -> None:
        """For the feed of changes."""

    def delete(self, path: str) -> None:
        raise NotImplementedError

    def troubled(self, path: str, *replies: Reply) -> None:
        """The next requests whose path begins so are answered by these."""
        self.trouble += [(path, reply) for reply in replies]

    def asked_for(self, path: str) -> list[Asked]:
        return [each for each in self.asked if each.path.startswith(path)]

    def take(self, requests: "Requests", asked: Asked) -> None:
        with self.lock:
            self.asked.append(asked)
            reply = next((each for each in self.trouble if asked.path.startswith(each[0])), None)
            if reply:
                self.trouble.remove(reply)
        if reply:
            reply[1](requests, asked)
        else:
            self.answer(requests, asked)

    def renew(self, requests: "Requests", asked: Asked) -> None:
        """The token endpoint, alike with all of them."""
        form = {name: values[0] for name, values in parse_qs(asked.body.decode()).items()}
        with self.lock:
            is_app = (form.get("client_id"), form.get("client_secret")) == (CLIENT_ID, CLIENT_SECRET)
            if not (is_app and self.knows_app):
                return requests.send_json(401, {"error": "invalid_client"})
            if form["grant_type"] != "refresh_token" or form["refresh_token"] != self.refresh_tokens[-1]:
                return requests.send_json(400, {"error": "invalid_grant", "error_description": "expired or revoked"})
            if self.is_revoked:
                return requests.send_json(400, {"error": "invalid_grant"})
            self.renewals += 1
            self.access_token = f"canary-access-token-{self.renewals}"
            answer = {"access_token": self.access_token, "expires_in": self.expires_in, "token_type": "bearer"}
            if self.rotates:
                self.refresh_tokens.append(f"canary-refresh-token-{self.renewals}")
                answer["refresh_token"] = self.refresh_tokens[-1]
        return requests.send_json(200, answer)

    def is_known(self, asked: Asked) -> bool:
        return bool(self.access_token) and asked.headers.get("Authorization") == f"Bearer {self.access_token}"

    def send_file(self, requests: "Requests", asked: Asked, file: File) -> None:
        with self.lock:
            self.downloads[file.path] += 1
        wanted = asked.headers.get("Range") if self.knows_ranges else None
        requests.send_content(file.served or file.content, wanted)


class CloudWithFolders(Cloud):
    """One where a folder is an item with an id, and the feed names what has changed by its id."""

    def __init__(self, root_id: str) -> None:
        super().__init__()
        self.folders = {"": root_id}
        self.feed: list[tuple[str, str]] = []

    def note(self, file: File) -> None:
        self.make_folder(file.path.rpartition("/")[0])
        self.feed.append(("file", file.id))

    def make_folder(self, path: str) -> None:
        if path not in self.folders:
            self.make_folder(path.rpartition("/")[0])
            self.folders[path] = f"folder{len(self.folders)}"
            self.feed.append(("folder", self.folders[path]))


class Requests(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # What is small goes out at once.
    wbufsize = -1

    def do_GET(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        parts = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(parts.query, keep_blank_values=True).items()}
        port = self.connection.getsockname()[1]
        body = self.rfile.read(length)
        asked = Asked(self.command, parts.path, query, {**self.headers}, body, int(port))
        # A client that leaves early is what some tests are about.
        with suppress(ConnectionError):
            self.cloud.take(self, asked)

    def do_POST(self) -> None:
        self.do_GET()

    @property
    def cloud(self) -> Cloud:
        found: Cloud = self.server.cloud  # type: ignore[attr-defined]
        return found

    def send_json(self, status: int, body: Any, **headers: str) -> None:
        self.send_bytes(status, json.dumps(body).encode(), Content_Type="application/json", **headers)

    def send_bytes(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def send_content(self, content: Content, wanted: str | None) -> None:
        offset = int(wanted.removeprefix("bytes=").partition("-")[0]) if wanted else 0
        self.send_response(206 if wanted else 200)
        self.send_header("Content-Length", str(content.size - offset))
        self.end_headers()
        for block in content.blocks(offset):
            self.wfile.write(block)

    def hang_up(self) -> None:
        self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        pass


def saying(status: int, body: Any = None, **headers: str) -> Reply:
    return lambda requests, asked: requests.send_json(status, body or {}, **headers)


def serve(requests: Requests, asked: Asked) -> None:
    """As if there were no trouble."""
    requests.cloud.answer(requests, asked)


def hanging_up(requests: Requests, asked: Asked) -> None:
    requests.hang_up()


def cut_after(count: int) -> Reply:
    """Sends so many bytes of what would have been the answer, and hangs up."""

    def reply(requests: Requests, asked: Asked) -> None:
        whole: Any = requests.wfile
        requests.wfile = Cut(whole, count)  # type: ignore[assignment]
        with suppress(ConnectionError):
            requests.cloud.answer(requests, asked)
        requests.wfile = whole
        requests.hang_up()

    return reply


class Cut:
    """A way out that breaks off after so many bytes of a body."""

    def __init__(self, out: Any, count: int) -> None:
        self._out, self._left, self._is_body = out, count, False

    def write(self, data: bytes) -> None:
        if not self._is_body:
            self._out.write(data)
            self._is_body = data.endswith(b"\r\n\r\n")
            return
        self._out.write(data[: self._left])
        self._left -= len(data)
        if self._left <= 0:
            self._out.flush()
            raise ConnectionError("as arranged")

    def flush(self) -> None:
        self._out.flush()


@contextmanager
def running(cloud: Cloud) -> Iterator[None]:
    """At `url`, and at `downloads_url`, which is another host to everybody who looks at ports."""
    listeners = [ThreadingHTTPServer(("127.0.0.1", 0), Requests) for _ in range(2)]
    threads = []
    for listener in listeners:
        listener.daemon_threads, listener.block_on_close = True, False
        listener.cloud = cloud  # type: ignore[attr-defined]
        threads.append(threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True))
        threads[-1].start()
    cloud.url, cloud.downloads_url = (f"http://127.0.0.1:{listener.server_port}" for listener in listeners)
    try:
        yield
    finally:
        for listener in listeners:
            listener.shutdown()
            listener.server_close()
        for thread in threads:
            thread.join()
