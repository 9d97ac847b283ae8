"""What a storm is summed up by."""

from dataclasses import dataclass, field

from tickwork.database.connection import Connection
from tickwork_chaos.checks import Violation

RECOVERIES = """
    select extract(epoch from started.at - tokens.expires_at)::float as seconds
    from storm.history as expired
    join storm.tokens on tokens.job_id = expired.job_id and tokens.transaction = expired.transaction and tokens.is_over
    cross join lateral (
      select at from storm.history
      where history.job_id = expired.job_id and history.step > expired.step and history.new_status = 'running'
      order by step limit 1
    ) as started
    where expired.error_code = 'LEASE_EXPIRED' and expired.old_status = 'running' and expired.new_status = 'queued'
"""
# How long after each outage, counted from its beginning, the first job was done.
BACK_TO_WORK = """
    select max(extract(epoch from (
      select min(at) from storm.history where new_status = 'done' and at > faults.ended_at
    ) - faults.began_at))::float as seconds
    from storm.faults
"""


@dataclass
class Figures:
    """One line of these for each storm."""

    name: str
    seed: int
    server: str
    seconds: float = 0
    jobs: int = 0
    statuses: dict[str, int] = field(default_factory=dict)
    faults: dict[str, int] = field(default_factory=dict)
    measures: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    violations: list[Violation] = field(default_factory=list)

    def as_row(self) -> dict[str, str]:
        """For the table at the end."""
        row = {"Postgres": self.server, "jobs": f"{self.jobs:,}", "seconds": f"{self.seconds:.0f}"}
        row |= {name: f"{count:,}" for name, count in self.faults.items()}
        row |= {name: f"{value:,g}" for name, value in self.measures.items()}
        return {**row, "violations": "\n".join(map(str, self.violations)) or "0", "left out": "\n".join(self.notes)}

    def line(self) -> str:
        parts = [f"{self.name} on Postgres {self.server}, seed {self.seed}: {self.jobs:,} jobs in {self.seconds:.0f} s"]
        parts += [f"{name} {count:,}" for name, count in sorted(self.statuses.items())]
        parts += [f"{name} ×{count}" for name, count in self.faults.items()]
        parts += [f"{name} {value:g}" for name, value in self.measures.items()]
        parts += ["; ".join(map(str, self.violations)) or "nothing lost, doubled, stuck or over a limit", *self.notes]
        return " · ".join(parts)


def count_jobs(figures: Figures, connection: Connection) -> None:
    rows = connection.execute("select status, count(*) as jobs from public.jobs group by status").fetchall()
    figures.statuses = {row["status"]: row["jobs"] for row in rows}
    figures.jobs = sum(figures.statuses.values())
    (runs,) = connection.execute("""
        select count(*) as runs, count(distinct job_id) as jobs from storm.executions
    """).fetchall()
    figures.measures["runs"] = runs["runs"]
    figures.measures["repeated runs"] = runs["runs"] - runs["jobs"]
    waits = sorted(row["seconds"] for row in connection.execute(RECOVERIES).fetchall())
    figures.measures["expired leases"] = len(waits)
    if waits:
        figures.measures["restarted after p50 s"] = round(waits[len(waits) // 2], 2)
        figures.measures["p99 s"] = round(waits[int(len(waits) * 0.99)], 2)
    (back,) = connection.execute(BACK_TO_WORK).fetchall()
    if back["seconds"] is not None:
        figures.measures["back to work after an outage, max s"] = round(back["seconds"], 1)
