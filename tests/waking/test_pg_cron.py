"""Functions that the database wakes: by schedules and by inserts, signed, coalesced, and watched over."""

import hashlib
import hmac
import json
import random
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.database.test_plans import assert_by_index, scans_of, touched_rows
from tests.serve.test_wake_up import HMAC_SECRET, SOURCE, Served, running_function
from tests.servers import pg_cron as cron_server
from tests.servers import pg_net
from tests.world import World
from tests.world.command_line import run_all as run_commands
from tests.world.supabase_vault import VAULT
from tests.world.waiting import PATIENCE, until
from tickwork.database.migrate import migrate
from tickwork.errors import CallerRefused, InvalidRequest, NotAllowed
from tickwork.serve import callers
from tickwork.serve.callers import check_caller
from tickwork.settings import Settings
from tickwork.shipped import ROOT
from tickwork.testing.database import cloned
from tickwork.waking import pg_cron, pg_cron_status
from tickwork_local.postgres import Server

NOWHERE = "http://127.0.0.1:1/"


@pytest.fixture
def hosted(world: World) -> World:
    """A database with stand-ins for pg_cron and pg_net, and a family to serve."""
    for statement in (cron_server.SQL, pg_net.SQL, pg_net.HOSTED):
        world.admin.execute(statement)
    world.type("greet_person", max_attempts=1)
    return world


def install(world: World, url: str = NOWHERE, **plan: Any) -> list[str]:
    return pg_cron.install(world.url, pg_cron.Plan({"test": url}, **plan), HMAC_SECRET)


def queued(world: World) -> list[dict[str, Any]]:
    """What pg_net was asked to send."""
    return world.rows("select * from net.http_request_queue order by id")


def tick(world: World, family: str = "test") -> int:
    found: int = world.value("select tickwork.tick(%s)", family)
    return found


def test_the_hmac_of_the_database_is_that_of_python(world: World) -> None:
    generator = random.Random(7)
    pairs = [(generator.randbytes(size), generator.randbytes(size % 200)) for size in [*range(0, 140), 200, 1000]]

    rows = world.rows(
        "select tickwork.hmac_sha256(key, message) as mac from unnest(%s::bytea[], %s::bytea[]) as pair(key, message)",
        [key for key, _ in pairs],
        [message for _, message in pairs],
    )

    assert [row["mac"] for row in rows] == [hmac.digest(key, message, hashlib.sha256) for key, message in pairs]


def test_nothing_due_asks_for_nothing_but_is_noted(hosted: World) -> None:
    install(hosted)
    hosted.job(run_at="2030-01-01")

    assert tick(hosted) == 0

    assert queued(hosted) == []
    assert hosted.row("select family, due_jobs, request_ids from tickwork.ticks") == {
        "family": "test",
        "due_jobs": 0,
        "request_ids": [],
    }


def test_a_tick_asks_for_as_many_calls_as_jobs_are_due_up_to_the_limit(hosted: World) -> None:
    install(hosted, max_calls=3)
    use_up_tokens(hosted)
    counts = []
    for _ in range(5):
        hosted.job()
        counts.append(tick(hosted))

    assert counts == [1, 2, 3, 3, 3]
    assert len(queued(hosted)) == sum(counts)
    sent = [row["request_ids"] for row in hosted.rows("select request_ids from tickwork.ticks order by id")]
    assert [len(ids) for ids in sent] == counts
    assert [each for ids in sent for each in ids] == [row["id"] for row in queued(hosted)]


def test_every_call_is_signed_anew_and_with_a_short_timeout(hosted: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(callers, "_seen", callers._Seen())
    install(hosted, timeout_seconds=7)
    use_up_tokens(hosted)
    for _ in range(4):
        hosted.job()

    tick(hosted)

    settings = Settings(database_url=hosted.url, hmac_secret=HMAC_SECRET)
    for request in queued(hosted):
        assert request["timeout_milliseconds"] == 7000
        assert (request["url"], request["headers"]["Content-Type"]) == (NOWHERE, "application/json")
        assert HMAC_SECRET not in json.dumps(request, default=str)
        check_caller(request["headers"], "10.0.0.1", "test", settings)
        with pytest.raises(CallerRefused, match="used before"):
            check_caller(request["headers"], "10.0.0.1", "test", settings)


DUE = {
    "a due job": ([], 1),
    "a paused family": (["select pause_jobs(family => 'test')"], 0),
    "a paused type": (["select pause_jobs(type => 'greet_person')"], 0),
    "a paused tenant": (["select pause_jobs(tenant_id => id) from organizations"], 0),
    "a held lane": (["select hold_lane('test', id, 'lane', 'infinity') from organizations"], 0),
    "another held lane": (["select hold_lane('test', id, 'other', 'infinity') from organizations"], 1),
    "a paused type with jobs given back": (
        [
            "select release_job(id, lease_token) from claim_next_job('test', 'w')",
            "select release_job(id, lease_token) from claim_next_job('test', 'w')",
            "select pause_jobs(type => 'greet_person')",
        ],
        0,
    ),
    "a cancelled job": (["select cancel_job(id) from jobs"], 0),
    "a running job": (["select claim_next_job('test', 'w')"], 0),
    "a lease that ran out": (
        [
            "update job_types set max_attempts = 4",
            "update jobs set max_attempts = 4",
            "select claim_next_job('test', 'w')",
            "update jobs set lease_expires_at = now() - interval '1 second'",
        ],
        1,
    ),
    "a full type": (
        [
            "update job_types set max_running = 1",
            "select enqueue_job(tenant_id, type) from jobs",
            "select claim_next_job('test', 'w')",
            "select claim_next_job('test', 'w')",
        ],
        0,
    ),
    "a drained queue": (
        ["select complete_job(id, lease_token) from claim_next_job('test', 'w')", "select claim_next_job('test', 'w')"],
        0,
    ),
    "a job that was given back": (["select release_job(id, lease_token) from claim_next_job('test', 'w')"], 1),
    "a pause that is over": (
        ["select pause_jobs(type => 'greet_person')", "select resume_jobs(type => 'greet_person')"],
        1,
    ),
    "a tenant that is paused no more": (
        [
            "select claim_next_job('test', 'w')",
            "select enqueue_job(tenant_id, type, lane => 'lane') from jobs",
            "select pause_jobs(tenant_id => id) from organizations",
            "select claim_next_job('test', 'w')",
            "select resume_jobs(tenant_id => id) from organizations",
        ],
        1,
    ),
}


@pytest.mark.parametrize("story", DUE)
def test_only_what_a_claim_could_start_is_due(hosted: World, story: str) -> None:
    statements, due = DUE[story]
    hosted.job(lane="lane")
    for statement in statements:
        hosted.run(statement)
    install(hosted)

    asked = tick(hosted)

    assert asked == due
    assert (hosted.queue.claim_next_job("test") is not None) == bool(due)


MANY_ALARMS = """
    insert into tickwork.alarms (family, tenant_number, wake_at)
    select 'test', tenants.number, now() - interval '1 hour' from tickwork.tenants, generate_series(1, 5000)
"""


def test_what_many_alarms_hide_is_found_by_a_call(hosted: World) -> None:
    install(hosted)
    tenant = hosted.tenant()
    hosted.service.pauses.hold_lane("test", tenant, "held", "infinity")
    hosted.job(tenant=tenant, lane="held")
    hosted.run(MANY_ALARMS)
    use_up_tokens(hosted)
    hosted.job(tenant=tenant)

    assert tick(hosted) == 1


def test_a_tick_reads_a_bounded_part_of_what_nobody_has_processed(hosted: World) -> None:
    install(hosted)
    hosted.job()
    hosted.run("select enqueue_job(tenant_id, type) from jobs, generate_series(1, 2000)")
    hosted.run(MANY_ALARMS)
    # They count up to 100,000 queued jobs, every ten seconds at most.
    hosted.run("update alert_rules set is_on = false")

    scans = scans_of(hosted, "select tickwork.tick('test')")

    assert touched_rows([scan for scan in scans if scan["Relation Name"] == "waiting"]) < 50
    assert_by_index([scan for scan in scans if scan["Relation Name"] in ("jobs", "waiting", "parked")])


def test_without_the_secret_no_call_is_sent(hosted: World) -> None:
    install(hosted)
    use_up_tokens(hosted)
    hosted.run("delete from tickwork.call_secrets")
    missing = "is missing, and calls are never sent unsigned"

    with pytest.raises(psycopg.Error, match=missing):
        tick(hosted)
    hosted.job()
    with pytest.raises(psycopg.Error, match=missing) as refused:
        tick(hosted)

    assert refused.value.sqlstate == "TWCRN"
    assert queued(hosted) == []


def test_without_its_url_a_family_does_not_tick(hosted: World) -> None:
    install(hosted)

    with pytest.raises(psycopg.Error, match="the URL of the function of family 'other' is missing"):
        tick(hosted, "other")


def test_an_insert_wakes_its_function_at_once(hosted: World) -> None:
    install(hosted)
    hosted.type("greet_others", family="other")

    hosted.job("greet_others")
    hosted.job(run_at="2030-01-01")
    assert queued(hosted) == []
    hosted.job()

    (request,) = queued(hosted)
    assert request["url"] == NOWHERE


def test_a_burst_of_inserts_makes_a_handful_of_calls(hosted: World) -> None:
    install(hosted)
    tenant = hosted.tenant()
    jobs = json.dumps([{"tenant_id": str(tenant), "type": "greet_person"}] * 100)

    with ThreadPoolExecutor(8) as threads:
        queues = [hosted.connect() for _ in range(8)]
        insert = "insert into jobs (tenant_id, type) values (%s, 'greet_person')"
        for _ in threads.map(lambda n: queues[n % 8].execute(insert, [tenant]) and None, range(800)):
            pass
    hosted.run("select count(*) from enqueue_jobs(%s)", jobs)
    hosted.run("select count(*) from enqueue_jobs(%s)", jobs)

    assert hosted.value("select count(*) from jobs") == 1000
    seconds = hosted.value("select extract(epoch from max(created_at) - min(created_at))::float from jobs")
    assert 1 <= len(queued(hosted)) <= pg_cron.TOKENS * (1 + (seconds + 2) // 5)


def test_a_call_is_asked_for_by_the_commit_or_not_at_all(hosted: World) -> None:
    install(hosted)
    tenant = hosted.tenant()
    other = hosted.connect()

    with other.transaction(force_rollback=True):
        other.execute("select enqueue_job(%s, 'greet_person')", [tenant])
        assert other.execute("select from net.http_request_queue").rowcount == 1

    assert queued(hosted) == []


def test_inserts_never_wait_for_each_other(hosted: World) -> None:
    install(hosted)
    tenant = hosted.tenant()
    with hosted.connect().transaction():
        transactions = [hosted.connect() for _ in range(pg_cron.TOKENS + 3)]
        for each in transactions:
            each.execute("begin")
            each.execute("set local lock_timeout = '5s'")
            each.execute("select enqueue_job(%s, 'greet_person')", [tenant])
        for each in transactions:
            each.execute("commit")

    assert len(queued(hosted)) == pg_cron.TOKENS


@pytest.mark.parametrize("isolation", ["repeatable read", "serializable"])
def test_a_wake_up_never_fails_an_insert(hosted: World, isolation: str) -> None:
    install(hosted)
    tenant = hosted.tenant()
    late = hosted.connect()
    late.execute(f"begin isolation level {isolation}")
    late.execute("select 1 from organizations")
    use_up_tokens(hosted)

    late.execute("select enqueue_job(%s, 'greet_person')", [tenant])
    late.execute("commit")
    hosted.run("delete from tickwork.call_secrets")
    hosted.run("update tickwork.call_tokens set free_at = '-infinity'")
    hosted.job(tenant=tenant)

    assert hosted.value("select count(*) from jobs") == 2
    assert queued(hosted) == []


def test_a_member_wakes_the_function_and_sees_nothing_of_it(hosted: World) -> None:
    install(hosted)
    member = hosted.member_of(hosted.tenant())

    member.execute("insert into jobs (tenant_id, type) select tenant_id, 'greet_person' from memberships")

    assert len(queued(hosted)) == 1
    for statement in (
        "select tickwork.tick('test')",
        "select tickwork.send_call('http://127.0.0.1/', '{}', 1000)",
        "select tickwork.call_secret()",
        "select * from tickwork.call_secrets",
        "select * from tickwork.functions",
    ):
        for role in (member, hosted.connect("service_role"), hosted.connect("tickwork_worker")):
            if role is not member and "tick(" in statement:
                continue
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                role.execute(statement)


def test_installing_twice_changes_nothing_but_what_is_new(hosted: World) -> None:
    install(hosted)
    before = schema_of(hosted)

    names = install(hosted, "http://127.0.0.1:2/", every=10, max_calls=9)

    assert names == ["tickwork test", "tickwork housekeeping"]
    assert schema_of(hosted) == before
    jobs = hosted.rows("select jobname, schedule, command from cron.job order by jobname")
    assert [(job["jobname"], job["schedule"]) for job in jobs] == [
        ("tickwork housekeeping", "*/5 * * * *"),
        ("tickwork test", "10 seconds"),
    ]
    assert jobs[1]["command"] == "select tickwork.tick('test', 2.5)"
    assert hosted.row("select url, max_calls from tickwork.functions") == {"url": "http://127.0.0.1:2/", "max_calls": 9}


def test_uninstalling_leaves_the_jobs_and_nothing_else(hosted: World) -> None:
    before = schema_of(hosted)
    hosted.run("select cron.schedule('somebody else''s', '* * * * *', 'select 1')")
    install(hosted)
    hosted.job()
    tick(hosted)

    assert pg_cron.uninstall(hosted.url) == ["tickwork housekeeping", "tickwork test"]

    assert schema_of(hosted) == before
    assert [row["jobname"] for row in hosted.rows("select jobname from cron.job")] == ["somebody else's"]
    for table in ("functions", "call_tokens", "ticks", "call_secrets"):
        assert hosted.value(f"select count(*) from tickwork.{table}") == 0
    hosted.job()
    assert hosted.value("select count(*) from jobs") == 2


# Hosted, everything is done by a role that is no superuser, and what it may do with pg_net it cannot pass on.
HOST = """
    create role {host} login createrole bypassrls;
    alter database {name} owner to {host};
    alter schema public owner to {host};
    grant anon, authenticated, service_role, tickwork_owner, tickwork_worker, tickwork_api to {host}
      with admin option;
    grant usage on schema net, cron to {host};
    grant select, insert, update, delete on all tables in schema cron to {host};
    grant select on net._http_response to {host};
    grant usage on all sequences in schema cron to {host};
    grant execute on all functions in schema net, cron to {host};
"""


def test_a_role_that_is_no_superuser_installs_ticks_and_takes_back(server: Server) -> None:
    with cloned(server, "template0") as name, World(server.url(name), server.url(name, "tickwork_worker")) as world:
        host = f"host_{name}"
        for sql in ((ROOT / "infra/local/stand_ins.sql").read_text(), cron_server.SQL, pg_net.SQL, pg_net.HOSTED):
            world.admin.execute(sql)
        world.admin.execute(HOST.format(host=host, name=name))
        url = server.url(name, host)
        try:
            migrate(url)
            pg_cron.install(url, pg_cron.Plan({"extract": NOWHERE}), HMAC_SECRET)
            member = world.member_of(world.tenant())
            member.execute(
                "insert into jobs (tenant_id, type, payload) "
                "select tenant_id, 'extract_document', jsonb_build_object('document_id', gen_random_uuid()) "
                "from memberships"
            )
            with psycopg.connect(url, autocommit=True) as connection:
                due = connection.execute("select tickwork.tick('extract')").fetchone()
            found = pg_cron_status.status(url)
            may_send = world.value("select has_schema_privilege('tickwork_owner', 'net', 'usage')")
            sent = len(queued(world))
            gone = pg_cron.uninstall(url)
        finally:
            world.admin.execute(f"drop owned by {host} cascade")
            world.admin.execute(f"reassign owned by {host} to postgres")
            world.admin.execute(f"drop role {host}")

    assert (due, sent, may_send) == ((1,), 2, False)
    assert found.problems == []
    assert gone == ["tickwork extract", "tickwork housekeeping"]


def schema_of(world: World) -> list[object]:
    return [
        *world.rows(
            """
            select proname, proacl::text, prosecdef
            from pg_proc
            where pronamespace = 'tickwork'::regnamespace
            order by oid
            """
        ),
        *world.rows("select tgname from pg_trigger where tgrelid = 'jobs'::regclass and not tgisinternal"),
    ]


def use_up_tokens(world: World) -> None:
    """No insert asks for a call, so that what a tick asks for can be counted."""
    world.run("update tickwork.call_tokens set free_at = 'infinity'")


@pytest.mark.parametrize(
    ("seconds", "schedule"),
    [(1, "1 seconds"), (30, "30 seconds"), (59, "59 seconds"), (60, "* * * * *"), (300, "*/5 * * * *")],
)
def test_an_interval_is_written_as_pg_cron_understands_it(seconds: int, schedule: str) -> None:
    assert pg_cron.schedule_of(seconds) == schedule
    assert pg_cron_status.seconds_of(schedule) == seconds


def test_a_schedule_ticks_every_30_seconds_unless_told_otherwise(hosted: World) -> None:
    install(hosted)

    assert hosted.value("select schedule from cron.job where jobname = 'tickwork test'") == "30 seconds"


@pytest.mark.parametrize("seconds", [0, -1, 61, 90, 420, 3600])
def test_an_interval_that_pg_cron_would_misread_is_refused(seconds: int) -> None:
    with pytest.raises(InvalidRequest, match="is not a valid interval"):
        pg_cron.schedule_of(seconds)


def test_a_server_without_the_extensions_is_told_what_else_there_is(world: World) -> None:
    with pytest.raises(InvalidRequest, match="has no pg_cron") as refused:
        pg_cron.install(world.url, pg_cron.Plan({"extract": NOWHERE}), HMAC_SECRET)

    assert "Cloud Scheduler" in str(refused.value.hint)
    assert "tickwork worker" in str(refused.value.hint)
    assert any("has no pg_net" in problem for problem in pg_cron_status.status(world.url).problems)


def test_an_install_that_fails_leaves_nothing(hosted: World) -> None:
    before = schema_of(hosted)

    with pytest.raises(InvalidRequest, match="there is no family 'tset'"):
        pg_cron.install(hosted.url, pg_cron.Plan({"test": NOWHERE, "tset": NOWHERE}), HMAC_SECRET)
    with pytest.raises(InvalidRequest, match="tickwork_hmac_secret is missing"):
        pg_cron.install(hosted.url, pg_cron.Plan({"test": NOWHERE}), None)
    with pytest.raises(NotAllowed) as refused:
        pg_cron.install(hosted.worker_url, pg_cron.Plan({"extract": NOWHERE}), HMAC_SECRET)

    assert "ran the migrations" in str(refused.value.hint)
    with pytest.raises(NotAllowed, match="permission denied"):
        pg_cron_status.status(hosted.worker_url)
    with pytest.raises(NotAllowed, match="permission denied"):
        pg_cron.uninstall(hosted.worker_url)
    assert schema_of(hosted) == before
    assert hosted.value("select count(*) from cron.job") == 0


UPDATE_SECRET = """
    create function vault.update_secret(secret_id uuid, new_secret text) returns void language sql as $$
      update vault.secrets set secret = reverse(new_secret) where id = secret_id
    $$
"""


def test_where_there_is_a_vault_the_secret_is_in_it(hosted: World) -> None:
    hosted.admin.execute(VAULT)
    hosted.admin.execute(UPDATE_SECRET)
    install(hosted)
    pg_cron.install(hosted.url, pg_cron.Plan({"test": NOWHERE}), f"{HMAC_SECRET}-new")
    use_up_tokens(hosted)
    hosted.job()

    tick(hosted)

    headers = queued(hosted)[0]["headers"]
    check_caller(headers, None, "test", Settings(database_url=hosted.url, hmac_secret=f"{HMAC_SECRET}-new"))
    assert hosted.value("select count(*) from tickwork.call_secrets") == 0
    assert hosted.value("select count(*) from vault.secrets") == 1
    hosted.run("delete from vault.secrets")
    with pytest.raises(psycopg.Error, match="is missing"):
        tick(hosted)


@pytest.fixture
def function(hosted: World, tmp_path: Path) -> Iterator[Served]:
    source = tmp_path / "main.py"
    source.write_text(SOURCE)
    settings = {"TICKWORK_DATABASE_URL": hosted.worker_url, "TICKWORK_HMAC_SECRET": HMAC_SECRET}
    with running_function(source, tmp_path / "function", **settings) as served:
        yield served


def test_schedules_and_inserts_get_jobs_done_over_http(hosted: World, function: Served) -> None:
    install(hosted, f"http://127.0.0.1:{function.port}/")
    with pg_net.running_pg_net(hosted.url):
        woken = hosted.job()
        until(lambda: hosted.reload(woken).status == "done")
        # Until it has answered, the same invocation would take the next jobs as well.
        answered(hosted, 1)
        use_up_tokens(hosted)
        ticked = [hosted.job() for _ in range(3)]
        assert hosted.reload(ticked[0]).status == "queued"

        fates = cron_server.run_all(hosted)

        assert set(fates.values()) == {"succeeded"}
        until(lambda: all(hosted.reload(job).status == "done" for job in ticked))
        until(lambda: hosted.value("select count(*) from net.http_request_queue") == 0)

    found = pg_cron_status.status(hosted.url)
    assert found.problems == []
    (family,) = found.families
    assert (family["good"], family["refused"], family["unreached"], family["due_now"]) == (4, 0, 0, 0)


OLD_TICK = """
    insert into tickwork.ticks (family, ticked_at, due_jobs, request_ids)
    values ('test', now() - interval '1 minute' - %s::interval, 0, '{}')
"""


def test_the_status_says_what_is_wrong(hosted: World, function: Served) -> None:
    url = f"http://127.0.0.1:{function.port}/"
    pg_cron.install(hosted.url, pg_cron.Plan({"test": url}), "another-secret-of-32-characters-or-more")
    with pg_net.running_pg_net(hosted.url):
        hosted.job()
        answered(hosted, 1)
        wrong_secret = pg_cron_status.status(hosted.url).problems
        install(hosted)
        hosted.run("truncate net._http_response")
        hosted.run("update tickwork.call_tokens set free_at = '-infinity'")
        hosted.job()
        answered(hosted, 1)
        wrong_url = pg_cron_status.status(hosted.url).problems
    hosted.run("update cron.job set active = false where jobname = 'tickwork test'")
    hosted.run("delete from tickwork.call_secrets")
    hosted.type("greet_others", family="other")
    hosted.job("greet_others")
    hosted.run(OLD_TICK, "1 day")
    assert cron_server.run_all(hosted) == {"tickwork housekeeping": "succeeded"}
    assert hosted.value("select count(*) from tickwork.ticks") == 0
    hosted.run(OLD_TICK, "1 hour")
    hosted.run("update cron.job set active = true")
    neglected = pg_cron_status.status(hosted.url).problems
    assert cron_server.run_all(hosted)["tickwork test"] == "failed"
    failed = pg_cron_status.status(hosted.url).problems

    assert [each for each in wrong_secret if "responds with 401. Is its TICKWORK_HMAC_SECRET the one" in each]
    assert [each for each in wrong_url if f"cannot be reached at {NOWHERE}" in each]
    assert [each for each in neglected if "the secret tickwork_hmac_secret is missing" in each]
    assert [each for each in neglected if "The scheduler is dead: no tick for 36" in each]
    assert [each for each in neglected if "1 jobs of other are due, and its URL is missing" in each]
    assert [each for each in failed if "The last run of 'tickwork test' failed: ERROR:  the secret" in each]


def answered(world: World, count: int) -> None:
    until(lambda: world.value("select count(*) from net._http_response") == count)


def test_the_command_line_installs_shows_and_takes_back(hosted: World, tmp_path: Path) -> None:
    url = ["--database-url", hosted.url]
    hosted.run("insert into tickwork.call_secrets values ('tickwork_hmac_secret', %s)", HMAC_SECRET)
    installed, again, shown, told, bad_url, bad_pair, removed, empty = run_commands(
        [
            ["cron", "install", "test=https://test.example", *url],
            ["cron", "install", "test=https://test.example", "--every", "10", *url],
            ["cron", "status", "--json", *url],
            ["cron", "status", *url],
            ["cron", "install", "test=http://test.example", *url],
            ["cron", "install", "https://test.example", *url],
            ["cron", "uninstall", *url],
            ["cron", "status", *url],
        ],
        home=tmp_path,
    )

    assert (installed.returncode, again.returncode, removed.returncode) == (0, 0, 0)
    assert "scheduled tickwork test" in installed.stdout
    assert json.loads(shown.stdout)["schedules"][1]["schedule"] == "10 seconds"
    assert "✗ The scheduler has not ticked yet" in told.stdout
    assert (shown.returncode, told.returncode, empty.returncode) == (1, 1, 1)
    assert "is not an https:// URL" in bad_url.stderr
    assert "is not FAMILY=URL" in bad_pair.stderr
    assert "unscheduled tickwork test" in removed.stdout
    assert "Nothing is scheduled" in empty.stdout


def test_what_cannot_be_reached_is_not_tried_again(hosted: World) -> None:
    install(hosted)
    hosted.job()
    (request,) = queued(hosted)

    with pg_net.running_pg_net(hosted.url) as requests:
        answered(hosted, 1)
        until(lambda: not queued(hosted))

    assert [row["id"] for row in requests.sent] == [request["id"]]


def test_two_ticks_at_once_do_no_harm(hosted: World) -> None:
    install(hosted)
    use_up_tokens(hosted)
    hosted.job()
    barrier = threading.Barrier(2)

    def tick_once(connection: Any) -> int:
        barrier.wait(PATIENCE)
        return int(connection.execute("select tickwork.tick('test') as due").fetchone()["due"])

    with ThreadPoolExecutor(2) as threads:
        counts = list(threads.map(tick_once, [hosted.connect(), hosted.connect()]))

    assert counts == [1, 1]
