"""The audit log: who changed what, from where; append-only, for those who manage, and never on the hot path."""

import json
from typing import Any, LiteralString
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg.rows import DictRow

from tests.database.test_api_keys import holder_of, key_for, platform_admin, refused
from tests.world import World
from tests.world.receivers import endpoint

LATEST: LiteralString = "select * from audit_log order by id desc limit 1"


def audited(world: World, since: int = 0) -> list[DictRow]:
    return world.rows("select * from audit_log where id > %s order by id", since)


def now_at(world: World) -> int:
    found: int = world.value("select coalesce(max(id), 0) from audit_log")
    return found


def test_a_change_is_noted_with_who_from_where_before_and_after(world: World) -> None:
    tenant, user = world.tenant(), uuid4()
    world.run("insert into memberships (tenant_id, user_id, role) values (%s, %s, 'admin')", tenant, user)
    admin = world.connect("authenticated", user)
    headers = {"x-request-id": "r" * 500, "x-forwarded-for": "6.6.6.6, 203.0.113.9", "user-agent": "curl"}
    admin.execute("select set_config('request.headers', %s, false)", [json.dumps(headers)])
    row = admin.execute("select * from create_schedule(%s, 'nightly', %s, '@daily')", [tenant, world.type()]).fetchone()
    assert row is not None

    admin.execute("select change_schedule(%s, %s)", [row["id"], '{"cron_expr": "@weekly"}'])

    noted = world.row(LATEST)
    assert (noted["tenant_id"], noted["actor_kind"], noted["actor_id"]) == (tenant, "user", user)
    assert (noted["action"], noted["target"]) == ("schedules.changed", f"schedules {row['id']}")
    assert (noted["before"], noted["after"]) == ({"cron_expr": "@daily"}, {"cron_expr": "@weekly"})
    assert (noted["request_id"], noted["ip"], noted["user_agent"]) == ("r" * 100, "203.0.113.9", "curl")


def test_each_table_of_the_configuration_is_audited(world: World) -> None:
    tenant, type = world.tenant(), world.type()
    service = world.service
    before = now_at(world)

    service.keys.create_api_key("a key", ["read"], tenant)
    world.run("update job_types set priority = 7 where key = %s", type)
    world.run("update tenant_settings set weight = 2")
    world.run("insert into memberships (tenant_id, user_id) values (%s, %s)", tenant, uuid4())
    world.run("insert into tickwork.platform_admins (user_id) values (%s)", uuid4())
    service.schedules.create_schedule(tenant, "nightly", type, "@daily")
    service.triggers.create_event_trigger(tenant, "on invoices", "invoice.*", type)
    endpoint(world, tenant)
    world.run("insert into connectors (tenant_id, provider, name, account_id) values (%s, 'dropbox', 'a', 'b')", tenant)
    service.pauses.pause_jobs(tenant_id=tenant)
    service.pauses.limit_lane("test", tenant, "narrow", max_running=1)
    world.run("insert into document_types (tenant_id, key, label) values (%s, 'own', 'own')", tenant)
    service.pauses.resume_jobs(tenant_id=tenant)

    noted = audited(world, before)
    assert [row["action"] for row in noted] == [
        *("api_keys.created", "job_types.changed", "tenant_settings.changed", "memberships.created"),
        *("platform_admins.created", "schedules.created", "event_triggers.created", "webhook_endpoints.created"),
        *("connectors.created", "pauses.created", "lanes.limited", "document_types.created", "pauses.deleted"),
    ]
    assert {
        row["tenant_id"] for row in noted if row["action"] not in ("job_types.changed", "platform_admins.created")
    } == {tenant}
    assert {row["actor_kind"] for row in noted} == {"service"}


def test_no_secret_and_nothing_long_is_noted(world: World) -> None:
    tenant, before = world.tenant(), now_at(world)
    key = key_for(world, "read", tenant=tenant)
    template = {"headers": {"Authorization": "Bearer hush"}, "body": "x" * 10_000}
    world.service.schedules.create_schedule(tenant, "nightly", world.type(), "@daily")
    world.run("update schedules set payload_template = %s", json.dumps(template))

    text = str(audited(world, before))

    assert key["prefix"] in text
    for secret in (key["key"], world.value("select secret_hash from tickwork.api_keys"), "hush"):
        assert secret not in text
    assert len(text) < 5_000


def test_what_people_do_to_jobs_is_noted_once_each(world: World) -> None:
    tenant = world.tenant()
    jobs = [world.job(tenant=tenant) for _ in range(4)]
    admin = world.member_of(tenant, role="admin")
    before = now_at(world)

    admin.execute("select bury_job(%s, 'not today')", [jobs[0].id])
    admin.execute("select retry_job(%s)", [jobs[0].id])
    admin.execute("select reschedule_job(%s, '2100-01-01')", [jobs[0].id])
    admin.execute("select cancel_job(%s)", [jobs[0].id])
    admin.execute("select cancel_job(%s)", [jobs[0].id])
    admin.execute("select * from cancel_jobs(family => 'test')")
    admin.execute("select * from cancel_jobs(family => 'test')")

    noted = audited(world, before)
    assert [row["action"] for row in noted] == [
        *("jobs.buried", "jobs.retried", "jobs.rescheduled", "jobs.cancelled", "jobs.cancelled"),
    ]
    assert {row["tenant_id"] for row in noted} == {tenant}
    assert (noted[0]["target"], noted[0]["detail"]) == (f"jobs {jobs[0].id}", "not today")
    assert (noted[0]["before"]["status"], noted[0]["after"]["status"]) == ("queued", "dead")
    assert (noted[4]["target"], noted[4]["after"]["changed"], noted[4]["after"]["family"]) == ("3 jobs", 3, "test")


def test_the_queue_at_work_is_not_audited(world: World) -> None:
    tenant, type = world.tenant(), world.type()
    schedule = world.service.schedules.create_schedule(tenant, "often", type, "* * * * *")
    endpoint(world, tenant)
    holder = holder_of(world, key_for(world, "operate", tenant=tenant))
    before = now_at(world)

    world.service.jobs.enqueue_job(tenant, type)
    holder.execute("select enqueue_job(%s, %s)", [tenant, type])
    world.queue.complete_job(world.claim())
    world.queue.fail_job(world.claim(), {"code": "NO", "message": "no"})
    holder.execute("select who_am_i()")
    world.run("update schedules set look_at = now(), next_nominal_at = now() where id = %s", schedule["id"])
    world.run("update webhook_endpoints set failures = 3, breaker = 'open', probe_at = now()")
    world.run("update job_types set priority = priority")

    assert audited(world, before) == []


def test_admins_read_what_is_their_tenants_and_nobody_changes_it(world: World) -> None:
    tenant, other = world.tenant(), world.tenant("birch")
    for each in (tenant, other):
        world.service.pauses.pause_jobs(tenant_id=each)
    world.run("insert into tickwork.platform_admins (user_id) values (%s)", uuid4())
    everything = len(audited(world))
    readers = {
        world.member_of(tenant): set(),
        world.member_of(tenant, role="admin"): {tenant},
        holder_of(world, key_for(world, "read", tenant=tenant)): set(),
        holder_of(world, key_for(world, "operate", tenant=tenant)): {tenant},
        holder_of(world, key_for(world, "read")): set(),
    }

    for reader, seen in readers.items():
        assert {row["tenant_id"] for row in reader.execute("select * from list_audit()")} == seen
        for change in ("update audit_log set action = ''", "delete from audit_log", "truncate audit_log"):
            with refused("42501"):
                reader.execute(change)
    assert len(platform_admin(world).execute("select * from list_audit()").fetchall()) >= everything
    with refused("42501"):
        world.connect("service_role").execute("delete from audit_log")


def test_the_log_is_read_in_pages_and_by_filter(world: World) -> None:
    tenant = world.tenant()
    for _ in range(3):
        world.service.pauses.pause_jobs(tenant_id=tenant)
        world.service.pauses.resume_jobs(tenant_id=tenant)

    def pages(**chosen: Any) -> list[int]:
        found: list[int] = []
        while page := world.service.audit.list_audit(**chosen, after_id=min(found, default=None), max_rows=2):
            found += [row["id"] for row in page]
        return found

    everything = [row["id"] for row in audited(world)]
    assert pages() == everything[::-1]
    assert len(pages(action="pauses.created", tenant_id=tenant)) == 3
    assert len(pages(target=f"pauses tenant {tenant}")) == 6
    assert pages(actor_id=uuid4()) == pages(created_after="2100-01-01") == pages(created_before="2000-01-01") == []


def refusing(world: World, **claims: str) -> psycopg.Connection[Any]:
    """As the API connects for a caller."""
    api = psycopg.connect(world.url.replace("postgres@", "tickwork_api@"), autocommit=True)
    api.execute("set role authenticated")
    api.execute("select set_config('request.jwt.claims', %s, false)", [json.dumps(claims)])
    return api


NOTE: LiteralString = "select note_refusal('cancel_job', %s, 'TWADM', %s)"


@pytest.mark.parametrize("is_known", [True, False])
def test_a_refusal_is_noted_for_the_tenant_of_the_caller(world: World, is_known: bool) -> None:
    tenant = world.tenant()
    key = key_for(world, "read", tenant=tenant)
    hash = world.value("select secret_hash from tickwork.api_keys") if is_known else "0" * 64

    with refusing(world, tickwork_key=hash) as api:
        for _ in range(70):
            api.execute(NOTE, ["j" * 900, "d" * 9000])

    noted = world.rows("select * from audit_log where code = 'TWADM'")
    assert len(noted) == 60
    assert (noted[0]["action"], len(noted[0]["target"]), len(noted[0]["detail"])) == ("refused cancel_job", 200, 500)
    expected = ("key", key["id"], tenant) if is_known else ("nobody", None, None)
    assert (noted[0]["actor_kind"], noted[0]["actor_id"], noted[0]["tenant_id"]) == expected


def test_users_note_nothing_themselves(world: World) -> None:
    with refused("TWADM"):
        world.member_of(world.tenant(), role="owner").execute(NOTE, ["a", "b"])


def test_rows_are_kept_as_long_as_the_tenant_says(world: World) -> None:
    tenants: dict[str, UUID] = {name: world.tenant(name) for name in ("a week", "forever", "as usual")}
    world.run("update tenant_settings set keep_audit_days = 7 where tenant_id = %s", tenants["a week"])
    world.run("update tenant_settings set keep_audit_days = null where tenant_id = %s", tenants["forever"])
    world.run("delete from audit_log")
    deleted = uuid4()
    for tenant in (*tenants.values(), deleted, None):
        for days in (1, 8, 500):
            world.run(
                "insert into audit_log (tenant_id, at, actor_kind, action, detail) "
                "values (%s, now() - make_interval(days => %s), 'service', 'a', %s)",
                *(tenant, days, str(days)),
            )

    assert world.service.maintenance.purge_audit() == 5

    left = world.rows("select tenant_id, array_agg(detail order by id) as days from audit_log group by 1")
    assert {row["tenant_id"]: row["days"] for row in left} == {
        tenants["a week"]: ["1"],
        tenants["forever"]: ["1", "8", "500"],
        tenants["as usual"]: ["1", "8"],
        deleted: ["1", "8"],
        None: ["1", "8"],
    }


@pytest.mark.parametrize(
    ("headers", "request_id"),
    [
        ("{broken", None),
        ('{"x-request-id":"one"}', "one"),
        ('{"user-agent": "\\"x-request-id\\": \\"forged\\"", "x-request-id": "two"}', "two"),
    ],
)
def test_whatever_the_headers_are_they_are_no_error(world: World, headers: str, request_id: str | None) -> None:
    tenant = world.tenant()
    admin = world.member_of(tenant, role="admin")
    admin.execute("select set_config('request.headers', %s, false)", [headers])

    admin.execute("select pause_jobs(tenant_id => %s)", [tenant])

    assert world.value("select request_id from audit_log order by id desc limit 1") == request_id
