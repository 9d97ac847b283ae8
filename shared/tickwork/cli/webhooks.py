"""The commands on webhooks: add, test, rotate, redeliver, listen."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Annotated, Any
from uuid import UUID

import typer
from rich.text import Text

from tickwork.cli import arguments
from tickwork.cli.listen import known_secret, listen_for, listen_with
from tickwork.cli.options import AsJson, DatabaseUrl, OfTenant, Tenant, desk
from tickwork.cli.output import moment, one_line, plain_table, print_json, print_table, printable
from tickwork.client.endpoints import Endpoints
from tickwork.client.webhooks import Webhooks
from tickwork.errors import InvalidRequest, QueueError
from tickwork.tools.outbound.http import Policy
from tickwork.tools.outbound.urls import parse

webhooks_app = typer.Typer(
    help="List webhook endpoints, or add some.", invoke_without_command=True, rich_markup_mode=None
)

EndpointId = Annotated[str, typer.Argument(help="As `tickwork webhooks` shows it.", metavar="ID")]
COLOURS = {"delivered": "green", "failed": "red", "pending": "cyan", "active": "green", "disabled": "red"}


@webhooks_app.callback()
def list_endpoints(
    context: typer.Context, tenant: Tenant = None, database_url: DatabaseUrl = None, as_json: AsJson = False
) -> None:
    if not context.invoked_subcommand:
        show_endpoints(context, tenant, database_url, as_json)


@webhooks_app.command("list")
def show_endpoints(
    context: typer.Context, tenant: Tenant = None, database_url: DatabaseUrl = None, as_json: AsJson = False
) -> None:
    """List endpoints, as the command without a verb does."""
    queue = desk(context).queue(database_url)
    given = {"tenant_id": arguments.tenant_id(queue, tenant) if tenant else None}
    rows = queue.database.rows(ENDPOINTS, given)
    if as_json:
        print_json(rows)
        return
    table = plain_table("id", "tenant", "status", "url", "events", "note")
    for row in rows:
        events = ", ".join(row["event_types"]) or "all"
        status = Text(row["status"], COLOURS[row["status"]])
        table.add_row(
            str(row["id"]), one_line(row["tenant"]), status, one_line(row["url"]), events, one_line(state_of(row))
        )
    print_table(table) if rows else print("No endpoints. `tickwork webhooks add URL --tenant NAME` adds one.")


ENDPOINTS = """
    select webhook_endpoints.*, organizations.name as tenant
    from public.webhook_endpoints
    join public.organizations on organizations.id = webhook_endpoints.tenant_id
    where %(tenant_id)s::uuid is null or webhook_endpoints.tenant_id = %(tenant_id)s
    order by webhook_endpoints.created_at, webhook_endpoints.id
"""


def state_of(endpoint: dict[str, Any]) -> str:
    if endpoint["status"] == "disabled":
        return endpoint["disabled_reason"] or ""
    match endpoint["breaker"]:
        case "open":
            return f"down since {moment(endpoint['failing_since'])}, next probe {moment(endpoint['probe_at'])}"
        case "recovering":
            return "is back, and gets its backlog slowly"
        case _:
            return f"{endpoint['failures']} failures in a row" if endpoint["failures"] else ""


@webhooks_app.command("add")
def add(
    context: typer.Context,
    url: Annotated[str, typer.Argument(help="Where events are posted to.", metavar="URL")],
    tenant: OfTenant,
    event: Annotated[
        list[str] | None, typer.Option(help="A type such as job.failed, or job.*; several times, or never for all.")
    ] = None,
    description: Annotated[str, typer.Option(help="For people.")] = "",
    prefix: Annotated[str, typer.Option(help="What the names of our own headers begin with.")] = "X-BPC-",
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Add an endpoint, and show its secret, this once."""
    queue = desk(context).queue(database_url)
    check_url(url, desk(context).policy())
    tenant_id = arguments.tenant_id(queue, tenant)
    endpoints = Endpoints(queue.database, desk(context).safe(database_url))
    with told_what_is_wrong():
        row, secret = endpoints.add(tenant_id, url, event, description, prefix)
    if as_json:
        print_json({"id": row["id"], "url": url, "secret": secret})
        return
    print(f"{row['id']} gets the events of {printable(tenant)}: {', '.join(event or []) or 'all of them'}.")
    print_secret(secret)
    print(f"`tickwork webhooks test {row['id']}` sends it an event.")


def check_url(url: str, policy: Policy) -> None:
    """What can be said without calling it; a name is looked up at every call."""
    parsed = parse(url)
    if parsed.scheme == "http" and not policy.allow_http:
        raise InvalidRequest("URL: must start with https://", hint="An operator can set TICKWORK_OUTBOUND_HTTP=true.")
    if parsed.address and not policy.permits(parsed.address, parsed.port):
        raise InvalidRequest(
            "URL: this address may not be called", hint="An operator can open networks with TICKWORK_OUTBOUND_ALLOW."
        )


RULES = {
    "url_is_plain": "URL: must be one like https://example.com/hooks, without credentials, of at most 2,000 characters",
    "event_types_are_types_or_beginnings": "--event: must be a type such as job.failed, or a beginning such as job.*",
    "header_prefix_is_one": "--prefix: must be one like X-Acme-, and neither Webhook- nor Proxy-",
    "description_is_at_most_500_characters": "--description: must be of at most 500 characters",
}


@contextmanager
def told_what_is_wrong() -> Iterator[None]:
    """In the words of the command line, where a constraint speaks of columns."""
    try:
        yield
    except QueueError as error:
        rule = next((rule for name, rule in RULES.items() if name in str(error)), None)
        if rule is None:
            raise
        raise InvalidRequest(rule) from None


def print_secret(secret: str) -> None:
    print(f"Its secret, which is shown only now: {secret}")


@webhooks_app.command("test")
def send_test(
    context: typer.Context, endpoint_id: EndpointId, database_url: DatabaseUrl = None, as_json: AsJson = False
) -> None:
    """Send an event to an endpoint, whatever it listens to."""
    queue = desk(context).queue(database_url)
    delivery = Webhooks(queue.database).test_webhook(as_id(endpoint_id))
    if as_json:
        print_json(delivery)
    else:
        print(f"The delivery {delivery['id']} is on its way: `tickwork webhooks deliveries {endpoint_id}` shows it.")


@webhooks_app.command("rotate")
def rotate(
    context: typer.Context,
    endpoint_id: EndpointId,
    overlap: Annotated[float, typer.Option(min=0, max=720, help="For how many hours both secrets are good.")] = 24,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Give an endpoint a new secret; for a while both are used."""
    endpoints = Endpoints(desk(context).queue(database_url).database, desk(context).safe(database_url))
    secret = endpoints.rotate(as_id(endpoint_id), timedelta(hours=overlap))
    if as_json:
        print_json({"id": endpoint_id, "secret": secret, "overlap_hours": overlap})
        return
    print_secret(secret)
    print(f"For {overlap:g} hours the old one is good as well.")


@webhooks_app.command("enable")
def enable(context: typer.Context, endpoint_id: EndpointId, database_url: DatabaseUrl = None) -> None:
    """Send events to an endpoint again."""
    row = change(context, endpoint_id, "active", database_url)
    print(f"{row['id']} is active. `tickwork webhooks redeliver {row['id']} --since TIME` sends what it has missed.")


@webhooks_app.command("disable")
def disable(context: typer.Context, endpoint_id: EndpointId, database_url: DatabaseUrl = None) -> None:
    """Send an endpoint nothing more."""
    print(f"{change(context, endpoint_id, 'disabled', database_url)['id']} is disabled.")


def change(context: typer.Context, endpoint_id: str, status: str, database_url: str | None) -> dict[str, Any]:
    endpoints = Endpoints(desk(context).queue(database_url).database, desk(context).safe(database_url))
    return endpoints.change(as_id(endpoint_id), status)


@webhooks_app.command("remove")
def remove(context: typer.Context, endpoint_id: EndpointId, database_url: DatabaseUrl = None) -> None:
    """Delete an endpoint, its secrets and its deliveries."""
    endpoints = Endpoints(desk(context).queue(database_url).database, desk(context).safe(database_url))
    print(f"{endpoints.remove(as_id(endpoint_id))['id']} is gone.")


@webhooks_app.command("deliveries")
def deliveries(
    context: typer.Context,
    endpoint_id: Annotated[str | None, typer.Argument(help="Of this endpoint only.", metavar="ID")] = None,
    status: Annotated[str | None, typer.Option(help="pending, delivered or failed.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000)] = 20,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """List deliveries, the newest first."""
    if status not in (None, "pending", "delivered", "failed"):
        raise InvalidRequest(f"status: there is no status {status!r}", hint="It is pending, delivered or failed.")
    queue = desk(context).queue(database_url)
    given = {"endpoint_id": as_id(endpoint_id) if endpoint_id else None, "status": status, "limit": limit}
    rows = queue.database.rows(DELIVERIES, given)
    if as_json:
        print_json(rows)
        return
    table = plain_table("id", "status", "event", "attempts", "answer", "ms", "note")
    for row in rows:
        table.add_row(
            str(row["id"]),
            Text(row["status"], COLOURS[row["status"]]),
            one_line(row["event_type"]),
            str(row["attempts"]),
            str(row["http_status"] or ""),
            str(row["latency_ms"] or ""),
            one_line(row["error_message"] or ""),
        )
    print_table(table) if rows else print("No deliveries.")


DELIVERIES = """
    select webhook_deliveries.*, events.type as event_type
    from public.webhook_deliveries
    join public.events on events.id = webhook_deliveries.event_id
    where (%(endpoint_id)s::uuid is null or webhook_deliveries.webhook_endpoint_id = %(endpoint_id)s)
      and (%(status)s::text is null or webhook_deliveries.status = %(status)s)
    order by webhook_deliveries.created_at desc, webhook_deliveries.id
    limit %(limit)s
"""


@webhooks_app.command("redeliver")
def redeliver(
    context: typer.Context,
    id: Annotated[str, typer.Argument(help="Of a delivery, or, with --since, of an endpoint.", metavar="ID")],
    since: Annotated[
        str | None, typer.Option(help="All of the endpoint since then, such as 2027-01-31T08:00Z or '-1 hour'.")
    ] = None,
    all: Annotated[bool, typer.Option("--all", help="With --since: also what was delivered.")] = False,
    database_url: DatabaseUrl = None,
) -> None:
    """Make one delivery again, or all that failed since a time."""
    queue = desk(context).queue(database_url)
    if since is None:
        delivery = Webhooks(queue.database).redeliver_webhook(as_id(id))
        print(f"The delivery {delivery['id']} is pending again.")
        return
    at = arguments.point_in_time(queue, since, "--since")
    assert at is not None
    count = Webhooks(queue.database).redeliver_webhooks(as_id(id), at, only_failed=not all)
    print(f"{count} deliveries are pending again.{' There may be more.' if count == 10_000 else ''}")


@webhooks_app.command("listen")
def listen(
    context: typer.Context,
    tenant: Tenant = None,
    event: Annotated[list[str] | None, typer.Option(help="With --tenant: which events, as for add.")] = None,
    port: Annotated[int, typer.Option(min=0, max=65_535, help="0 takes a free one.")] = 0,
    database_url: DatabaseUrl = None,
) -> None:
    """Receive webhooks on this machine, verify and print them.

    With --tenant an endpoint is added for as long as it listens; without, it asks for the secret of one that is there
    (or takes TICKWORK_WEBHOOK_SECRET).
    """
    if tenant is None:
        listen_with(known_secret(), port)
        return
    queue = desk(context).queue(database_url)
    endpoints = Endpoints(queue.database, desk(context).safe(database_url))
    listen_for(endpoints, arguments.tenant_id(queue, tenant), event, port)


def as_id(given: str) -> UUID:
    try:
        return UUID(given)
    except ValueError:
        hint = "`tickwork webhooks` and `tickwork webhooks deliveries` show the ids."
        raise InvalidRequest(f"ID: {given!r} is no id", hint=hint) from None
