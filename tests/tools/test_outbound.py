"""The outbound guard, through everything that a tenant can make the product call."""

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from tests.servers.hostile import answer, hostile_server, redirect, watched_dialling
from tests.tools.test_http_guard import HOSTILE_HOSTS, HOSTILE_URLS, PUBLIC, Resolver
from tests.world.receivers import Sender, deliveries, make_due
from tests.world.receivers import sender as sender  # a fixture
from tickwork.errors import BadSetting
from tickwork.settings import load_settings
from tickwork.tools.outbound import http
from tickwork.tools.outbound.http import LOOPBACK, Policy
from tickwork.tools.outbound.policy import policy_of
from tickwork.tools.outbound.retry_after import pause_of

URLS = [*(f"{scheme}://{host}/" for host in HOSTILE_HOSTS.split() for scheme in ("http", "https")), *HOSTILE_URLS]
CONTROLS = {"https://public.example/": (PUBLIC, 443), "http://public.example:8080/x": (PUBLIC, 8080)}


@pytest.fixture
def dialled(sender: Sender, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[str, int]]]:
    """Whom the handlers call, with http allowed and no private network open."""
    monkeypatch.delenv("TICKWORK_OUTBOUND_ALLOW")
    resolve_by(Resolver(), monkeypatch)
    with watched_dialling() as addresses:
        yield addresses


def resolve_by(resolver: Resolver, monkeypatch: pytest.MonkeyPatch) -> None:
    for call in (http.request, http.stream.__wrapped__):  # type: ignore[attr-defined]
        monkeypatch.setitem(call.__kwdefaults__ or {}, "resolve", resolver)


def try_by_webhook(sender: Sender, urls: Sequence[str]) -> dict[str, str]:
    # What the database would refuse is let through, so that the handler has to.
    sender.world.run("alter table webhook_endpoints disable trigger user")
    sender.world.run("alter table webhook_endpoints drop constraint url_is_plain")
    storable = [url for url in urls if "\x00" not in url]
    for url in storable:
        sender.add(url)
    sender.emit()
    for _ in range(0, len(storable), 100):
        sender.work()
    rows = sender.world.rows(
        "select url, coalesce(error_code, '') as code from webhook_deliveries "
        "join webhook_endpoints on webhook_endpoints.id = webhook_endpoint_id"
    )
    return {row["url"]: row["code"] for row in rows}


def try_by_request(sender: Sender, urls: Sequence[str]) -> dict[str, str]:
    for url in urls:
        if "\x00" not in url:
            sender.world.job("http_request", sender.tenant, payload={"url": url})
    for _ in range(0, len(urls), 100):
        sender.work()
    rows = sender.world.rows("select payload ->> 'url' as url, coalesce(error_code, '') as code from jobs")
    return {row["url"]: row["code"] for row in rows}


PATHS = pytest.mark.parametrize("path", [try_by_webhook, try_by_request])


@PATHS
def test_no_path_leads_inside(path: Any, sender: Sender, dialled: list[tuple[str, int]]) -> None:
    codes = path(sender, URLS)

    assert dialled == []
    assert len(codes) >= 200
    assert {url: code for url, code in codes.items() if code != "ADDRESS_BLOCKED"} == {}
    messages = sender.world.rows("select distinct error_message from jobs")
    assert len(messages) == 1


@PATHS
def test_every_path_leads_outside(path: Any, sender: Sender, dialled: list[tuple[str, int]]) -> None:
    codes = path(sender, list(CONTROLS))

    assert sorted(dialled) == sorted(CONTROLS.values())
    assert set(codes.values()) == {"NOT_CONNECTED"}


@PATHS
def test_a_name_that_turns_inside_between_two_attempts_is_not_followed(
    path: Any, sender: Sender, dialled: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    resolve_by(Resolver({"turning.example": [[PUBLIC], ["127.0.0.1"]]}), monkeypatch)
    path(sender, ["https://turning.example/"])
    make_due(sender.world)

    sender.work()

    assert dialled == [(PUBLIC, 443)]
    assert sender.world.value("select error_code from jobs") == "ADDRESS_BLOCKED"


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"])
def test_proxies_of_the_environment_are_not_used(sender: Sender, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    with hostile_server(answer(b"proxy")) as proxy, hostile_server(answer(b"api")) as api:
        monkeypatch.setenv(name, proxy.url())
        sender.add(api.url(), "invoice.paid")
        sender.emit()
        sender.world.job("http_request", sender.tenant, payload={"url": api.url()})

        sender.work()

        assert (proxy.accepted, len(api.requests)) == (0, 2)


def test_a_webhook_follows_no_redirect(sender: Sender) -> None:
    with hostile_server(answer()) as inside, hostile_server(redirect(inside.url("/"), 307)) as receiver:
        sender.add(receiver.url())
        sender.emit()

        sender.work()

        assert (len(receiver.requests), inside.accepted) == (1, 0)
    assert deliveries(sender.world)[0]["error_code"] == "HTTP_307"


def test_a_redirect_of_an_api_does_not_lead_inside(sender: Sender, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TICKWORK_OUTBOUND_BLOCK", "::1")
    with hostile_server(answer(b"inside"), host="::1") as inside, hostile_server(redirect(inside.url("/"))) as api:
        sender.world.job("http_request", sender.tenant, payload={"url": api.url(), "redirects": 3})

        sender.work()

        assert (len(api.requests), inside.accepted) == (1, 0)
    assert sender.world.value("select error_code from jobs") == "ADDRESS_BLOCKED"


def test_the_operator_decides_whom_to_call() -> None:
    environment = {"TICKWORK_DATABASE_URL": "postgresql://x"}
    assert policy_of(load_settings(environment)) == Policy()

    environment |= {"TICKWORK_OUTBOUND_ALLOW": "loopback", "TICKWORK_OUTBOUND_HTTP": "true"}
    assert policy_of(load_settings(environment)) == Policy(allow_http=True, private=LOOPBACK)


@pytest.mark.parametrize("networks", ["10.0.0.1/8", "inside", "10.0.0.0/8;fd00::/8", "localhost"])
def test_what_is_no_network_stops_the_start(networks: str) -> None:
    with pytest.raises(BadSetting, match="TICKWORK_OUTBOUND_ALLOW: must be networks"):
        load_settings({"TICKWORK_DATABASE_URL": "postgresql://x", "TICKWORK_OUTBOUND_ALLOW": networks})


@pytest.mark.parametrize(
    ("given", "seconds"),
    [
        (None, None),
        ("120", 120),
        ("0", 0),
        ("9" * 400, 86_400),
        ("-1", None),
        ("soon", None),
        ("١٢", None),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0),
        ("Wed, 21 Oct 9999 07:28:00 GMT", 86_400),
        ("Wed, 99 Oct 2015 07:28:00 GMT", None),
        ("Wed, 21 Oct 2015 07:28:00", 0),
    ],
)
def test_a_retry_after_is_read_as_meant(given: str | None, seconds: float | None) -> None:
    assert pause_of(given) == seconds
