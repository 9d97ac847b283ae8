"""Secrets at rest: sealed or in Supabase Vault, and open only to whoever holds a job of their tenant."""

from base64 import b64encode
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID

import psycopg
import pytest

from tests.world import World
from tests.world.supabase_vault import VAULT
from tickwork.client.direct.secrets import Secrets
from tickwork.database.connection import Connection
from tickwork.errors import BadSetting, InvalidRequest, LeaseLost, Retryable
from tickwork.jobs.rows import ClaimedJob
from tickwork.tools.secrets import SecretStore

T = TypeVar("T")
OLD, NEW = (b64encode(bytes([number]) * 32).decode() for number in (1, 2))
SECRET = "sk-canary-Grüße-7f3a"


def under_lease(world: World, job: ClaimedJob, work: Callable[[Connection], T]) -> T:
    def held(connection: Connection) -> T:
        world.queue.hold_job(job, connection)
        return work(connection)

    return world.queue.database.transaction(held)


def read(
    world: World, job: ClaimedJob, safe: SecretStore, owner: str = "connector:1", tenant: UUID | None = None
) -> dict[str, str]:
    return under_lease(world, job, lambda connection: safe.read(connection, tenant or job.tenant_id, owner))


def everything_stored(world: World) -> str:
    return str(world.rows("select * from tickwork.secrets"))


def store(world: World, safe: SecretStore, job: ClaimedJob, value: str = SECRET, **more: Any) -> None:
    Secrets(world.service.database, safe).store(job.tenant_id, "connector:1", "token", value, **more)


def test_a_secret_is_sealed_at_rest_and_read_under_the_lease(world: World) -> None:
    job, safe = world.running_job(), SecretStore(NEW)

    store(world, safe, job)

    assert read(world, job, safe) == {"token": SECRET}
    assert SECRET not in everything_stored(world)
    assert SECRET[::-1] not in everything_stored(world)


def test_the_same_secret_is_sealed_differently_each_time(world: World) -> None:
    job, safe = world.running_job(), SecretStore(NEW)
    store(world, safe, job)
    first = everything_stored(world)

    store(world, safe, job)

    assert everything_stored(world) != first
    assert read(world, job, safe) == {"token": SECRET}


def test_a_worker_keeps_what_it_was_given_and_only_under_its_lease(world: World) -> None:
    job, safe = world.running_job(), SecretStore(NEW)
    store(world, safe, job, "first")

    under_lease(world, job, lambda c: safe.keep(c, job.tenant_id, "connector:1", "token", "second"))

    assert read(world, job, safe) == {"token": "second"}
    world.queue.complete_job(job)
    with pytest.raises(LeaseLost):
        under_lease(world, job, lambda c: safe.keep(c, job.tenant_id, "connector:1", "token", "third"))
    with pytest.raises(psycopg.Error) as refused:
        safe.keep(world.connect_worker(), job.tenant_id, "connector:1", "token", "third")
    assert refused.value.sqlstate == "TWLSE"


def test_without_a_held_job_there_are_no_secrets(world: World) -> None:
    job, safe = world.running_job(), SecretStore(NEW)
    store(world, safe, job)

    assert safe.read(world.connect_worker(), job.tenant_id, "connector:1") == {}


def test_a_job_opens_the_secrets_of_its_own_tenant_only(world: World) -> None:
    job, safe = world.running_job(), SecretStore(NEW)
    other = world.tenant("other")
    Secrets(world.service.database, safe).store(other, "connector:1", "token", SECRET)

    assert read(world, job, safe, tenant=other) == {}


@pytest.mark.parametrize(
    "change", ["tenant_id = (select id from organizations where name = 'other')", "owner = 'tenant'"]
)
def test_a_row_that_was_moved_elsewhere_does_not_open(world: World, change: str) -> None:
    job, safe = world.running_job(), SecretStore(NEW)
    other = world.tenant("other")
    Secrets(world.service.database, safe).store(other, "connector:1", "token", SECRET)
    other_job = world.running_job(tenant=other)
    store(world, safe, job)
    world.run("delete from tickwork.secrets where tenant_id = %s", other)

    world.admin.execute(f"update tickwork.secrets set {change}")

    moved_to_tenant = change.startswith("tenant_id")
    with pytest.raises(Retryable) as locked:
        read(world, other_job if moved_to_tenant else job, safe, "connector:1" if moved_to_tenant else "tenant")
    assert locked.value.code == "SECRET_LOCKED"


def test_a_changed_letter_or_another_key_does_not_open_and_names_nothing(world: World) -> None:
    job, safe = world.running_job(), SecretStore(NEW)
    store(world, safe, job)

    with pytest.raises(Retryable) as with_other_key:
        read(world, job, SecretStore(OLD))
    with pytest.raises(Retryable) as without_key:
        read(world, job, SecretStore(None))
    world.run("update tickwork.secrets set sealed = overlay(sealed placing 'AAAA' from 30)")
    with pytest.raises(Retryable) as changed:
        read(world, job, safe)

    for refused in (with_other_key, without_key, changed):
        assert refused.value.code == "SECRET_LOCKED"
        assert SECRET not in str(refused.value)
        assert NEW not in str(refused.value)


def test_a_key_is_replaced_while_the_old_one_still_opens(world: World) -> None:
    job = world.running_job()
    store(world, SecretStore(OLD), job)
    both = SecretStore(f"{NEW},{OLD}")

    with_both = read(world, job, both)
    store(world, both, job)

    assert with_both == read(world, job, SecretStore(NEW)) == {"token": SECRET}


def test_what_has_expired_is_not_read(world: World) -> None:
    job, safe = world.running_job(), SecretStore(NEW)
    now = datetime.now(UTC)
    store(world, safe, job, expires_at=now - timedelta(seconds=1))
    gone = read(world, job, safe)

    store(world, safe, job, expires_at=now + timedelta(hours=1))

    assert (gone, read(world, job, safe)) == ({}, {"token": SECRET})


def test_a_renamed_secret_takes_the_place_of_another_and_opens(world: World) -> None:
    job, safe = world.running_job(), SecretStore(NEW)
    Secrets(world.service.database, safe).store(job.tenant_id, "endpoint:1", "previous", "oldest")
    Secrets(world.service.database, safe).store(job.tenant_id, "endpoint:1", "current", SECRET)

    world.run("select tickwork.rename_secret(%s, 'endpoint:1', 'current', 'previous')", job.tenant_id)

    assert read(world, job, safe, "endpoint:1") == {"previous": SECRET}


def test_dropped_secrets_are_gone_and_listed_ones_show_their_names_only(world: World) -> None:
    job, safe = world.running_job(), SecretStore(NEW)
    store(world, safe, job)
    Secrets(world.service.database, safe).store(job.tenant_id, "connector:1", "other", SECRET)
    listed = world.rows("select * from tickwork.list_secrets(%s, 'connector:1')", job.tenant_id)

    one = world.value("select tickwork.drop_secrets(%s, 'connector:1', 'other')", job.tenant_id)
    rest = world.value("select tickwork.drop_secrets(%s, 'connector:1')", job.tenant_id)

    assert [row["name"] for row in listed] == ["other", "token"]
    assert (one, rest, read(world, job, safe)) == (1, 1, {})


def test_without_key_and_vault_nothing_is_stored(world: World) -> None:
    job = world.running_job()

    with pytest.raises(InvalidRequest) as refused:
        store(world, SecretStore(None), job)

    assert refused.value.sqlstate == "TWSEC"
    assert "TICKWORK_SECRET_KEY" in str(refused.value.hint)
    assert world.rows("select * from tickwork.secrets") == []


def test_without_a_key_supabase_vault_keeps_secrets(world: World) -> None:
    world.admin.execute(VAULT)
    job, safe = world.running_job(), SecretStore(None)

    store(world, safe, job)

    assert read(world, job, safe) == {"token": SECRET}
    assert SECRET not in everything_stored(world)
    assert world.value("select secret from vault.secrets") == SECRET[::-1]


@pytest.mark.parametrize("ending", ["replaced", "sealed", "dropped", "with its tenant"])
def test_what_is_gone_is_gone_from_vault_as_well(world: World, ending: str) -> None:
    world.admin.execute(VAULT)
    job, safe = world.running_job(), SecretStore(None)
    store(world, safe, job)

    match ending:
        case "replaced":
            store(world, safe, job, "another")
        case "sealed":
            store(world, SecretStore(NEW), job)
        case "dropped":
            world.run("select tickwork.drop_secrets(%s, 'connector:1')", job.tenant_id)
        case "with its tenant":
            world.run("delete from organizations where id = %s", job.tenant_id)

    left = [row["decrypted_secret"] for row in world.rows("select decrypted_secret from vault.decrypted_secrets")]
    assert left == (["another"] if ending == "replaced" else [])


def test_a_member_and_a_worker_cannot_reach_the_table_or_the_service_verbs(world: World) -> None:
    job, safe = world.running_job(), SecretStore(NEW)
    store(world, safe, job)

    for connection in (world.member_of(job.tenant_id), world.connect_worker(), world.connect("service_role")):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("select * from tickwork.secrets")
    for connection in (world.member_of(job.tenant_id), world.connect_worker()):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("select tickwork.store_secret(%s, 'a', 'b', 'c', true)", [job.tenant_id])
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        world.connect("service_role").execute("select tickwork.read_secrets('connector:1')")


@pytest.mark.parametrize("key", ["short", b64encode(b"x" * 31).decode(), f"{NEW},", "ü" * 44])
def test_a_key_that_is_none_is_refused_without_being_repeated(key: str) -> None:
    with pytest.raises(BadSetting, match="TICKWORK_SECRET_KEY: must be 32 random bytes") as refused:
        SecretStore(key)

    assert key not in str(refused.value)
