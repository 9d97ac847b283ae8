"""Types of job: the rows of `job_types`."""

from typing import LiteralString

from psycopg.rows import DictRow

from tickwork.client import job_types
from tickwork.client.direct import Direct
from tickwork.errors import InvalidRequest


class JobTypes(job_types.JobTypes, Direct):
    def overview(self) -> list[DictRow]:
        return self.list_job_types()

    def check(self, family: str | None, type: str | None) -> None:
        """Refuse names that no type has or, in the database itself, ever had: of deleted types there may be jobs."""
        for column, given in (("family", family), ("type", type)):
            if given is not None and not self._is_known(column, given):
                what = "family" if column == "family" else "job type"
                raise InvalidRequest(f"{column}: there is no {what} {given!r}", hint="`tickwork types` lists them.")

    def _is_known(self, column: LiteralString, given: str) -> bool:
        if not self._has_database:
            return any(given == row["family" if column == "family" else "key"] for row in self.list_job_types())
        known = f"select from tickwork.family_types where {column} = %(given)s limit 1"
        return bool(self._database.rows(known, {"given": given}))
