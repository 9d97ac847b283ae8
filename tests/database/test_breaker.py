"""The breaker: while an endpoint is down its deliveries wait, one at a time finds out whether it is back."""

from uuid import UUID

from tests.world import World
from tests.world.crowd import let_time_pass, transaction
from tests.world.receivers import attempt, deliveries, emit, endpoint, make_due, note, state


def tenant_with_endpoint(world: World, waiting: int) -> tuple[UUID, UUID]:
    tenant = world.tenant()
    one = endpoint(world, tenant)
    for _ in range(waiting):
        emit(world, tenant)
    return tenant, one


def let_the_probe_come(world: World) -> None:
    let_time_pass(world, 1000)
    world.run("update webhook_endpoints set probe_at = probe_at - interval '1000 seconds'")


def break_down(world: World) -> None:
    for _ in range(5):
        attempt(world, "down", error_code="HTTP_503", error_message="It answered 503")


def attempts(world: World) -> int:
    found: int = world.value("select sum(attempts) from jobs where type = 'deliver_webhook'")
    return found


def test_five_failures_in_a_row_hold_the_lane_and_spend_no_further_attempts(world: World) -> None:
    _, one = tenant_with_endpoint(world, 10)
    neighbour = world.tenant("birch")
    endpoint(world, neighbour)
    break_down(world)

    assert state(world, one)["breaker"] == "open"
    assert world.queue.claim_next_job("webhook") is None
    assert attempts(world) == 5
    waiting = world.value("select id from jobs where attempts = 0 limit 1")
    assert "is held until" in (why := world.service.jobs.explain_job(waiting))
    assert "the endpoint is down" in why
    assert "It answered 503" in why
    # Nobody else waits with it.
    emit(world, neighbour)
    assert attempt(world, "delivered").tenant_id == neighbour


def test_disabling_an_endpoint_waits_for_no_delivery_that_is_being_claimed(world: World) -> None:
    _, one = tenant_with_endpoint(world, 2)
    claiming = transaction(world)
    claimed = claiming.execute("select id from jobs order by id limit 1 for no key update").fetchall()[0]["id"]

    world.run("set statement_timeout = '10s'")
    world.run("update webhook_endpoints set status = 'disabled' where id = %s", one)

    assert {row["id"]: row["status"] for row in world.rows("select id, status from jobs")}[claimed] == "queued"
    assert world.value("select count(*) from jobs where status = 'cancelled'") == 1
    claiming.rollback()


def test_a_success_between_failures_keeps_it_closed(world: World) -> None:
    _, one = tenant_with_endpoint(world, 20)
    for verdict in ("down",) * 4, ("delivered",), ("down",) * 4:
        for each in verdict:
            attempt(world, each)  # type: ignore[arg-type]

    assert (state(world, one)["breaker"], state(world, one)["failures"]) == ("closed", 4)


def test_one_probe_at_a_time_and_the_next_one_later(world: World) -> None:
    _, one = tenant_with_endpoint(world, 10)
    break_down(world)
    let_the_probe_come(world)

    probe = world.claim("webhook")
    assert world.queue.claim_next_job("webhook") is None
    waiting = world.value("select id from jobs where attempts = 0 limit 1")
    assert "at most 1 of the jobs of its lane" in world.service.jobs.explain_job(waiting)
    first_pause = held_seconds(world)
    note(world, probe, "down", error_message="It answered 503")
    world.queue.fail_job(probe, {"code": "DOWN"})

    assert (state(world, one)["breaker"], state(world, one)["probes"]) == ("open", 1)
    assert world.queue.claim_next_job("webhook") is None
    assert first_pause <= 0 < 40 < held_seconds(world) < 80


def held_seconds(world: World) -> float:
    found: float = world.value(
        "select extract(epoch from max(held_until) - clock_timestamp())::float from tickwork.lane_rules"
    )
    return found


def test_the_pause_between_probes_has_an_end(world: World) -> None:
    _, one = tenant_with_endpoint(world, 30)
    break_down(world)
    for _ in range(12):
        let_the_probe_come(world)
        attempt(world, "down", error_message="x")

    assert state(world, one)["probes"] == 12
    assert 400 < held_seconds(world) < 800


def test_what_was_under_way_when_it_opened_is_no_probe(world: World) -> None:
    _, one = tenant_with_endpoint(world, 10)
    late = [world.claim("webhook") for _ in range(2)]
    break_down(world)

    for job in late:
        note(world, job, "down", error_message="x")
        world.queue.fail_job(job, {"code": "DOWN"})

    assert (state(world, one)["probes"], state(world, one)["failures"]) == (0, 7)


def test_when_a_probe_succeeds_the_backlog_flows_at_a_bounded_rate_and_then_freely(world: World) -> None:
    tenant, one = tenant_with_endpoint(world, 90)
    world.run("update job_types set max_running_per_tenant = null where key = 'deliver_webhook'")
    break_down(world)
    let_the_probe_come(world)

    attempt(world, "delivered")

    assert state(world, one)["breaker"] == "recovering"
    # Those that had failed wait no longer for their own next attempt.
    assert world.value("select count(*) from jobs where status = 'queued' and run_at > clock_timestamp()") == 0
    jobs = world.queue.claim_jobs("webhook", 100)
    assert len(jobs) == 60
    waiting = world.value("select id from jobs where status = 'queued' limit 1")
    assert "at most 60 of the jobs of its lane" in world.service.jobs.explain_job(waiting)
    for job in jobs[:19]:
        note(world, job, "delivered")
        world.queue.complete_job(job)

    assert state(world, one)["breaker"] == "closed"
    assert world.value("select count(*) from tickwork.lane_rules where starts_per_minute is not null") == 0
    assert len(world.queue.claim_jobs("webhook", 100)) == 29
    assert tenant == jobs[0].tenant_id


def test_a_recovering_endpoint_that_breaks_down_again_is_held_again(world: World) -> None:
    _, one = tenant_with_endpoint(world, 30)
    break_down(world)
    let_the_probe_come(world)
    attempt(world, "delivered")

    break_down(world)

    assert (state(world, one)["breaker"], state(world, one)["probes"]) == ("open", 0)
    assert world.queue.claim_next_job("webhook") is None


def test_an_answer_of_its_own_shows_that_it_is_up(world: World) -> None:
    _, one = tenant_with_endpoint(world, 10)
    for _ in range(7):
        attempt(world, "refused", http_status=404)
    assert (state(world, one)["breaker"], state(world, one)["failures"]) == ("closed", 7)
    attempt(world, "down")
    assert state(world, one)["breaker"] == "open"
    let_the_probe_come(world)

    attempt(world, "refused", http_status=404)

    assert state(world, one)["breaker"] == "recovering"


def test_an_endpoint_that_asks_for_a_pause_gets_it(world: World) -> None:
    _, one = tenant_with_endpoint(world, 3)

    attempt(world, "throttled", retry_after_seconds=500)

    assert world.queue.claim_next_job("webhook") is None
    assert 450 < held_seconds(world) <= 500
    assert (attempts(world), state(world, one)["breaker"]) == (1, "closed")
    let_time_pass(world, 501)
    attempt(world, "delivered")


def test_a_retry_after_of_a_probe_is_waited_for(world: World) -> None:
    tenant_with_endpoint(world, 10)
    for _ in range(4):
        attempt(world, "down")

    attempt(world, "down", retry_after_seconds=5000)

    assert 4900 < held_seconds(world) <= 5000


def test_an_endpoint_that_is_gone_is_disabled_and_the_others_are_told(world: World) -> None:
    tenant, one = tenant_with_endpoint(world, 2)
    other = endpoint(world, tenant, "webhook_endpoint.*")

    job = attempt(world, "gone", http_status=410)

    after = state(world, one)
    assert (after["status"], after["disabled_reason"]) == ("disabled", "It answered 410 Gone")
    assert job.status == "failed"
    assert {each["status"] for each in deliveries(world, one)} == {"failed"}
    event = world.row("select * from events where type = 'webhook_endpoint.disabled'")
    assert event["payload"]["webhook_endpoint_id"] == str(one)
    assert "hooks.example" not in str(event)
    assert [each["event_id"] for each in deliveries(world, other)] == [event["id"]]


def test_an_endpoint_that_only_fails_for_five_days_is_disabled(world: World) -> None:
    _, one = tenant_with_endpoint(world, 20)
    break_down(world)
    world.run("update webhook_endpoints set failing_since = failing_since - interval '119 hours'")
    let_the_probe_come(world)
    attempt(world, "down", error_message="It answered 503")
    assert state(world, one)["status"] == "active"
    world.run("update webhook_endpoints set failing_since = failing_since - interval '2 hours'")
    let_the_probe_come(world)

    attempt(world, "down", error_message="It answered 503")

    after = state(world, one)
    assert after["status"] == "disabled"
    assert "five days" in after["disabled_reason"]
    assert world.value("select count(*) from events where type = 'webhook_endpoint.disabled'") == 1
    world.run("select tickwork.ring_alarms('webhook', 100)")
    assert world.value("select count(*) from tickwork.lane_rules") == 0


def test_few_failures_disable_nothing_however_long_ago(world: World) -> None:
    _, one = tenant_with_endpoint(world, 3)
    attempt(world, "down")
    world.run("update webhook_endpoints set failing_since = failing_since - interval '9 days'")
    make_due(world)

    attempt(world, "down")

    assert state(world, one)["status"] == "active"
