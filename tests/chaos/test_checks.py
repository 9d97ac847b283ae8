"""The checker of a storm: it finds nothing wrong with a good life, and finds each thing that can be wrong."""

from contextlib import closing

import pytest

from tests.world import World
from tickwork.database.connection import Connection
from tickwork_chaos.checks import CHECKS, violations
from tickwork_chaos.handlers import store
from tickwork_chaos.ledger import Ledger
from tickwork_chaos.mutants import SQL_MUTANTS, Mutant
from tickwork_chaos.orders import Wanted, wanted
from tickwork_chaos.results import copy, store_results
from tickwork_chaos.scene import set_up
from tickwork_chaos.ways import Single

# What is wrong, and how it is made: by statements that no trigger of the queue sees.
WRONG = {
    "lost": "update storm.orders set number = 1000",
    "doubled": """
        insert into public.jobs (tenant_id, type, family, payload, priority, max_attempts, status, finished_at)
        select tenant_id, type, family, payload, 0, 1, 'done', now() from public.jobs
    """,
    "stuck": "update public.jobs set status = 'queued', finished_at = null",
    "effects not once": "insert into storm.effects select * from storm.effects",
    "effects of a lease": 'update public.jobs set payload = payload || \'{"effect": "lease"}\'',
    "zombie effects": "update storm.effects set step = step + 1000",
    "zombie outcomes": "update storm.history set attempt_of_outcome = 7 where new_status = 'done'",
    "split transactions": "update storm.effects set transaction = '1'",
    "ended too early": """
        update storm.history set new_status = 'queued', error_code = 'LEASE_EXPIRED' where new_status = 'done'
    """,
    "illegal": "update storm.history set old_status = 'done' where new_status = 'running'",
    "gaps": "delete from storm.history where new_status = 'running'",
    "tokens used twice": """
        insert into storm.tokens (transaction, job_id, token, expires_at, is_over)
        select pg_current_xact_id(), job_id, token, expires_at, is_over from storm.tokens where not is_over
    """,
    "running without a lease": "delete from storm.tokens where is_over",
    "over a limit": """
        insert into storm.history (job_id, tenant_id, type, old_status, new_status)
        select gen_random_uuid(), gen_random_uuid(), 'storm_limited', 'queued', 'running' from generate_series(1, 25)
    """,
    "follow-ups": "update public.jobs set payload = payload || '{\"follow_ups\": 2}'",
    "wrong endings": 'update public.jobs set payload = payload || \'{"fate": "failed"}\'',
    "unknown errors": """
        insert into tickwork.attempts (
          job_id, number, tenant_id, worker_id, started_at, finished_at, status, error_code
        )
        select id, 1, tenant_id, 'worker-1', now(), now(), 'failed', 'UNEXPECTED' from public.jobs
    """,
    "queue tables": "insert into tickwork.taken_keys select tenant_id, 'a key', id from public.jobs",
    "done without a run": "delete from storm.executions",
}


@pytest.fixture
def lived(world: World) -> World:
    """A world with the audit, and one job that went through its life as it should."""
    scene = set_up(world.admin)
    ledger = Ledger()
    order = a_plain_order()
    ledger.note([order])
    with closing(Single(world.url, scene)) as way:
        assert ledger.is_settled(way, [order])
    job = world.claim(order.type.partition("_")[0])
    outcome = {
        "job_id": str(job.id),
        "lease_token": str(job.lease_token),
        "status": "done",
        "result": {"attempt": job.attempts},
    }

    def write_and_settle(connection: Connection) -> None:
        world.queue.hold_job(job, connection)
        store(job.tenant_id, job.id, job.attempts, "done", connection)
        world.queue.settle_jobs([outcome], connection)

    world.queue.database.transaction(write_and_settle)
    store_results(world.admin, scene, ledger)
    copy(world.admin, "storm.executions", [(job.id, job.attempts)])
    return world


def a_plain_order() -> Wanted:
    """The first one that is done at once, with an effect and nothing that follows."""
    candidates = (wanted(number, 1, 0) for number in range(1000))
    return next(
        each
        for each in candidates
        if each.order.effect == "done" and not each.order.follow_ups and each.order.fate == "done" and not each.lane
    )


def test_a_good_life_passes(lived: World) -> None:
    assert violations(lived.admin) == []


@pytest.mark.parametrize("check", CHECKS)
def test_each_check_can_fail(lived: World, check: str) -> None:
    lived.admin.execute("set session_replication_role = replica")

    lived.admin.execute(WRONG[check])

    assert check in [violation.check for violation in violations(lived.admin)]


@pytest.mark.parametrize("mutant", SQL_MUTANTS, ids=lambda mutant: mutant.defect)
def test_the_mutants_of_a_storm_fit_the_sql(world: World, mutant: Mutant) -> None:
    set_up(world.admin)

    with world.admin.transaction(force_rollback=True):
        for function, before, _ in mutant.changes:
            text = world.value("select pg_get_functiondef(%s::regproc)", function)
            assert before in text
