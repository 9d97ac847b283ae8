"""The webhooks of `make demo`: a receiver on this machine gets the events of documents."""

from collections.abc import Iterator
from contextlib import contextmanager

from tickwork.client import Tickwork
from tickwork_local.demo_documents import TENANT
from tickwork_local.webhook_receiver import Message, Receiver


@contextmanager
def receiving(client: Tickwork) -> Iterator[list[Message]]:
    """What arrives, as it arrives."""
    messages: list[Message] = []
    secrets: list[str] = []
    tenant = client.tenants.find(TENANT)
    with Receiver(lambda: secrets[0], messages.append) as receiver:
        row = client.webhooks.create_webhook_endpoint(tenant, receiver.url, ["document.*"], "make demo")
        secrets.append(row["secret"])
        yield messages


def show_messages(messages: list[Message], documents: int) -> bool:
    """Whether there were two events for each document: extracted and classified."""
    counts = {
        type: len({message.id for message in messages if message.type == type and message.is_genuine})
        for type in ("document.extracted", "document.classified")
    }
    told = ", ".join(f"{count} {type}" for type, count in counts.items())
    print(f"\nA receiver on this machine got signed webhooks and verified them: {told}.")
    return set(counts.values()) == {documents}
