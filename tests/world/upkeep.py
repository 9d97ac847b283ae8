"""What somebody has to do now and then, whoever claims: a bit of each in one database."""

from datetime import timedelta

from tests.world import World
from tests.world.calendar import schedule
from tests.world.receivers import emit, endpoint

DAYS = timedelta(days=100)


def leave_to_upkeep(world: World) -> None:
    """A schedule that is due, an expired lease of a family that nobody works for, an old job, a delivery that is late,
    and jobs that are not counted."""
    tenant = world.tenant()
    world.type()
    old = world.running_job()
    world.queue.complete_job(old)
    world.run("update jobs set created_at = created_at - %s, finished_at = finished_at - %s", DAYS, DAYS)
    schedule(world, "@yearly")
    world.run("update schedules set next_nominal_at = now(), look_at = now() - interval '1 second'")
    world.type("greet_nobody", family="forgotten")
    world.job("greet_nobody", tenant)
    world.expire(world.claim("forgotten"))
    endpoint(world, tenant)
    world.run("update tenant_settings set max_queued = 0")
    emit(world, tenant)
    world.run("update tenant_settings set max_queued = 1000")
    # Otherwise only jobs that are some seconds old are counted.
    world.run("update tickwork.rollup set lag = '0'")


def left_to_upkeep(world: World) -> list[str]:
    """What of it has not been done."""
    done = world.row(
        "select exists (select from schedule_fires where outcome = 'fired') as schedule, "
        "(select status = 'queued' from jobs where type = 'greet_nobody') as lease, "
        "not exists (select from jobs where finished_at < now() - interval '99 days') as retention, "
        "not exists (select from webhook_deliveries where job_id is null) as delivery, "
        "exists (select from tickwork.totals) as figures"
    )
    return [name for name, is_done in done.items() if not is_done]
