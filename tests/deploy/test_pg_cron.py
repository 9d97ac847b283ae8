"""The real pg_cron, built from Debian's source: a schedule of seconds gets jobs done over HTTP."""

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.serve.test_wake_up import HMAC_SECRET, SOURCE, running_function
from tests.servers import pg_net
from tests.world import World
from tests.world.waiting import until
from tickwork.database.migrate import migrate
from tickwork.waking import pg_cron, pg_cron_status
from tickwork_local.postgres import Server


@pytest.fixture
def world(extended_server: Server) -> Iterator[World]:
    migrate(extended_server.url())
    with World(extended_server.url(), extended_server.url(user="tickwork_worker")) as world:
        world.admin.execute(pg_net.SQL)
        world.admin.execute(pg_net.HOSTED)
        world.type()
        yield world


def test_a_real_schedule_fires_real_http_and_jobs_get_done(world: World, tmp_path: Path) -> None:
    source = tmp_path / "main.py"
    source.write_text(SOURCE)
    settings = {"TICKWORK_DATABASE_URL": world.worker_url, "TICKWORK_HMAC_SECRET": HMAC_SECRET}
    with running_function(source, tmp_path / "function", **settings) as served, pg_net.running_pg_net(world.url):
        plan = pg_cron.Plan({"test": f"http://127.0.0.1:{served.port}/"}, every=2)
        assert pg_cron.install(world.url, plan, HMAC_SECRET) == ["tickwork test", "tickwork housekeeping"]
        # Sooner than every five minutes, and with a run of long ago to forget.
        world.run("select cron.schedule(%s, '1 seconds', %s)", pg_cron.HOUSEKEEPING, pg_cron.KEEP_HOUSE)
        world.run(
            "insert into cron.job_run_details (jobid, runid, status, end_time) "
            "select jobid, 1000000, 'old', now() - interval '8 days' from cron.job where jobname = 'tickwork test'"
        )
        # No insert wakes the function: whatever gets done, the schedule did it.
        world.run("update tickwork.call_tokens set free_at = 'infinity'")
        jobs = [world.job() for _ in range(10)]

        until(lambda: all(world.reload(job).status == "done" for job in jobs))
        until(lambda: ran(world) == {"tickwork test", "tickwork housekeeping"})
        until(lambda: world.value("select count(*) from cron.job_run_details where status = 'old'") == 0)
        until(lambda: world.value("select count(*) from net.http_request_queue") == 0)
        found = pg_cron_status.status(world.url)
        pg_cron.uninstall(world.url)

    assert found.problems == []
    assert {row["jobname"]: row["last_status"] for row in found.schedules}["tickwork test"] == "succeeded"
    assert world.value("select count(*) from cron.job") == 0


def ran(world: World) -> set[str]:
    """The schedules that have run, none of which may have failed."""
    runs = world.rows("select jobname, status from cron.job_run_details join cron.job using (jobid)")
    assert not [run for run in runs if run["status"] == "failed"]
    return {run["jobname"] for run in runs if run["status"] == "succeeded"}


def test_pg_cron_takes_what_we_write_and_misreads_what_we_refuse(extended_server: Server) -> None:
    schedule = "select cron.schedule('a job', %s, 'select 1')"
    with psycopg.connect(extended_server.url(), autocommit=True) as connection:
        connection.execute("create extension if not exists pg_cron")
        for seconds in (1, 30, 59, 60, 300, 1800):
            connection.execute(schedule, [pg_cron.schedule_of(seconds)])

        with pytest.raises(psycopg.Error, match="invalid schedule"):
            connection.execute(schedule, ["60 seconds"])
        # For pg_cron that is every half hour: six fields are never written.
        connection.execute(schedule, ["*/30 * * * * *"])
        connection.execute("select cron.unschedule('a job')")
