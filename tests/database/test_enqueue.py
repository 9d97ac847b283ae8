"""-> queued: what gets in, what is refused, and what counts as the same job."""

import json
import threading
import time
from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest

from tests.world import World
from tickwork.errors import InvalidRequest, QueueError

OUT_OF_YEARS = "is out of range, the year must be 1900 to 9998"
NEST_32 = {"a": None}
for _ in range(31):
    NEST_32 = {"a": NEST_32}  # type: ignore[dict-item]


def test_a_job_takes_its_family_and_attempts_from_its_type(world: World) -> None:
    world.type("greet_person", family="test", max_attempts=7)

    job = world.job("greet_person", payload={"name": "Ada"})

    assert (job.status, job.family, job.max_attempts, job.attempts) == ("queued", "test", 7, 0)
    assert (job.priority, job.source, job.payload) == (0, "manual", {"name": "Ada"})


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"payload": {"a": [1, None]}, "priority": 7, "max_attempts": 2, "correlation_id": "c", "notify": True},
        {"lane": "a"},
        {"run_at": "2999-01-01 00:00Z"},
    ],
    ids=str,
)
def test_one_job_and_many_are_enqueued_alike(world: World, options: dict[str, Any]) -> None:
    tenant, type = world.tenant(), world.type(priority=3, max_attempts=7)

    one = world.service.jobs.enqueue_job(tenant, type, **options)
    many = world.service.jobs.enqueue_jobs([{"tenant_id": str(tenant), "type": type, **options} for _ in range(2)])

    rows = [enqueued_row(world, id) for id in (one.id, *(each.id for each in many))]
    assert rows == [rows[0]] * 3
    assert one.deduplicated is False


def enqueued_row(world: World, id: UUID) -> dict[str, Any]:
    """Its row and where it waits, without what differs from one to the next."""
    row = world.row(
        "select jobs.*, waiting.job_id is not null as is_waiting, parked.job_id is not null as is_parked, "
        "coalesce(to_jsonb(waiting), to_jsonb(parked)) - '{job_id, run_at}'::text[] as place "
        "from jobs left join tickwork.waiting on waiting.job_id = jobs.id "
        "left join tickwork.parked on parked.job_id = jobs.id where jobs.id = %s",
        id,
    )
    assert row["is_waiting"] != row["is_parked"]
    return {name: value for name, value in row.items() if name not in {"id", "run_at", "created_at", "updated_at"}}


def test_what_is_null_is_as_if_it_were_left_out(world: World) -> None:
    tenant, type = world.tenant(), world.type()
    columns = "payload, priority, max_attempts, lane, run_at <= clock_timestamp() as is_due"
    left_out = world.rows(f"select {columns} from enqueue_job(%s, %s)", tenant, type)

    null = world.rows(
        f"select {columns} from enqueue_job(%s, %s, null, null, null, null, null, null, null, null)", tenant, type
    )

    assert null == left_out
    assert left_out == [{"payload": {}, "priority": 0, "max_attempts": 4, "lane": None, "is_due": True}]


def test_a_repeated_idempotency_key_answers_the_first_job_unchanged(world: World) -> None:
    first = world.service.jobs.enqueue_job(world.tenant(), world.type(), {"n": 1}, idempotency_key="k")
    world.queue.complete_job(world.claim(), {"ok": True})

    again = world.service.jobs.enqueue_job(first.tenant_id, first.type, {"n": 2}, idempotency_key="k")

    assert (first.deduplicated, again.deduplicated) == (False, True)
    assert (again.id, again.status, again.payload) == (first.id, "done", {"n": 1})
    assert world.value("select count(*) from jobs") == 1


def test_an_idempotency_key_belongs_to_one_tenant_and_type(world: World) -> None:
    here, there = world.tenant("here"), world.tenant("there")
    world.type("greet_person")
    world.type("thank_person")

    jobs = [
        world.service.jobs.enqueue_job(tenant, type, idempotency_key="k")
        for tenant in (here, there)
        for type in ("greet_person", "thank_person")
    ]

    assert len({job.id for job in jobs}) == 4


def test_a_dedupe_key_is_held_while_queued_running_and_waiting_for_a_retry(world: World) -> None:
    first = world.job(dedupe_key="d")
    answers = [world.job(dedupe_key="d")]
    running = world.claim()
    answers.append(world.job(dedupe_key="d"))
    world.queue.fail_job(running, {"code": "X"}, retry_after_seconds=3600)
    answers.append(world.job(dedupe_key="d"))

    assert {job.id for job in answers} == {first.id}


def test_a_dedupe_key_is_free_again_when_its_job_has_ended(world: World) -> None:
    first = world.running_job(dedupe_key="d")
    world.queue.complete_job(first)

    second = world.job(dedupe_key="d")

    assert second.id != first.id


def test_a_repeat_is_answered_even_when_the_type_takes_no_new_jobs(world: World) -> None:
    first = world.job(idempotency_key="k")
    world.run("update job_types set is_active = false where key = %s", first.type)

    again = world.service.jobs.enqueue_job(first.tenant_id, first.type, idempotency_key="k")

    assert (again.id, again.deduplicated) == (first.id, True)


def test_batches_whose_keys_cross_do_not_deadlock(world: World) -> None:  # with two kinds of keys
    tenant, type = str(world.tenant()), world.type()
    together = threading.Barrier(2, timeout=30)

    def enqueue(name: str, dedupe_keys: list[str]) -> None:
        queue = world.connect()

        def work(round: int) -> None:
            keys = [(f"{round}-{name}-{n:02}", f"{round}-{key}") for n, key in enumerate(dedupe_keys)]
            batch = [{"tenant_id": tenant, "type": type, "idempotency_key": a, "dedupe_key": b} for a, b in keys]
            queue.execute("select count(*) from enqueue_jobs(%s)", [json.dumps(batch)])

        in_step(together, 20, work)

    keys = [f"{n:03}" for n in range(60)]
    both = [in_thread(lambda: enqueue("up", keys)), in_thread(lambda: enqueue("down", keys[::-1]))]
    for finish in both:
        finish()

    assert world.value("select count(*) from jobs") == 20 * len(keys)


def test_a_key_whose_holder_rolls_back_is_not_lost(world: World) -> None:
    tenant, type = world.tenant(), world.type()
    holder = world.connect()
    holder.autocommit = False
    holder.execute("select enqueue_job(%s, %s, idempotency_key => 'k')", [tenant, type])
    waiting = in_thread(lambda: world.service.jobs.enqueue_job(tenant, type, idempotency_key="k"))
    wait_for_lock(world)

    holder.rollback()

    job = waiting()
    assert not job.deduplicated
    assert world.value("select count(*) from jobs") == 1


def test_a_key_whose_holder_commits_is_answered_with_that_job(world: World) -> None:
    tenant, type = world.tenant(), world.type()
    holder = world.connect()
    holder.autocommit = False
    first = holder.execute("select id from enqueue_job(%s, %s, dedupe_key => 'k')", [tenant, type]).fetchone()
    waiting = in_thread(lambda: world.service.jobs.enqueue_job(tenant, type, dedupe_key="k"))
    wait_for_lock(world)

    holder.commit()

    job = waiting()
    assert first is not None
    assert (job.id, job.deduplicated) == (first["id"], True)


@pytest.mark.parametrize(
    ("enqueued_by", "may"), [("member", {"member", "admin"}), ("admin", {"admin"}), ("service", set())]
)
def test_a_type_is_enqueued_by_those_it_names(world: World, enqueued_by: str, may: set[str]) -> None:
    tenant, type = world.tenant(), world.type(enqueued_by=enqueued_by)

    for role in ("member", "admin"):
        for statement in (
            "select from enqueue_job(%s, %s)",
            "insert into jobs (tenant_id, type) values (%s, %s) returning id",
        ):
            member = world.member_of(tenant, role=role)
            if role in may:
                assert len(member.execute(statement, [tenant, type]).fetchall()) == 1
            else:
                with pytest.raises(psycopg.Error, match="may only be enqueued by") as refusal:
                    member.execute(statement, [tenant, type])
                assert refusal.value.sqlstate == "TWENQ"

    assert world.value("select count(*) from jobs") == 2 * len(may)
    assert world.service.jobs.enqueue_job(tenant, type).status == "queued"


def test_a_dedupe_key_is_not_lost_to_a_job_whose_idempotency_key_was_taken_meanwhile(world: World) -> None:
    tenant, type = world.tenant(), world.type()
    holder = world.connect()
    holder.autocommit = False
    holder.execute("select enqueue_job(%s, %s, idempotency_key => 'k')", [tenant, type])
    waiting = in_thread(lambda: world.service.jobs.enqueue_job(tenant, type, idempotency_key="k", dedupe_key="d"))
    wait_for_lock(world)

    holder.commit()
    repeated = waiting()
    other = world.service.jobs.enqueue_job(tenant, type, dedupe_key="d")

    assert repeated.deduplicated
    assert not other.deduplicated
    assert world.value("select count(*) from jobs") == 2


def test_a_batch_answers_in_its_order_and_the_first_of_two_equal_keys_wins(world: World) -> None:
    tenant, type = str(world.tenant()), world.type()
    batch = [{"tenant_id": tenant, "type": type, "payload": {"n": n}} for n in range(4)]
    batch[1]["idempotency_key"] = batch[3]["idempotency_key"] = "same"

    jobs = world.service.jobs.enqueue_jobs(batch)

    payloads = {row["id"]: row["payload"]["n"] for row in world.rows("select id, payload from jobs")}
    assert [payloads[job.id] for job in jobs] == [0, 1, 2, 1]
    assert [job.deduplicated for job in jobs] == [False, False, False, True]
    assert world.value("select count(*) from jobs") == 3


def test_a_job_of_a_batch_that_is_there_by_one_key_leaves_its_other_key_to_those_after_it(world: World) -> None:
    job = {"tenant_id": str(world.tenant()), "type": world.type()}
    (known,) = world.service.jobs.enqueue_jobs([job | {"idempotency_key": "a"}])

    repeated, first, second = world.service.jobs.enqueue_jobs(
        [job | {"idempotency_key": "a", "dedupe_key": "b"}, job | {"dedupe_key": "b"}, job | {"dedupe_key": "b"}]
    )

    assert (repeated.id, repeated.deduplicated) == (known.id, True)
    assert not first.deduplicated
    assert (second.id, second.deduplicated) == (first.id, True)


def test_a_batch_is_claimed_in_the_order_it_was_given(world: World) -> None:
    tenant, type = str(world.tenant()), world.type()
    keys = ["z", "a", "m", "b"]
    world.service.jobs.enqueue_jobs([{"tenant_id": tenant, "type": type, "idempotency_key": key} for key in keys])

    claimed = [world.reload(world.claim()).idempotency_key for _ in keys]

    assert claimed == keys


def test_jobs_without_keys_are_answered_and_claimed_in_the_order_they_were_given(world: World) -> None:
    tenant, types = str(world.tenant()), [world.type("greet_person"), world.type("greet_robot")]
    batch = [{"tenant_id": tenant, "type": types[n % 2], "payload": {"n": n}} for n in range(200)]

    jobs = world.service.jobs.enqueue_jobs(batch)

    numbers = {row["id"]: row["payload"]["n"] for row in world.rows("select id, payload from jobs")}
    assert [numbers[job.id] for job in jobs] == [*range(200)]
    claimed = [numbers[job.id] for job in world.queue.claim_jobs("test", 200)]
    assert [n for n in claimed if n % 2 == 0] == [*range(0, 200, 2)]
    assert [n for n in claimed if n % 2 == 1] == [*range(1, 200, 2)]


def test_sessions_that_choose_the_same_random_numbers_make_no_id_of_another(world: World) -> None:
    ids: list[tuple[UUID, ...]] = []
    for session in (world.connect(), world.connect()):
        session.execute("select setseed(0.5)")
        row = session.execute("select array_agg(tickwork.new_id()) as ids from generate_series(1, 1000)").fetchone()
        assert row is not None
        ids.append(tuple(row["ids"]))

    times = [[id.int >> 64 for id in each] for each in ids]
    assert times == [sorted(each) for each in times]
    assert {id.version for each in ids for id in each} == {7}
    # All that is neither the time nor the version.
    ours, theirs = ({id.int % 2**64 for id in each} for each in ids)
    assert len(ours) == len(theirs) == 1000
    assert ours.isdisjoint(theirs)


def test_batches_with_the_same_keys_in_opposite_order_do_not_deadlock(world: World) -> None:
    tenant, type = str(world.tenant()), world.type()
    rounds, keys = 20, [f"{n:03}" for n in range(100)]
    together = threading.Barrier(2, timeout=30)

    def enqueue(keys: list[str]) -> None:
        queue = world.connect()

        def work(round: int) -> None:
            batch = [{"tenant_id": tenant, "type": type, "idempotency_key": f"{round}-{key}"} for key in keys]
            queue.execute("select count(*) from enqueue_jobs(%s)", [json.dumps(batch)])

        in_step(together, rounds, work)

    both = [in_thread(lambda: enqueue(keys)), in_thread(lambda: enqueue(keys[::-1]))]
    for finish in both:
        finish()

    assert world.value("select count(*) from jobs") == rounds * len(keys)


def test_a_batch_with_one_bad_job_writes_nothing(world: World) -> None:
    tenant, type = str(world.tenant()), world.type()

    with pytest.raises(InvalidRequest, match="type: there is no job type 'unknown'"):
        world.service.jobs.enqueue_jobs([{"tenant_id": tenant, "type": type}, {"tenant_id": tenant, "type": "unknown"}])

    assert world.value("select count(*) from jobs") == 0


@pytest.mark.parametrize(
    ("jobs", "code", "message"),
    [
        ({}, "TWARG", "jobs: must be an array of objects"),
        (None, "TWARG", "jobs: must be an array of objects"),
        ([1], "TWARG", "jobs[0]: must be an object"),
        ([{"type": "x"}, {"prio": 1}], "TWARG", "jobs[1]: unknown field prio"),
        ([{}] * 10_001, "TWBIG", "jobs: 10001 objects are too many, the maximum is 10000"),
    ],
)
def test_a_batch_that_is_none_is_refused(world: World, jobs: Any, code: str, message: str) -> None:
    with pytest.raises(InvalidRequest) as refusal:
        world.service.jobs.enqueue_jobs(jobs)

    assert (refusal.value.sqlstate, str(refusal.value)) == (code, message)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ({"type": "unknown"}, "TWTYP", "type: there is no job type 'unknown'"),
        ({"type": None}, "TWTYP", "type: there is no job type null"),
        ({"type": "retired"}, "TWTYP", "type: job type 'retired' is inactive and accepts no new jobs"),
        ({"tenant_id": None}, "TWTNT", "tenant_id: there is no tenant null"),
        ({"payload": "[1]"}, "TWPAY", "payload: must be an object, not array"),
        ({"payload": "null"}, "TWPAY", "payload: must be an object, not null"),
        ({"payload": '"text"'}, "TWPAY", "payload: must be an object, not string"),
        (
            {"payload": json.dumps({"a": "x" * 65_536})},
            "TWBIG",
            "payload: 65545 bytes is too large, the maximum is 65536",
        ),
        ({"payload": json.dumps({"a": NEST_32})}, "TWPAY", "payload: nested deeper than 32 levels"),
        ({"payload": r'{"a": "\u0000"}'}, "22P05", "unsupported Unicode escape sequence"),
        ({"payload": '{"n": 1e5000}'}, "TWPAY", "payload: contains a number beyond 1e308"),
        ({"payload": '{"a": [{"n": -1e309}]}'}, "TWPAY", "payload: contains a number beyond 1e308"),
        (
            {"run_at": "4000-01-01 BC"},
            "TWRUN",
            f"run_at: 4000-01-01 00:00:00+00 BC {OUT_OF_YEARS}",
        ),
        (
            {"run_at": "20000-01-01"},
            "TWRUN",
            f"run_at: 20000-01-01 00:00:00+00 {OUT_OF_YEARS}",
        ),
        ({"priority": -1}, "TWPRI", "priority: -1 is out of range, it must be 0 to 100"),
        ({"priority": 101}, "TWPRI", "priority: 101 is out of range, it must be 0 to 100"),
        ({"run_at": "infinity"}, "TWRUN", "run_at: must be a point in time, not infinity"),
        ({"run_at": "-infinity"}, "TWRUN", "run_at: must be a point in time, not -infinity"),
        ({"max_attempts": 0}, "TWATT", "max_attempts: 0 is out of range, it must be 1 to 25"),
        ({"max_attempts": 26}, "TWATT", "max_attempts: 26 is out of range, it must be 1 to 25"),
        ({"idempotency_key": ""}, "TWKEY", "idempotency_key: must not be empty"),
        ({"idempotency_key": "x" * 201}, "TWBIG", "idempotency_key: 201 bytes is too large, the maximum is 200"),
        ({"dedupe_key": "ü" * 101}, "TWBIG", "dedupe_key: 202 bytes is too large, the maximum is 200"),
        ({"lane": "x" * 201}, "TWBIG", "lane: 201 bytes is too large, the maximum is 200"),
        ({"correlation_id": "x" * 201}, "TWBIG", "correlation_id: 201 bytes is too large, the maximum is 200"),
    ],
)
def test_bad_input_gets_its_own_error_and_writes_nothing(
    world: World, arguments: dict[str, Any], code: str, message: str
) -> None:
    world.type("retired", is_active=False)
    given = {"tenant_id": world.tenant(), "type": world.type(), **arguments}
    names = ", ".join(f"{name} => %({name})s" for name in given)

    with pytest.raises(psycopg.Error) as refusal:
        world.admin.execute(f"select enqueue_job({names})", given)

    assert (refusal.value.sqlstate, refusal.value.diag.message_primary) == (code, message)
    assert world.value("select count(*) from jobs") == 0


def test_the_limits_themselves_are_allowed(world: World) -> None:
    widest = {"a": "1" * (65_536 - len('{"a": ""}'))}

    job = world.job(
        payload=widest,
        priority=100,
        max_attempts=25,
        idempotency_key="ü" * 100,
        dedupe_key="x" * 200,
        lane="x" * 200,
        correlation_id="x" * 200,
    )
    deepest = world.job(payload=NEST_32)

    assert job.payload == widest
    assert deepest.payload == NEST_32


def test_an_unknown_tenant_is_refused_by_name(world: World) -> None:
    stranger = uuid4()

    with pytest.raises(QueueError, match=f"tenant_id: there is no tenant {stranger}") as refusal:
        world.service.jobs.enqueue_job(stranger, world.type())

    assert refusal.value.sqlstate == "TWTNT"


def test_a_member_is_refused_a_foreign_and_a_missing_tenant_alike(world: World) -> None:
    world.type()
    member = world.member_of(world.tenant("own"))
    messages = []

    for tenant in (world.tenant("foreign"), uuid4()):
        with pytest.raises(psycopg.Error) as refusal:
            member.execute("select enqueue_job(%s, 'greet_person')", [tenant])
        messages.append((refusal.value.sqlstate, str(refusal.value.diag.message_primary).replace(str(tenant), "?")))

    assert messages == [("TWMEM", "tenant_id: you are not a member of tenant ?")] * 2
    assert world.value("select count(*) from jobs") == 0


def test_a_payload_is_checked_against_the_schema_where_the_server_can(world: World) -> None:
    world.type("greet_person", payload_schema={"required": ["name"]})
    world.run("create schema extensions")
    world.run("grant usage on schema extensions to tickwork_owner")
    # Stands in for pg_jsonschema, which only hosted servers have: same name, same arguments.
    world.run(
        "create function extensions.jsonb_matches_schema(schema json, instance jsonb) returns boolean "
        "language sql as $$ select instance ?& array(select json_array_elements_text(schema -> 'required')) $$"
    )

    with pytest.raises(InvalidRequest, match="payload: does not match the schema of its type"):
        world.job("greet_person", payload={})
    accepted = world.job("greet_person", payload={"name": "Ada"})

    assert accepted.status == "queued"


def test_a_direct_insert_obeys_the_same_rules(world: World) -> None:
    tenant = world.tenant()
    world.type()
    member = world.member_of(tenant)
    insert = "insert into jobs (tenant_id, type, priority) values (%s, 'greet_person', %s) returning *"

    with pytest.raises(psycopg.Error, match="priority: 999 is out of range"):
        member.execute(insert, [tenant, 999])
    row = member.execute(insert, [tenant, 9]).fetchone()

    assert row is not None
    assert (row["status"], row["family"], row["max_attempts"]) == ("queued", "test", 4)
    assert world.claim().id == row["id"]


def test_an_insert_wakes_listeners_of_its_family_but_not_for_the_future(world: World) -> None:
    listener = world.connect()
    listener.execute("listen tickwork")

    world.job(run_at="2999-01-01")
    world.job()

    notices = [notice.payload for notice in listener.notifies(timeout=5, stop_after=1)]
    assert notices == ["test"]
    assert list(listener.notifies(timeout=0)) == []


def in_step(together: threading.Barrier, rounds: int, work: Callable[[int], object]) -> None:
    """Do the work of each round at the same moment as the other thread; who fails lets the other one go."""
    try:
        for round in range(rounds):
            together.wait()
            work(round)
    except BaseException:
        together.abort()
        raise


def in_thread(work: Any) -> Any:
    """Start the work beside us; call what comes back to wait for its result."""
    results: list[Any] = []

    def target() -> None:
        try:
            results.append(work())
        except Exception as error:
            results.append(error)

    thread = threading.Thread(target=target)
    thread.start()

    def finish() -> Any:
        thread.join(30)
        (result,) = results
        if isinstance(result, Exception):
            raise result
        return result

    return finish


def wait_for_lock(world: World) -> None:
    """Until some other session of this database waits for a lock."""
    give_up_at = time.monotonic() + 10
    while not world.value(
        "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
    ):
        assert time.monotonic() < give_up_at, "nobody waits"


@pytest.mark.parametrize(
    ("payload", "broken"),
    [
        ("{}", None),
        ("[]", "object"),
        (json.dumps(NEST_32), None),
        (json.dumps({"a": NEST_32}), "depth"),
        ('{"": ' + "[" * 31 + "]" * 31 + "}", None),
        ('{"": ' + "[" * 32 + "]" * 32 + "}", "depth"),
        (json.dumps({"a": "x" * (65536 - 9)}), None),
        (json.dumps({"a": "x" * (65536 - 8)}), "size"),
        ('{"n": 1e308}', None),
        ('{"n": 1e309}', "number"),
    ],
)
def test_a_payload_is_refused_by_the_rule_it_breaks(world: World, payload: str, broken: str | None) -> None:
    rule = "select tickwork.broken_payload_rule(given, given::text) from (select %s::jsonb) as x(given)"

    assert world.value(rule, payload) == broken
    if broken:
        with pytest.raises(psycopg.Error, match="payload: "):
            world.run("select tickwork.check_payload(%s, null)", payload)
    else:
        world.run("select tickwork.check_payload(%s, null)", payload)
