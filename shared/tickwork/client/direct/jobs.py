"""Jobs, and what only the operator may read of them."""

from uuid import UUID

from tickwork.client import jobs
from tickwork.client.direct import Direct


class Jobs(jobs.Jobs, Direct):
    def exceptions(self, job_id: UUID | str) -> dict[int, str]:
        """For the operator: the exceptions that ended its attempts, by the numbers of these."""
        query = "select number, exception from tickwork.exceptions where job_id = %(job_id)s order by number"
        return {row["number"]: row["exception"] for row in self._database.rows(query, {"job_id": job_id})}
