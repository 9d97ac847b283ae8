"""Defects that a storm must find: each is put into the SQL or the runtime on purpose, and a short storm turns red."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from tickwork.database.connection import Connection
from tickwork_chaos.runtime_mutants import MUTANT, RUNTIME_MUTANTS


@dataclass(frozen=True)
class Mutant:
    """In each function a text is replaced by another; then the statements are run."""

    defect: str
    changes: tuple[tuple[str, str, str], ...] = ()
    statements: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)

    def apply(self, connection: Connection) -> None:
        for function, before, after in self.changes:
            (row,) = connection.execute("select pg_get_functiondef(%s::regproc) as text", [function]).fetchall()
            assert before in row["text"], f"{self.defect}: the mutant no longer fits {function}"
            connection.execute(row["text"].replace(before, after))
        for statement in self.statements:
            connection.execute(statement)


REVIVE = """
  perform tickwork.skip_disk();

  with revived as (
    update public.jobs
    set status = 'running', lease_expires_at = clock_timestamp() + interval '10 seconds'
    from jsonb_to_recordset(heartbeat_jobs.heartbeats) as beat(job_id uuid, lease_token uuid)
    where jobs.id = beat.job_id and jobs.status in ('queued', 'done')
    returning jobs.*, beat.lease_token
  ),
  unfiled as (
    delete from tickwork.waiting using revived where waiting.job_id = revived.id
  )
  insert into tickwork.leases (job_id, token, family, type, tenant_id, lane, lease_seconds, expires_at, is_watched)
  select id, lease_token, family, type, tenant_id, lane, 10, lease_expires_at, true from revived
  on conflict do nothing;
"""
SQL_MUTANTS = (
    Mutant(
        "no fence: settle by id",
        (
            (
                "tickwork.end_attempts",
                "leases.token = end_attempts.tokens[array_position(end_attempts.ids, leases.job_id)]",
                "true",
            ),
            ("tickwork.settle_and_claim", "leases.token = settle_and_claim.lease_tokens[1]", "true"),
        ),
    ),
    Mutant("limits without lock", (("tickwork.lock_limit", "begin", "begin return true;"),)),
    Mutant(
        "reaper without re-check",
        (
            ("tickwork.reap", "limit reap.max_jobs\n    for update skip locked", "limit reap.max_jobs"),
            (
                "tickwork.reap",
                "where leases.job_id = any (array(select held.id from held))",
                """where leases.job_id = any (array(select held.id from held))
                    and (select pg_sleep(3)::text from held limit 1) is not null""",
            ),
        ),
    ),
    Mutant("heartbeat that revives", (("tickwork.heartbeat_jobs", "\n  perform tickwork.skip_disk();\n", REVIVE),)),
    Mutant("one job too many", (("tickwork.pick_targets", "limit target.room", "limit target.room + 1"),)),
    Mutant(
        "acknowledged before it is on disk",
        (("tickwork.wait_for_disk", "= 'off'", "= 'never'"),),
        (
            "alter database postgres set synchronous_commit = off",
            "alter system set wal_writer_delay = '10s'",
            "select pg_reload_conf()",
        ),
    ),
    Mutant(
        "a key that nobody looks up",
        (("tickwork.job_asked_for", "and same.idempotency_key =", "and false and same.idempotency_key ="),),
        ("drop index public.jobs_idempotency_key",),
    ),
    Mutant("an attempt that is not counted", (("tickwork.claim", "jobs.attempts + 1", "jobs.attempts"),)),
    Mutant(
        "a token per worker",
        (
            (
                "tickwork.settle_and_claim",
                "coalesce(settle_and_claim.new_token, gen_random_uuid())",
                "md5(settle_and_claim.worker_id)::uuid",
            ),
        ),
    ),
    Mutant("not filed again after its lease expired", (("tickwork.file_again", "begin", "begin return;"),)),
    Mutant("lanes without limits", (("tickwork.room_in_lane", "begin", "begin return null;"),)),
    Mutant("alarms that never ring", (("tickwork.ring_alarms", "\nbegin", "\nbegin return;"),)),
    Mutant(
        "writes of whoever had the job",
        (
            ("tickwork.hold_job", "and leases.token = hold_job.lease_token", ""),
            ("tickwork.held_tenant", "and leases.token =", "and null is distinct from"),
        ),
    ),
)
MUTANTS = (*SQL_MUTANTS, *(Mutant(defect, environment={MUTANT: defect}) for defect in RUNTIME_MUTANTS))
