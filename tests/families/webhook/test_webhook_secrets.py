"""Secrets of endpoints: shown once, sealed, and nowhere else, whatever a receiver sends back."""

import base64
import json

import pytest

from tests.families.webhook.test_http_request import everything
from tests.servers.hostile import Caller, answer, hostile_server
from tests.world.receivers import Sender
from tests.world.receivers import sender as sender  # a fixture
from tickwork.errors import NoSuchEndpoint


def test_no_secret_of_an_endpoint_is_kept_in_the_open(sender: Sender, capsys: pytest.CaptureFixture[str]) -> None:
    secrets: list[str] = []

    def echo(caller: Caller) -> None:
        known = [form for secret in secrets for form in forms_of(secret)]
        answer("\n".join(known).encode(), f"X-Echo: {known[0]}", status="500 Oh no")(caller)

    with hostile_server(echo) as receiver:
        endpoint, first = sender.add(receiver.url())
        secrets += [first, sender.rotate(endpoint, 1)]
        sender.emit()
        sender.work()
        assert sender.delivery()["http_status"] == 500
        assert "[secret " in sender.delivery()["response_body"]

    kept = everything(sender) + capsys.readouterr().out
    assert [form for secret in secrets for form in forms_of(secret) if form in kept] == []


def forms_of(secret: str) -> list[str]:
    return [secret, secret.removeprefix("whsec_"), json.dumps(secret), base64.b64encode(secret.encode()).decode()]


def test_members_see_nothing_of_secrets(sender: Sender) -> None:
    _, secret = sender.add("https://hooks.example/")
    member = sender.world.member_of(sender.tenant, role="owner")

    shown = member.execute("select webhook_endpoints::text as row from webhook_endpoints").fetchall()

    assert len(shown) == 1
    assert secret.removeprefix("whsec_") not in str(shown)


def test_the_secrets_of_a_deleted_endpoint_are_forgotten(sender: Sender) -> None:
    kept, _ = sender.add("https://hooks.example/kept")
    endpoint, _ = sender.add("https://hooks.example/")
    sender.rotate(endpoint, 1)
    owners = "select owner, name from tickwork.secrets order by owner, name"
    assert len(sender.world.rows(owners)) == 3

    sender.client.webhooks.delete_webhook_endpoint(endpoint)

    assert sender.world.rows(owners) == [{"owner": f"endpoint:{kept}", "name": "current"}]


def test_rotating_twice_keeps_one_old_secret(sender: Sender) -> None:
    endpoint, _ = sender.add("https://hooks.example/")

    for _ in range(2):
        sender.rotate(endpoint, 1)

    assert sender.world.value("select array_agg(name order by name) from tickwork.secrets") == ["current", "previous"]


def test_an_endpoint_that_cannot_be_stored_leaves_no_secret(sender: Sender) -> None:
    with pytest.raises(Exception, match="url is plain"):
        sender.add("ftp://hooks.example/")
    with pytest.raises(NoSuchEndpoint):
        sender.rotate(sender.tenant, 1)

    assert sender.world.rows("select from tickwork.secrets") == []
