"""Time that passes at once: whatever the queue has noted moves into the past. No clock is touched, nobody waits."""

from datetime import UTC, datetime, timedelta

from tickwork.database.connection import Connection

# Not jobs.updated_at, by which a test sees that nobody touched a job.
NOT_MOVED = ("updated_at",)
MOVED_TABLES = (
    "public.jobs",
    "tickwork.waiting",
    "tickwork.parked",
    "tickwork.alarms",
    "tickwork.leases",
    "tickwork.lane_rules",
    "tickwork.buckets",
    "tickwork.blocked",
    "tickwork.family_types",
    "tickwork.unsuccessful",
    "tickwork.attempts",
    "tickwork.steps",
    "tickwork.waits",
    "tickwork.counted_types",
    "tickwork.rollup",
    "tickwork.minutes",
    "tickwork.ticks",
    "public.alert_rules",
    "public.alerts",
    # Those of the module webhooks, if it is there.
    "tickwork.trigger_windows",
    "public.trigger_fires",
    "public.webhook_endpoints",
)
# Their times are parts of a key: one row must not pass over another. They go there by way of another age.
KEYED_TABLES = ("tickwork.minutes",)
AGE = "interval '9000000 hours'"
COLUMNS = """
    select attrelid::regclass::text as table, array_agg(attname::text) as columns
    from unnest(%s::text[]) as moved
    join pg_attribute on attrelid = to_regclass(moved)
    where atttypid = 'timestamptz'::regtype and attname <> all (%s)
    group by attrelid order by attrelid
"""
# Where the waiting jobs begin is found again by the next tick.
BEGIN_ANYWHERE = "select setval(front, 0) from tickwork.family_types"
NEXT_LOOK = "select min(look_at) as at from public.schedules where look_at <= %s and paused_at is null"
# A schedule for every minute has so many times in a week.
MAX_TICKS = 10_080


class MovingTime:
    """Moves the times in one database. Made once, since it looks up where there are any."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._ahead = timedelta()
        self._updates = ""
        for row in connection.execute(COLUMNS, [list(MOVED_TABLES), list(NOT_MOVED)]):
            steps = ["- interval '{0:.6f} s'"]
            if row["table"] in KEYED_TABLES:
                steps = [f"- {AGE}", f"{steps[0]} + {AGE}"]
            for step in steps:
                moved = ", ".join(f"{column} = {column} {step}" for column in row["columns"])
                self._updates += f"update {row['table']} set {moved};"

    @property
    def ahead(self) -> timedelta:
        """How far the time of the test is ahead of the clock."""
        return self._ahead

    def pass_by(self, seconds: float) -> None:
        self._move(timedelta(seconds=seconds))

    def go_to(self, time: datetime) -> None:
        """Let time pass until then. Schedules are looked at whenever that is due, as by cron."""
        with self._connection.transaction():
            # To the times that schedules know, which are those of the calendar, and back.
            self._move(-self._ahead)
            self._tick_until(time)
            self._move(time - datetime.now(UTC))

    def _move(self, by: timedelta) -> None:
        updates = self._updates.format(by.total_seconds())
        with self._connection.transaction():
            # As the queue itself, whose own changes are no edits that it would have to follow.
            self._connection.execute(f"set local role tickwork_owner; {updates} set local role none".encode())
            self._connection.execute(BEGIN_ANYWHERE)
        self._ahead += by

    def _tick_until(self, time: datetime) -> None:
        for _ in range(MAX_TICKS):
            row = self._connection.execute(NEXT_LOOK, [time]).fetchone()
            if row is None or row["at"] is None:
                return
            tick(self._connection, row["at"])
        raise ValueError(f"schedules have more than {MAX_TICKS} times until {time}: choose an earlier one")


def tick(connection: Connection, at: datetime, max_schedules: int = 10_000) -> int:
    """How many jobs a tick at that time enqueues. Only the queue itself may tick."""
    with connection.transaction():
        connection.execute("set local role tickwork_owner")
        row = connection.execute("select tickwork.fire_schedules(%s, %s) as jobs", [at, max_schedules]).fetchone()
        connection.execute("set local role none")
    assert row is not None
    return int(row["jobs"])
