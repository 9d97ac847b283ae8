"""Each alert opens, stays open and closes once, and a value that goes up and down does not make it do so again."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from tests.database.test_figures import end_as, roll_up
from tests.world import World
from tests.world.receivers import deliveries, endpoint
from tickwork.errors import InvalidRequest, NotAllowed
from tickwork.testing.moving_time import MovingTime

Mend = Callable[[], object]


class Alarm:
    """A world whose time passes at once, and what its alerts say."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.time = MovingTime(world.admin)

    def after(self, seconds: float) -> list[str]:
        """The rules whose alerts are open, when a tick comes that much later."""
        self.time.pass_by(seconds)
        self.world.run("select tickwork.check_alerts()")
        return [row["rule"] for row in self.world.rows("select rule from alerts where closed_at is null order by rule")]

    def only(self, rule: str) -> None:
        self.world.run("update alert_rules set is_on = (key = %s)", rule)

    def history(self) -> list[tuple[str, bool]]:
        rows = self.world.rows("select rule, closed_at is not null as is_closed from alerts order by opened_at")
        return [(row["rule"], row["is_closed"]) for row in rows]


@pytest.fixture
def alarm(world: World) -> Alarm:
    return Alarm(world)


def many_jobs(world: World) -> Mend:
    jobs = [world.job() for _ in range(101)]
    return lambda: [world.service.jobs.cancel_job(job.id) for job in jobs[:40]]


def many_dead(world: World) -> Mend:
    for _ in range(11):
        end_as(world, world.running_job(max_attempts=1), "dead")
    roll_up(world)
    return lambda: MovingTime(world.admin).pass_by(3600)


def standstill(world: World) -> Mend:
    world.job()
    MovingTime(world.admin).pass_by(301)
    return lambda: world.claim()


def old_job(world: World) -> Mend:
    world.job()
    MovingTime(world.admin).pass_by(901)
    return lambda: world.claim()


def many_failures(world: World) -> Mend:
    for number in range(20):
        end_as(world, world.running_job(max_attempts=1), "done" if number < 14 else "failed")
    roll_up(world)

    def improve() -> None:
        for _ in range(30):
            end_as(world, world.running_job(max_attempts=1), "done")
        roll_up(world)

    return improve


def overdue_lease(world: World) -> Mend:
    world.running_job()
    MovingTime(world.admin).pass_by(200)
    return lambda: world.service.maintenance.maintain()


def late_schedule(world: World) -> Mend:
    world.type()
    world.service.schedules.create_schedule(world.tenant(), "nightly", "greet_person", "@daily")
    world.run("update schedules set look_at = now() - interval '10 minutes'")
    return lambda: world.run("update schedules set look_at = now() + interval '1 day'")


def missing_tick(world: World) -> Mend:
    tick = "insert into tickwork.ticks (family, due_jobs, request_ids, ticked_at) values ('test', 0, '{}', %s)"
    world.run("insert into tickwork.functions (family, url) values ('test', 'https://example.org')")
    world.run(tick, datetime.now(UTC) - timedelta(minutes=4))
    return lambda: world.run(tick, datetime.now(UTC))


def endpoint_down(world: World) -> Mend:
    endpoint(world, world.tenant())
    world.run("update webhook_endpoints set breaker = 'open', probe_at = now()")
    return lambda: world.run("update webhook_endpoints set breaker = 'closed', probe_at = null")


def growing(world: World) -> Mend:
    world.run("update alert_rules set threshold = 0.001, closes_at = 0.001 where key = 'queue_megabytes'")
    return lambda: world.run("update alert_rules set threshold = 10000, closes_at = 9999 where key = 'queue_megabytes'")


CAUSES = {
    "queue_size": many_jobs,
    "dead_in_an_hour": many_dead,
    "standstill_seconds": standstill,
    "oldest_due_seconds": old_job,
    "failure_ratio": many_failures,
    "leases_overdue": overdue_lease,
    "schedules_late": late_schedule,
    "tick_missing_seconds": missing_tick,
    "endpoints_down": endpoint_down,
    "queue_megabytes": growing,
}


def test_every_rule_has_a_cause_here(world: World) -> None:
    assert {row["key"] for row in world.service.alerts.list_alert_rules()} == set(CAUSES)


@pytest.mark.parametrize("rule", CAUSES)
def test_an_alert_opens_stays_and_closes_once(alarm: Alarm, rule: str) -> None:
    world = alarm.world
    alarm.only(rule)
    duration = world.value("select for_seconds from alert_rules where key = %s", rule)
    assert alarm.after(11) == []

    mend = CAUSES[rule](world)
    if duration:
        assert alarm.after(11) == []
    assert alarm.after(max(duration, 11)) == [rule]
    assert alarm.after(11) == alarm.after(11) == [rule]

    mend()
    if duration:
        assert alarm.after(11) == [rule]
    assert alarm.after(duration + 11) == []
    assert alarm.after(11) == []
    assert alarm.history() == [(rule, True)]


def values(alarm: Alarm, *measured: float) -> None:
    """What a rule measures, ten seconds after each other."""
    for value in measured:
        alarm.world.run(
            "create or replace function tickwork.measure_queue_size() returns double precision "
            f"language sql stable return {value}::double precision"
        )
        alarm.after(20)


def test_a_value_that_flaps_opens_nothing_and_closes_nothing(alarm: Alarm) -> None:
    alarm.only("queue_size")

    values(alarm, 101, 101, 99, 101, 101, 90, 500, 101)
    assert alarm.history() == []

    values(alarm, 101, 101, 101)
    assert alarm.history() == [("queue_size", False)]

    # Below the threshold, but not at closes_at for long enough.
    values(alarm, 99, 81, 70, 70, 90, 70, 70, 101, 70, 300, 99)
    assert alarm.history() == [("queue_size", False)]
    assert alarm.world.value("select worst from alerts") == 300

    values(alarm, 80, 80, 80, 80)
    assert alarm.history() == [("queue_size", True)]


def test_the_tenant_of_the_platform_hears_of_each_alert_once(alarm: Alarm) -> None:
    world = alarm.world
    operations = world.tenant("operations")
    hook = endpoint(world, operations, "alert.*")
    world.service.alerts.set_platform_tenant(operations)
    alarm.only("queue_size")

    values(alarm, *[101] * 10, *[0] * 10)

    rows = world.rows("select type, tenant_id, payload from events order by occurred_at")
    assert [(row["type"], row["tenant_id"]) for row in rows] == [
        ("alert.opened", operations),
        ("alert.closed", operations),
    ]
    assert rows[0]["payload"]["rule"] == "queue_size"
    assert rows[0]["payload"]["message"] == "queued jobs, counted up to 100,000: 101.00, more than 100"
    assert len(deliveries(world, hook)) == 2
    world.service.alerts.set_platform_tenant(None)
    values(alarm, *[101] * 5)
    assert len(deliveries(world, hook)) == 2


def test_two_ticks_at_once_open_one_alert(alarm: Alarm) -> None:
    world = alarm.world
    world.run("update alert_rules set for_seconds = 0")
    alarm.only("queue_size")
    many_jobs(world)
    other = world.connect()

    with other.transaction():
        other.execute("select tickwork.check_alerts()")
        world.run("select tickwork.check_alerts()")
    alarm.after(11)

    assert alarm.history() == [("queue_size", False)]


def test_what_is_wrong_with_a_rule_stops_nobody(alarm: Alarm) -> None:
    alarm.world.run("drop function tickwork.measure_dead_in_an_hour")
    alarm.world.run("update alert_rules set threshold = -1, closes_at = -1, for_seconds = 0 where key = 'queue_size'")

    assert alarm.after(11) == ["queue_size"]


def test_platform_admins_change_rules_and_nobody_else_does(world: World) -> None:
    admin = world.member_of(world.tenant(), role="owner")
    calls = ("list_alerts()", "list_alert_rules()", "change_alert_rule('queue_size', 5)", "set_platform_tenant(null)")
    for call in calls:
        with pytest.raises(psycopg.Error, match="only platform admins and the service may") as error:
            admin.execute(f"select * from {call}")
        assert error.value.sqlstate == "TWADM"

    user = admin.execute("select tickwork.caller_id() as id").fetchone()
    world.run("insert into tickwork.platform_admins values (%s)", user and user["id"])
    for call in calls:
        admin.execute(f"select * from {call}")
    row = world.row("select * from alert_rules where key = 'queue_size'")
    # In proportion, as it was.
    assert (row["threshold"], row["closes_at"]) == (5, 4)


@pytest.mark.parametrize(
    "change", [{"key": "nonsense"}, {"closes_at": 1000}, {"for_seconds": -1}, {"severity": "terrible"}]
)
def test_a_rule_that_makes_no_sense_is_refused(world: World, change: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequest, match="alert rule"):
        world.service.alerts.change_alert_rule(**{"key": "queue_size", **change})


def test_a_rule_that_is_switched_off_closes_its_alert(alarm: Alarm) -> None:
    alarm.only("queue_size")
    values(alarm, *[101] * 5)

    alarm.world.service.alerts.change_alert_rule("queue_size", is_on=False)

    assert alarm.history() == [("queue_size", True)]
    values(alarm, *[101] * 5)
    assert len(alarm.history()) == 1


def test_a_tenant_that_is_unknown_cannot_hear_of_alerts(world: World) -> None:
    with pytest.raises((NotAllowed, InvalidRequest)):
        world.service.alerts.set_platform_tenant("00000000-0000-0000-0000-000000000001")


def test_alerts_are_read_page_by_page(world: World) -> None:
    world.run(
        "insert into alerts (rule, severity, message, value, worst, opened_at, closed_at) "
        "select 'queue_size', 'warning', number::text, 1, 1, now() - number / 2 * interval '1 s', now() "
        "from generate_series(1, 5) as number"
    )
    alerts = world.service.alerts

    everything = [row["id"] for row in alerts.list_alerts()]
    pages = [alerts.list_alerts(max_alerts=2)]
    while len(pages[-1]) == 2:
        pages.append(alerts.list_alerts(max_alerts=2, after_id=pages[-1][-1]["id"]))

    assert [row["id"] for page in pages for row in page] == everything
    assert len(everything) == 5
