"""`tickwork migrate`: any Postgres from 15 on, twice without harm, and as Supabase's own user."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import psycopg
import pytest

from tests.world import World
from tests.world.verb_queue import VerbQueue
from tickwork.database.migrate import edited_since, migrate
from tickwork.errors import Unavailable
from tickwork.shipped import MIGRATIONS, ROOT
from tickwork.testing.database import cloned
from tickwork_local.postgres import Server


@pytest.fixture
def empty(server: Server) -> Iterator[World]:
    with cloned(server, "template0") as name, World(server.url(name), server.url(name)) as world:
        yield world


def catalogue(world: World) -> list[object]:
    # Functions of the migration's own session are not part of the schema.
    functions = "select oid, proname, proacl, prosrc from pg_proc where pronamespace::regnamespace::text = any (%s)"
    relations = "select oid, relname, relacl from pg_class where relnamespace::regnamespace::text = any (%s)"
    return [
        *world.rows(f"{functions} order by oid", ["public", "tickwork", "auth"]),
        *world.rows(f"{relations} order by oid", ["public", "tickwork", "auth"]),
        *world.rows("select * from supabase_migrations.schema_migrations order by version"),
        *world.rows("select * from job_types order by key"),
    ]


def test_a_plain_database_gets_stand_ins_and_the_schema(empty: World) -> None:
    applied = migrate(empty.url)

    assert applied[0] == "stand_ins"
    assert applied[1:] == sorted(file.stem for file in MIGRATIONS.glob("*.sql"))
    assert empty.value("select auth.uid()") is None


def test_a_second_run_changes_nothing(empty: World) -> None:
    migrate(empty.url)
    before = catalogue(empty)

    assert migrate(empty.url) == []
    assert catalogue(empty) == before


def test_two_runs_at_once_apply_each_file_once(empty: World) -> None:
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(migrate, [empty.url, empty.url])

    files = len(list(MIGRATIONS.glob("*.sql")))
    assert len([name for name in (*first, *second) if name != "stand_ins"]) == files


def test_a_database_with_supabases_own_functions_keeps_them(empty: World) -> None:
    empty.run("create schema auth")
    empty.run("create function auth.uid() returns uuid language sql as 'select gen_random_uuid()'")

    assert "stand_ins" not in migrate(empty.url)
    assert empty.value("select auth.uid()") is not None


def test_supabases_user_who_is_no_superuser_can_migrate_and_work(empty: World, server: Server) -> None:
    """Hosted, migrations run as a role with createrole and bypassrls that owns the database."""
    empty.admin.execute((ROOT / "infra/local/stand_ins.sql").read_bytes())
    name = empty.value("select current_database()")
    host = "hosted_" + name
    for statement in (
        f"create role {host} login createrole bypassrls",
        f"alter database {name} owner to {host}",
        f"grant anon, authenticated, service_role to {host} with admin option",
        # On a server that has seen migrations before, the roles are somebody else's.
        f"grant tickwork_owner, tickwork_worker, tickwork_api to {host} with admin option",
        f"alter schema public owner to {host}",
    ):
        empty.admin.execute(statement)
    try:
        migrate(server.url(name, user=host))

        empty.tenant()
        job = empty.job("extract_document", payload={"document_id": str(uuid4())})
        assert empty.claim("extract").id == job.id
        definers = empty.rows("select distinct proowner::regrole::text as owner from pg_proc where prosecdef")
        assert [row["owner"] for row in definers] == ["tickwork_owner"]
    finally:
        empty.admin.execute(f"drop owned by {host} cascade")
        empty.admin.execute(f"reassign owned by {host} to postgres")
        empty.admin.execute(f"drop role {host}")


def test_an_edited_file_is_noticed(empty: World) -> None:
    migrate(empty.url)
    assert edited_since(empty.url) == []

    empty.run("update supabase_migrations.schema_migrations set statements = '{old}' where name = 'claim'")

    (edited,) = edited_since(empty.url)
    assert edited.endswith("_claim")


def test_a_failing_file_leaves_nothing_behind(empty: World) -> None:
    empty.run("create table public.job_types ()")

    with pytest.raises(Exception, match="job_types"):
        migrate(empty.url)

    assert empty.value("select to_regnamespace('tickwork')::text") is None
    assert empty.value("select to_regnamespace('auth')::text") is None


def test_an_unreachable_server_is_said_to_be_one() -> None:
    with pytest.raises(Unavailable):
        migrate("postgresql://postgres@127.0.0.1:1/nothing")


def test_the_stand_ins_read_the_claims_as_we_do(world: World) -> None:
    user = "11111111-1111-4111-8111-111111111111"
    for setting in ("request.jwt.claims", "request.jwt.claim.sub"):
        connection = psycopg.connect(world.url)
        value = user if setting.endswith("sub") else f'{{"sub": "{user}", "role": "authenticated"}}'
        connection.execute("select set_config(%s, %s, false)", [setting, value])

        row = connection.execute("select auth.uid()::text, tickwork.caller_id()::text").fetchone()
        connection.close()

        assert row == (user, user)


def test_a_worker_queue_needs_no_more_than_its_role(world: World) -> None:
    job = world.job()

    assert VerbQueue(world.queue.database, "w").claim_next_job("test") is not None
    assert world.reload(job).worker_id == "w"
