"""A worker over HTTP: fenced like every other one."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import pytest

from tests.api.conftest import Users
from tests.world import World
from tests.world.api import Api
from tests.world.waiting import until

FAMILY: dict[str, Any] = {"family": "test", "worker_id": "shell-1"}


@pytest.fixture
def worker(world: World, users: Users) -> Api:
    """With a key of the platform."""
    key = world.value("select key from create_api_key('worker', '{worker:test}', null)")
    return users.nobody.with_key(key)


def test_a_job_is_claimed_kept_and_completed(users: Users, worker: Api) -> None:
    job = users.member.post("jobs", type="greet_person", payload={"name": "Ada"}).body["id"]

    (claimed,) = worker.post("worker/jobs/claim", **FAMILY).items
    lease: dict[str, Any] = {"lease_token": claimed["lease_token"]}
    assert (claimed["id"], claimed["payload"]) == (job, {"name": "Ada"})
    assert worker.post("worker/jobs/claim", **FAMILY).items == []
    assert worker.post(f"worker/jobs/{job}/heartbeat", **lease, progress=0.5, message="half").body == {"value": False}
    done = worker.post(f"worker/jobs/{job}/complete", **lease, result={"text": "Hello", "n": 1}).body
    assert (done["status"], done["result"]) == ("done", {"text": "Hello", "n": 1})

    settles: dict[str, Any] = {"heartbeat": {}, "complete": {}, "release": {}, "fail": {"error": {"code": "X"}}}
    for verb, more in settles.items():
        stale = worker.post(f"worker/jobs/{job}/{verb}", **lease, **more)
        assert (stale.status, stale.body["code"]) == (409, "TWLSE"), verb


def test_a_job_is_failed_and_released(users: Users, worker: Api) -> None:
    users.member.post("jobs", type="greet_person")

    (claimed,) = worker.post("worker/jobs/claim", **FAMILY).items
    path = f"worker/jobs/{claimed['id']}"
    assert worker.post(f"{path}/release", lease_token=claimed["lease_token"]).body["status"] == "queued"
    (claimed,) = worker.post("worker/jobs/claim", **FAMILY).items
    failed = worker.post(
        f"{path}/fail", lease_token=claimed["lease_token"], error={"code": "NO", "message": "no"}, retryable=False
    )
    assert (failed.body["status"], failed.body["error_code"]) == ("failed", "NO")


def test_the_next_job_comes_with_the_end_of_the_last(users: Users, worker: Api) -> None:
    for _ in range(2):
        users.member.post("jobs", type="greet_person")
    (first,) = worker.post("worker/jobs/claim", **FAMILY).items

    outcome = {"job_id": first["id"], "lease_token": first["lease_token"], "status": "done", "result": {"n": 1}}
    answer = worker.post("worker/jobs/settle_and_claim", **FAMILY, outcomes=[outcome]).body

    assert [each["job_id"] for each in answer["settled"]] == [first["id"]]
    assert [each["id"] for each in answer["claimed"]] != [first["id"]]
    assert users.member.get(f"jobs/{first['id']}").body["status"] == "done"


def test_a_claim_waits_for_a_job(users: Users, worker: Api) -> None:
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(worker.post, "worker/jobs/claim", **FAMILY, wait_seconds=20)
        job = users.member.post("jobs", type="greet_person").body["id"]
        until(waiting.done)

    assert [each["id"] for each in waiting.result().items] == [job]


def test_a_key_for_one_family_sees_no_other(world: World, users: Users, worker: Api) -> None:
    world.type("greet_elsewhere", family="other")
    users.member.post("jobs", type="greet_elsewhere")
    operator = users.nobody.with_key(users.admin.post("keys", name="o", scopes=["operate"]).body["key"])
    lease: dict[str, Any] = {"lease_token": str(uuid4())}

    assert worker.post("worker/jobs/claim", family="other", worker_id="shell-1").status == 403
    assert worker.get("jobs").items == []
    for caller in (users.admin, operator):
        assert caller.post("worker/jobs/claim", **FAMILY).status == 403
        assert caller.post(f"worker/jobs/{uuid4()}/complete", **lease).status in (403, 409)
