"""Metrics as Prometheus reads them, percentiles, and the numbers of a dashboard."""

from datetime import UTC, datetime, timedelta
from math import inf
from typing import Any
from uuid import UUID

import psycopg
import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.database.test_figures import end_as, roll_up
from tests.world import World
from tests.world.receivers import endpoint
from tickwork.errors import InvalidRequest

Samples = dict[str, list[tuple[dict[str, str], float]]]


def samples_in(text: str) -> Samples:
    """Read by the client of Prometheus, which refuses what is malformed."""
    found: Samples = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            found.setdefault(sample.name, []).append((sample.labels, sample.value))
    return found


def total(samples: Samples, name: str, **labels: str) -> float:
    return sum(value for having, value in samples.get(name, []) if labels.items() <= having.items())


def read(world: World, **arguments: Any) -> Samples:
    return samples_in(world.service.metrics.metrics(**arguments))


def test_the_six_of_the_source(world: World) -> None:
    tenant = world.tenant()
    for status in ("done", "dead"):
        end_as(world, world.running_job(max_attempts=1), status)
    running = world.running_job(tenant=tenant)
    world.queue.heartbeat_job(running)
    roll_up(world)

    samples = read(world, prefix="bpc_", tenant_label="tenant_id")

    of = {"tenant_id": str(tenant), "job_type": "greet_person"}
    assert total(samples, "bpc_jobs_enqueued_total", **of) == 3
    assert total(samples, "bpc_jobs_running", **of) == 1
    assert total(samples, "bpc_jobs_completed_total", status="dead", **of) == 1
    assert total(samples, "bpc_job_duration_seconds_count", **of) == 2
    assert total(samples, "bpc_job_duration_seconds_bucket", le="+Inf", **of) == 2
    assert total(samples, "bpc_jobs_dead_letter", tenant_id=str(tenant)) == 1
    assert total(read(world), "tickwork_lease_renewals_total", worker_id="worker-1") == 1


def test_what_operators_need(world: World) -> None:
    tenant = world.tenant()
    end_as(world, world.running_job(max_attempts=1), "done")
    world.job(run_at=datetime(2100, 1, 1, tzinfo=UTC))
    late = world.job()
    world.run("update jobs set run_at = run_at - interval '1 hour' where id = %s", late.id)
    world.service.pauses.hold_lane("test", tenant, "held", "infinity")
    world.job(lane="held")
    world.job(after=[late.id])
    world.service.pauses.pause_jobs(tenant_id=tenant)
    world.service.schedules.create_schedule(tenant, "nightly", "greet_person", "@daily")
    endpoint(world, tenant)
    world.run("update webhook_endpoints set breaker = 'open', probe_at = now()")
    world.run("update jobs set status = 'dead', finished_at = now() where id = %s", world.job().id)
    roll_up(world)
    world.service.maintenance.maintain()
    world.run("update schedules set look_at = now() - interval '1 hour'")

    samples = read(world)

    for state in ("due", "later", "held", "awaiting"):
        assert total(samples, "tickwork_jobs_queued", state=state) == 1, state
    assert 3600 < total(samples, "tickwork_oldest_due_seconds") < 7200
    assert total(samples, "tickwork_lanes_held") == total(samples, "tickwork_pauses") == 1
    assert total(samples, "tickwork_schedules") == total(samples, "tickwork_schedules_late") == 1
    assert total(samples, "tickwork_webhook_endpoints", state="open") == 1
    assert total(samples, "tickwork_jobs_dead_letter") == 1
    assert total(samples, "tickwork_job_wait_seconds_count") == 1
    assert total(samples, "tickwork_last_tick_timestamp_seconds") > 1_700_000_000
    assert total(samples, "tickwork_table_bytes", table="public.jobs") > 0


def test_a_histogram_counts_upwards(world: World) -> None:
    job = world.running_job()
    world.queue.complete_job(job)
    world.run("update jobs set started_at = finished_at - interval '3 s' where id = %s", job.id)
    roll_up(world)

    buckets = read(world)["tickwork_job_duration_seconds_bucket"]

    counts = {float(labels["le"]): value for labels, value in buckets}
    assert {edge: value for edge, value in counts.items() if 2 < edge < 9} == {2.048: 0, 4.096: 1, 8.192: 1}
    assert counts[inf] == 1
    assert total(read(world), "tickwork_job_duration_seconds_sum") == 3


def test_every_metric_says_what_it_is_even_without_a_sample(world: World) -> None:
    families = list(text_string_to_metric_families(world.service.metrics.metrics()))

    assert len(families) > 25
    assert [family.name for family in families if not family.documentation or family.type == "unknown"] == []


def metrics_for(connection: psycopg.Connection[Any], tenant: UUID | None = None) -> Samples:
    (row,) = connection.execute("select metrics(tenant_id => %s) as text", [tenant]).fetchall()
    return samples_in(row["text"])


def test_a_tenant_sees_its_own_and_a_platform_admin_sees_all(world: World) -> None:
    own, foreign = world.tenant("own"), world.tenant("foreign")
    world.job(tenant=own)
    world.job(tenant=foreign)
    roll_up(world)
    member, both = world.member_of(own), world.member_of(own, foreign)
    stranger = world.member_of()

    assert total(metrics_for(member), "tickwork_jobs_enqueued_total") == 1
    assert total(metrics_for(both, foreign), "tickwork_jobs_queued") == 1
    assert "tickwork_lease_renewals_total" not in metrics_for(member)
    assert "tickwork_table_bytes" not in metrics_for(member)
    for refused, tenant in ((member, foreign), (both, None), (stranger, None)):
        with pytest.raises(psycopg.Error, match="you are not a member") as error:
            metrics_for(refused, tenant)
        assert error.value.sqlstate == "TWMEM"

    user = member.execute("select tickwork.caller_id() as id").fetchone()
    world.run("insert into tickwork.platform_admins values (%s)", user and user["id"])
    assert total(metrics_for(member), "tickwork_jobs_enqueued_total") == 2


def test_labels_name_the_busiest_tenants(world: World) -> None:
    quiet, busy = world.tenant("quiet"), world.tenant("busy")
    for tenant in (quiet, busy, busy):
        world.job(tenant=tenant)
    roll_up(world)

    samples = read(world, tenant_label="customer", max_tenants=1)

    assert {labels["customer"] for labels, _ in samples["tickwork_jobs_enqueued_total"]} == {str(busy)}
    assert {labels["customer"] for labels, _ in samples["tickwork_jobs_queued"]} == {str(busy)}


@pytest.mark.parametrize("arguments", [{"prefix": 'x"'}, {"tenant_label": "a-b"}, {"prefix": None}])
def test_names_that_prometheus_cannot_read_are_refused(world: World, arguments: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequest, match="prefix, tenant_label"):
        world.service.metrics.metrics(**arguments)


def test_a_label_is_escaped(world: World) -> None:
    assert world.value("select tickwork.label('name', %s)", 'a"b\\c\nd') == r'name="a\"b\\c\nd"'


def happened(world: World, seconds: float, at: datetime, outcome: str = "done", tenant: UUID | None = None) -> None:
    happening = "array[row(%s, %s, 'test', 'greet_person', %s, %s, %s)]::tickwork.happening[]"
    ms = seconds * 1000
    world.run(f"select tickwork.add_figures({happening})", at, tenant or world.tenant(), outcome, ms, ms / 10)


def test_percentiles_are_about_right(world: World) -> None:
    world.type()
    world.job()
    at = datetime.now(UTC) - timedelta(minutes=5)
    for number in range(1, 101):
        happened(world, number, at)

    (row,) = world.service.metrics.latency()

    assert row["jobs"] == 100
    for column, exact in (("wait_p50", 50), ("wait_p95", 95), ("wait_p99", 99), ("run_p50", 5), ("run_p99", 9.9)):
        # As wide as a bucket.
        assert exact / 1.42 < row[column] < exact * 1.42, column
    assert row["average_wait"] == pytest.approx(50.5)
    assert row["average_run"] == pytest.approx(5.05)


def test_a_window_takes_whole_hours_and_the_minutes_at_its_ends(world: World) -> None:
    world.job()
    hour = datetime.now(UTC).replace(minute=0, second=0, microsecond=0) - timedelta(hours=4)
    minutes = (-10, 0, 10, 59, 60, 90, 179, 180, 185, 190)
    for minute in minutes:
        happened(world, 1, hour + timedelta(minutes=minute))

    def counted(first: int, end: int) -> int:
        since, until = hour + timedelta(minutes=first), hour + timedelta(minutes=end)
        return sum(row["jobs"] for row in world.service.metrics.latency(since=since, until=until))

    for first, end in ((-10, 190), (0, 60), (5, 185), (10, 59), (30, 181), (60, 180), (1, 2), (-60, 300)):
        assert counted(first, end) == len([minute for minute in minutes if first <= minute < end]), (first, end)
    (row,) = world.service.metrics.latency(since=datetime(2020, 1, 1, tzinfo=UTC))
    assert row["jobs"] == len(minutes)


def test_a_long_window_takes_whole_days_and_loses_nothing(world: World) -> None:
    world.job()
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    ages = (399, 30, 20, 15, 9, 3, 1, 0)
    for days in ages:
        happened(world, 1, today - timedelta(days=days))

    def counted(days: int) -> int:
        (row,) = world.service.metrics.latency(since=today - timedelta(days=days), until=today + timedelta(days=1))
        return int(row["jobs"])

    for days in (399, 100, 30, 20, 16, 10, 5):
        assert counted(days) == len([age for age in ages if age <= days]), days


def test_percentiles_by_steps_and_of_a_whole_window(world: World) -> None:
    world.job()
    world.type("bill_person")
    hour = datetime.now(UTC).replace(minute=0, second=0, microsecond=0) - timedelta(hours=3)
    for minute, seconds in ((0, 1), (1, 1), (30, 100), (61, 10)):
        happened(world, seconds, hour + timedelta(minutes=minute))

    def waits(**arguments: Any) -> dict[float, tuple[int, float]]:
        rows = world.service.metrics.percentiles(since=hour, until=hour + timedelta(hours=2), **arguments)
        return {(row["at"] - hour).total_seconds() / 60: (row["jobs"], row["wait_p50"]) for row in rows}

    assert {at: jobs for at, (jobs, _) in waits(step=timedelta(minutes=10)).items()} == {0: 2, 30: 1, 60: 1}
    assert {at: jobs for at, (jobs, _) in waits(step=timedelta(hours=1)).items()} == {0: 3, 60: 1}
    assert 70 < waits(step=timedelta(minutes=10))[30][1] < 142
    assert waits()[0][0] == 4
    assert waits(type="bill_person") == {}


def test_throughput_by_steps(world: World) -> None:
    tenant = world.job().tenant_id
    hour = datetime.now(UTC).replace(minute=0, second=0, microsecond=0) - timedelta(hours=2)
    for minute in (0, 4, 5, 59):
        happened(world, 1, hour + timedelta(minutes=minute), "dead", tenant)

    def rates(**arguments: Any) -> dict[float, int]:
        rows = world.service.metrics.throughput(tenant, "greet_person", hour, hour + timedelta(hours=1), **arguments)
        return {(row["at"] - hour).total_seconds() / 60: row["jobs"] for row in rows if row["outcome"] == "dead"}

    assert rates() == {0: 1, 4: 1, 5: 1, 59: 1}
    assert rates(step=timedelta(minutes=5)) == {0: 2, 5: 1, 55: 1}
    assert rates(step=timedelta(hours=1)) == {0: 4}


def test_the_widgets_are_those_of_the_queries_that_define_them(world: World) -> None:
    tenant, other = world.tenant(), world.tenant("other")
    for status in ("done", "dead", "done"):
        end_as(world, world.running_job(max_attempts=1, tenant=tenant), status)
    old = world.running_job(max_attempts=1, tenant=tenant)
    end_as(world, old, "dead")
    for query in ("update jobs set {} where id = %s", "update tickwork.unsuccessful set {} where job_id = %s"):
        world.admin.execute(query.format("created_at = now() - interval '25 hours'"), [old.id])
    world.run("update jobs set started_at = finished_at - interval '1 s' * (1 + random()) where status = 'done'")
    for _ in range(3):
        world.job(tenant=tenant)
    roll_up(world)

    row = world.service.metrics.queue_widgets()

    count = "select count(*) from jobs where status = 'queued'"
    assert row["jobs_in_queue"] == world.value(count) == 3
    dead = "select count(*) from jobs where status = 'dead' and created_at > now() - interval '24h'"
    assert row["dead_in_24_hours"] == world.value(dead) == 1
    average = "select extract(epoch from avg(finished_at - started_at)) from jobs where status = 'done'"
    assert row["average_processing_seconds"] == pytest.approx(float(world.value(average)), abs=0.002)
    assert list(world.service.metrics.queue_widgets(other).values()) == [0, 0, None]
