"""API keys: what each scope may do, who makes them, and that one that ended is refused at once."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg.rows import DictRow

from tests.world import World
from tickwork.database.connection import Connection
from tickwork.errors import NoSuchKey


def key_for(world: World, *scopes: str, tenant: UUID | None = None, **more: Any) -> DictRow:
    return world.service.keys.create_api_key("a key", scopes, tenant, **more)


def holder_of(world: World, key: DictRow | str) -> Connection:
    """A connection as the API makes it for a key."""
    text = key if isinstance(key, str) else key["key"]
    return claiming(world, tickwork_key=sha256(text.encode()).hexdigest())


def claiming(world: World, **claims: str) -> Connection:
    connection = world.connect("authenticated")
    said = json.dumps({"role": "authenticated", **claims})
    connection.execute("select set_config('request.jwt.claims', %s, false)", [said])
    return connection


@contextmanager
def refused(code: str) -> Iterator[None]:
    with pytest.raises(psycopg.Error) as error:
        yield
    assert error.value.sqlstate == code, error.value


def platform_admin(world: World) -> Connection:
    user = uuid4()
    world.run("insert into tickwork.platform_admins (user_id) values (%s)", user)
    return world.connect("authenticated", user)


def test_the_api_has_no_right_before_it_becomes_somebody(world: World) -> None:
    with psycopg.connect(world.url.replace("postgres@", "tickwork_api@"), autocommit=True) as api:
        for statement in ("select from jobs", "select list_jobs()", "select * from tickwork.api_keys"):
            with refused("42501"):
                api.execute(statement)
        with refused("42501"):
            api.execute("set role service_role")
        api.execute("set role authenticated")

        assert api.execute("select count(*) from jobs").fetchone() == (0,)


def test_a_key_is_shown_once_and_kept_as_a_hash(world: World) -> None:
    key = key_for(world, "read", tenant=world.tenant())

    assert key["key"].startswith(key["prefix"])
    assert len(key["key"]) == len("tw_") + 43
    stored = world.row("select * from tickwork.api_keys")
    assert stored["secret_hash"] == sha256(key["key"].encode()).hexdigest()
    assert key["key"] not in str(stored)
    (listed,) = world.service.keys.list_api_keys()
    assert listed == {**key, "key": None}
    assert key_for(world, "read")["key"] != key["key"]


# What a key of the tenant may do, by its scopes: read jobs, enqueue for members and for admins, retry.
SCOPES = {
    "read": (True, False, False, False),
    "enqueue": (False, True, False, False),
    "read enqueue": (True, True, False, False),
    "operate": (True, True, True, True),
    "worker:test": (False, False, False, False),
}


@pytest.mark.parametrize("scopes", SCOPES)
@pytest.mark.parametrize("is_platform", [False, True], ids=["tenant", "platform"])
def test_a_key_may_do_what_its_scopes_say_for_its_tenant_only(world: World, scopes: str, is_platform: bool) -> None:
    tenant, other = world.tenant(), world.tenant("birch")
    world.type("for_members", enqueued_by="member")
    world.type("for_admins", enqueued_by="admin")
    jobs = {each: world.job("for_members", each).id for each in (tenant, other)}
    world.run("update jobs set status = 'failed', finished_at = now()")
    holder = holder_of(world, key_for(world, *scopes.split(), tenant=None if is_platform else tenant))
    reads, enqueues, enqueues_all, manages = SCOPES[scopes]
    # The key of a backend: what it may enqueue, it may enqueue for everybody, whoever else may.
    enqueues_all = enqueues_all or (is_platform and enqueues)
    seen = [*jobs] if is_platform and reads else [tenant] if reads else []

    assert {row["tenant_id"] for row in holder.execute("select * from jobs")} == {*seen}
    assert {row["tenant_id"] for row in holder.execute("select * from list_jobs()")} == {*seen}
    for each in (tenant, other):
        is_its = is_platform or each == tenant
        for type, may in {"for_members": enqueues, "for_admins": enqueues_all}.items():
            query = "select * from enqueue_job(%s, %s)"
            check(holder, query, [each, type], "TWMEM" if not is_its else None if may else "TWENQ")
        retried = None if is_its and manages else "TWADM" if is_its and reads else "TWJOB"
        check(holder, "select retry_job(%s)", [jobs[each]], retried)


def check(connection: Connection, query: str, parameters: list[object], code: str | None) -> None:
    if code is None:
        assert connection.execute(query, parameters).rowcount == 1
    else:
        with refused(code):
            connection.execute(query, parameters)


def test_a_key_for_reading_inserts_no_rows(world: World) -> None:
    tenant = world.tenant()
    columns = "tenant_id, name, vault_path, mime_type, size"
    document = f"insert into documents ({columns}) values (%s, 'a', %s, 'text/plain', 1)"
    job = "insert into jobs (tenant_id, type) values (%s, %s)"
    type = world.type()
    reader = holder_of(world, key_for(world, "read", tenant=tenant))
    writer = holder_of(world, key_for(world, "read", "enqueue", tenant=tenant))

    with refused("42501"):
        reader.execute(document, [tenant, f"tenant/{tenant}/a"])
    with refused("TWENQ"):
        reader.execute(job, [tenant, type])

    writer.execute(document, [tenant, f"tenant/{tenant}/a"])
    writer.execute(job, [tenant, type])


def test_a_key_cancels_what_it_enqueued_and_nothing_else(world: World) -> None:
    tenant, type = world.tenant(), world.type()
    key = key_for(world, "read", "enqueue", tenant=tenant)
    holder = holder_of(world, key)

    job = holder.execute("select * from enqueue_job(%s, %s)", [tenant, type]).fetchone()

    assert job is not None
    assert job["created_by"] == key["id"]
    holder.execute("select cancel_job(%s)", [job["id"]])
    with refused("TWADM"):
        holder.execute("select cancel_job(%s)", [world.job(type, tenant).id])


@pytest.mark.parametrize("end", ["revoked", "expired", "deleted", "never"])
def test_a_key_that_ended_has_no_rights_from_the_next_statement_on(world: World, end: str) -> None:
    tenant, type = world.tenant(), world.type()
    key = key_for(world, "operate", tenant=tenant, expires_at="2100-01-01")
    holder = holder_of(world, "tw_never" if end == "never" else key)
    if end != "never":
        holder.execute("select * from who_am_i()")

    if end == "revoked":
        world.service.keys.revoke_api_key(key["id"])
    if end == "expired":
        world.run("update tickwork.api_keys set expires_at = clock_timestamp()")
    if end == "deleted":
        world.run("delete from organizations where id = %s", tenant)

    job = world.job(type, world.tenant("birch"))
    for statement in ("who_am_i()", f"enqueue_job('{tenant}', '{type}')", f"enqueue_job('{uuid4()}', '{type}')"):
        with refused("TWAUT"):
            holder.execute(f"select * from {statement}")
    # It is not told which jobs there are.
    for id in (job.id, uuid4()):
        with refused("TWJOB"):
            holder.execute("select * from cancel_job(%s)", [id])
    for statement in ("jobs", "list_jobs()", "documents"):
        assert holder.execute(f"select * from {statement}").fetchall() == []


def test_the_claims_of_a_user_are_not_those_of_a_key(world: World) -> None:
    tenant, user = world.tenant(), str(uuid4())
    hash = sha256(key_for(world, "operate", tenant=tenant)["key"].encode()).hexdigest()
    world.job(tenant=tenant)
    forgeries: list[dict[str, Any]] = [
        {"sub": user, "tickwork_key": hash},
        {"sub": user, "tickwork_account": "a@b"},
        {"sub": user, "user_metadata": {"tickwork_key": hash}},
        {"sub": user, "user_metadata": {"name": '"tickwork_key"'}},
        {"app_metadata": {"tickwork_key": hash}, "role": "service_role", "platform_admin": True},
        {"tickwork_scopes": ["operate"], "tickwork_tenant": str(tenant)},
    ]

    for claims in forgeries:
        assert claiming(world, **claims).execute("select * from jobs").fetchall() == []


def test_an_account_comes_without_a_key(world: World) -> None:
    tenant = world.tenant()
    world.job(tenant=tenant)
    key = key_for(world, "read", tenant=tenant, account="Cron@project.iam.gserviceaccount.com")
    assert key["key"] is None

    holder = claiming(world, tickwork_account="cron@Project.iam.gserviceaccount.com")

    assert holder.execute("select * from jobs").rowcount == 1
    me = holder.execute("select * from who_am_i()").fetchone()
    assert me is not None
    assert (me["kind"], me["id"], me["scopes"]) == ("account", key["id"], ["read"])
    assert claiming(world, tickwork_account="another@b.example").execute("select * from jobs").fetchall() == []
    with refused("TWDUP"):
        world.admin.execute("select create_api_key('again', '{read}', null, account => %s)", [key["account"]])
    world.service.keys.revoke_api_key(key["id"])
    assert key_for(world, "read", account=key["account"])["tenant_id"] is None


def test_keys_are_made_by_admins_and_none_by_a_key(world: World) -> None:
    tenant, other = world.tenant(), world.tenant("birch")
    made = "select * from create_api_key('a key', %s, %s)"
    admin, owner = world.member_of(tenant, role="admin"), world.member_of(tenant, role="owner")
    holders = [holder_of(world, key_for(world, "operate", tenant=each)) for each in (tenant, None)]

    for maker in (admin, owner, platform_admin(world), world.connect("service_role")):
        assert maker.execute(made, [["read", "enqueue", "operate"], tenant]).rowcount == 1
    for maker, code in {world.member_of(tenant): "TWADM", world.member_of(other, role="owner"): "TWMEM"}.items():
        with refused(code):
            maker.execute(made, [["read"], tenant])
    for holder in holders:
        with refused("TWADM"):
            holder.execute(made, [["read"], tenant])
        with refused("TWADM"):
            holder.execute("select revoke_api_key(id) from list_api_keys()")


@pytest.mark.parametrize("more", ["tenant_id => null", "scopes => '{worker:test}'", "account => 'a@b.example'"])
def test_only_platform_admins_make_keys_that_reach_further(world: World, more: str) -> None:
    tenant = world.tenant()
    given = {"name": "'a key'", "scopes": "'{read}'", "tenant_id": f"'{tenant}'"} | dict([more.split(" => ")])
    call = f"select create_api_key({', '.join(f'{name} => {value}' for name, value in given.items())})"

    with refused("TWADM"):
        world.member_of(tenant, role="owner").execute(call)

    platform_admin(world).execute(call)


WRONG = {
    "no name": "'', '{read}', null",
    "no scopes": "'a', '{}', null",
    "no array": "'a', null, null",
    "no such scope": "'a', '{write}', null",
    "a null": "'a', '{null}', null",
    "no family": "'a', '{worker:}', null",
    "every family": "'a', '{worker:*}', null",
    "over": "'a', '{read}', null, expires_at => '2020-01-01'",
    "no address": "'a', '{read}', null, account => 'somebody'",
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_key_that_makes_no_sense_is_refused(world: World, wrong: str) -> None:
    with refused("TWARG"):
        world.admin.execute(f"select create_api_key({WRONG[wrong]})")


def test_an_admin_sees_and_revokes_the_keys_of_his_tenants(world: World) -> None:
    tenant, other = world.tenant(), world.tenant("birch")
    keys = {each: key_for(world, "read", tenant=each)["id"] for each in (tenant, other, None)}
    admin = world.member_of(tenant, role="admin")
    world.run("insert into memberships select %s, user_id from memberships", other)

    assert [row["id"] for row in admin.execute("select * from list_api_keys()")] == [keys[tenant]]
    assert {row["id"] for row in platform_admin(world).execute("select * from list_api_keys()")} == {*keys.values()}
    with refused("TWADM"):
        admin.execute("select * from list_api_keys(%s)", [other])
    for each in (other, None):
        with refused("TWAPI"):
            admin.execute("select revoke_api_key(%s)", [keys[each]])
    (revoked,) = admin.execute("select * from revoke_api_key(%s)", [keys[tenant]]).fetchall()
    assert admin.execute("select * from revoke_api_key(%s)", [keys[tenant]]).fetchall() == [revoked]
    assert admin.execute("select * from list_api_keys()").fetchall() == []
    assert admin.execute("select * from list_api_keys(with_revoked => true)").fetchall() == [revoked]
    with pytest.raises(NoSuchKey):
        world.service.keys.revoke_api_key(uuid4())


def test_keys_are_listed_in_pages(world: World) -> None:
    ids = [key_for(world, "read")["id"] for _ in range(3)]

    pages = [world.service.keys.list_api_keys(max_keys=2)]
    pages.append(world.service.keys.list_api_keys(max_keys=2, after_id=pages[0][-1]["id"]))

    assert [row["id"] for page in pages for row in page] == ids[::-1]


def test_a_tenant_has_a_limited_number_of_keys(world: World) -> None:
    tenant = world.tenant()
    keys = [key_for(world, "read", tenant=tenant) for _ in range(100)]

    with refused("TWFUL"):
        world.admin.execute("select create_api_key('one more', '{read}', %s)", [tenant])

    world.service.keys.revoke_api_key(keys[0]["id"])
    key_for(world, "read", tenant=tenant)


def test_everybody_can_ask_who_they_are(world: World) -> None:
    tenant, birch = world.tenant(), world.tenant("birch")
    user = world.member_of(tenant, role="admin")
    world.run("insert into memberships select %s, user_id from memberships", birch)
    key = key_for(world, "read", "enqueue", tenant=tenant)
    acme = {"tenant_id": str(tenant), "name": "acme", "role": "admin"}
    both = [acme, {"tenant_id": str(birch), "name": "birch", "role": "member"}]

    def told(connection: Connection) -> DictRow:
        (row,) = connection.execute("select kind, tenants, scopes, is_platform_admin from who_am_i()").fetchall()
        return row

    expected = {"scopes": None, "is_platform_admin": False}
    assert told(user) == {**expected, "kind": "user", "tenants": both}
    assert told(world.connect("service_role")) == {"kind": "service", "tenants": [], **expected} | {
        "is_platform_admin": True
    }
    assert told(holder_of(world, key)) == {
        **expected,
        "kind": "key",
        "tenants": [{**acme, "role": None}],
        "scopes": ["enqueue", "read"],
    }
    assert told(platform_admin(world))["is_platform_admin"]
    with refused("TWAUT"):
        world.connect("authenticated").execute("select who_am_i()")


@pytest.mark.parametrize("scope", ["read", "enqueue", "operate"])
def test_a_request_that_names_no_tenant_is_for_that_of_the_key(world: World, scope: str) -> None:
    tenant = world.tenant()
    holder = holder_of(world, key_for(world, scope, tenant=tenant))

    assert holder.execute("select tickwork.only_tenant() as id").fetchall() == [{"id": tenant}]
    with refused("TWARG"):
        holder_of(world, key_for(world, scope)).execute("select tickwork.only_tenant()")


def test_the_last_use_of_a_key_is_noted_once_a_minute(world: World) -> None:
    holder = holder_of(world, key_for(world, "read"))
    last_use = "select last_used_at from tickwork.api_keys"
    with holder.transaction():
        holder.execute("set transaction read only")
        holder.execute("select who_am_i()")
    assert world.value(last_use) is None

    holder.execute("select who_am_i()")
    first = world.value(last_use)
    holder.execute("select who_am_i()")
    assert world.value(last_use) == first
    world.run("update tickwork.api_keys set last_used_at = last_used_at - interval '61 seconds'")
    holder.execute("select who_am_i()")

    assert world.value(last_use) > first
