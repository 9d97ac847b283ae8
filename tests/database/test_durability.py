"""Which verbs wait for the disk: those whose loss somebody would notice."""

import pytest

from tests.world import World

IN_A_TRANSACTION = {
    "enqueue": "select enqueue_job((select id from organizations), 'greet_person')",
    "insert": "insert into jobs (tenant_id, type) select id, 'greet_person' from organizations",
    "complete": "select complete_job(job_id, token) from tickwork.leases",
    "fail": "select fail_job(job_id, token, '{}') from tickwork.leases",
    "cancel": "select cancel_job(id) from jobs where status = 'running'",
    "retry": "select retry_job(id) from jobs where status = 'dead'",
}


def setting_after(world: World, *statements: str, default: str) -> str:
    """What the commit would do, after these statements in one transaction."""
    connection = world.connect()
    connection.execute(f"set synchronous_commit = {default}")
    with connection.transaction():
        for statement in statements:
            connection.execute(statement)
        row = connection.execute("show synchronous_commit").fetchone()
    assert row is not None
    return str(row["synchronous_commit"])


@pytest.fixture
def jobs(world: World) -> None:
    make_jobs(world)


def make_jobs(world: World) -> None:
    dead = world.running_job(max_attempts=1)
    world.queue.fail_job(dead, {"code": "X"})
    world.running_job()
    world.job()


@pytest.mark.usefixtures("jobs")
@pytest.mark.parametrize("verb", IN_A_TRANSACTION)
@pytest.mark.parametrize("default", ["off", "on", "remote_apply"])
def test_what_must_not_be_lost_waits_for_the_disk_whatever_the_default(world: World, verb: str, default: str) -> None:
    setting = setting_after(world, IN_A_TRANSACTION[verb], default=default)

    assert setting == ("on" if default == "off" else default)


@pytest.mark.usefixtures("jobs")
@pytest.mark.parametrize(
    "statement",
    [
        "select claim_next_job('test', 'w')",
        "select heartbeat_job(job_id, token) from tickwork.leases",
    ],
)
def test_a_claim_and_a_heartbeat_do_not_wait(world: World, statement: str) -> None:
    assert setting_after(world, statement, default="on") == "off"


@pytest.mark.usefixtures("jobs")
@pytest.mark.parametrize("verb", IN_A_TRANSACTION)
def test_a_claim_in_the_same_transaction_takes_nothing_back(world: World, verb: str) -> None:
    claim = "select claim_next_job('test', 'w')"

    assert setting_after(world, IN_A_TRANSACTION[verb], claim, default="on") == "on"
    world.run("update jobs set run_at = now()")
    assert setting_after(world, claim, IN_A_TRANSACTION["enqueue"], default="on") == "on"


def test_the_setting_ends_with_the_transaction(world: World) -> None:
    connection = world.connect()

    connection.execute("select claim_next_job('test', 'w')")

    assert connection.execute("show synchronous_commit").fetchone() == {"synchronous_commit": "on"}
