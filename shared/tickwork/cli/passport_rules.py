"""The commands for the rules of passports: save, test, publish and retire them."""

import json
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

import typer

from tickwork.cli import connect
from tickwork.cli.options import AsJson, DatabaseUrl, OfTenant, Tenant
from tickwork.cli.output import print_json, print_rows, printable
from tickwork.cli.passport_arguments import newest_rules_of, rules_of
from tickwork.cli.passport_waiting import finished_job
from tickwork.cli.passports import group
from tickwork.client import Tickwork
from tickwork.client.way import Row
from tickwork.errors import InvalidRequest

rules = typer.Typer(help="Save, test and publish rules.", rich_markup_mode=None)
group.add_typer(rules, name="rules")

RulesName = Annotated[
    str, typer.Argument(help="Id of rules, or name of a package for its newest version.", metavar="RULES")
]
Wait = Annotated[float, typer.Option(min=0, help="How many seconds to wait for it.")]


@rules.command("list")
def list_rules(
    tenant: Tenant = None,
    package: Annotated[str | None, typer.Option(help="Only the versions of this package.")] = None,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """List versions of rules, the newest first."""
    client = connect.client(database_url)
    rows = client.rules.list_rules(client.tenants.find(tenant) if tenant else None, package)
    columns = {
        "id": lambda row: str(row["id"]),
        "package": lambda row: row["package"],
        "version": lambda row: row["version"],
        "status": lambda row: row["status"],
    }
    print_rows(rows, as_json, columns, "No rules. `tickwork passport rules save FILE` saves some.")


@rules.command("show")
def show_rules(
    rules: Annotated[str, typer.Argument(help="Id of rules, or the name of their package.", metavar="RULES")],
    tests: Annotated[bool, typer.Option("--tests", help="Their tests instead.")] = False,
    database_url: DatabaseUrl = None,
) -> None:
    """Print rules as JSON, such as `save` reads: a beginning for rules of your own."""
    client = connect.client(database_url)
    row = client.rules.get_rules(rules_of(client, rules))
    print_json(row["tests_source" if tests else "dsl_source"])


@rules.command("save")
def save_rules(
    file: Annotated[Path, typer.Argument(help="The rules, as JSON.", metavar="FILE")],
    tenant: OfTenant,
    package: Annotated[str, typer.Option(help="Name of the package.")],
    version: Annotated[str, typer.Option(help="Such as 2027-02.")],
    tests: Annotated[
        Path | None, typer.Option(help="The tests, as JSON. Without them, rules cannot be published.")
    ] = None,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Save a version of a rule package as a draft."""
    client = connect.client(database_url)
    source, tests_source = read(file), read(tests) if tests else None
    check(source)
    say_rules(client.rules.save_rules(client.tenants.find(tenant), package, version, source, tests_source), as_json)


def read(file: Path) -> Any:
    try:
        return json.loads(file.read_bytes())
    except OSError as error:
        raise InvalidRequest(f"FILE: {file} cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError) as error:
        raise InvalidRequest(f"FILE: {file} is not JSON ({error})") from None


def check(source: Any) -> None:
    """The database cannot check the types of expressions: say here what run_rule_tests would find."""
    try:
        from tickwork.passports.rules.rules import RulesRefused, read_rules
    except ImportError:
        # Without the extra `passport`, the tests find it.
        return
    try:
        read_rules(source)
    except RulesRefused as error:
        raise InvalidRequest(f"FILE: the rules cannot be read: {error}") from None


@rules.command("test")
def run_tests(
    rules: RulesName,
    seed: Annotated[int | None, typer.Option(help="The same seed gives the same cases.")] = None,
    wait: Wait = 120,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Test rules with at least 500 cases; a draft that passes becomes validated."""
    client = connect.client(database_url)
    run = tested(client, newest_rules_of(client, rules), seed, wait)
    say_run(run, as_json)
    raise typer.Exit(0 if run["status"] == "passed" else 1)


def tested(client: Tickwork, id: UUID, seed: int | None, wait: float) -> Row:
    job = finished_job(client, client.rules.request_rule_tests(id, seed)["id"], wait)
    return next(row for row in client.rules.list_rule_tests(id) if row["job_id"] == job.id)


def say_run(run: Row, as_json: bool) -> None:
    if as_json:
        print_json(run)
        return
    print(f"{run['status']}: {run['passed_count']} of {run['total_cases']} cases, seed {run['seed']}.")
    if run["mutants"]:
        print(f"The tests notice {run['mutants_caught']} of {run['mutants']} changes of the rules.")
    if failure := run["first_failure"]:
        print(printable(f"The first failure is {in_words(failure)}"))


def in_words(failure: Row) -> str:
    """One line, with the facts that are enough to make it fail."""
    where = f"a case of the kind {failure['kind']!r} ({failure['subject']})"
    facts = json.dumps(failure["shrunk"], ensure_ascii=False)
    when = f"for {failure['category']} on {failure['on']}"
    return f"{where}, {when}: {'; '.join(failure['problems'])}. These facts are enough: {facts}"


@rules.command("publish")
def publish_rules(
    rules: RulesName, wait: Wait = 120, database_url: DatabaseUrl = None, as_json: AsJson = False
) -> None:
    """Publish rules, so that passports can be compiled by them; a draft is tested first."""
    client = connect.client(database_url)
    id = newest_rules_of(client, rules)
    if client.rules.get_rules(id)["status"] == "draft":
        run = tested(client, id, None, wait)
        if run["status"] != "passed":
            say_run(run, as_json)
            raise typer.Exit(1)
    say_rules(client.rules.publish_rules(id), as_json)


@rules.command("retire")
def retire_rules(rules: RulesName, database_url: DatabaseUrl = None, as_json: AsJson = False) -> None:
    """Retire published rules: no passport is compiled by them any more."""
    client = connect.client(database_url)
    say_rules(client.rules.retire_rules(newest_rules_of(client, rules)), as_json)


def say_rules(row: Row, as_json: bool) -> None:
    if as_json:
        print_json({name: value for name, value in row.items() if not name.endswith("_source")})
    else:
        print(f"{row['id']} is version {row['version']}, {row['status']}.")
