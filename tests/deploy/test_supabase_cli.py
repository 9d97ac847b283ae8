"""The real Supabase CLI on Postgres 15: it applies the migrations, and finds nothing that is not waived here."""

import json
import subprocess
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.world.node import environment, installed
from tickwork_local.node import CannotInstall
from tickwork_local.postgres import Server

PACKAGE = Path(__file__).parent / "supabase_cli"
ROOT = Path(__file__).parents[2]

COMMON = "what has no tenant is everybody's by a policy of its own: no policy that asks who calls may say `is null`"
ADVICE_WAIVERS = {
    ("multiple_permissive_policies", "document_types"): COMMON,
    ("multiple_permissive_policies", "rule_packages"): COMMON,
    ("multiple_permissive_policies", "rule_package_versions"): COMMON,
    ("multiple_permissive_policies", "rule_tests_runs"): COMMON,
    ("multiple_permissive_policies", "memberships"): (
        "the queue reads any table of members by tickwork_reads; that ours has a policy for it besides costs nothing"
    ),
}
# A body that is parsed at its definition looks nothing up when it runs. The inner functions, which only the queue may
# call, run with the empty search path of the definer that calls them; setting it anew would cost each of them time.
SAFE_WITHOUT_SEARCH_PATH = """
    select proname from pg_proc
    where pronamespace in ('tickwork'::regnamespace, 'public'::regnamespace) and prosqlbody is not null
      or pronamespace = 'tickwork'::regnamespace and not prosecdef and not exists (
        select from unnest(array['anon', 'authenticated', 'service_role', 'tickwork_worker']) as caller(name)
        where has_function_privilege(caller.name, pg_proc.oid, 'execute')
      )
"""


@pytest.fixture(scope="module")
def pushed(extended_server: Server, tmp_path_factory: pytest.TempPathFactory) -> "Cli":
    try:
        # Its lock has the program for this system only, of which `npm ci` complains.
        program = installed(PACKAGE, "supabase-cli", "install") / ".bin" / "supabase"
    except CannotInstall as error:
        pytest.skip(str(error))
    cli = Cli(program, extended_server.url(), tmp_path_factory.mktemp("home"))
    first = cli.run("db", "push", "--yes", "--include-seed")
    assert first.returncode == 0, first.stderr
    return cli


class Cli:
    def __init__(self, program: Path, url: str, home: Path) -> None:
        self.url = url
        self._program = program
        self._env = {**environment(), "HOME": str(home)}

    def run(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [str(self._program), *arguments, "--remote", self.url, "--agent", "no"],
            cwd=ROOT,
            env=self._env,
            capture_output=True,
            text=True,
            timeout=300,
        )

    def findings(self, *arguments: str) -> list[Any]:
        answer = self.run(*arguments)
        start = answer.stdout.find("[\n")
        assert answer.returncode == 0 or start >= 0, answer.stderr
        return list(json.loads(answer.stdout[start:])) if start >= 0 else []


def test_a_push_applies_every_migration_and_a_second_one_changes_nothing(pushed: Cli) -> None:
    files = sorted(file.name.partition("_")[0] for file in (ROOT / "supabase/migrations").glob("*.sql"))
    with psycopg.connect(pushed.url) as connection:
        applied = connection.execute("select version from supabase_migrations.schema_migrations order by 1").fetchall()
        tenants = connection.execute("select count(*) from public.organizations").fetchone()

    again = pushed.run("db", "push", "--yes")

    assert [version for (version,) in applied] == files
    assert tenants == (3,)
    assert again.returncode == 0
    assert "up to date" in again.stdout


def test_lint_finds_nothing(pushed: Cli) -> None:
    found = {
        (finding["function"], issue["message"])
        for finding in pushed.findings("db", "lint", "--level", "warning", "--schema", "public,tickwork")
        for issue in finding["issues"]
    }
    errors = pushed.run("db", "lint", "--fail-on", "error", "--schema", "public,tickwork")

    assert errors.returncode == 0
    assert found == set()


def test_lint_can_fail(pushed: Cli) -> None:
    with psycopg.connect(pushed.url, autocommit=True) as connection:
        connection.execute(
            "create function public.broken() returns void language plpgsql as "
            "$$ begin update public.jobs set no_such_column = 1; end $$"
        )
        try:
            answer = pushed.run("db", "lint", "--fail-on", "error", "--schema", "public")
        finally:
            connection.execute("drop function public.broken")

    assert answer.returncode == 1
    assert "no_such_column" in answer.stdout


def test_advisors_find_nothing_that_is_not_waived(pushed: Cli) -> None:
    found = {
        (finding["name"], finding["metadata"]["name"])
        for finding in pushed.findings("db", "advisors", "--level", "warn")
        if finding["level"] in ("WARN", "ERROR")
    }
    with psycopg.connect(pushed.url) as connection:
        names = connection.execute(SAFE_WITHOUT_SEARCH_PATH).fetchall()
    safe = {("function_search_path_mutable", name) for (name,) in names}

    assert found - safe - ADVICE_WAIVERS.keys() == set()
    assert ADVICE_WAIVERS.keys() - found == set(), "a waiver that is no longer needed"


def test_advisors_can_warn(pushed: Cli) -> None:
    with psycopg.connect(pushed.url, autocommit=True) as connection:
        connection.execute("create table public.open_to_all (id integer primary key)")
        connection.execute("grant select on public.open_to_all to anon")
        try:
            findings = pushed.findings("db", "advisors", "--level", "warn")
        finally:
            connection.execute("drop table public.open_to_all")

    assert "rls_disabled_in_public" in {finding["name"] for finding in findings}


@pytest.mark.parametrize("language", ["python", "typescript"])
def test_types_are_generated(pushed: Cli, language: str) -> None:
    answer = pushed.run("gen", "types", "--lang", language, "--schema", "public")

    assert answer.returncode == 0, answer.stderr
    assert "idempotency_key" in answer.stdout
