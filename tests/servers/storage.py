"""A small server that speaks the documented paths of Supabase Storage, and that can be told to misbehave."""

import json
import secrets
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from typing import Any
from urllib.parse import parse_qs, urlsplit

from werkzeug.formparser import FormDataParser
from werkzeug.http import parse_options_header

KEY = "sb_secret_of_the_tests"
BUCKET = "tenant-vault"
STORAGE = "/storage/v1/object/"

Trouble = Callable[["Requests"], None]


@dataclass(frozen=True)
class Stored:
    content: bytes
    mime_type: str


@dataclass
class StorageServer:
    """Set `trouble` to have each request answered by it instead."""

    url: str
    objects: dict[str, Stored] = field(default_factory=dict)
    tokens: dict[str, str] = field(default_factory=dict)
    requests: list[tuple[str, str, Mapping[str, str]]] = field(default_factory=list)
    trouble: Trouble | None = None
    closing: threading.Event = field(default_factory=threading.Event)

    def reset(self) -> None:
        self.objects, self.tokens, self.requests, self.trouble = {}, {}, [], None


@contextmanager
def running_storage() -> Iterator[StorageServer]:
    listener = ThreadingHTTPServer(("127.0.0.1", 0), Requests)
    listener.daemon_threads = True
    # Connections are kept by clients that outlive the test.
    listener.block_on_close = False
    server = StorageServer(f"http://127.0.0.1:{listener.server_port}")
    listener.storage = server  # type: ignore[attr-defined]
    thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.closing.set()
        listener.shutdown()
        listener.server_close()
        thread.join()


class Requests(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def storage(self) -> StorageServer:
        found: StorageServer = self.server.storage  # type: ignore[attr-defined]
        return found

    def do_GET(self) -> None:
        self.answer_to(self.get)

    def do_POST(self) -> None:
        self.answer_to(self.post)

    def do_PUT(self) -> None:
        self.answer_to(self.put)

    def do_DELETE(self) -> None:
        self.answer_to(self.delete)

    def answer_to(self, verb: Callable[[str], None]) -> None:
        self.body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.storage.requests.append((self.command, self.path, dict(self.headers)))
        path = urlsplit(self.path).path
        if self.storage.trouble:
            self.storage.trouble(self)
        elif not path.startswith(STORAGE):
            self.send(404, {"statusCode": "404", "error": "Not Found", "message": f"Route {self.command} not found"})
        elif not path.startswith(f"{STORAGE}sign/") and not self.is_allowed():
            self.refuse("403", "Unauthorized", "invalid signature")
        else:
            verb(path.removeprefix(STORAGE))

    def is_allowed(self) -> bool:
        return self.headers["Authorization"] == f"Bearer {KEY}" and self.headers["apikey"] == KEY

    def get(self, path: str) -> None:
        query = parse_qs(urlsplit(self.path).query, keep_blank_values=True)
        if path.startswith("sign/"):
            path = path.removeprefix("sign/")
            if self.storage.tokens.get(query.get("token", [""])[0]) != path:
                self.refuse("400", "InvalidSignature", "Invalid signature")
                return
        if found := self.found(path):
            shown = {"Content-Disposition": "attachment;"} if "download" in query else {}
            self.send(200, found.content, {"Content-Type": found.mime_type, **shown})

    def post(self, path: str) -> None:
        if not path.startswith("sign/"):
            self.upload(path, self.headers.get("x-upsert") == "true")
        elif not self.is_allowed():
            self.refuse("403", "Unauthorized", "invalid signature")
        elif self.found(path.removeprefix("sign/")):
            assert int(json.loads(self.body)["expiresIn"]) > 0
            token = secrets.token_hex(8)
            self.storage.tokens[token] = path.removeprefix("sign/")
            self.send(200, {"signedURL": f"/object/{path}?token={token}"})

    def put(self, path: str) -> None:
        self.upload(path, replace=True)

    def delete(self, bucket: str) -> None:
        removed = [
            name for name in json.loads(self.body)["prefixes"] if self.storage.objects.pop(f"{bucket}/{name}", None)
        ]
        self.send(200, [{"bucket_id": bucket, "name": name} for name in removed])

    def upload(self, path: str, replace: bool) -> None:
        if path.split("/")[0] != BUCKET:
            self.refuse("404", "Bucket not found", "Bucket not found")
        elif path in self.storage.objects and not replace:
            self.refuse("409", "Duplicate", "The resource already exists")
        else:
            mime_type, options = parse_options_header(self.headers["Content-Type"])
            parts = FormDataParser().parse(BytesIO(self.body), mime_type, len(self.body), options)
            with closing(parts[2]["file"]) as file:
                self.storage.objects[path] = Stored(file.read(), file.content_type or "")
            self.send(200, {"Id": secrets.token_hex(8), "Key": path})

    def found(self, path: str) -> Stored | None:
        found = self.storage.objects.get(path)
        if path.split("/")[0] != BUCKET:
            self.refuse("404", "Bucket not found", "Bucket not found")
        elif not found:
            self.refuse("404", "not_found", "Object not found")
        return found

    def refuse(self, status: str, error: str, message: str) -> None:
        # The real one puts the status into the body, and answers 400 for nearly everything.
        self.send(400, {"statusCode": status, "error": error, "message": message})

    def send(self, status: int, body: Any, headers: Mapping[str, str] | None = None) -> None:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        pass


def answering(status: int, body: Any = b"", **headers: str) -> Trouble:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda request: request.send(status, body, named)


def breaking_off(request: Requests) -> None:
    """Announces 100,000 bytes, sends 70,000 and hangs up."""
    request.send(200, b"x" * 70_000, {"Content-Length": "100000"})
    request.close_connection = True


def hanging_up(request: Requests) -> None:
    request.close_connection = True


def without_length(request: Requests) -> None:
    """A body that ends where the connection ends, as old proxies do it: nobody can tell whether it is whole."""
    request.send_response(200)
    request.end_headers()
    request.wfile.write(b"x" * 1000)
    request.close_connection = True


def never_answering(request: Requests) -> None:
    request.storage.closing.wait()
    request.close_connection = True


def waiting_halfway(first: bytes, rest: bytes, may_go_on: threading.Event) -> Trouble:
    def trouble(request: Requests) -> None:
        request.send(200, first, {"Content-Length": str(len(first + rest))})
        request.wfile.flush()
        may_go_on.wait()
        request.wfile.write(rest)

    return trouble


def sending_until_nobody_listens(has_noticed: threading.Event) -> Trouble:
    def trouble(request: Requests) -> None:
        request.close_connection = True
        request.send(200, b"", {"Content-Length": str(1 << 40)})
        while not request.storage.closing.is_set():
            try:
                request.wfile.write(bytes(1 << 16))
            except OSError:
                has_noticed.set()
                return

    return trouble
