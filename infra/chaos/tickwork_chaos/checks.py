"""What must not have happened. Each check finds the cases in which it has, when everything has come to rest."""

from dataclasses import dataclass

from tests.world.agreement import DISAGREEMENTS
from tickwork.database.connection import Connection
from tickwork_chaos.legal import CHAIN, ILLEGAL, REUSED_TOKENS, WITHOUT_LEASE
from tickwork_chaos.limits import OVER_LIMITS
from tickwork_chaos.zombies import EARLY, SPLIT, ZOMBIE_EFFECTS, ZOMBIE_OUTCOMES

# What the handlers raise themselves, and what a storm does to an attempt. Anything else is a defect.
KNOWN_ERRORS = ("TRY_AGAIN", "FAILED_FOR_GOOD", "LEASE_EXPIRED", "CANCELLED", "DATABASE_UNAVAILABLE", "BURIED")

# Follow-ups have none.
NUMBERED = "select (payload ->> 'number')::integer as number from public.jobs where payload ? 'number'"

CHECKS = {
    "lost": f"""
        select orders.number from storm.orders
        where orders.is_acknowledged and orders.dedupe_key is null
          and not exists (select from ({NUMBERED}) as jobs where jobs.number = orders.number)
        union all
        select orders.number from storm.orders
        where orders.is_acknowledged and orders.job_id is not null
          and not exists (select from public.jobs where jobs.id = orders.job_id)
    """,
    "doubled": f"""
        select number from ({NUMBERED}) as jobs group by number having count(*) > 1
        union all
        select min((payload ->> 'number')::integer) from public.jobs where idempotency_key is not null
        group by tenant_id, type, idempotency_key having count(*) > 1
    """,
    "stuck": "select id, status, type, lane from public.jobs where status in ('queued', 'running')",
    "effects not once": """
        select jobs.id, jobs.status, count(effects.job_id) as effects
        from public.jobs left join storm.effects on effects.job_id = jobs.id and effects.kind = 'done'
        where jobs.type = any (array(select type from storm.orders))
        group by jobs.id, jobs.status
        having count(effects.job_id)
          <> (jobs.status = 'done' and coalesce(jobs.payload ->> 'effect', 'done') = 'done')::integer
    """,
    "effects of a lease": """
        select job_id, token, count(*) as effects from storm.effects where kind = 'lease'
        group by job_id, token having count(*) > 1
        union all
        select jobs.id, null, 0 from public.jobs
        where jobs.status = 'done' and jobs.payload ->> 'effect' = 'lease'
          and not exists (
            select from storm.effects
            where effects.job_id = jobs.id and effects.kind = 'lease' and effects.attempt = jobs.attempts
          )
    """,
    "zombie effects": ZOMBIE_EFFECTS,
    "zombie outcomes": ZOMBIE_OUTCOMES,
    "split transactions": SPLIT,
    "ended too early": EARLY,
    "illegal": ILLEGAL,
    "gaps": CHAIN,
    "tokens used twice": REUSED_TOKENS,
    "running without a lease": WITHOUT_LEASE,
    "over a limit": OVER_LIMITS,
    "follow-ups": """
        select jobs.id, jobs.status, jobs.wanted, count(children.id) as found
        from (
          select id, tenant_id, status, payload ->> 'number' as number,
            case status when 'done' then coalesce((payload ->> 'follow_ups')::integer, 0) else 0 end as wanted
          from public.jobs where payload ? 'number'
        ) as jobs
        left join public.jobs as children
          on children.tenant_id = jobs.tenant_id and children.payload ->> 'parent' = jobs.number
        group by jobs.id, jobs.status, jobs.wanted
        having count(children.id) <> jobs.wanted
    """,
    "wrong endings": """
        select jobs.id, jobs.status, jobs.error_code from public.jobs
        where case jobs.status
          when 'done' then jobs.payload ->> 'fate' = 'failed'
          when 'failed' then jobs.payload ->> 'fate' is distinct from 'failed'
          when 'dead' then jobs.attempts < jobs.max_attempts and jobs.error_code <> 'BURIED'
          when 'cancelled' then not exists (select from storm.requests where requests.job_id = jobs.id)
          else false
        end
    """,
    "unknown errors": f"""
        select job_id, error_code, error_message from tickwork.attempts
        where error_code <> all (array{[*KNOWN_ERRORS]!r})
    """,
    "queue tables": DISAGREEMENTS,
    "done without a run": """
        select jobs.id from public.jobs
        where jobs.status = 'done' and not exists (select from storm.executions where executions.job_id = jobs.id)
    """,
}


@dataclass(frozen=True)
class Violation:
    check: str
    count: int
    example: str

    def __str__(self) -> str:
        return f"{self.check}: {self.count}, such as {self.example}"


def violations(connection: Connection, *only: str) -> list[Violation]:
    found = []
    for name, query in CHECKS.items():
        if (not only or name in only) and (rows := connection.execute(query).fetchall()):
            example = ", ".join(f"{column} {value}" for column, value in rows[0].items())
            found.append(Violation(name, len(rows), example))
    return found
