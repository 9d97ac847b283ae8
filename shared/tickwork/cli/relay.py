"""The command that tells a broker what the database announces."""

import signal
import threading

import typer

from tickwork.cli import connect
from tickwork.cli.options import DatabaseUrl
from tickwork.errors import InvalidRequest
from tickwork.logs import log
from tickwork.waking.announcer import Announcer
from tickwork.waking.rabbitmq import broker_of_environment
from tickwork.waking.relay import relay as relay_all

commands = typer.Typer()


@commands.command()
def relay(database_url: DatabaseUrl = None) -> None:
    """Tell RabbitMQ about jobs that are enqueued by SQL."""
    url = connect.chosen_url(database_url, is_worker=True)
    broker = broker_of_environment()
    if broker is None:
        raise InvalidRequest("no broker is set", hint="Set TICKWORK_AMQP_URL to where workers listen, too.")
    stopped = threading.Event()
    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, lambda number, frame: stopped.set())
    announcer = Announcer(broker)
    log("start_relay")
    relay_all(url, announcer, stopped.is_set)
    announcer.close()
    log("stop_relay")
