"""Types of job: the rows of `job_types`."""

from psycopg.rows import DictRow

from tickwork.database.connection import Database
from tickwork.errors import InvalidRequest


class JobTypes:
    def __init__(self, database: Database) -> None:
        self._database = database

    def overview(self) -> list[DictRow]:
        return self._database.rows("select * from public.job_types order by family, key", {})

    def check(self, family: str | None, type: str | None) -> None:
        """Refuse names that no type has, or ever had: of deleted types there may still be jobs."""
        for column, given in (("family", family), ("type", type)):
            known = f"select from tickwork.family_types where {column} = %(given)s limit 1"
            if given is not None and not self._database.rows(known, {"given": given}):
                what = "family" if column == "family" else "job type"
                raise InvalidRequest(f"{column}: there is no {what} {given!r}", hint="`tickwork types` lists them.")
