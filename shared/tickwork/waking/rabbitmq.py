"""RabbitMQ, where there is one: a message says that a job may be due, and nothing depends on it."""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tickwork.logs import log
from tickwork.settings import Settings, load_settings

if TYPE_CHECKING:
    from pika import BlockingConnection
    from pika.adapters.blocking_connection import BlockingChannel

# How long a broker may take to accept a connection, to confirm a message, and to give a sign of life.
CONNECT_SECONDS = 3.0
BLOCKED_SECONDS = 1.0
HEARTBEAT_SECONDS = 10
# How long to wait before connecting again: up to the first after one failure, twice as long after the next, and so on.
FIRST_PAUSE_SECONDS = 1.0
LAST_PAUSE_SECONDS = 30.0
# For how long an answer of `is_there` is the answer to everybody: anybody may ask.
KEPT_SECONDS = 2.0
DIFFERENT = 406


@dataclass(frozen=True)
class Broker:
    """Which one, and where in it."""

    url: str
    exchange: str
    routing_key: str

    def connect(self) -> BlockingConnection:
        """Raises an error of pika, or of the network."""
        import pika

        parameters = pika.URLParameters(self.url)
        parameters.socket_timeout = parameters.stack_timeout = CONNECT_SECONDS
        parameters.blocked_connection_timeout = BLOCKED_SECONDS
        parameters.heartbeat = HEARTBEAT_SECONDS
        return pika.BlockingConnection(parameters)

    def channel(self, connection: BlockingConnection) -> BlockingChannel:
        """A channel of a broker that has the exchange."""
        from pika.exceptions import ChannelClosedByBroker

        channel = connection.channel()
        try:
            channel.exchange_declare(self.exchange, "direct", durable=True)
        except ChannelClosedByBroker as error:
            if error.reply_code != DIFFERENT:
                raise
            # Somebody has declared it otherwise. Any kind will do that passes on what has our routing key.
            log("meet_other_exchange", "WARNING", reason=error.reply_text)
            channel = connection.channel()
            channel.exchange_declare(self.exchange, passive=True)
        return channel


def broker_of_environment() -> Broker | None:
    """For whoever needs no other settings; raises BadSetting."""
    return broker_of(load_settings({"TICKWORK_DATABASE_URL": "postgresql://", **os.environ}))


def broker_of(settings: Settings) -> Broker | None:
    """The broker to use, if there is one."""
    if settings.amqp_url is None or settings.amqp_enabled is False:
        return None
    return Broker(settings.amqp_url, settings.amqp_exchange, settings.amqp_routing_key)


class Reconnecting:
    """Says once that the broker is away and once that it is back, and for how long to leave it alone."""

    def __init__(self) -> None:
        self._failures = 0

    def note_success(self) -> None:
        if self._failures:
            log("find_broker")
        self._failures = 0

    def note_failure(self, error: BaseException) -> float:
        """How many seconds to wait, which are random, so that not all come back at once."""
        if not self._failures:
            hint = "Jobs are found by polling until it is back."
            log("lose_broker", "WARNING", reason=text_of(error), hint=hint)
        self._failures += 1
        return random.uniform(0, min(LAST_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2 ** min(self._failures, 10)))


def text_of(error: BaseException) -> str:
    """Errors of pika often have no text, or that of the error behind them in an argument."""
    return f"{type(error).__name__}: {error}".removesuffix(": ")


def required_check(settings: Settings) -> dict[str, Callable[[], bool]]:
    """What `/health/ready` asks besides, if it is to require the broker."""
    broker = broker_of(settings)
    return {"broker": BrokerCheck(broker).is_there} if broker and settings.health_require_amqp else {}


class BrokerCheck:
    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._lock = threading.Lock()
        self._is_there = False
        self._known_until = float("-inf")

    def is_there(self) -> bool:
        """Whether it lets us in; asked at most every two seconds."""
        with self._lock:
            if time.monotonic() >= self._known_until:
                self._is_there = self._look()
                self._known_until = time.monotonic() + KEPT_SECONDS
            return self._is_there

    def _look(self) -> bool:
        try:
            self._broker.connect().close()
        except Exception as error:
            log("fail_health", "WARNING", check="broker", reason=text_of(error))
            return False
        return True


def closed_quietly(connection: Any) -> None:
    # It may have been lost already.
    with suppress(Exception):
        if connection is not None:
            connection.close()
