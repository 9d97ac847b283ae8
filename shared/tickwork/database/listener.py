"""Listens to notifications of the database."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psycopg

from tickwork.database.connection import Connection, Database, connect
from tickwork.logs import log

# How long to wait before connecting again.
PAUSE_SECONDS = 10.0
# How soon a stop is noticed.
LOOK_SECONDS = 1.0


@contextmanager
def listening(database: Database, channel: str) -> Iterator["Listener"]:
    """Its own connection, which receives what is announced from now on."""
    listener = Listener(database.url, f"{database.name} listener", channel)
    try:
        yield listener
    finally:
        listener.close()


def notices(url: str, name: str, channel: str, is_stopped: Callable[[], bool]) -> Iterator[str]:
    """What is announced, until stopped, however often the connection is lost. Behind a transaction-mode pooler nothing
    ever arrives."""
    while not is_stopped():
        try:
            with connect(url, name) as connection:
                connection.execute(f"listen {channel}")
                while not is_stopped():
                    for notice in connection.notifies(timeout=LOOK_SECONDS):
                        yield notice.payload
        except psycopg.Error as error:
            log("lose_listener", "WARNING", reason=str(error).strip())
            time.sleep(PAUSE_SECONDS)


class Listener:
    """Only a hint: behind a transaction-mode pooler, or without a connection, nothing ever arrives."""

    def __init__(self, url: str, name: str, channel: str) -> None:
        self._connection: Connection | None = None
        try:
            self._connection = connect(url, name)
            self._connection.execute(f"listen {channel}")
        except psycopg.Error:
            self.close()

    def wait_for(self, payload: str, seconds: float) -> None:
        """Waits until that is announced, or for that many seconds."""
        until = time.monotonic() + seconds
        try:
            if self._connection and not self._connection.closed:
                for notice in self._connection.notifies(timeout=seconds):
                    if notice.payload == payload:
                        return
        except psycopg.Error:
            self.close()
        time.sleep(max(0.0, until - time.monotonic()))

    def close(self) -> None:
        if self._connection:
            self._connection.close()
