"""A server of public keys, which can be told to answer anything."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.world.waiting import PATIENCE

Json = dict[str, Any]


class KeyServer:
    def __init__(self, *keys: Json) -> None:
        self.hits = 0
        self.answer = b""
        self.may_answer = threading.Event()
        self.may_answer.set()
        self.is_asked = threading.Event()
        self.serve_keys(*keys)

    def serve_keys(self, *keys: Json) -> None:
        self.answer = response(json.dumps({"keys": keys}).encode())

    @contextmanager
    def running(self) -> Iterator[None]:
        keys = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                keys.hits += 1
                keys.is_asked.set()
                assert keys.may_answer.wait(PATIENCE)
                self.wfile.write(keys.answer)

            def log_message(self, *arguments: object) -> None:
                pass

        with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
            self.url = f"http://127.0.0.1:{server.server_port}/certs"
            thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
            thread.start()
            try:
                yield
            finally:
                server.shutdown()
                thread.join()


def response(body: bytes, status: str = "200 OK", length: int | None = None) -> bytes:
    return f"HTTP/1.0 {status}\r\nContent-Length: {len(body) if length is None else length}\r\n\r\n".encode() + body
