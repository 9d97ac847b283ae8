"""What holds the two languages and the documents together."""

import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.world import World
from tests.world.verb_queue import VerbQueue
from tickwork import errors
from tickwork.client.alerts import Alerts
from tickwork.client.audit import Audit
from tickwork.client.direct.artifacts import Artifacts
from tickwork.client.direct.connectors import Connectors
from tickwork.client.direct.documents import Documents
from tickwork.client.direct.job_types import JobTypes
from tickwork.client.direct.jobs import Jobs
from tickwork.client.direct.maintenance import Maintenance
from tickwork.client.direct.members import Members
from tickwork.client.direct.pauses import Pauses
from tickwork.client.direct.schedules import Schedules
from tickwork.client.direct.triggers import Triggers
from tickwork.client.direct.webhooks import Webhooks
from tickwork.client.events import Events
from tickwork.client.facts import Facts
from tickwork.client.job_options import JobFilter, ListFilter
from tickwork.client.keys import Keys
from tickwork.client.metrics import Metrics
from tickwork.client.passport_documents import PassportDocuments
from tickwork.client.passports import Passports
from tickwork.client.rules import Rules
from tickwork.client.signing_keys import SigningKeys
from tickwork.client.snapshots import Snapshots
from tickwork.client.workers import Workers
from tickwork.database.connection import translated
from tickwork.families.manage import change_jobs
from tickwork.jobs import held_steps
from tickwork.jobs.rows import Status
from tickwork.tools import document_versions, events

ROOT = Path(__file__).parents[1]
MIGRATIONS = sorted((ROOT / "supabase/migrations").glob("*.sql"))
SQL = "\n".join(file.read_text() for file in MIGRATIONS)
CHART = (ROOT / "supabase/README.md").read_text()
REFERENCE = ROOT / "docs/reference"
STATUSES = Status.__args__  # type: ignore[attr-defined]
# Of document versions, snapshots, rules and passports.
PASSPORT_STATUSES = (
    *("uploaded", "validated", "rejected", "building", "ready", "sealed", "draft", "published", "retired"),
    *("compiling", "signed", "active", "superseded", "revoked"),
)


def functions(world: World, schema: str) -> dict[str, list[str]]:
    rows = world.rows(
        "select proname, coalesce(proargnames[1:pronargs], '{}') as parameters from pg_proc "
        "where pronamespace = %s::regnamespace",
        schema,
    )
    return {row["proname"]: row["parameters"] for row in rows}


HOMES = (
    *(VerbQueue, Jobs, JobTypes, Members, Pauses, Schedules, Maintenance, Documents, Connectors, Webhooks, Triggers),
    *(Events, Keys, Workers, Metrics, Alerts, events, held_steps, Audit, Artifacts, change_jobs),
    *(PassportDocuments, Facts, Snapshots, document_versions),
    *(Rules, Passports, SigningKeys),
)
# Those of the client that are no function: they take a file, read rows, wait, or keep the rows of a table.
NO_FUNCTION = {
    *(
        "add",
        "find",
        "overview",
        "remove",
        "row",
        "follow",
        "exceptions",
        "engines",
        "check",
    ),
    *("stored", "resolved", "read_artifact", "upload_document", "change_jobs"),
    *("add_connector", "remove_connector", "watch_connector", "keep_token", "is_named", "next_import"),
    *("change", "update", "rotate", "deliveries", "fires", "lanes"),
}


# The console calls it in its own transaction.
OWN = {"use_sign_in_link"}


def methods() -> dict[str, Callable[..., Any]]:
    found = [each for home in HOMES for each in inspect.getmembers(home, inspect.isfunction)]
    return {name: method for name, method in found if not name.startswith("_") and name not in NO_FUNCTION}


def test_every_method_is_a_sql_function_and_back(world: World) -> None:
    assert set(methods()) == set(functions(world, "public")) - OWN


def test_every_method_takes_the_parameters_of_its_function(world: World) -> None:
    stand_for = {
        "job": {"job_id", "lease_token"},
        "chosen": set(JobFilter.__annotations__),
        "wanted": set(ListFilter.__annotations__),
    }
    ours_alone = {"self", "connection", "writes", "vault", "wait_seconds"}
    # Of whoever seals secrets: the clients call these by a method of their own.
    sealed = {"with_secret", "sealed_secret", "is_sealed"}

    for name, parameters in functions(world, "public").items():
        if name in OWN:
            continue
        signature = inspect.signature(methods()[name])
        taken = {each for one in signature.parameters for each in stand_for.get(one, {one})} - ours_alone
        assert taken - {"worker_id"} - sealed == set(parameters) - {"worker_id"} - sealed, name


def test_no_function_has_an_overload(world: World) -> None:
    for schema in ("public", "tickwork"):
        count = world.value("select count(*) from pg_proc where pronamespace = %s::regnamespace", schema)
        assert count == len(functions(world, schema))


def test_the_comment_of_every_public_function_names_its_transition_first(world: World) -> None:
    comments = {
        name: world.value("select obj_description(%s::regproc, 'pg_proc')", f"public.{name}")
        for name in functions(world, "public")
    }
    words = "|".join((*STATUSES, *PASSPORT_STATUSES))
    arrow = re.compile(rf"^((({words})(, | or )?)*( ?)-> ({words}|gone)|Reads |Sets )")

    assert {name: comment for name, comment in comments.items() if not arrow.match(comment or "")} == {}


def test_every_code_is_raised_listed_and_mapped() -> None:
    raised = set(re.findall(r"errcode = '(\w{5})'", SQL))
    page = (REFERENCE / "sqlstates.md").read_text()
    listed = set(re.findall(r"^\| `(TW\w{3}|22P05|42501)`", page, re.MULTILINE))

    assert raised | {"22P05", "42501"} == listed == set(errors.BY_SQLSTATE)


def test_every_comment_lists_only_codes_that_exist() -> None:
    raised = set(re.findall(r"errcode = '(\w{5})'", SQL))

    assert set(re.findall(r"\bTW[A-Z]{3}\b", SQL)) == raised


def test_every_status_is_in_the_chart_and_in_the_table() -> None:
    allowed = re.search(r"case check_state.state(.*?)\bend\)", SQL, re.DOTALL)

    assert allowed
    assert set(re.findall(r"'(\w+)'", allowed[1])) == set(STATUSES)
    assert [status for status in STATUSES if f"`{status}`" not in CHART] == []


def test_every_public_function_is_in_the_reference(world: World) -> None:
    page = (REFERENCE / "verbs.md").read_text()

    assert [name for name in functions(world, "public") if f"### `{name}`\n" not in page] == []


def test_no_common_table_expression_is_left_unread() -> None:
    """One that only selects and is never referred to is never executed."""
    for file in MIGRATIONS:
        text = file.read_text()
        for name in re.findall(r"(?:with|,)\s+(\w+) as \(\s*select", text):
            assert len(re.findall(rf"\b{name}\b", text)) > 1, f"{name} in {file.name}"


@pytest.mark.parametrize("file", MIGRATIONS, ids=lambda file: file.stem)
def test_sql_reads_alike(file: Path) -> None:
    text = file.read_text()

    assert "\t" not in text
    assert not re.search(r"^\s*(SELECT|CREATE|INSERT|UPDATE)\b", text, re.MULTILINE)
    assert max(len(line) for line in text.splitlines()) <= 120


def test_no_file_is_longer_than_300_lines() -> None:
    code = [file for room in ("shared", "infra", "functions") for file in (ROOT / room).rglob("*.py")]
    # What the classifier was taught, and the rules that every tenant has, are data.
    data = ("known_document_types", "known_rule_packages")
    sql = [file for file in MIGRATIONS if not file.stem.endswith(data)]

    assert len(code) > 150
    assert [file.name for file in (*code, *sql) if len(file.read_text().splitlines()) > 300] == []


def test_no_sql_function_is_longer_than_110_lines() -> None:
    heads = re.findall(r"^create (?:or replace )?function \S+?\(", SQL, re.MULTILINE)
    # Up to the end of the body in dollar quotes, or else to the next empty line.
    found = re.findall(
        r"^create (?:or replace )?function (?:(?!\n\n).)*?(?:\nas \$\$\n.*?\n\$\$;|\n\n)", SQL, re.M | re.S
    )

    assert len(found) == len(heads)
    # Each call of another function costs microseconds: the short way for one job, by far the most used, calls none.
    long = [text.splitlines()[0] for text in found if len(text.splitlines()) > 110]
    assert long == ["create function tickwork.settle_and_claim("]


@pytest.mark.parametrize("sqlstate", errors.BY_SQLSTATE)
def test_every_code_becomes_its_error(world: World, sqlstate: str) -> None:
    with pytest.raises(psycopg.Error) as raised:
        world.run("do $$ begin raise exception 'x' using errcode = '" + sqlstate + "', hint = 'y'; end $$")

    error = translated(raised.value)
    assert type(error) is errors.BY_SQLSTATE[sqlstate]
    assert isinstance(error, errors.QueueError)
    assert (error.sqlstate, error.hint) == (sqlstate, "y")


@pytest.mark.parametrize(
    "error",
    [
        psycopg.OperationalError("server closed the connection unexpectedly"),
        psycopg.InterfaceError("the connection is closed"),
        psycopg.InternalError("received 2 results from command 'COMMIT'"),
        psycopg.errors.AdminShutdown("terminating connection due to administrator command"),
        psycopg.errors.ReadOnlySqlTransaction("cannot execute UPDATE in a read-only transaction"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_what_another_connection_may_mend_is_unavailable(error: psycopg.Error) -> None:
    assert type(translated(error)) is errors.Unavailable
