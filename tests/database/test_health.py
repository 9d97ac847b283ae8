"""Health of the queue: what it says while time passes, jobs wait and nobody ticks."""

from tests.world import World
from tests.world.calendar import schedule
from tests.world.plans import nodes_of


def health(world: World) -> dict[str, bool]:
    return {row["name"]: row["is_ok"] for row in world.service.jobs.queue_health()}


def pass_minutes(world: World, minutes: int) -> None:
    """Let them pass without anybody at work."""
    for column in ("asked_at", "reaped_at"):
        world.admin.execute(
            f"update tickwork.family_types set {column} = {column} - make_interval(mins => %s)", [minutes]
        )
    world.run("update tickwork.waiting set run_at = run_at - make_interval(mins => %s)", minutes)
    world.run("update schedules set look_at = look_at - make_interval(mins => %s)", minutes)
    world.run("update tickwork.maintenance set maintained_at = maintained_at - make_interval(mins => %s)", minutes)


def test_an_empty_queue_that_nobody_ticks_is_healthy(world: World) -> None:
    assert health(world) == {"schema": True, "tick": True, "work": True, "standstill": True}


def test_a_job_that_nobody_asks_for_makes_it_unhealthy_after_five_minutes(world: World) -> None:
    world.job()

    pass_minutes(world, 4)
    assert health(world)["work"] is True
    pass_minutes(world, 2)
    assert health(world)["work"] is False
    world.claim()
    assert health(world)["work"] is True


def test_types_that_nobody_asks_for_cost_little_where_many_others_wait(world: World) -> None:
    world.running_job()
    world.run(
        "insert into tickwork.waiting (family, type, tenant_number, priority, run_at, job_id) "
        "select 'test', 'greet_person', 1, 0, clock_timestamp(), gen_random_uuid() from generate_series(1, 5000)"
    )
    world.run("analyze tickwork.waiting")

    nodes = nodes_of(world, "select tickwork.is_served()", {})

    read = [node for node in nodes if node.get("Relation Name") == "waiting"]
    assert max(node["Actual Loops"] for node in read) > 1
    assert sum(node["Actual Rows"] + node.get("Rows Removed by Filter", 0) for node in read) <= 1000


def test_a_standstill_makes_it_unhealthy_although_workers_ask(world: World) -> None:
    world.job()
    world.run("update tickwork.waiting set run_at = run_at - interval '6 minutes'")
    world.run("update tickwork.family_types set asked_at = clock_timestamp()")

    assert health(world) == {"schema": True, "tick": True, "work": True, "standstill": False}
    # As the alert: unless it is off, or has a threshold of its own.
    world.service.alerts.change_alert_rule("standstill_seconds", is_on=False)
    assert health(world)["standstill"] is True
    world.service.alerts.change_alert_rule("standstill_seconds", is_on=True, threshold=600)
    assert health(world)["standstill"] is True
    world.service.alerts.change_alert_rule("standstill_seconds", threshold=300)
    world.claim()
    assert health(world)["standstill"] is True


def test_a_job_that_may_not_run_is_no_ailment(world: World) -> None:
    world.job()
    world.job(run_at="2999-01-01")
    world.service.pauses.pause_jobs(type="greet_person", reason="repairs")

    pass_minutes(world, 10)

    assert health(world) == {"schema": True, "tick": True, "work": True, "standstill": True}


def test_where_cron_ticks_it_must_go_on_doing_so(world: World) -> None:
    world.run("insert into tickwork.functions (family, url) values ('test', 'https://test.example')")
    assert health(world)["tick"] is False
    world.queue.claim_next_job("test")
    assert health(world)["tick"] is False
    world.service.maintenance.maintain()

    assert health(world)["tick"] is True
    pass_minutes(world, 6)
    assert health(world)["tick"] is False


def test_a_schedule_that_is_due_and_not_looked_at_is_noticed(world: World) -> None:
    schedule(world, "* * * * *")

    pass_minutes(world, 4)
    assert health(world)["tick"] is True
    world.run("update schedules set look_at = clock_timestamp()")
    pass_minutes(world, 6)
    assert health(world)["tick"] is False


def test_everybody_who_is_signed_in_may_ask_and_nobody_else(world: World) -> None:
    rows = world.member_of(world.tenant()).execute("select * from queue_health()").fetchall()

    assert {row["name"] for row in rows} == {"schema", "tick", "work", "standstill"}
    assert world.connect_worker().execute("select * from queue_health()").fetchall()
    denied = world.value("select has_function_privilege('anon', 'public.queue_health()', 'execute')")
    assert denied is False
