"""The server of a function: gunicorn's threads, none of which waits for long for a caller that sends nothing."""

import time
from typing import Any

# gunicorn has no types.
from gunicorn.workers.gthread import _DEFER, TConn, ThreadWorker  # type: ignore[import-untyped]

from tickwork.web.bodies import stop_reading

# For request line and headers together, however they come.
HEAD_SECONDS = 5


class GuardedWorker(ThreadWorker):  # type: ignore[misc]
    """
    A connection has a thread only from its first byte on, and only for so long as the head of a request may take.
    When it is closed, nothing more is waited for: gunicorn would, for two seconds, in the thread that accepts.
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._head_until: dict[TConn, float] = {}

    def handle(self, conn: TConn) -> Any:
        if not conn.initialized and not conn.wait_for_data(0):
            return _DEFER
        self._head_until[conn] = time.monotonic() + HEAD_SECONDS
        try:
            is_kept = super().handle(conn)
        finally:
            self._head_until.pop(conn, None)
        if not is_kept:
            stop_reading(conn.sock)
        return is_kept

    def handle_request(self, req: Any, conn: TConn) -> Any:
        self._head_until.pop(conn, None)
        return super().handle_request(req, conn)

    def murder_pending(self) -> None:
        """Called once a second, in the thread that accepts."""
        super().murder_pending()
        now = time.monotonic()
        for conn, until in list(self._head_until.items()):
            if until < now:
                stop_reading(conn.sock)
