"""Hears from a broker that jobs may be due."""

from __future__ import annotations

import threading
from collections.abc import Callable

from tickwork.waking.rabbitmq import Broker, Reconnecting, closed_quietly

# How soon it notices that it is to stop.
LOOK_SECONDS = 1.0
# Every message means the same: a worker that has been busy needs not more than a few.
MAX_WAITING = 10


class Subscriber:
    """Calls `on_message` for every message, from a thread of its own. What is in it does not matter: anybody who can
    send one may have made it up."""

    def __init__(self, broker: Broker, on_message: Callable[[], None]) -> None:
        self._broker = broker
        self._on_message = on_message
        self._stopped = threading.Event()
        self._reconnecting = Reconnecting()
        self.is_connected = threading.Event()

    def start(self) -> None:
        threading.Thread(target=self._run, name="tickwork-subscriber", daemon=True).start()

    def stop(self) -> None:
        self._stopped.set()

    def _run(self) -> None:
        while not self._stopped.is_set():
            try:
                self._listen()
            except Exception as error:
                self.is_connected.clear()
                if self._stopped.is_set():
                    return
                self._stopped.wait(self._reconnecting.note_failure(error))

    def _listen(self) -> None:
        connection = self._broker.connect()
        try:
            channel = self._broker.channel(connection)
            # A queue of its own, which goes with it: of a shared one, a message may go to a worker that is busy, or
            # that serves other families.
            queue = channel.queue_declare("", exclusive=True, arguments={"x-max-length": MAX_WAITING}).method.queue
            channel.queue_bind(queue, self._broker.exchange, self._broker.routing_key)
            self._reconnecting.note_success()
            self.is_connected.set()
            # What was announced before.
            self._on_message()
            for method, _, _ in channel.consume(queue, auto_ack=True, inactivity_timeout=LOOK_SECONDS):
                if self._stopped.is_set():
                    return
                if method:
                    self._on_message()
            raise ConnectionError("the broker has deleted the queue of this worker")
        finally:
            closed_quietly(connection)
