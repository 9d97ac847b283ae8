"""watch_connector: a subscription names its connector, and is renewed before it ends."""

from typing import Any
from uuid import UUID

import pytest

from tests.servers.cloud import Cloud, saying
from tests.world.office import PREFIXES, Office
from tickwork.jobs.rows import Job
from tickwork.tools.channel_tokens import channel_token

SECRET = "notification-secret-of-32-characters"
URL = "https://import.example.com/notifications/"


@pytest.fixture(autouse=True)
def notification_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TICKWORK_NOTIFICATION_SECRET", SECRET)


def run(office: Office, type: str, connector: UUID) -> Job:
    job = office.world.job(type, office.tenant, payload={"connector_id": str(connector)})
    office.work()
    return office.world.reload(job)


def test_a_subscription_names_the_connector_and_is_renewed_before_it_ends(
    office: Office, clouds: dict[str, Cloud]
) -> None:
    connectors = {each: office.connect(each, watch_url=URL + each) for each in ("onedrive", "gdrive")}

    jobs = {each: run(office, "watch_connector", connector) for each, connector in connectors.items()}

    assert {job.status for job in jobs.values()} == {"done"}
    (graph,), (drive,) = (clouds[each].subscriptions for each in connectors)  # type: ignore[attr-defined]
    assert graph["notificationUrl"] == URL + "onedrive"
    assert (graph["resource"], graph["changeType"]) == ("/me/drive/root", "updated")
    assert graph["clientState"] == channel_token(SECRET, "onedrive", connectors["onedrive"])
    assert len(graph["clientState"]) <= 128
    assert (drive["address"], drive["type"]) == (URL + "gdrive", "web_hook")
    assert drive["token"] == channel_token(SECRET, "gdrive", connectors["gdrive"])
    for provider, connector in connectors.items():
        late = office.world.row(
            "select run_at - clock_timestamp() > interval '4 days' as is_late, run_at < watched_until as is_in_time "
            "from jobs join connectors on connectors.id = %s "
            "where jobs.type = 'watch_connector' and jobs.status = 'queued' and jobs.source_ref = %s",
            connector,
            str(jobs[provider].id),
        )
        assert late == {"is_late": True, "is_in_time": True}


def test_what_dropbox_notifies_of_is_said_in_its_own_console(office: Office, clouds: dict[str, Cloud]) -> None:
    job = run(office, "watch_connector", office.connect("dropbox", watch_url=URL + "dropbox"))

    assert (job.status, job.result) == ("done", {"watched_until": None})
    assert office.world.value("select count(*) from jobs") == 1


def test_without_a_secret_nothing_is_subscribed_to(
    office: Office, clouds: dict[str, Cloud], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TICKWORK_NOTIFICATION_SECRET")

    job = run(office, "watch_connector", office.connect("onedrive", watch_url=URL + "onedrive"))

    assert (job.status, job.error_code) == ("failed", "PROVIDER_NOT_SET_UP")


@pytest.mark.parametrize("provider", PREFIXES)
def test_what_the_operator_has_to_set_is_named(
    office: Office, clouds: dict[str, Cloud], monkeypatch: pytest.MonkeyPatch, provider: str
) -> None:
    id, secret, _ = (f"TICKWORK_{name}" for name in PREFIXES[provider].split())
    connector = office.connect(provider)

    monkeypatch.delenv(secret)
    without_secret = run(office, "check_connector", connector)
    monkeypatch.delenv(id)
    without_both = run(office, "check_connector", connector)

    assert (without_secret.error_code, without_both.error_code) == ("PROVIDER_NOT_SET_UP",) * 2
    assert str(without_secret.error_message).endswith(f": {secret} must be set")
    assert str(without_both.error_message).endswith(f": {id} and {secret} must be set")
    assert clouds["onedrive"].asked == []


@pytest.mark.parametrize("until", ["0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", "soon", 5, None])
def test_an_end_that_is_no_time_is_unclear(office: Office, clouds: dict[str, Cloud], until: Any) -> None:
    clouds["onedrive"].troubled("/v1.0/subscriptions", saying(201, {"expirationDateTime": until}))

    job = run(office, "watch_connector", office.connect("onedrive", watch_url=URL))

    assert job.error_code == "PROVIDER_UNCLEAR"
