"""Health of a process that serves nothing else: a small HTTP server in a thread."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tickwork.web.health import Health

# For the whole of a request.
REQUEST_SECONDS = 5


def serve_health(health: Health, host: str, port: int) -> ThreadingHTTPServer:
    """Serves from now on, until the process ends. Raises OSError if the port is taken."""

    class Exchange(BaseHTTPRequestHandler):
        timeout = REQUEST_SECONDS
        server_version = "tickwork"
        sys_version = ""

        def do_GET(self) -> None:
            body, status = health.answer(self.path.partition("?")[0]) or ({"error": "There is nothing here."}, 404)
            text = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, format: str, *arguments: Any) -> None:
            pass

    server = ThreadingHTTPServer((host, port), Exchange)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, name="tickwork-health-server", daemon=True).start()
    return server
