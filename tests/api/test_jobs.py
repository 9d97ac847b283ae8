"""Jobs over HTTP."""

from uuid import uuid4

from tests.api.conftest import Users
from tests.world import World


def test_a_job_is_enqueued_read_and_cancelled(users: Users) -> None:
    enqueued = users.member.post("jobs", type="greet_person", payload={"name": "Ada"})

    assert enqueued.status == 200
    job = enqueued.body
    assert (job["status"], job["deduplicated"], job["tenant_id"]) == ("queued", False, str(users.acme))
    assert users.member.get(f"jobs/{job['id']}").body["payload"] == {"name": "Ada"}
    assert users.member.post(f"jobs/{job['id']}/cancel").body["status"] == "cancelled"
    assert users.admin.post(f"jobs/{job['id']}/retry").body["status"] == "queued"
    assert users.admin.post(f"jobs/{job['id']}/bury", reason="no").body["status"] == "dead"
    later = users.admin.post(f"jobs/{job['id']}/reschedule", run_at="2030-01-01T00:00:00Z").body
    assert later["run_at"] == "2030-01-01T00:00:00+00:00"
    assert "not due" in users.member.get(f"jobs/{job['id']}/explain").body["value"] or later["status"] == "queued"
    assert users.member.get(f"jobs/{job['id']}/attempts").items == []


def test_numbers_are_passed_on_as_they_are(users: Users) -> None:
    text = '{"type": "greet_person", "payload": {"n": 12345678901234567890.123456789, "m": 1.10}}'

    answer = users.member.send("POST", "jobs", data=text, content_type="application/json")
    kept = users.member.client.get(f"/api/v1/jobs/{answer.body['id']}", headers=dict(users.member.headers)).get_data(
        as_text=True
    )

    assert '"n": 12345678901234567890.123456789' in kept
    assert '"m": 1.10' in kept


def test_names_of_the_source_are_accepted(users: Users) -> None:
    job = users.member.post("jobs", definition_key="greet_person", scheduled_for="2030-01-01T00:00:00Z").body

    assert (job["definition_key"], job["scheduled_for"]) == ("greet_person", "2030-01-01T00:00:00+00:00")
    both = users.member.post("jobs", definition_key="greet_person", type="greet_person")
    assert (both.status, both.body["detail"]) == (400, "type: means the same as definition_key; leave one out")


def test_pages_follow_each_other(users: Users) -> None:
    ids = [users.member.post("jobs", type="greet_person").body["id"] for _ in range(5)]

    first = users.member.get("jobs", limit=2).body
    second = users.member.get("jobs", limit=2, cursor=first["next_cursor"]).body
    third = users.member.get("jobs", limit=2, cursor=second["next_cursor"]).body

    assert [job["id"] for page in (first, second, third) for job in page["items"]] == ids[::-1]
    assert third["next_cursor"] is None
    assert [job["id"] for job in users.member.get("jobs", limit=2, offset=1).items] == ids[-2:-4:-1]


def test_the_same_idempotency_key_enqueues_once(users: Users) -> None:
    header = {"Idempotency-Key": "order-7"}

    first = users.member.post("jobs", header, type="greet_person").body
    second = users.member.post("jobs", header, type="greet_person").body

    assert (first["id"], True) == (second["id"], second["deduplicated"])
    assert users.member.post("jobs", header, type="greet_person", idempotency_key="other").status == 400


def test_a_dry_run_changes_nothing(users: Users) -> None:
    tried = users.member.post("jobs?dry_run=true", type="greet_person")

    assert (tried.status, tried.body["dry_run"], tried.headers["X-Dry-Run"]) == (200, True, "true")
    assert users.member.get("jobs").items == []
    assert users.member.post("jobs?dry_run=true", type="unknown").body["code"] == "TWTYP"


def test_another_tenants_job_does_not_exist(users: Users) -> None:
    job = users.member.post("jobs", type="greet_person").body["id"]

    for method, path in [
        ("GET", ""),
        ("GET", "/attempts"),
        ("GET", "/explain"),
        ("POST", "/cancel"),
        ("POST", "/retry"),
    ]:
        answer = users.stranger.send(method, f"jobs/{job}{path}")
        assert (answer.status, answer.body["code"]) == (404, "TWJOB"), path
    assert users.stranger.get("jobs").items == []
    assert users.stranger.get("jobs", tenant_id=users.acme).items == []
    assert users.stranger.post("jobs", type="greet_person", tenant_id=str(users.acme)).body["code"] == "TWMEM"


def test_who_belongs_to_several_tenants_says_which(world: World, users: Users) -> None:
    from tests.world.api import member_of

    both = users.nobody.as_user(member_of(world, users.acme, users.other))

    answer = both.post("jobs", type="greet_person")
    assert (answer.status, answer.body["code"]) == (422, "TWARG")
    assert both.post("jobs", type="greet_person", tenant_id=str(users.other)).status == 200


def test_many_jobs_are_changed_at_once(users: Users) -> None:
    for _ in range(3):
        users.member.post("jobs", type="greet_person")

    assert users.admin.post("jobs/cancel", type="greet_person").body == {"changed": 3, "has_more": False}
    assert users.admin.post("jobs/retry", status="canceled").body["changed"] == 3
    assert users.admin.post("jobs/reschedule", run_at="2030-01-01T00:00:00Z").body["changed"] == 3
    assert users.member.post("jobs/retry").body["code"] == "TWADM"


def test_waiting_ends_with_the_job(world: World, users: Users) -> None:
    job = users.member.post("jobs", type="greet_person").body["id"]

    assert users.member.get(f"jobs/{job}", wait=0).body["status"] == "queued"
    claimed = world.claim()
    world.queue.complete_job(claimed, {"text": "Hello"})
    assert users.member.get(f"jobs/{job}", wait=20).body["result"] == {"text": "Hello"}
    assert users.member.get(f"jobs/{uuid4()}", wait=20).status == 404
    assert users.member.get(f"jobs/{job}", wait=21).status == 400


def test_the_summary_counts(users: Users) -> None:
    users.member.post("jobs", type="greet_person")

    (row,) = users.member.get("jobs/summary/types").items
    whole = users.member.get("jobs/summary").body
    assert (row["type"], row["queued"], row["running"]) == ("greet_person", 1, 0)
    assert (whole["queued"], whole["running"], whole["oldest_due_seconds"] >= 0) == (1, 0, True)
    assert users.stranger.get("jobs/summary/types").items == []
    assert users.stranger.get("jobs/summary").body["queued"] == 0


def test_many_jobs_are_enqueued_for_the_only_tenant(users: Users) -> None:
    answer = users.member.post("jobs/batch", jobs=[{"type": "greet_person", "payload": {"n": n}} for n in range(3)])

    assert [(job["tenant_id"], job["payload"]) for job in answer.items] == [
        (str(users.acme), {"n": n}) for n in range(3)
    ]
