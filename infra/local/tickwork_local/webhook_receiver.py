"""A small receiver of webhooks on this machine, for development: verifies what arrives, and passes it on."""

import json
import re
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from tickwork.tools.signing import is_genuine

MAX_BODY_BYTES = 1_000_000


@dataclass(frozen=True)
class Message:
    """What arrived; header names in lower case."""

    id: str
    type: str
    headers: Mapping[str, str]
    body: bytes
    is_genuine: bool

    def data(self) -> Any:
        return json.loads(self.body).get("data")


class Receiver:
    """Listens inside the block; returns 204 for authentic messages and 401 for everything else."""

    def __init__(self, secret: Callable[[], str], take: Callable[[Message], None], port: int = 0) -> None:
        receiver_secret, handed_to = secret, take

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                message = read(self, receiver_secret())
                self.send_response(204 if message.is_genuine else 401)
                self.end_headers()
                handed_to(message)

            def log_message(self, format: str, *arguments: Any) -> None:
                """Nothing: what arrives is handed on."""

        self._server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}/"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self) -> "Receiver":
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def read(request: BaseHTTPRequestHandler, secret: str) -> Message:
    length = request.headers.get("content-length", "0")
    body = request.rfile.read(min(int(length), MAX_BODY_BYTES)) if re.fullmatch("[0-9]{1,12}", length) else b""
    headers = {name.lower(): value for name, value in request.headers.items()}
    try:
        sent = json.loads(body)
        type = str(sent["type"] if "type" in sent else sent["event_type"])
    except (ValueError, KeyError, TypeError, RecursionError):
        type = "?"
    return Message(headers.get("webhook-id", "?"), type, headers, body, is_genuine(secret, headers, body, time.time()))
