"""Members, API keys, types of job and pauses in the console."""

from typing import Any
from uuid import UUID, uuid4

import pytest

from tests.console.conftest import Viewers
from tests.world.api import member_of

Form = dict[str, Any]
HOSTILE = "<img src=x onerror=alert(1)>"


def role_of(viewers: Viewers, user: UUID) -> str | None:
    found: str | None = viewers.world.value("select max(role) from memberships where user_id = %s", user)
    return found


def test_members_are_listed_to_members(viewers: Viewers) -> None:
    user = member_of(viewers.world, viewers.acme)

    assert str(user) in viewers.member.get("/members").text
    assert str(user) in viewers.operator.get("/members", tenant=viewers.acme).text
    assert "Choose a tenant" in viewers.operator.get("/members").text
    assert viewers.stranger.get("/members", tenant=viewers.acme).status == 403
    assert str(user) not in viewers.stranger.get("/members").text


def test_an_admin_sets_and_ends_memberships(viewers: Viewers) -> None:
    user = uuid4()

    assert viewers.member.post("/members", user_id=user, role="admin").status == 403
    assert viewers.stranger.post(f"/members?tenant={viewers.acme}", user_id=user, role="admin").status == 403
    assert viewers.admin.post("/members", user_id="nobody", role="member").status == 404
    assert viewers.admin.post("/members", user_id=user, role="king").status == 422
    assert role_of(viewers, user) is None

    assert "The role was set." in viewers.admin.post("/members", user_id=user, role="admin").text
    assert role_of(viewers, user) == "admin"
    assert viewers.member.post(f"/members/{user}/remove").status == 403
    assert "The member was removed." in viewers.admin.post(f"/members/{user}/remove").text
    assert role_of(viewers, user) is None
    assert "/remove" not in viewers.member.get("/members").html


def test_an_admin_creates_a_key_that_is_shown_once(viewers: Viewers) -> None:
    form: Form = {
        "name": HOSTILE,
        "scope-read": "yes",
        "scope-enqueue": "yes",
        "expires_at": "2030-01-01T00:00",
    }

    created = viewers.admin.post("/keys", **form)

    key = created.html.partition('<pre id="new-key">')[2].partition("<")[0]
    assert viewers.world.value("select scopes from tickwork.api_keys where name = %s", HOSTILE) == ["enqueue", "read"]
    assert key.startswith("tw_")
    assert key not in str(created.headers)
    assert viewers.nobody.client.get("/api/v1/whoami", headers={"X-Api-Key": key}).status_code == 200
    listed = viewers.admin.get("/keys")
    assert HOSTILE in listed.text
    assert HOSTILE not in listed.html + created.html
    assert key not in listed.html


def test_keys_are_for_those_who_manage_the_tenant(viewers: Viewers) -> None:
    key = viewers.world.service.keys.create_api_key("to be revoked", ["read"], viewers.acme)

    for seen in (viewers.member.get("/keys"), viewers.stranger.get("/keys", tenant=viewers.acme)):
        assert seen.status == 403
    assert 'href="/console/keys"' not in viewers.member.get("/schedules").html
    assert viewers.member.post("/keys", name="mine").status == 403
    assert viewers.admin.post("/keys", name="a worker's", families="import").status == 403
    for browser in (viewers.member, viewers.stranger):
        assert browser.post(f"/keys/{key['id']}/revoke").status in (403, 404)
    assert "to be revoked" in viewers.operator.get("/keys").text

    assert "The key was revoked." in viewers.admin.post(f"/keys/{key['id']}/revoke").text
    assert "to be revoked" not in viewers.admin.get("/keys").text
    assert "to be revoked" in viewers.admin.get("/keys", revoked="yes").text


def test_everybody_sees_types_and_a_platform_admin_changes_them(viewers: Viewers) -> None:
    kind = viewers.world.type("changed_here", description=HOSTILE, payload_schema={"type": "object"})
    number = "1234567890123456789012345678901234567890"
    schema = '{"type": "object", "properties": {"size": {"type": "number", "maximum": ' + number + "}}}"
    form: Form = {
        "description": "After",
        "enqueued_by": "service",
        "max_attempts": "7",
        "timeout_seconds": "30",
    }
    form |= {"lease_seconds": "60", "priority": "5", "backoff": "[1, 2]", "keep_days": "{}", "max_running": "3"}
    form |= {"redacted": 'payload.name\r\npayload["tax number"]\n', "payload_schema": schema}

    assert HOSTILE in viewers.stranger.get("/types").text
    assert HOSTILE not in viewers.stranger.get("/types").html + viewers.member.get(f"/types/{kind}").html
    assert viewers.admin.post(f"/types/{kind}", **form).status == 403
    assert "Change the type" not in viewers.admin.get(f"/types/{kind}").text
    assert viewers.operator.post(f"/types/{kind}", **{**form, "backoff": "[oops"}).status == 422
    assert viewers.operator.post("/types/nothing", **form).status == 404

    seen = viewers.operator.post(f"/types/{kind}", **form)

    assert "The type was changed." in seen.text
    row = viewers.world.row("select *, payload_schema::text as schema from job_types where key = %s", kind)
    assert (row["description"], row["max_attempts"], row["max_running"], row["backoff"]) == ("After", 7, 3, [1, 2])
    assert (row["enqueued_by"], row["redacted"], row["is_active"]) == (
        "service",
        ["payload.name", 'payload["tax number"]'],
        False,
    )
    assert number in row["schema"]


def test_a_tenant_is_paused_by_its_admins(viewers: Viewers) -> None:
    pauses = "select count(*) from tickwork.pauses where scope = %s"
    scope = f"tenant {viewers.acme}"

    assert viewers.member.post("/pauses", kind="tenant", reason="no").status == 403
    assert viewers.stranger.post(f"/pauses?tenant={viewers.acme}", kind="tenant").status == 403
    assert viewers.admin.post("/pauses", kind="family", name="test").status == 403
    assert viewers.admin.post("/pauses", kind="everything").status == 400
    assert viewers.world.value(pauses, scope) == 0

    seen = viewers.admin.post("/pauses", kind="tenant", reason=HOSTILE)

    assert HOSTILE in seen.text
    assert HOSTILE not in seen.html
    assert viewers.world.value(pauses, scope) == 1
    assert HOSTILE not in viewers.stranger.get("/pauses").text
    assert "/pauses/end" not in viewers.member.get("/pauses").html
    for browser, status in ((viewers.member, 403), (viewers.stranger, 403)):
        assert browser.post("/pauses/end", scope=scope).status == status
    assert "Jobs start again." in viewers.admin.post("/pauses/end", scope=scope).text
    assert viewers.world.value(pauses, scope) == 0


@pytest.mark.parametrize(("kind", "name"), [("family", "test"), ("type", "greet_person")])
def test_a_platform_admin_pauses_families_and_types(viewers: Viewers, kind: str, name: str) -> None:
    assert "maintenance" in viewers.operator.post("/pauses", kind=kind, name=name, reason="maintenance").text
    assert "maintenance" in viewers.member.get("/pauses").text
    assert viewers.admin.post("/pauses/end", scope=f"{kind} {name}").status == 403
    viewers.operator.post("/pauses/end", scope=f"{kind} {name}")
    assert viewers.world.value("select count(*) from tickwork.pauses") == 0


def test_a_lane_is_held_released_and_limited(viewers: Viewers) -> None:
    lane: Form = {"family": "test", "lane": "drive: lane 7"}
    rules = "select max_running, held_until from tickwork.lane_rules where lane = %s"
    scope = f"tenant {viewers.acme} family test lane {lane['lane']}"

    for page in ("hold", "limit"):
        assert viewers.member.post(f"/pauses/{page}", **lane, max_running=1).status == 403
        assert viewers.operator.post(f"/pauses/{page}", **lane, max_running=1).status == 400
    assert viewers.admin.post("/pauses/hold", family="test").status == 422

    assert scope in viewers.admin.post("/pauses/hold", **lane, reason="it is slow").text
    assert viewers.stranger.post("/pauses/end", scope=scope).status == 403
    assert viewers.admin.post("/pauses/end", scope="nonsense").status == 400
    assert "Nothing is paused or held." in viewers.admin.post("/pauses/end", scope=scope).text
    viewers.admin.post("/pauses/limit", **lane, max_running=2)
    assert viewers.world.row(rules, lane["lane"])["max_running"] == 2
