"""Schedules, and ticks at any time that a test passes: nobody waits, and no clock is touched."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from psycopg.rows import DictRow

from tests.world import World
from tickwork.database.connection import Connection
from tickwork.testing import moving_time

# In the future, so that jobs that were enqueued ahead are not due by the real clock.
NOON = datetime(2040, 1, 2, 12, 0, tzinfo=UTC)
LEAD = timedelta(seconds=30)
FIRE = "select tickwork.fire_schedules(%s, %s) as jobs"


def schedule(world: World, cron_expr: str = "0 * * * *", label: str = "hourly", **options: Any) -> UUID:
    """A schedule whose next time is noon or later; its type and tenant are made if there are none."""
    type = options.pop("type", None) or world.value("select max(key) from job_types where family = 'test'")
    tenant = options.pop("tenant_id", None) or world.value("select (array_agg(id))[1] from organizations")
    created = world.service.schedules.create_schedule(
        tenant or world.tenant(), label, type or world.type(), cron_expr, **options
    )
    set_next(world, created["id"], NOON)
    found: UUID = created["id"]
    return found


def set_next(world: World, schedule_id: UUID, nominal_at: datetime) -> None:
    """As if it had been looked at last right before that time."""
    world.run(
        "update schedules set next_nominal_at = at, look_at = at + tickwork.spread_of(schedules) - interval '30 s' "
        "from tickwork.next_nominal((select schedules from schedules where id = %s), %s) as at where id = %s",
        *(schedule_id, nominal_at - timedelta(microseconds=1), schedule_id),
    )


def tick(world: World, at: datetime, most: int = 10_000, connection: Connection | None = None) -> int:
    return moving_time.tick(connection or world.admin, at, most)


def fires(world: World, schedule_id: UUID | None = None) -> list[DictRow]:
    return world.rows(
        "select * from schedule_fires where %s::uuid is null or schedule_id = %s order by schedule_id, nominal_at",
        *(schedule_id, schedule_id),
    )


def outcomes(world: World, schedule_id: UUID) -> list[tuple[str, str]]:
    """Hours and minutes, and what became of them."""
    return [(f"{fire['nominal_at'].astimezone(UTC):%H:%M}", fire["outcome"]) for fire in fires(world, schedule_id)]
