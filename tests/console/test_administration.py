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

    held = viewers.admin.post("/pauses/hold", **lane, reason="it is slow")
    assert "lane drive: lane 7 of the family test, tenant acme" in held.text
    assert f'value="{scope}"' in held.html
    assert f"/console/jobs?tenant={viewers.acme}&amp;q=status%3Aqueued+family%3Atest+lane%3A" in held.html
    assert viewers.stranger.post("/pauses/end", scope=scope).status == 403
    assert viewers.admin.post("/pauses/end", scope="nonsense").status == 400
    assert "Nothing is paused or held." in viewers.admin.post("/pauses/end", scope=scope).text
    assert "test drive: lane 7 2 –" in viewers.admin.post("/pauses/limit", **lane, max_running=2).text
    assert "acme test drive: lane 7 2 –" in viewers.operator.get("/pauses").text
    assert "drive: lane 7" not in viewers.stranger.get("/pauses").text
    assert viewers.world.row(rules, lane["lane"])["max_running"] == 2


def test_a_pause_is_told_wherever_its_type_is(viewers: Viewers) -> None:
    world = viewers.world
    kind = world.type("wait_here")
    dead = world.job(kind, tenant=viewers.acme)
    world.service.jobs.bury_job(dead.id, "no")
    schedule = world.service.schedules.create_schedule(viewers.acme, "nightly", kind, "@daily")["id"]
    paths = ("/types", f"/types/{kind}", "/schedules", f"/schedules/{schedule}", f"/jobs/{dead.id}")
    told = f"Paused : type {kind} ({HOSTILE})"

    assert [path for path in paths if told in viewers.admin.get(path).text] == []
    world.service.pauses.pause_jobs(type=kind, reason=HOSTILE)
    try:
        seen = {path: viewers.admin.get(path) for path in paths}
        change = viewers.admin.get("/jobs/change", action="retry", q=f"type:{kind}")
        other = viewers.admin.get("/jobs/change", action="retry", q="type:greet_person")
    finally:
        world.service.pauses.resume_jobs(type=kind)

    assert [path for path in paths if told not in seen[path].text or HOSTILE in seen[path].html] == []
    assert f"It will wait until somebody ends this: {told}" in seen[f"/jobs/{dead.id}"].text
    assert told in change.text
    assert told not in other.text


def test_a_platform_admin_creates_a_type(viewers: Viewers) -> None:
    form: Form = {"key": "made_here", "family": "command", "max_attempts": "2", "backoff": "[5]", "is_active": "yes"}
    form |= {"payload_schema": '{"type": "object"}', "follow_ups": "greet_person\n", "enqueued_by": "member"}

    assert viewers.admin.post("/new-type", **form).status == 403
    assert "Types are created by platform admins." in viewers.admin.get("/new-type").text
    wrong = viewers.operator.post("/new-type", **{**form, "max_attempts": "999"})
    assert wrong.status == 422
    assert 'value="999"' in wrong.html
    created = viewers.operator.post("/new-type", **form)

    assert "The type was created." in created.text
    row = viewers.world.row("select * from job_types where key = 'made_here'")
    assert (row["family"], row["max_attempts"], row["backoff"], row["follow_ups"]) == (
        "command",
        2,
        [5],
        ["greet_person"],
    )
    assert (row["payload_schema"], row["lease_seconds"], row["is_active"]) == ({"type": "object"}, 60, True)
    again = viewers.operator.post("/new-type", **form)
    assert again.status == 422
    assert "there is a type" in again.text


def test_tenants_are_listed_and_searched_with_their_settings(viewers: Viewers) -> None:
    viewers.world.tenant(f"branch {HOSTILE}")
    viewers.world.run("update tenant_settings set weight = 77 where tenant_id = %s", viewers.acme)

    everything, found = viewers.operator.get("/tenants"), viewers.operator.get("/tenants", words="ACM")

    assert f"acme {viewers.acme} UTC 77" in everything.text
    assert HOSTILE in everything.text
    assert HOSTILE not in everything.html
    assert found.html.count('<tr id="tenant-') == 1
    assert "No tenant was found." in viewers.operator.get("/tenants", words="nothing at all").text
    assert str(viewers.other) in viewers.stranger.get("/tenants").text
    assert "acme" not in viewers.stranger.get("/tenants").text
    assert '"weight": 77' in viewers.operator.get("/tenants", words="acme", format="json").html


def test_platform_admins_see_the_names_of_tenants_with_jobs_and_schedules(viewers: Viewers) -> None:
    job = viewers.world.job(tenant=viewers.other)
    viewers.world.service.schedules.create_schedule(viewers.other, "theirs", "greet_person", "@daily")

    listed = viewers.operator.get("/jobs")

    assert f'title="{viewers.other}">other</a>' in listed.html
    assert f"Tenant other {viewers.other}" in viewers.operator.get(f"/jobs/{job.id}").text
    assert "theirs other greet_person" in viewers.operator.get("/schedules").text
