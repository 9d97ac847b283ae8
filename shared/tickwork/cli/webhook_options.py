"""The options of webhook endpoints, and what is wrong with them in the terms of the command line."""

from collections.abc import Iterator
from contextlib import contextmanager

import typer

from tickwork.errors import InvalidRequest, QueueError
from tickwork.tools.outbound.http import Policy
from tickwork.tools.outbound.urls import parse

DESCRIPTION = typer.Option(help="For people.")
PREFIX = typer.Option(help="Prefix of the names of our own headers.")
FORMAT = typer.Option(help="The fields of the body; bpc: event_id, event_type, …, payload.")
TIMEOUT = typer.Option(min=0.1, max=50, help="How many seconds one attempt may take.")


def check_url(url: str, policy: Policy) -> None:
    """Checks what can be checked without calling it; host names are resolved at every call."""
    parsed = parse(url)
    if parsed.scheme == "http" and not policy.allow_http:
        raise InvalidRequest("URL: must start with https://", hint="An operator can set TICKWORK_OUTBOUND_HTTP=true.")
    if parsed.address and not policy.permits(parsed.address, parsed.port):
        raise InvalidRequest(
            "URL: this address may not be called", hint="An operator can open networks with TICKWORK_OUTBOUND_ALLOW."
        )


RULES = {
    "url is plain": "URL: must look like https://example.com/hooks, without credentials, with at most 2,000 characters",
    "event types are types or beginnings": "--event: must be a type such as job.failed, or a prefix such as job.*",
    "header prefix is one": "--prefix: must look like X-Acme-, and be neither Webhook- nor Proxy-",
    "description is at most 500 characters": "--description: must have at most 500 characters",
}


@contextmanager
def told_what_is_wrong() -> Iterator[None]:
    """In the terms of the command line instead of the name of a constraint."""
    try:
        yield
    except QueueError as error:
        rule = next((rule for name, rule in RULES.items() if name in str(error)), None)
        if rule is None:
            raise
        raise InvalidRequest(rule) from None
