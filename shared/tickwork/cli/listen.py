"""`tickwork webhooks listen`: receive on this machine, verify, print."""

import os
import signal
from getpass import getpass
from uuid import UUID

from tickwork.cli.output import printable
from tickwork.client.direct.webhooks import Webhooks
from tickwork.errors import BadSetting
from tickwork_local.webhook_receiver import Message, Receiver


def listen_with(secret: str, port: int) -> None:
    """For an existing endpoint."""
    leave_on_signals()
    with Receiver(lambda: secret, print_message, port) as receiver:
        print(f"Listening on {receiver.url} Ctrl-C stops.", flush=True)
        wait_for_ever()


def listen_for(webhooks: Webhooks, tenant_id: UUID, event_types: list[str] | None, port: int) -> None:
    """With a temporary endpoint, which is removed at the end."""
    leave_on_signals()
    secrets: list[str] = []
    with Receiver(lambda: secrets[0], print_message, port) as receiver:
        row = webhooks.create_webhook_endpoint(tenant_id, receiver.url, event_types or (), "tickwork webhooks listen")
        secrets.append(row["secret"])
        print(f"Listening on {receiver.url} Ctrl-C stops, and removes the endpoint.", flush=True)
        try:
            wait_for_ever()
        finally:
            webhooks.delete_webhook_endpoint(row["webhook_endpoint_id"])


def known_secret() -> str:
    """Never from the command line, which other users of the machine can read."""
    given = os.environ.get("TICKWORK_WEBHOOK_SECRET") or getpass("The secret of the endpoint (whsec_…): ")
    if not given.startswith("whsec_"):
        raise BadSetting("the secret of an endpoint starts with whsec_")
    return given.strip()


def leave_on_signals() -> None:
    def leave(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    # SIGINT too: a process started in the background of a script inherits that it is ignored.
    signal.signal(signal.SIGINT, leave)
    signal.signal(signal.SIGTERM, leave)


def wait_for_ever() -> None:
    try:
        while True:
            signal.pause()
    except KeyboardInterrupt:
        print()


def print_message(message: Message) -> None:
    mark = "verified" if message.is_genuine else "NOT GENUINE"
    text = message.body.decode("utf-8", "replace")
    print(printable(f"{mark} {message.type} {message.id} {text}"), flush=True)
