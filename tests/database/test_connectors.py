"""Connectors: who may ask for an import, what a notification leads to, and what goes with a connector."""

from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest

from tests.world import World
from tests.world.receivers import deliveries, endpoint
from tickwork.client import Tickwork
from tickwork.errors import InvalidRequest, NoSuchConnector


def connect(world: World, tenant: UUID, **columns: Any) -> UUID:
    values = {"tenant_id": tenant, "provider": "dropbox", "name": "ours", **columns}
    names, marks = ", ".join(values), ", ".join(f"%({name})s" for name in values)
    query = f"insert into connectors ({names}) values ({marks}) returning id"
    id: UUID = world.admin.execute(query, values).fetchall()[0]["id"]
    return id


def with_folder(world: World, tenant: UUID, **columns: Any) -> UUID:
    id = connect(world, tenant, **columns)
    world.run("insert into connector_folders (connector_id, tenant_id, remote_path) values (%s, %s, '')", id, tenant)
    return id


def test_a_member_asks_for_an_import_of_the_connectors_provider_in_its_lane(world: World) -> None:
    tenant = world.tenant()
    id = connect(world, tenant, provider="onedrive")
    member = world.member_of(tenant)

    job = member.execute("select * from request_import(%s, '/papers')", [id]).fetchall()[0]

    assert (job["type"], job["lane"]) == ("import_onedrive", f"connector:{id}")
    assert job["payload"] == {"connector_id": str(id), "remote_path": "/papers"}


def test_the_same_import_is_not_queued_twice_but_once_more_behind_one_that_runs(world: World) -> None:
    imports, id = world.service.connectors, connect(world, world.tenant())

    first, repeated = imports.request_import(id, "/a"), imports.request_import(id, "/a")
    other = imports.request_import(id, "/b")
    world.claim("import")
    behind = [imports.request_import(id, "/a") for _ in range(3)]

    assert (first.deduplicated, repeated.deduplicated, repeated.id) == (False, True, first.id)
    assert other.id != first.id
    assert {job.id for job in behind} == {behind[0].id}
    assert behind[0].id not in (first.id, other.id)


def test_one_import_of_a_connector_runs_at_a_time(world: World) -> None:
    tenant = world.tenant()
    imports = world.service.connectors
    ids = [connect(world, tenant) for _ in range(2)]
    for id in ids:
        for path in ("/a", "/b"):
            imports.request_import(id, path)

    claimed = list(iter(lambda: world.queue.claim_next_job("import"), None))

    assert sorted(job.lane or "" for job in claimed) == sorted(f"connector:{id}" for id in ids)


@pytest.mark.parametrize("status", ["reauthorize", "disabled"])
def test_a_connector_that_is_not_active_takes_no_imports(world: World, status: str) -> None:
    id = connect(world, world.tenant(), status=status)

    with pytest.raises(InvalidRequest, match=status):
        world.service.connectors.request_import(id)


def test_a_missing_connector_is_no_connector(world: World) -> None:
    world.tenant()

    with pytest.raises(NoSuchConnector):
        world.service.connectors.request_import(uuid4())


@pytest.mark.parametrize("files", ['"/a.txt"', "[7]", '{"a": 1}'])
def test_files_are_a_list_of_paths(world: World, files: str) -> None:
    id = connect(world, world.tenant())

    with pytest.raises(psycopg.Error, match="files"):
        world.run("select request_import(%s, files => %s::jsonb)", id, files)


def test_a_notification_enqueues_one_import_for_each_connector_of_the_account(world: World) -> None:
    imports = Tickwork(world.queue.database).connectors
    mine = with_folder(world, world.tenant(), account_id="dbid:1")
    also_mine = with_folder(world, world.tenant("other"), account_id="dbid:1")
    for columns in ({"account_id": "dbid:2"}, {"account_id": "dbid:1", "status": "disabled"}):
        with_folder(world, world.tenant("unmeant"), **columns)
    connect(world, world.tenant("without a folder"), account_id="dbid:1")

    for _ in range(3):
        imports.note_changes("dropbox", ["dbid:1", "dbid:unknown"])

    jobs = world.rows("select payload, source from jobs")
    assert {job["payload"]["connector_id"] for job in jobs} == {str(mine), str(also_mine)}
    assert len(jobs) == 2
    assert {job["source"] for job in jobs} == {"event"}


def test_a_tenant_without_room_costs_the_others_of_a_notification_nothing(world: World) -> None:
    full, other = world.tenant("full"), world.tenant("other")
    with_folder(world, full, account_id="dbid:1")
    meant = with_folder(world, other, account_id="dbid:1")
    world.run("update tenant_settings set max_queued = 0 where tenant_id = %s", full)

    Tickwork(world.queue.database).connectors.note_changes("dropbox", ["dbid:1"])

    assert [row["payload"]["connector_id"] for row in world.rows("select payload from jobs")] == [str(meant)]


def test_a_notification_names_a_connector_of_its_provider(world: World) -> None:
    imports, tenant = Tickwork(world.queue.database).connectors, world.tenant()
    ids = {provider: with_folder(world, tenant, provider=provider) for provider in ("dropbox", "onedrive")}

    imports.note_changes("onedrive", connector_ids=[*ids.values(), uuid4()])

    assert [row["type"] for row in world.rows("select type from jobs")] == ["import_onedrive"]


def test_changes_that_come_while_an_import_runs_are_not_forgotten(world: World) -> None:
    imports, id = Tickwork(world.queue.database).connectors, with_folder(world, world.tenant())
    imports.note_changes("dropbox", connector_ids=[id])
    world.claim("import")

    for _ in range(3):
        imports.note_changes("dropbox", connector_ids=[id])

    statuses = [row["status"] for row in world.rows("select status from jobs order by created_at")]
    assert statuses == ["running", "queued"]


def test_a_notification_tells_of_the_folders_once_for_each_import(world: World) -> None:
    tenant = world.tenant()
    id = with_folder(world, tenant, account_id="dbid:1")
    world.run("insert into connector_folders (connector_id, tenant_id, remote_path) values (%s, %s, '/a')", id, tenant)
    with_folder(world, world.tenant("birch"), account_id="dbid:2")
    listener = endpoint(world, tenant, "provider.folder.*")
    imports = Tickwork(world.queue.database).connectors

    for _ in range(3):
        imports.note_changes("dropbox", ["dbid:1"])

    told = provider_events(world, "provider.folder.updated")
    assert [each["payload"] for each in told] == [
        {"provider_id": str(id), "provider": "dropbox", "folder_path": path} for path in ("", "/a")
    ]
    assert {each["aggregate"] for each in told} == {f"connector:{id}"}
    assert {each["event_id"] for each in deliveries(world, listener)} == {each["id"] for each in told}

    world.claim("import")
    imports.note_changes("dropbox", ["dbid:1"])

    assert len(provider_events(world, "provider.folder.updated")) == 4


def test_a_notification_tells_of_at_most_100_folders(world: World) -> None:
    tenant = world.tenant()
    id = with_folder(world, tenant, account_id="dbid:1")
    world.run(
        "insert into connector_folders (connector_id, tenant_id, remote_path) "
        "select %s, %s, '/' || number from generate_series(1, 150) as number",
        id,
        tenant,
    )

    Tickwork(world.queue.database).connectors.note_changes("dropbox", ["dbid:1"])

    assert len(provider_events(world, "provider.folder.updated")) == 100


def test_a_connection_that_is_added_changes_or_is_removed_is_told(world: World) -> None:
    tenant = world.tenant()
    listener = endpoint(world, tenant, "provider.connection.changed")
    service = world.connect("service_role")

    id = connect(world, tenant, provider="gdrive", name="papers")
    for change in ("status = 'reauthorize'", "name = 'letters'", "status = 'reauthorize'", "status = 'active'"):
        service.execute(f"update connectors set {change} where id = %s", [id])
    service.execute("delete from connectors where id = %s", [id])

    told = provider_events(world, "provider.connection.changed")
    assert [(each["payload"]["status"], each["payload"]["name"]) for each in told] == [
        ("active", "papers"),
        ("reauthorize", "papers"),
        ("active", "letters"),
        ("removed", "letters"),
    ]
    assert {each["payload"]["provider_id"] for each in told} == {str(id)}
    assert {(each["payload"]["provider"], each["aggregate"]) for each in told} == {("gdrive", f"connector:{id}")}
    assert len(deliveries(world, listener)) == 4


def test_a_tenant_is_deleted_with_its_connectors_and_their_events(world: World) -> None:
    tenant = world.tenant()
    with_folder(world, tenant)

    world.run("delete from organizations where id = %s", tenant)

    assert world.rows("select from connectors") == world.rows("select from events") == []


def provider_events(world: World, type: str) -> list[dict[str, Any]]:
    return world.rows("select * from events where type = %s order by occurred_at, payload ->> 'folder_path'", type)


def test_documents_leave_the_house_only_with_consent(world: World) -> None:
    tenant = world.tenant()
    connect(world, tenant, extract="local")
    connect(world, tenant, extract="unstructured_fast", consent_given_at="2026-01-01")

    with pytest.raises(psycopg.errors.CheckViolation, match="needs_consent"):
        connect(world, tenant, extract="unstructured_fast")


def test_members_read_connectors_and_change_nothing(world: World) -> None:
    tenant = world.tenant()
    id = with_folder(world, tenant)
    member = world.member_of(tenant)

    assert [row["id"] for row in member.execute("select id from connectors")] == [id]
    for statement in (
        "update connectors set name = 'x'",
        "delete from connectors",
        "select cursor from connector_folders",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            member.execute(statement)
