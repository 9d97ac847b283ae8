"""Into a database that an application has already: modules, its own tenants and members, names that are taken."""

from collections.abc import Iterator
from pathlib import Path
from uuid import UUID, uuid4

import psycopg
import pytest

from tests.world import World
from tickwork.database.adoption import Adopted, members_in, tenants_in
from tickwork.database.migrate import migrate, write_files
from tickwork.database.modules import CHAPTERS, with_needs
from tickwork.errors import InvalidRequest
from tickwork.testing.database import cloned
from tickwork_local.postgres import Server

APPLICATION = """
    create table companies (id uuid primary key default gen_random_uuid(), title varchar(80) not null, plan text);
    create type rank as enum ('viewer', 'admin');
    create table company_users (company_id uuid not null references companies, user_id uuid not null, rank rank);
    create table organizations (id bigint generated always as identity primary key, label text);
    create table documents (id bigint primary key);
    create table users (id uuid primary key);
    insert into companies (title) values ('Acme'), ('Bolt');
"""
COMPANIES = tenants_in("companies(id, title)")
COMPANY_USERS = members_in("public.company_users(company_id, user_id, rank)")


@pytest.fixture
def application(server: Server) -> Iterator[World]:
    """A database with tables of its own, some of which are called like ours."""
    with cloned(server, "template0") as name, World(server.url(name), server.url(name, "tickwork_worker")) as world:
        world.admin.execute(APPLICATION)
        yield world


def company(world: World, title: str) -> UUID:
    found: UUID = world.value("select id from companies where title = %s", title)
    return found


def add_type(world: World) -> None:
    world.run("insert into job_types (key, family, enqueued_by) values ('write_invoice', 'billing', 'member')")


def test_the_queue_alone_works_beside_tables_of_the_same_names(application: World) -> None:
    applied = migrate(application.url, ["queue"], COMPANIES, COMPANY_USERS)
    add_type(application)

    job = application.value("select id from enqueue_job(%s, 'write_invoice')", company(application, "Acme"))
    claimed = application.queue.claim_next_job("billing")

    assert claimed
    assert claimed.id == job
    application.queue.settle_jobs([{"job_id": str(job), "lease_token": str(claimed.lease_token), "status": "done"}])
    assert application.value("select status from jobs") == "done"
    assert not any(name.endswith(("_organizations", "_memberships", "_documents")) for name in applied)
    assert application.value("select count(*) from documents") == 0


def test_each_tenant_has_settings_that_come_and_go_with_it(application: World) -> None:
    migrate(application.url, ["queue"], COMPANIES, COMPANY_USERS)
    add_type(application)
    application.run("insert into companies (title) values ('Coil')")
    application.run("select enqueue_job(%s, 'write_invoice')", company(application, "Coil"))

    settings = (
        "select count(*) from tenant_settings join tickwork.tenants using (tenant_id) join jobs using (tenant_id)"
    )
    assert application.value("select count(*) from tenant_settings") == 3
    assert application.value(settings) == 1

    application.run("delete from companies where title = 'Coil'")

    assert application.value("select count(*) from tenant_settings") == 2
    assert application.value("select count(*) from jobs") == 0


def test_the_applications_members_and_roles_decide(application: World) -> None:
    migrate(application.url, ["queue"], COMPANIES, COMPANY_USERS)
    add_type(application)
    acme, bolt = company(application, "Acme"), company(application, "Bolt")
    viewer, admin = uuid4(), uuid4()
    application.run("insert into company_users values (%s, %s, 'viewer'), (%s, %s, 'admin')", acme, viewer, acme, admin)
    # What the application does about its own tables is its own business.
    application.run("alter table company_users enable row level security")
    job = application.value("select id from enqueue_job(%s, 'write_invoice')", acme)

    as_viewer = application.connect("authenticated", viewer)
    assert as_viewer.execute("select id from jobs").fetchall() == [{"id": job}]
    as_viewer.execute("select enqueue_job(%s, 'write_invoice')", [acme])
    with pytest.raises(psycopg.Error, match="you are not a member"):
        as_viewer.execute("select enqueue_job(%s, 'write_invoice')", [bolt])
    with pytest.raises(psycopg.Error, match="admin"):
        as_viewer.execute("select bury_job(%s, 'no')", [job])

    application.connect("authenticated", admin).execute("select bury_job(%s, 'no')", [job])

    assert application.value("select status from jobs where id = %s", job) == "dead"
    assert application.connect("authenticated", uuid4()).execute("select id from jobs").fetchall() == []


def test_without_a_column_for_the_role_everybody_is_a_member(application: World) -> None:
    migrate(application.url, ["queue"], COMPANIES, members_in("company_users(company_id, user_id)"))
    acme, user = company(application, "Acme"), uuid4()
    application.run("insert into company_users values (%s, %s, 'admin')", acme, user)

    assert application.rows("select role from tickwork.memberships") == [{"role": "member"}]


def test_our_own_memberships_serve_the_applications_tenants(application: World) -> None:
    migrate(application.url, ["queue"], COMPANIES)
    acme = company(application, "Acme")
    application.run("insert into memberships (tenant_id, user_id) values (%s, %s)", acme, uuid4())

    application.run("delete from companies where id = %s", acme)

    assert application.value("select count(*) from memberships") == 0


def test_names_that_are_taken_are_one_error_before_anything_is_written(application: World) -> None:
    with pytest.raises(InvalidRequest, match=r"table public\.organizations, table public\.documents") as refused:
        migrate(application.url)

    assert "--tenants" in str(refused.value.hint)
    assert "--with" in str(refused.value.hint)
    assert application.value("select to_regnamespace('tickwork')") is None
    assert application.value("select to_regnamespace('auth')") is None


def test_a_function_of_the_same_name_is_a_clash_too(application: World) -> None:
    """Whoever opens ours to a role must not open the application's."""
    application.run("create function list_jobs(text) returns int language sql return 1")

    with pytest.raises(InvalidRequest, match=r"function public\.list_jobs"):
        migrate(application.url, ["queue"], COMPANIES)


@pytest.mark.parametrize(
    ("tenants", "members", "message"),
    [
        (tenants_in("firms"), None, "there is no table public.firms"),
        (tenants_in("companies"), None, "public.companies has no column name"),
        (tenants_in("organizations(id, label)"), None, "public.organizations.id is bigint, but must be uuid"),
        (tenants_in("company_users(user_id)"), None, "public.company_users.user_id is not unique"),
        (COMPANIES, members_in("users"), "public.users has no column tenant_id"),
        (
            COMPANIES,
            members_in("company_users(company_id, rank)"),
            "public.company_users.rank is rank, but must be uuid",
        ),
        (None, COMPANY_USERS, "needs --tenants"),
    ],
)
def test_a_table_that_cannot_serve_is_refused(
    application: World, tenants: Adopted | None, members: Adopted | None, message: str
) -> None:
    with pytest.raises(InvalidRequest, match=message.replace(".", r"\.")):
        migrate(application.url, ["queue"], tenants, members)

    assert application.value("select to_regnamespace('tickwork')") is None


@pytest.mark.parametrize(
    "given", ["", "a.b.c", "companies(", "companies()", "companies(id, name, more)", "com panies;--"]
)
def test_an_option_that_names_no_table_says_how_it_looks(given: str) -> None:
    with pytest.raises(InvalidRequest, match="does not name a table") as refused:
        tenants_in(given)

    assert "public.table(id, name)" in str(refused.value.hint)


def test_a_second_run_keeps_the_tables_and_refuses_others(application: World) -> None:
    migrate(application.url, ["queue"], COMPANIES, COMPANY_USERS)

    assert migrate(application.url) == []
    with pytest.raises(InvalidRequest, match="already"):
        migrate(application.url, tenants=COMPANIES)


def test_modules_come_with_what_they_need() -> None:
    assert with_needs(["imports"]) == ["queue", "documents", "webhooks", "imports"]
    assert with_needs([]) == ["queue"]
    with pytest.raises(InvalidRequest, match="there is no module 'documnets'"):
        with_needs(["documnets"])


@pytest.mark.parametrize("module", [module for module in CHAPTERS if module != "queue"])
def test_each_module_can_come_later_and_leaves_the_same_schema(server: Server, world: World, module: str) -> None:
    with cloned(server, "template0") as name, World(server.url(name), server.url(name)) as grown:
        migrate(grown.url, ["queue"])
        migrate(grown.url, [module])
        migrate(grown.url, list(CHAPTERS))

        assert rights_and_bodies(grown) == rights_and_bodies(world)


def rights_and_bodies(world: World) -> list[object]:
    return [
        *world.rows(
            "select oid::regprocedure::text as name, prosrc, proconfig, proacl::text from pg_proc "
            "where pronamespace in ('public'::regnamespace, 'tickwork'::regnamespace) order by name"
        ),
        *world.rows(
            "select oid::regclass::text as name, relacl::text from pg_class "
            "where relnamespace in ('public'::regnamespace, 'tickwork'::regnamespace) order by name"
        ),
    ]


def test_files_for_the_supabase_cli_do_the_same(application: World, tmp_path: Path) -> None:
    written = write_files(tmp_path, ["queue"], COMPANIES, COMPANY_USERS)
    migrate_by_hand = [tmp_path / f"{name}.sql" for name in written]
    application.admin.execute((Path(__file__).parents[2] / "infra/local/stand_ins.sql").read_bytes())

    for file in migrate_by_hand:
        application.admin.execute(file.read_bytes())

    assert application.value("select count(*) from tenant_settings") == 2
    assert application.rows("select name from tickwork.organizations order by name") == [
        {"name": "Acme"},
        {"name": "Bolt"},
    ]
