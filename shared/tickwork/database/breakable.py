"""A connection that another thread can end, in the middle of a statement or between two."""

import os
import socket
import threading
from contextlib import suppress

from tickwork.database.connection import Connection, cancel


class Breakable:
    """Made and closed by the thread that uses the connection; broken off by another one."""

    def __init__(self, connection: Connection) -> None:
        self.thread = threading.get_ident()
        self._connection = connection
        self._is_broken_off = False
        self._is_closed = False
        self._lock = threading.Lock()
        # A duplicate: once libpq has closed its own, that number may be somebody else's file.
        self._socket = socket.socket(fileno=os.dup(connection.fileno()))

    def break_off(self) -> None:
        """The server rolls back, and whoever waits for it gets an error."""
        with self._lock:
            # Then somebody else may have the connection.
            if self._is_closed:
                return
            self._is_broken_off = True
            cancel(self._connection)
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
        self._socket.close()
        if self._is_broken_off:
            # It may look healthy yet: nobody else must get it.
            self._connection.close()
