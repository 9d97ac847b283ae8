"""Time that passes at once: whatever the queue has noted moves into the past."""

from tests.world import World

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
)
COLUMNS = """
    select attrelid::regclass::text as table, array_agg(attname::text) as columns
    from pg_attribute
    where attrelid = any (%s::regclass[]) and atttypid = 'timestamptz'::regtype and attname <> all (%s)
    group by attrelid order by attrelid
"""


class MovingTime:
    """Moves the times in one database. Made once, since it looks up where there are any."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._statement = ""
        for row in world.rows(COLUMNS, list(MOVED_TABLES), list(NOT_MOVED)):
            moved = ", ".join(f"{column} = {column} - interval '{{0}} seconds'" for column in row["columns"])
            self._statement += f"update {row['table']} set {moved};"

    def pass_by(self, seconds: float) -> None:
        # As the queue itself, whose own changes are no edits that it would have to follow.
        self._world.admin.execute(
            f"begin; set local role tickwork_owner; {self._statement.format(seconds)} commit".encode()
        )
