"""A TCP proxy in front of Postgres that cuts connections around a commit, goes silent, and can be pointed elsewhere."""

import asyncio
import struct
import threading
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from types import TracebackType
from typing import Self

from tickwork_local.postgres import free_port

# What a client may send before its first typed message.
SSL_REQUEST, GSS_REQUEST, CANCEL_REQUEST = 80877103, 80877104, 80877102
# Whatever has been collected goes to the server at once with these: copied data, flush, passwords, goodbye.
PASSED_ON = b"dcfHpX"


class Cut(Enum):
    """What becomes of a connection that is about to commit."""

    BEFORE = "before"  # the commit never reaches the server
    AFTER = "after"  # the server commits, and its reply never reaches the client
    SILENT = "silent"  # as AFTER, but the client is left waiting on an open connection


@dataclass
class Armed:
    """A cut that waits for so many commits to pass, on any connection, and takes the next one."""

    cut: Cut
    skip: int
    seconds: float


class CuttingProxy:
    """Listens on `port` from entering to leaving. `target` is the port that new connections are made to."""

    def __init__(self, target: int) -> None:
        self.target = target
        self.port = free_port()
        self.done: Counter[Cut] = Counter()
        self.connections = 0
        self._armed: list[Armed] = []
        self._lines: set[Line] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def cut(self, cut: Cut, skip: int = 0, seconds: float = 5.0) -> None:
        """Cut the next commit on any connection, after `skip` others; SILENT lasts for so many seconds."""
        self._loop.call_soon_threadsafe(self._armed.append, Armed(cut, skip, seconds))

    def drop_all(self) -> None:
        """Cut every connection, whatever it is doing."""
        self._loop.call_soon_threadsafe(self._abort_all)

    def is_armed(self) -> bool:
        return bool(self._armed)

    def take_armed(self) -> Armed | None:
        """What is to be done to the connection that commits now; called by it."""
        for armed in self._armed:
            armed.skip -= 1
        due = next((armed for armed in self._armed if armed.skip < 0), None)
        if due:
            self._armed.remove(due)
            self.done[due.cut] += 1
        return due

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port, backlog=500)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line = Line(self, reader, writer)
        self._lines.add(line)
        self.connections += 1
        try:
            await line.run()
        finally:
            line.abort()
            self._lines.discard(line)

    def _abort_all(self) -> None:
        for line in list(self._lines):
            line.abort()

    async def _stop(self) -> None:
        self._server.close()
        self._abort_all()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        await asyncio.gather(*others, return_exceptions=True)


class Line:
    """One client's connection to the server."""

    def __init__(self, proxy: CuttingProxy, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._proxy = proxy
        self._client_reader, self._client_writer = reader, writer
        self._server_writer: asyncio.StreamWriter | None = None
        self._is_idle = True
        self._armed: Armed | None = None

    async def run(self) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            startup = await self._startup()
            server_reader, self._server_writer = await asyncio.open_connection("127.0.0.1", self._proxy.target)
            self._server_writer.write(startup)
            pumps = [asyncio.ensure_future(self._requests()), asyncio.ensure_future(self._replies(server_reader))]
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
            self.abort()
            await asyncio.gather(*pumps, return_exceptions=True)

    def abort(self) -> None:
        for writer in (self._client_writer, self._server_writer):
            if writer:
                writer.transport.abort()

    async def _startup(self) -> bytes:
        """The message with which the session begins. Nothing is encrypted here."""
        while True:
            head = await self._client_reader.readexactly(8)
            length, code = struct.unpack("!ii", head)
            if code not in (SSL_REQUEST, GSS_REQUEST):
                return head + await self._client_reader.readexactly(length - 8)
            self._client_writer.write(b"N")

    async def _requests(self) -> None:
        assert self._server_writer
        group: list[bytes] = []
        texts: list[bytes] = []
        while True:
            kind, message = await read_message(self._client_reader)
            group.append(message)
            texts += text_of(kind, message)
            if kind in b"QS":
                if self._is_commit(texts):
                    self._armed = self._armed or self._proxy.take_armed()
                    if self._armed and self._armed.cut is Cut.BEFORE:
                        return
                texts = []
            if kind in b"QS" or kind in PASSED_ON:
                self._server_writer.write(b"".join(group))
                await self._server_writer.drain()
                group = []

    def _is_commit(self, texts: list[bytes]) -> bool:
        """Whether the server commits when it gets this: every statement outside of a transaction, and COMMIT."""
        words = [text.lstrip()[:6].upper() for text in texts]
        if self._is_idle:
            return not any(word.startswith((b"BEGIN", b"START")) for word in words)
        return any(word.startswith(b"COMMIT") for word in words)

    async def _replies(self, reader: asyncio.StreamReader) -> None:
        while True:
            kind, message = await read_message(reader)
            if kind == b"Z":
                self._is_idle = message[5:6] == b"I"
            if self._armed is None:
                self._client_writer.write(message)
                await self._client_writer.drain()
            elif kind == b"Z":
                await asyncio.sleep(self._armed.seconds if self._armed.cut is Cut.SILENT else 0)
                return


async def read_message(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    """Its kind, and all of it."""
    head = await reader.readexactly(5)
    (length,) = struct.unpack("!i", head[1:])
    return head[:1], head + await reader.readexactly(length - 4)


def text_of(kind: bytes, message: bytes) -> list[bytes]:
    """The statement in a query, or in one that is parsed under a name."""
    match kind:
        case b"Q":
            return [message[5:]]
        case b"P":
            return [message[5:].split(b"\0", 2)[1]]
        case _:
            return []
