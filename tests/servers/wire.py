"""A TCP connection to a server that can be cut, refused and made to carry nothing."""

import socket
import threading
from contextlib import suppress
from types import TracebackType
from typing import Self


class Wire:
    """Passes bytes on between its own port and that of a server."""

    def __init__(self, host: str, port: int) -> None:
        self._server = (host, port)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self._is_refusing = False
        self._cutting = threading.Lock()
        self._flows = threading.Event()
        self._flows.set()
        self._open: list[socket.socket] = []
        self.accepted = 0

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._listening.close()
        self.cut()

    def cut(self) -> None:
        """End all connections and, from now on, every new one at once: the server has died."""
        self._flows.set()
        with self._cutting:
            self._is_refusing = True
            for each in self._open:
                with suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)
                each.close()
            self._open.clear()

    def mend(self) -> None:
        self._is_refusing = False
        self._flows.set()

    def stall(self) -> None:
        """Carry nothing, and end nothing: the server does not read any more."""
        self._flows.clear()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                caller, _ = self._listening.accept()
                self.accepted += 1
                with self._cutting:
                    if self._is_refusing:
                        caller.close()
                        continue
                    server = socket.create_connection(self._server)
                    self._open += [caller, server]
                for one, other in ((caller, server), (server, caller)):
                    threading.Thread(target=self._carry, args=(one, other), daemon=True).start()

    def _carry(self, one: socket.socket, other: socket.socket) -> None:
        with suppress(OSError):
            while data := one.recv(65536):
                self._flows.wait()
                other.sendall(data)
        for each in (one, other):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
