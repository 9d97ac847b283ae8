"""Webhooks in the console: endpoints, deliveries, and delivering again."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID, uuid4

import pytest

from tests.console.conftest import Viewers
from tests.world.console import Browser, console_of
from tests.world.receivers import KEY, endpoint

Form = dict[str, Any]
HOSTILE = "<img src=x onerror=alert(1)>"


def delivered(viewers: Viewers, at: UUID, status: str = "failed") -> UUID:
    """A delivery that has ended, as its handler would have noted it."""
    viewers.world.service.webhooks.test_webhook(at)
    found: UUID = viewers.world.value(
        """
        update webhook_deliveries
        set status = %s, attempts = 2, http_status = 500, response_body = %s, latency_ms = 12, error_code = 'HTTP_500',
          response_headers = '{"Server": "<b>"}', attempted_at = now(),
          delivered_at = case when %s = 'delivered' then now() end
        where id = (select id from webhook_deliveries where webhook_endpoint_id = %s order by created_at desc limit 1)
        returning id
        """,
        status,
        HOSTILE,
        status,
        at,
    )
    return found


def status_of(viewers: Viewers, delivery: UUID) -> str:
    found: str = viewers.world.value("select status from webhook_deliveries where id = %s", delivery)
    return found


def test_a_tenants_own_see_the_endpoint_and_nobody_else(viewers: Viewers) -> None:
    at = endpoint(viewers.world, viewers.acme, "invoice.*", description=HOSTILE, breaker="open", failures=7)

    for browser in (viewers.admin, viewers.member, viewers.operator):
        listed, shown = browser.get("/webhooks"), browser.get(f"/webhooks/{at}")
        assert HOSTILE in listed.text
        assert "invoice.*" in listed.text
        assert "open: one delivery at a time" in shown.text
        assert HOSTILE not in listed.html + shown.html
    assert HOSTILE not in viewers.stranger.get("/webhooks").text
    assert viewers.stranger.get(f"/webhooks/{at}").status == 404
    assert viewers.admin.get(f"/webhooks/{uuid4()}").status == 404


def test_a_delivery_shows_what_was_sent_and_what_came_back(viewers: Viewers) -> None:
    at = endpoint(viewers.world, viewers.acme)
    delivery = delivered(viewers, at)

    seen = viewers.member.get(f"/webhooks/deliveries/{delivery}")

    assert "webhook_endpoint.test" in seen.text
    assert "HTTP_500" in seen.text
    assert HOSTILE in seen.text
    assert HOSTILE not in seen.html
    assert f"/webhooks/deliveries/{delivery}" in viewers.member.get(f"/webhooks/{at}", status="failed").html
    assert f"/webhooks/deliveries/{delivery}" not in viewers.member.get(f"/webhooks/{at}", status="delivered").html
    assert viewers.stranger.get(f"/webhooks/deliveries/{delivery}").status == 404
    assert viewers.admin.get(f"/webhooks/deliveries/{uuid4()}").status == 404


def test_an_admin_delivers_one_again(viewers: Viewers) -> None:
    at = endpoint(viewers.world, viewers.acme)
    delivery = delivered(viewers, at)

    assert viewers.member.post(f"/webhooks/deliveries/{delivery}/redeliver").status == 403
    assert viewers.stranger.post(f"/webhooks/deliveries/{delivery}/redeliver").status == 404
    assert status_of(viewers, delivery) == "failed"

    assert "It is delivered again." in viewers.admin.post(f"/webhooks/deliveries/{delivery}/redeliver").text
    assert status_of(viewers, delivery) == "pending"
    assert viewers.admin.post(f"/webhooks/deliveries/{delivery}/redeliver").status == 409


@pytest.mark.parametrize(("which", "count"), [("failed", 1), ("all", 2)])
def test_an_admin_delivers_all_again(viewers: Viewers, which: str, count: int) -> None:
    at = endpoint(viewers.world, viewers.acme)
    delivered(viewers, at, "failed"), delivered(viewers, at, "delivered")
    form: Form = {"since": "2026-01-01T00:00", "which": which}

    assert viewers.member.post(f"/webhooks/{at}/redeliver", **form).status == 403
    assert viewers.stranger.post(f"/webhooks/{at}/redeliver", **form).status == 404

    assert f"{count} deliveries are repeated." in viewers.admin.post(f"/webhooks/{at}/redeliver", **form).text


def test_an_admin_sends_a_test(viewers: Viewers) -> None:
    at = endpoint(viewers.world, viewers.acme)

    assert viewers.member.post(f"/webhooks/{at}/test").status == 403
    assert viewers.stranger.post(f"/webhooks/{at}/test").status == 404
    assert f"/webhooks/{at}/test" not in viewers.member.get(f"/webhooks/{at}").html

    assert "The test event is on its way." in viewers.admin.post(f"/webhooks/{at}/test").text
    assert viewers.world.value("select count(*) from webhook_deliveries where webhook_endpoint_id = %s", at) == 1


@pytest.fixture(scope="module")
def sealing(viewers: Viewers) -> Iterator[Browser]:
    """The admin's browser, where the function has a key that seals secrets."""
    session = viewers.admin.client.get_cookie("tickwork-session")
    assert session is not None
    with console_of(viewers.world, TICKWORK_SECRET_KEY=KEY) as browser:
        browser.client.set_cookie("tickwork-session", session.value)
        yield browser


def test_an_admin_creates_an_endpoint_whose_secret_is_shown_once(viewers: Viewers, sealing: Browser) -> None:
    form: Form = {"url": "https://new.example/hooks", "description": HOSTILE, "event_types": "invoice.*\njob.done"}

    assert viewers.member.post("/webhooks/new", **form).status == 403
    assert viewers.stranger.post(f"/webhooks/new?tenant={viewers.acme}", **form).status == 403
    refused = sealing.post("/webhooks/new", **{**form, "url": "ftp://" + HOSTILE})
    assert refused.status == 422
    assert HOSTILE not in refused.html
    created = sealing.post("/webhooks/new", **form)

    secret = created.html.partition('<pre id="secret">')[2].partition("<")[0]
    row = viewers.world.row("select * from webhook_endpoints where url = %s", form["url"])
    assert secret.startswith("whsec_")
    assert secret not in str(created.headers) + sealing.get(f"/webhooks/{row['id']}").html
    assert (row["tenant_id"], row["event_types"]) == (viewers.acme, ["invoice.*", "job.done"])
    sealed = viewers.world.value("select sealed from tickwork.secrets where owner = %s", f"endpoint:{row['id']}")
    assert secret not in sealed


def test_an_admin_changes_rotates_and_deletes_an_endpoint(viewers: Viewers, sealing: Browser) -> None:
    at = endpoint(viewers.world, viewers.acme, "invoice.*")
    form: Form = {"url": "https://other.example/in", "status": "disabled", "header_prefix": "X-My-"}
    form |= {"format": "standard", "timeout_seconds": "5"}

    for change in ("edit", "rotate", "delete"):
        assert viewers.member.post(f"/webhooks/{at}/{change}", **form).status == 403
        assert viewers.stranger.post(f"/webhooks/{at}/{change}", **form).status == 404
    assert viewers.stranger.get(f"/webhooks/{at}/edit").status == 404
    assert "invoice.*" in sealing.get(f"/webhooks/{at}/edit").html
    assert sealing.post(f"/webhooks/{at}/edit", **{**form, "timeout_seconds": "500"}).status == 422

    assert "The endpoint was changed." in sealing.post(f"/webhooks/{at}/edit", **form).text
    row = viewers.world.row("select * from webhook_endpoints where id = %s", at)
    assert (row["url"], row["status"], row["event_types"], row["header_prefix"]) == (
        *("https://other.example/in", "disabled", [], "X-My-"),
    )
    first, second = (sealing.post(f"/webhooks/{at}/rotate", overlap_hours=1).text for _ in range(2))
    assert "whsec_" in first
    assert first != second
    assert "The endpoint was deleted." in sealing.post(f"/webhooks/{at}/delete").text
    assert sealing.get(f"/webhooks/{at}").status == 404
