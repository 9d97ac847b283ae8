"""A server that speaks the protocol of the Unstructured API, and can be told to misbehave."""

import gzip
import hashlib
import io
import json
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import IO, Any

from pypdf import PdfReader
from pypdf.errors import PdfReadError
from werkzeug.datastructures import MultiDict
from werkzeug.formparser import FormDataParser
from werkzeug.http import parse_options_header

from tests.world.waiting import PATIENCE

PARTITION = "/general/v0/general"
PROBE = "/general/docs"


@dataclass(frozen=True)
class Post:
    """What was really sent: all header names in lower case, all values of a field."""

    headers: Mapping[str, str]
    fields: Mapping[str, Sequence[str]]
    file_name: str
    mime_type: str
    content: bytes

    def field(self, name: str) -> str | None:
        values = self.fields.get(name)
        return values[-1] if values else None


def in_memory(
    total_content_length: int | None,
    content_type: str | None,
    filename: str | None,
    content_length: int | None = None,
) -> IO[bytes]:
    # A file on disk would be left open when a client hangs up halfway.
    return io.BytesIO()


class Exchange(BaseHTTPRequestHandler):
    """One connection of a client."""

    protocol_version = "HTTP/1.1"
    server: "HttpServer"

    def do_GET(self) -> None:
        owner = self.server.owner
        owner.probes.append(self.path)
        owner.on_probe(self, None)

    def do_POST(self) -> None:
        post = self._read()
        owner = self.server.owner
        if not self.path.endswith(PARTITION):
            return self.answer(404, b'{"detail": "Not Found"}')
        reply = owner.take_reply(post)
        if owner.key and post.headers.get("unstructured-api-key") != owner.key:
            return self.answer(401, b'{"detail": "API key is invalid"}')
        return reply(self, post)

    def answer(
        self, status: int, body: bytes, mime_type: str = "application/json", headers: Mapping[str, str] | None = None
    ) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": mime_type, "Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass

    def _read(self) -> Post:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        mime_type, options = parse_options_header(self.headers["Content-Type"])
        form: MultiDict[str, str]
        _, form, files = FormDataParser(in_memory, max_form_memory_size=None).parse(
            io.BytesIO(body), mime_type, len(body), options
        )
        with closing(files["files"]) as file:
            return Post(
                {name.lower(): value for name, value in self.headers.items()},
                dict(form.lists()),
                file.filename or "",
                file.mimetype,
                file.read(),
            )


Reply = Callable[[Exchange, Any], None]


def honest(exchange: Exchange, post: Post) -> None:
    """The elements of what was posted."""
    try:
        elements = list(elements_of(post))
    except PdfReadError:
        return exchange.answer(422, b'{"detail": "File does not appear to be a valid PDF"}')
    return exchange.answer(200, json.dumps(elements).encode())


def probed(exchange: Exchange, post: None) -> None:
    exchange.answer(200, b"<html>the documentation</html>", "text/html")


def status(number: int, body: bytes = b'{"detail": "secret-of-the-server"}', **headers: str) -> Reply:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda exchange, post: exchange.answer(number, body, headers=named)


def answer(body: bytes, mime_type: str = "application/json") -> Reply:
    return lambda exchange, post: exchange.answer(200, body, mime_type)


def broken(exchange: Exchange, post: Post) -> None:
    """Half an answer, and then the connection is gone."""
    exchange.send_response(200)
    exchange.send_header("Content-Type", "application/json")
    exchange.send_header("Content-Length", "1000")
    exchange.end_headers()
    exchange.wfile.write(b'[{"type": "Title"')
    exchange.close_connection = True


def dribbled(exchange: Exchange, post: Post) -> None:
    """A valid answer that never comes to an end, a space at a time."""
    exchange.send_response(200)
    exchange.send_header("Content-Type", "application/json")
    exchange.send_header("Content-Length", "1000000000")
    exchange.end_headers()
    owner = exchange.server.owner
    owner.dribbling.set()
    with suppress(OSError):
        while not owner.closing.wait(0.02):
            exchange.wfile.write(b" ")
    exchange.close_connection = True
    owner.hung_up.release()


def zipped(exchange: Exchange, post: Post) -> None:
    """As a proxy does it, for a client that takes it."""
    if "gzip" not in post.headers.get("accept-encoding", ""):
        return honest(exchange, post)
    body = gzip.compress(json.dumps(list(elements_of(post))).encode())
    return exchange.answer(200, body, headers={"Content-Encoding": "gzip"})


def together(parties: int) -> Reply:
    """Answers none before all of so many are there."""
    barrier = threading.Barrier(parties, timeout=PATIENCE)

    def reply(exchange: Exchange, post: Post) -> None:
        try:
            barrier.wait()
        except threading.BrokenBarrierError:
            return exchange.answer(400, b"{}")
        return honest(exchange, post)

    return reply


def held(until: threading.Event) -> Reply:
    def reply(exchange: Exchange, post: Post) -> None:
        until.wait(PATIENCE)
        honest(exchange, post)

    return reply


def elements_of(post: Post) -> Iterator[dict[str, Any]]:
    """A title and its paragraphs for each page, as the server names and numbers them."""
    first = int(post.field("starting_page_number") or 1)
    for number, lines in enumerate(pages_of(post), first):
        title: str | None = None
        for line in lines:
            digest = hashlib.sha256(f"{post.file_name}{number}{line}".encode()).hexdigest()[:32]
            metadata: dict[str, Any] = {"languages": ["deu"], "filename": post.file_name, "filetype": post.mime_type}
            metadata |= {"page_number": number} if post.mime_type == "application/pdf" else {}
            metadata |= {"parent_id": title} if title else {}
            yield {
                "type": "NarrativeText" if title else "Title",
                "element_id": digest,
                "text": line,
                "metadata": metadata,
            }
            title = title or digest


def pages_of(post: Post) -> Iterator[list[str]]:
    if post.mime_type != "application/pdf":
        yield [line for line in post.content.decode().splitlines() if line]
        return
    for page in PdfReader(io.BytesIO(post.content)).pages:
        yield [line for line in page.extract_text().splitlines() if line.strip()]


@dataclass
class UnstructuredServer:
    """Answers honestly, but the next posts as it was told."""

    url: str
    key: str | None = None
    on_probe: Reply = probed
    probes: list[str] = field(default_factory=list)
    posts: list[Post] = field(default_factory=list)
    dribbling: threading.Event = field(default_factory=threading.Event)
    hung_up: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    closing: threading.Event = field(default_factory=threading.Event)
    _replies: deque[Reply] = field(default_factory=deque)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def will(self, *replies: Reply) -> None:
        self._replies.extend(replies)

    def take_reply(self, post: Post) -> Reply:
        with self._lock:
            self.posts.append(post)
            return self._replies.popleft() if self._replies else honest


class HttpServer(ThreadingHTTPServer):
    daemon_threads = True
    owner: UnstructuredServer

    def handle_error(self, request: object, client_address: object) -> None:
        # A client that went away is what some of the replies are for.
        pass


@contextmanager
def running_unstructured() -> Iterator[UnstructuredServer]:
    with HttpServer(("127.0.0.1", 0), Exchange) as http:
        http.owner = UnstructuredServer(f"http://127.0.0.1:{http.server_port}")
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield http.owner
        finally:
            http.owner.closing.set()
            http.shutdown()
            thread.join()
