"""The commands that say before a compilation what rules ask for, and what a snapshot lacks."""

from collections.abc import Iterator
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import typer

from tickwork.cli import connect
from tickwork.cli.options import AsJson, DatabaseUrl, Tenant
from tickwork.cli.output import print_json, print_rows, printable
from tickwork.cli.passport_arguments import CATEGORIES, one_of, rules_of, snapshot_of
from tickwork.cli.passport_inputs import Snapshot
from tickwork.cli.passports import group
from tickwork.client import Tickwork
from tickwork.client.way import Row
from tickwork.errors import InvalidRequest

if TYPE_CHECKING:
    from tickwork.passports.fact import Fact
    from tickwork.passports.rules.rules import Rules

CategoryName = Annotated[str, typer.Option("--category", help="ev, lmt, industrial or stationary.")]
On = Annotated[str | None, typer.Option(help="The day of issue, such as 2027-02-18; today by default.")]
RulesName = Annotated[str, typer.Option("--rules", help="Id of rules, or the name of their package.")]


@group.command("attributes")
def list_attributes(
    category: CategoryName,
    on: On = None,
    mandatory: Annotated[bool, typer.Option("--mandatory", help="Only those.")] = False,
    rules: RulesName = "battery-passport",
    tenant: Tenant = None,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """List the attributes of rules, and which of them are mandatory for a category on a day."""
    client = connect.client(database_url)
    tenant_id = client.tenants.find(tenant) if tenant else None
    found, (category, day) = read(client, rules, tenant_id), asked(category, on)
    rows = [
        {**rule.source.model_dump(mode="json", by_alias=True, exclude={"duty"}), "duty": rule.duty(category, day)}
        for rule in found.attributes
    ]
    columns = {
        "attribute": lambda row: row["path"],
        "duty": lambda row: row["duty"],
        "type": lambda row: row["schema"]["format"] or row["schema"]["type"],
        "unit": lambda row: row["unit"] or "",
        "from": lambda row: "the rules" if row["value"] else "a fact",
        "seen by": lambda row: row["access"],
        "words": lambda row: row["words"] or "",
    }
    wanted = [row for row in rows if row["duty"] == "mandatory" or not mandatory]
    print_rows(wanted, as_json, columns, f"Nothing is mandatory for {category} on {day}.")


@group.command("check")
def check_snapshot(
    snapshot: Snapshot,
    category: CategoryName,
    on: On = None,
    rules: RulesName = "battery-passport",
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Say all that stands between a snapshot, sealed or not, and a passport of a category that is issued on a day."""
    from tickwork.passports.fact import Fact
    from tickwork.passports.rules.evaluation import evaluate

    client = connect.client(database_url)
    category, day = asked(category, on)
    rows = list(facts_of(client, snapshot_of(client, snapshot, "SNAPSHOT")))
    if not rows:
        raise InvalidRequest("SNAPSHOT: it has no facts", hint="`tickwork passport snapshot add` adds some.")
    found = read(client, rules, rows[0]["tenant_id"])
    facts = [Fact(row["fact_type"], row["fact_key"], row["schema_version"], row["payload"]) for row in rows]
    findings = [vars(each) for each in evaluate(found, facts, category, day).findings]
    unknown = unknown_attributes(found, facts)
    errors = sum(each["severity"] == "error" for each in findings)
    if as_json:
        print_json({"findings": findings, "unknown_attributes": unknown})
    else:
        say_findings(findings, unknown)
        what = f"{errors} errors: it cannot be compiled" if errors else "It can be compiled"
        print(f"{what} for {category} on {day}.")
    raise typer.Exit(1 if errors else 0)


def say_findings(findings: list[dict[str, str]], unknown: list[str]) -> None:
    columns = {name: lambda row, name=name: row[name] for name in ("severity", "code", "subject", "message")}
    if findings:
        print_rows(findings, False, columns, "")
    for each in unknown:
        print(printable(f"The rules have no attribute {each}: it is left out of passports."))


def asked(category: str, on: str | None) -> tuple[str, date]:
    try:
        return one_of(category, CATEGORIES, "--category"), date.fromisoformat(on) if on else datetime.now(UTC).date()
    except ValueError:
        raise InvalidRequest(f"--on: must be a day such as 2027-02-18, not {on!r}") from None


def read(client: Tickwork, rules: str, tenant_id: UUID | str | None) -> "Rules":
    from tickwork.passports.rules.rules import RulesRefused, read_rules

    row = client.rules.get_rules(rules_of(client, rules, tenant_id))
    try:
        return read_rules(row["dsl_source"])
    except RulesRefused as error:
        raise InvalidRequest(f"--rules: they cannot be read: {error}") from None


def facts_of(client: Tickwork, snapshot_id: UUID) -> Iterator[Row]:
    last = None
    while page := client.facts.list_facts(None, None, snapshot_id, after_fact_id=last, max_rows=1000):
        yield from page
        last = page[-1]["id"]


def unknown_attributes(rules: "Rules", facts: "list[Fact]") -> list[str]:
    """Such as one with a typing error in its name."""
    known = {rule.source.path for rule in rules.attributes}
    return sorted({each.fact_key for each in facts if each.fact_type == "attribute"} - known)
