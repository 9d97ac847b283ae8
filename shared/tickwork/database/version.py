"""Whether this code can work with the schema of the database."""

import time

from tickwork.database.connection import Database
from tickwork.errors import QueueError, WrongSchema

# The versions that this code can work with. Two while one release replaces another, so that both can run.
SERVED = range(1, 2)
# The schema may change while a function is running, so it is checked regularly, but not at every wake-up.
LOOK_SECONDS = 60.0

NO_TABLE = ("42P01", "3F000")


class SchemaCheck:
    """Called before a claim; queries the database at most once a minute, as long as all is well."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._good_until = float("-inf")

    def check(self) -> None:
        """Raise WrongSchema if the schema is older or newer than this code can work with."""
        if time.monotonic() < self._good_until:
            return
        check_schema(self._database)
        self._good_until = time.monotonic() + LOOK_SECONDS


def check_schema(database: Database) -> int:
    """The version of the schema; raises WrongSchema if this code cannot work with it."""
    found = version_of(database)
    if found not in SERVED:
        served = f"version {SERVED[0]}" if len(SERVED) == 1 else f"versions {SERVED[0]} to {SERVED[-1]}"
        hint = "Deploy the functions again." if found > SERVED[-1] else "Run `tickwork migrate` or `supabase db push`."
        raise WrongSchema(f"the schema has version {found}, and this code needs {served}", hint=hint)
    return found


def version_of(database: Database) -> int:
    try:
        (row,) = database.rows("select coalesce(max(number), 0) as number from tickwork.schema_versions", {})
    except QueueError as error:
        if error.sqlstate in NO_TABLE:
            return 0
        raise
    return int(row["number"])
