"""Workers and functions: the operator sees all of them, a tenant those that run its jobs."""

import json

import pytest

from tests.console.conftest import Viewers

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(scope="module", autouse=True)
def workers(viewers: Viewers) -> None:
    world = viewers.world
    world.running_job(tenant=viewers.acme)
    world.queue.note_worker("host-1", "1.2.3", ["test"], 1, 60, {"kind": "worker", "types": ["greet_person"]})
    world.other_queue.note_worker(HOSTILE, "1.0", ["test"], 0, 60, {"kind": "function", "types": [HOSTILE]})


def test_a_platform_admin_sees_hosts_versions_and_handlers(viewers: Viewers) -> None:
    seen = viewers.operator.get("/workers")

    for told in ("worker-1", "host-1", "1.2.3", "greet_person", "worker-2", "function"):
        assert told in seen.text
    assert HOSTILE in seen.text
    assert HOSTILE not in seen.html
    assert "has called for 3 minutes" not in seen.text


def test_members_see_who_runs_their_jobs_but_no_hosts(viewers: Viewers) -> None:
    own, foreign = viewers.member.get("/workers").text, viewers.stranger.get("/workers").text

    assert "worker-1" in own
    assert "host-1" not in own
    assert "worker-1" not in foreign
    assert "No job of yours is running" in foreign


def test_silence_is_said(viewers: Viewers) -> None:
    viewers.world.run("update job_workers set last_seen_at = last_seen_at - interval '4 minutes'")
    try:
        seen = viewers.operator.get("/workers")
    finally:
        viewers.world.run("update job_workers set last_seen_at = last_seen_at + interval '4 minutes'")

    assert "No function or worker has called for 3 minutes" in seen.text
    assert "Not heard of for a minute, although they should be: worker-1" in seen.text
    assert "stale" in seen.text


def test_they_are_exported(viewers: Viewers) -> None:
    rows = json.loads(viewers.operator.get("/workers", format="json").html)

    assert [row["worker_id"] for row in rows] == ["worker-1", "worker-2"]
