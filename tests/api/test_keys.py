"""API keys over HTTP: made once, good for their scopes, and for nothing after they are revoked."""

from uuid import UUID

from tests.api.conftest import Users
from tests.world import World


def test_a_key_does_what_its_scopes_allow(users: Users) -> None:
    def made(*scopes: str) -> str:
        created = users.admin.post("keys", name=" and ".join(scopes), scopes=list(scopes))
        assert created.status == 200, created.body
        assert created.body["tenant_id"] == str(users.acme)
        key: str = created.body["key"]
        return key

    reads, enqueues, operates = (users.nobody.with_key(made(each)) for each in ("read", "enqueue", "operate"))

    # Who names no tenant means the key's own.
    job = enqueues.post("jobs", type="greet_person").body["id"]
    assert reads.get(f"jobs/{job}").body["id"] == job
    assert reads.post("jobs", type="greet_person").status == 403
    assert enqueues.get(f"jobs/{job}").status == 404
    assert reads.post(f"jobs/{job}/cancel").status == 403
    assert operates.post(f"jobs/{job}/cancel").body["status"] == "cancelled"
    assert operates.post("jobs", type="greet_person", tenant_id=str(users.other)).status == 403
    assert operates.post("keys", name="another", scopes=["read"]).status == 403
    assert operates.get("whoami").body["scopes"] == ["operate"]


def test_a_revoked_key_is_unknown(world: World, users: Users) -> None:
    created = users.admin.post("keys", name="one", scopes=["operate"]).body
    by_key = users.nobody.with_key(created["key"])
    assert by_key.get("jobs").status == 200

    assert users.stranger.delete(f"keys/{created['id']}").status == 404
    assert users.admin.delete(f"keys/{created['id']}").body["revoked_at"] is not None

    for answer in (by_key.get("jobs"), by_key.post("jobs", type="greet_person"), by_key.get("whoami")):
        assert (answer.status, answer.body["code"], answer.headers["WWW-Authenticate"]) == (401, "TWAUT", "Bearer")
    assert users.nobody.with_key("tw_" + "x" * 43).get("jobs").status == 401
    (listed,) = users.admin.get("keys", with_revoked="true").items
    assert (listed["key"], listed["last_used_at"] is not None) == (None, True)
    assert created["key"] not in str(world.rows("select * from tickwork.api_keys"))


def test_who_am_i(users: Users) -> None:
    found = users.member.get("whoami").body

    assert (found["kind"], found["is_platform_admin"]) == ("user", False)
    assert [UUID(each["tenant_id"]) for each in found["tenants"]] == [users.acme]
    assert users.nobody.get("whoami").status == 401
