"""Signing keys and revocation in SQL: who may change them, and what is never taken back."""

from base64 import b64encode
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from tests.world import World
from tests.world.signing import KEY, NEXT_KEY, Signer

PUBLIC = b64encode(KEY.public).decode()


def refused(code: str) -> Any:
    return pytest.raises(psycopg.Error, check=lambda error: error.sqlstate == code)


def test_the_id_of_a_key_is_its_thumbprint(world: World) -> None:
    row = world.row("select * from register_signing_key(%s, 'key-1')", PUBLIC)

    assert (row["id"], row["status"], row["name"]) == (KEY.id, "active", "key-1")
    with refused("23514"):
        world.run("insert into signing_keys (id, public_key) values (%s, %s)", NEXT_KEY.id, PUBLIC)


def test_registering_again_changes_only_the_name(world: World) -> None:
    first = world.row("select * from register_signing_key(%s, 'key-1')", PUBLIC)
    again = world.row("select * from register_signing_key(%s, 'key-2')", PUBLIC)

    assert (again["name"], again["created_at"]) == ("key-2", first["created_at"])


@pytest.mark.parametrize("key", ["", "AAAA", "not base64!", b64encode(bytes(33)).decode(), None])
def test_what_is_no_key_is_refused(world: World, key: str | None) -> None:
    with refused("TWARG"):
        world.run("select register_signing_key(%s)", key)


def test_a_retired_key_can_be_revoked_and_neither_comes_back(world: World) -> None:
    world.run("select register_signing_key(%s)", PUBLIC)
    world.run("select retire_signing_key(%s)", KEY.id)

    with refused("TWSTA"):
        world.run("select register_signing_key(%s)", PUBLIC)
    with refused("TWSTA"):
        world.run("select retire_signing_key(%s)", KEY.id)
    world.run("select revoke_signing_key(%s, '2027-01-02Z')", KEY.id)
    world.run("select revoke_signing_key(%s, '2027-01-01Z')", KEY.id)
    with refused("TWSTA"):
        world.run("select revoke_signing_key(%s, '2027-01-03Z')", KEY.id)
    with refused("TWSTA"):
        world.run("select retire_signing_key(%s)", KEY.id)

    row = world.row("select * from list_signing_keys()")
    assert (row["status"], row["revoked_at"].isoformat()[:10]) == ("revoked", "2027-01-01")


def test_a_key_that_is_unknown_is_refused(world: World) -> None:
    with refused("TWSTA"):
        world.run("select revoke_signing_key('nobody')")


def test_a_version_is_revoked_once_and_only_with_a_reason(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    signer = Signer(world, monkeypatch)
    version = signer.version()
    with refused("TWSTA"):
        world.run("select revoke_passport(%s, 'too early')", version)
    signer.finish()

    for reason in ("", "x" * 1001, None):
        with refused("TWARG"):
            world.run("select revoke_passport(%s, %s)", version, reason)
    row = world.row("select * from revoke_passport(%s, 'recall')", version)

    assert (row["status"], row["revocation_reason"]) == ("revoked", "recall")
    with refused("TWSTA"):
        world.run("select revoke_passport(%s, 'again')", version)
    with refused("TWPAS"):
        world.run("select revoke_passport(%s, 'unknown')", uuid4())
    with refused("TWSTA"):
        world.run("select activate_passport(%s)", version)


@pytest.mark.parametrize("status", ["signed", "active", "superseded"])
def test_a_version_is_revoked_at_any_time_after_its_signature(
    world: World, monkeypatch: pytest.MonkeyPatch, status: str
) -> None:
    signer = Signer(world, monkeypatch)
    version = signer.version()
    signer.finish()
    if status != "signed":
        world.run("select activate_passport(%s)", version)
    if status == "superseded":
        later = signer.compile(
            signer.row(version)["passport_id"], signer.snapshot(), signer.rules(), "2027-03-01T00:00:00Z"
        )
        signer.finish()
        world.run("select activate_passport(%s)", later.result["passport_version_id"])
    assert signer.row(version)["status"] == status

    world.run("select revoke_passport(%s, 'recall')", version)

    assert signer.row(version)["status"] == "revoked"


def test_a_full_queue_does_not_keep_a_version_from_being_revoked(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    signer = Signer(world, monkeypatch)
    version = signer.version()
    signer.finish()
    world.run("update tenant_settings set max_queued = 0")

    world.run("select revoke_passport(%s, 'recall')", version)

    assert signer.row(version)["status"] == "revoked"
    assert signer.jobs("sign_status_list") == []
