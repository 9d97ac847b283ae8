"""A server that answers as it is told: what stands between a client and the API, or the API on a bad day."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Answer:
    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    # Closes the connection instead.
    is_cut: bool = False
    # Until this is set.
    waits_for: threading.Event | None = None


@dataclass
class Request:
    method: str
    path: str
    headers: dict[str, str]
    body: Any


class Scripted:
    """Gives the answers in their order, the last one again and again."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.answers: list[Answer] = []
        self.requests: list[Request] = []

    def next_answer(self) -> Answer:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@contextmanager
def scripted() -> Iterator[Scripted]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    found = Scripted(f"http://127.0.0.1:{server.server_port}/api/v1")
    server.script = found  # type: ignore[attr-defined]
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield found
    finally:
        server.shutdown()
        server.server_close()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self) -> None:
        script: Scripted = self.server.script  # type: ignore[attr-defined]
        text = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        script.requests.append(Request(self.command, self.path, headers, json.loads(text) if text else None))
        answer = script.next_answer()
        if answer.waits_for:
            answer.waits_for.wait()
        if answer.is_cut:
            self.close_connection = True
            return
        body = b"" if answer.body is None else json.dumps(answer.body).encode()
        if isinstance(answer.body, str):
            body = answer.body.encode()
        self.send_response(answer.status)
        for name, value in {**answer.headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_DELETE = do_PATCH = answer  # noqa: N815

    def log_message(self, *_: Any) -> None:
        pass
