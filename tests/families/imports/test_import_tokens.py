"""Tokens, pauses and apps, with every provider: renewed once, kept apart, and held for the whole lane."""

from typing import Any
from uuid import UUID

import pytest

from tests.servers.cloud import Asked, Cloud, Requests, saying, serve
from tests.world.every_provider import at_once, cloud, connector, office, provider
from tests.world.office import SECRET_KEY, Office

__all__ = ["cloud", "connector", "office", "provider"]


def test_a_token_that_expired_is_renewed(office: Office, cloud: Cloud, connector: UUID) -> None:
    cloud.put("/papers/one.txt", b"one")
    office.bring(connector, "/papers")
    cloud.access_token = "another one, so that ours is refused"
    cloud.put("/papers/two.txt", b"two")

    job = office.bring(connector, "/papers")

    assert (job.status, cloud.renewals) == ("done", 2)
    assert {*office.documents()} == {"one.txt", "two.txt"}


def test_a_token_is_used_until_it_expires(office: Office, cloud: Cloud, connector: UUID) -> None:
    cloud.put("/papers/one.txt", b"one")

    for _ in range(3):
        office.bring(connector, "/papers")

    assert cloud.renewals == 1


def test_a_rotated_refresh_token_is_kept(office: Office, cloud: Cloud, connector: UUID) -> None:
    cloud.rotates, cloud.expires_in = True, 0
    cloud.put("/papers/one.txt", b"one")

    jobs = [office.bring(connector, "/papers") for _ in range(3)]

    assert [job.status for job in jobs] == ["done"] * 3
    assert cloud.renewals >= 3


def test_two_jobs_that_renew_at_once_do_not_lose_the_token(office: Office, cloud: Cloud, connector: UUID) -> None:
    """Without the lane's limit of one, which keeps them apart otherwise."""
    cloud.rotates = True
    for number in range(2):
        cloud.put(f"/papers/{number}/{number}.txt", f"{number}".encode())
    office.world.run("delete from tickwork.lane_rules")
    jobs = [office.request(connector, f"/papers/{number}") for number in range(2)]

    at_once(office)

    assert [office.world.reload(job).status for job in jobs] == ["done", "done"]
    assert cloud.renewals == 1
    assert len(office.documents()) == 2


def test_a_revoked_token_asks_for_the_connector_to_be_connected_again(
    office: Office, cloud: Cloud, connector: UUID
) -> None:
    cloud.put("/papers/one.txt", b"one")
    cloud.is_revoked = True

    job = office.bring(connector, "/papers")

    assert (job.status, job.error_code) == ("failed", "REAUTHORIZE")
    assert office.world.value("select status from connectors") == "reauthorize"
    told = "select payload ->> 'status' as status from events where type = 'provider.connection.changed'"
    assert [row["status"] for row in office.world.rows(f"{told} order by occurred_at")] == ["active", "reauthorize"]


def test_a_token_that_is_refused_even_when_new_does_too(office: Office, cloud: Cloud, connector: UUID) -> None:
    cloud.put("/papers/one.txt", b"one")
    cloud.troubled(cloud.lists, saying(401), saying(401))

    job = office.bring(connector, "/papers")

    assert (job.status, job.error_code) == ("failed", "REAUTHORIZE")
    assert office.world.value("select status from connectors") == "reauthorize"


def test_a_pause_that_the_provider_asks_for_costs_no_attempt_and_holds_the_lane(
    office: Office, cloud: Cloud, connector: UUID
) -> None:
    for number in range(3):
        cloud.put(f"/papers/{number}.txt", f"{number}".encode())
    cloud.troubled(cloud.downloads_at, serve, cloud.too_many(7200))
    jobs = [office.request(connector, path) for path in ("/papers", "/")]

    office.work(3)

    waiting = jobs[1]
    assert len(office.documents()) == 1
    for each in map(office.world.reload, jobs):
        assert (each.status, each.attempts) == ("queued", 0)
    assert "The provider asked to wait" in office.world.service.jobs.explain_job(waiting.id)
    seconds = office.world.value("select extract(epoch from held_until - clock_timestamp()) from tickwork.lane_rules")
    assert 7000 < seconds <= 7200


@pytest.mark.parametrize("phase", ["listing", "finding", "fetching"])
def test_an_app_that_the_provider_does_not_know_fails_the_job_and_no_file(
    office: Office, cloud: Cloud, connector: UUID, phase: str
) -> None:
    file = cloud.put("/papers/one.txt", b"one")
    cloud.knows_app = phase == "fetching"

    def forget_app(requests: Requests, asked: Asked) -> None:
        cloud.knows_app = False
        requests.send_json(401, {})

    cloud.troubled(cloud.downloads_at, forget_app)

    job = office.bring(connector, "/papers", [file.path] if phase == "finding" else None)

    assert (job.status, job.error_code) == ("failed", "PROVIDER_NOT_SET_UP")
    assert not [item for item in office.items() if item["status"] == "failed"]


def test_secrets_are_sealed_at_rest(office: Office, cloud: Cloud, connector: UUID) -> None:
    cloud.put("/papers/one.txt", b"one")
    office.bring(connector, "/papers")

    rows = office.world.rows("select name, sealed from tickwork.secrets order by name")

    assert [row["name"] for row in rows] == ["access_token", "refresh_token"]
    assert not any("canary" in row["sealed"] for row in rows)


def test_the_secrets_go_with_the_connector(office: Office, connector: UUID) -> None:
    office.world.run("delete from connectors where id = %s", connector)

    assert office.world.value("select count(*) from tickwork.secrets") == 0
    office.world.run("select tickwork.ring_alarms('import', 100)")
    assert office.world.value("select count(*) from tickwork.lane_rules") == 0


def test_only_the_key_opens_the_tokens(office: Office, connector: UUID, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TICKWORK_SECRET_KEY", SECRET_KEY.replace("A", "B"))

    job = office.bring(connector, "/papers")

    assert job.error_code == "SECRET_LOCKED"


@pytest.mark.parametrize("lasts", [float("inf"), float("nan"), 1e300, 10**400, -1, "long", None])
def test_a_token_that_lasts_for_no_sensible_time_is_used_all_the_same(
    office: Office, cloud: Cloud, connector: UUID, lasts: Any
) -> None:
    cloud.put("/papers/one.txt", b"one")
    cloud.expires_in = lasts

    assert office.bring(connector, "/papers").status == "done"


@pytest.mark.parametrize("token", ["\ud800", "a\nb", "ä", "", 5])
def test_what_cannot_be_a_token_is_not_taken_for_one(office: Office, cloud: Cloud, connector: UUID, token: Any) -> None:
    cloud.troubled("/", saying(200, {"access_token": token, "expires_in": 100}))

    assert office.bring(connector, "/papers").error_code == "PROVIDER_UNCLEAR"
