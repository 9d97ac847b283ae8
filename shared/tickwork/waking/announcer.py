"""Tells a broker about new jobs, after they have been committed."""

from __future__ import annotations

import atexit
import json
import os
import threading
import time
from collections import deque
from functools import cache
from typing import TYPE_CHECKING
from uuid import UUID

from tickwork.errors import BadSetting
from tickwork.logs import log
from tickwork.waking.rabbitmq import HEARTBEAT_SECONDS, Broker, Reconnecting, broker_of_environment, closed_quietly

if TYPE_CHECKING:
    from pika import BlockingConnection
    from pika.adapters.blocking_connection import BlockingChannel

# How many are kept while the broker is slow; of more, the oldest are forgotten: every message means the same.
MAX_WAITING = 100
# How long a message is worth anything: meanwhile workers have polled.
MESSAGE_MILLISECONDS = 60_000
# How long the end of a process waits for what has not been sent.
CLOSE_SECONDS = 1.0
# For whoever knows that there is a job, but not which one.
UNKNOWN_JOB = UUID(int=0)


class Announcer:
    """Sends from a thread of its own: whoever enqueues waits for nothing, and never gets an error."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._waiting: deque[UUID | str] = deque(maxlen=MAX_WAITING)
        self._changed = threading.Condition()
        self._is_sending = False
        self._is_closed = False
        self._reconnecting = Reconnecting()
        self._connection: BlockingConnection | None = None
        self._channel: BlockingChannel | None = None
        threading.Thread(target=self._run, name="tickwork-announcer", daemon=True).start()

    def announce(self, job_id: UUID | str) -> None:
        """To be called when the job has been committed."""
        with self._changed:
            self._waiting.append(job_id)
            self._changed.notify_all()

    def flush(self, seconds: float) -> bool:
        """Wait until everything has been sent or given up, at most for so long; whether it has."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._waiting and not self._is_sending, seconds)

    def close(self) -> None:
        self.flush(CLOSE_SECONDS)
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()

    def _run(self) -> None:
        while not self._is_closed:
            try:
                self._send_next()
            except Exception as error:
                closed_quietly(self._connection)
                self._connection = self._channel = None
                if self._is_closed:
                    return
                pause_until = time.monotonic() + self._reconnecting.note_failure(error)
                with self._changed:
                    self._is_sending = False
                    # Workers have found them by the time that the broker is back.
                    self._waiting.clear()
                    self._changed.notify_all()
                    self._changed.wait_for(lambda: self._is_closed, pause_until - time.monotonic())
                    self._waiting.clear()
        closed_quietly(self._connection)

    def _send_next(self) -> None:
        job_id = self._next()
        if job_id is None:
            # The broker hears of us only while we look.
            if self._connection:
                self._connection.process_data_events(0)
            return
        self._send(job_id)
        with self._changed:
            self._is_sending = False
            self._changed.notify_all()

    def _next(self) -> UUID | str | None:
        with self._changed:
            limit = HEARTBEAT_SECONDS / 3 if self._connection else None
            self._changed.wait_for(lambda: self._waiting or self._is_closed, limit)
            if not self._waiting:
                return None
            self._is_sending = True
            return self._waiting.popleft()

    def _send(self, job_id: UUID | str) -> None:
        """Returns when the broker has confirmed it."""
        import pika

        if self._channel is None:
            self._connection = self._broker.connect()
            self._channel = self._broker.channel(self._connection)
            self._channel.confirm_delivery()
            self._reconnecting.note_success()
        body = json.dumps({"job_id": str(job_id)}).encode()
        properties = pika.BasicProperties(content_type="application/json", expiration=str(MESSAGE_MILLISECONDS))
        self._channel.basic_publish(self._broker.exchange, self._broker.routing_key, body, properties)


def announce(job_id: UUID | str) -> None:
    """Tell the broker that the environment names, if it names one."""
    if os.environ.get("TICKWORK_AMQP_URL") and (announcer := announcer_of(os.getpid())):
        announcer.announce(job_id)


@cache
def announcer_of(process: int) -> Announcer | None:
    # A fork has no thread of its parent.
    try:
        broker = broker_of_environment()
    except BadSetting as error:
        log("lose_broker", "WARNING", reason=str(error), hint="Jobs are found by polling.")
        return None
    if broker is None:
        return None
    announcer = Announcer(broker)
    atexit.register(announcer.close)
    return announcer
