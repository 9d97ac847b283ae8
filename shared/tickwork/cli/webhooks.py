"""The commands for webhooks: add, update, test, rotate, redeliver, listen."""

from typing import Annotated, Any, Literal

import typer
from rich.text import Text

from tickwork.cli import arguments, connect
from tickwork.cli.deliveries import print_deliveries, wait_for_answer
from tickwork.cli.listen import known_secret, listen_for, listen_with
from tickwork.cli.options import AsJson, DatabaseUrl, OfTenant, Tenant
from tickwork.cli.output import moment, one_line, plain_table, print_json, print_table, printable
from tickwork.cli.webhook_options import DESCRIPTION, FORMAT, PREFIX, TIMEOUT, check_url, told_what_is_wrong
from tickwork.client.webhooks import Format
from tickwork.errors import InvalidRequest

commands = typer.Typer()
group = typer.Typer(help="List webhook endpoints, or add some.", invoke_without_command=True, rich_markup_mode=None)
commands.add_typer(group, name="webhooks")

EndpointId = Annotated[str, typer.Argument(help="As `tickwork webhooks` shows it.", metavar="ID")]
COLOURS = {"active": "green", "disabled": "red"}


@group.callback()
def list_endpoints(
    context: typer.Context, tenant: Tenant = None, database_url: DatabaseUrl = None, as_json: AsJson = False
) -> None:
    if not context.invoked_subcommand:
        show_endpoints(tenant, database_url, as_json)


@group.command("list")
def show_endpoints(tenant: Tenant = None, database_url: DatabaseUrl = None, as_json: AsJson = False) -> None:
    """List webhook endpoints."""
    client = connect.client(database_url)
    rows = client.webhooks.list_webhook_endpoints(client.tenants.find(tenant) if tenant else None)
    tenants = {row["id"]: row["name"] for row in client.tenants.overview()}
    if as_json:
        print_json(rows)
        return
    table = plain_table("id", "tenant", "status", "url", "events", "note")
    for row in rows:
        events = ", ".join(row["event_types"]) or "all"
        status = Text(row["status"], COLOURS[row["status"]])
        table.add_row(
            str(row["id"]),
            one_line(tenants.get(row["tenant_id"], str(row["tenant_id"]))),
            status,
            one_line(row["url"]),
            one_line(events),
            one_line(state_of(row)),
        )
    print_table(table) if rows else print("No endpoints. `tickwork webhooks add URL --tenant NAME` adds one.")


def state_of(endpoint: dict[str, Any]) -> str:
    if endpoint["status"] == "disabled":
        return endpoint["disabled_reason"] or ""
    match endpoint["breaker"]:
        case "open":
            return f"down since {moment(endpoint['failing_since'])}, next probe {moment(endpoint['probe_at'])}"
        case "recovering":
            return "is back, and receives its backlog at a limited rate"
        case _:
            return f"{endpoint['failures']} failures in a row" if endpoint["failures"] else ""


@group.command("add")
def add(
    url: Annotated[str, typer.Argument(help="URL that events are posted to.", metavar="URL")],
    tenant: OfTenant,
    event: Annotated[
        list[str] | None, typer.Option(help="A type such as job.failed, or job.*; can be repeated; by default all.")
    ] = None,
    description: Annotated[str, DESCRIPTION] = "",
    prefix: Annotated[str, PREFIX] = "X-BPC-",
    format: Annotated[Format, FORMAT] = "standard",
    timeout: Annotated[float, TIMEOUT] = 30,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Add an endpoint, and show its secret once."""
    client = connect.client(database_url)
    check_url(url, connect.outbound_policy())
    tenant_id = client.tenants.find(tenant)
    with told_what_is_wrong():
        row = client.webhooks.create_webhook_endpoint(tenant_id, url, event or (), description, prefix, format, timeout)
    id = row["webhook_endpoint_id"]
    if as_json:
        print_json({"id": id, "url": url, "secret": row["secret"]})
        return
    print(f"{id} receives the events of {printable(tenant)}: {', '.join(event or []) or 'all'}.")
    print_secret(row["secret"])
    print(f"`tickwork webhooks test {id}` sends it an event.")


@group.command("update")
def update(
    endpoint_id: EndpointId,
    url: Annotated[str | None, typer.Option(help="URL that events are posted to.", metavar="URL")] = None,
    event: Annotated[list[str] | None, typer.Option(help="As for add; '*' means all.")] = None,
    description: Annotated[str | None, DESCRIPTION] = None,
    prefix: Annotated[str | None, PREFIX] = None,
    format: Annotated[Format | None, FORMAT] = None,
    timeout: Annotated[float | None, TIMEOUT] = None,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Change an endpoint; what is not given stays as it is."""
    given = {
        "url": url,
        "event_types": event or None,
        "description": description,
        "header_prefix": prefix,
        "format": format,
        "timeout_seconds": timeout,
    }
    changes = {name: value for name, value in given.items() if value is not None}
    if not changes:
        raise InvalidRequest("there is nothing to change", hint="Pass an option, such as --format bpc.")
    if url is not None:
        check_url(url, connect.outbound_policy())
    with told_what_is_wrong():
        client = connect.client(database_url)
        row = client.webhooks.change_webhook_endpoint(arguments.endpoint_id(client, endpoint_id), changes)
    print_json(row) if as_json else print(f"{row['id']} is changed, from its next attempt on.")


def print_secret(secret: str) -> None:
    print(f"Its secret, which is not shown again: {secret}")


@group.command("test")
def send_test(
    endpoint_id: EndpointId,
    wait: Annotated[float, typer.Option(min=0, help="How many seconds to wait for the response.")] = 60,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Send a test event to an endpoint, whatever its filters, and show how it responds."""
    client = connect.client(database_url)
    delivery = client.webhooks.test_webhook(arguments.endpoint_id(client, endpoint_id))
    raise typer.Exit(wait_for_answer(client, delivery["id"], wait, as_json))


@group.command("rotate")
def rotate(
    endpoint_id: EndpointId,
    overlap: Annotated[float, typer.Option(min=0, max=720, help="For how many hours both secrets are valid.")] = 24,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Give an endpoint a new secret; for a while both are used."""
    client = connect.client(database_url)
    row = client.webhooks.rotate_webhook_secret(arguments.endpoint_id(client, endpoint_id), overlap)
    if as_json:
        print_json({"id": endpoint_id, "secret": row["secret"], "overlap_hours": overlap})
        return
    print_secret(row["secret"])
    print(f"For {overlap:g} hours the old one is valid as well.")


@group.command("enable")
def enable(endpoint_id: EndpointId, database_url: DatabaseUrl = None) -> None:
    """Send events to an endpoint again."""
    row = change(endpoint_id, "active", database_url)
    print(
        f"{row['id']} is active. `tickwork webhooks redeliver {row['id']} --since TIME` sends the events it has missed."
    )


@group.command("disable")
def disable(endpoint_id: EndpointId, database_url: DatabaseUrl = None) -> None:
    """Stop sending events to an endpoint."""
    print(f"{change(endpoint_id, 'disabled', database_url)['id']} is disabled.")


def change(endpoint_id: str, status: Literal["active", "disabled"], database_url: str | None) -> dict[str, Any]:
    client = connect.client(database_url)
    return client.webhooks.change_webhook_endpoint(arguments.endpoint_id(client, endpoint_id), {"status": status})


@group.command("remove")
def remove(endpoint_id: EndpointId, database_url: DatabaseUrl = None) -> None:
    """Delete an endpoint, its secrets and its deliveries."""
    client = connect.client(database_url)
    id = arguments.endpoint_id(client, endpoint_id)
    client.webhooks.delete_webhook_endpoint(id)
    print(f"{id} is gone.")


@group.command("deliveries")
def deliveries(
    endpoint_id: Annotated[str | None, typer.Argument(help="Only this endpoint.", metavar="ID")] = None,
    status: Annotated[str | None, typer.Option(help="pending, delivered or failed.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000)] = 20,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """List deliveries, the newest first."""
    if status not in (None, "pending", "delivered", "failed"):
        raise InvalidRequest(f"status: there is no status {status!r}", hint="Use pending, delivered or failed.")
    client = connect.client(database_url)
    endpoint = arguments.endpoint_id(client, endpoint_id) if endpoint_id else None
    print_deliveries(client.webhooks.deliveries(endpoint, status, limit), as_json)


@group.command("redeliver")
def redeliver(
    id: Annotated[str, typer.Argument(help="Id of a delivery or, with --since, of an endpoint.", metavar="ID")],
    since: Annotated[
        str | None,
        typer.Option(help="All failed deliveries of the endpoint since then, such as 2027-01-31T08:00Z or '-1 hour'."),
    ] = None,
    all: Annotated[bool, typer.Option("--all", help="With --since: delivered ones as well.")] = False,
    database_url: DatabaseUrl = None,
) -> None:
    """Repeat one delivery, or all that failed since a time."""
    client = connect.client(database_url)
    if since is None:
        delivery = client.webhooks.redeliver_webhook(arguments.delivery_id(client, id))
        print(f"The delivery {delivery['id']} is pending again.")
        return
    at = arguments.point_in_time(client, since, "--since")
    assert at is not None
    endpoint = arguments.endpoint_id(client, id)
    count = client.webhooks.redeliver_webhooks(endpoint, at, only_failed=not all)
    print(f"{count} deliveries are pending again.{' There may be more.' if count == 10_000 else ''}")


@group.command("listen")
def listen(
    tenant: Tenant = None,
    event: Annotated[list[str] | None, typer.Option(help="With --tenant: which events, as for add.")] = None,
    port: Annotated[int, typer.Option(min=0, max=65_535, help="0 picks a free one.")] = 0,
    database_url: DatabaseUrl = None,
) -> None:
    """Receive webhooks on this machine, verify and print them.

    With --tenant, a temporary endpoint is added while it listens. Without it, it asks for the secret of an existing
    endpoint (or uses TICKWORK_WEBHOOK_SECRET).
    """
    if tenant is None:
        listen_with(known_secret(), port)
        return
    client = connect.client(database_url)
    listen_for(client.webhooks, client.tenants.find(tenant), event, port)
