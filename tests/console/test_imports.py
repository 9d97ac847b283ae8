"""Imports in the console: drives, runs, failures, and what a database without them shows."""

from uuid import UUID, uuid4

import pytest

from tests.console.conftest import Viewers

HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def connector(viewers: Viewers) -> UUID:
    found: UUID = viewers.world.value(
        "insert into connectors (tenant_id, provider, name) values (%s, 'dropbox', %s) returning id",
        viewers.acme,
        HOSTILE,
    )
    viewers.world.run(
        "insert into imported_items "
        "(connector_id, tenant_id, item_id, folder, path, name, revision, status, reason, message) "
        "values (%s, %s, '1', '', '/a.pdf', 'a.pdf', '1', 'failed', 'TOO_LARGE', %s)",
        found,
        viewers.acme,
        f"no {HOSTILE}",
    )
    return found


def test_a_tenants_own_see_the_drive_and_nobody_else(viewers: Viewers, connector: UUID) -> None:
    for browser in (viewers.admin, viewers.member, viewers.operator):
        listed, shown = browser.get("/imports"), browser.get(f"/imports/{connector}")
        assert HOSTILE in listed.text
        assert f"/a.pdf TOO_LARGE no {HOSTILE}" in shown.text
        assert HOSTILE not in listed.html + shown.html
    assert HOSTILE not in viewers.stranger.get("/imports").text
    assert viewers.stranger.get(f"/imports/{connector}").status == 404
    assert viewers.admin.get(f"/imports/{uuid4()}").status == 404


def test_a_member_requests_an_import_and_sees_its_run(viewers: Viewers, connector: UUID) -> None:
    runs = "select id, payload from jobs where lane = %s"

    assert viewers.stranger.post(f"/imports/{connector}/request").status == 404
    assert viewers.world.rows(runs, f"connector:{connector}") == []

    seen = viewers.member.post(f"/imports/{connector}/request", remote_path="/Invoices")

    (run,) = viewers.world.rows(runs, f"connector:{connector}")
    assert run["payload"]["remote_path"] == "/Invoices"
    assert f"/jobs/{run['id']}" in seen.html


def test_what_a_database_is_without_is_not_offered(viewers: Viewers, connector: UUID) -> None:
    viewers.world.run("alter function list_connectors rename to no_connectors")
    try:
        seen = viewers.member.get("/imports")
        other = viewers.member.get("/schedules")
        posted = viewers.member.post(f"/imports/{connector}/request")
    finally:
        viewers.world.run("alter function no_connectors rename to list_connectors")

    assert seen.status == posted.status == 404
    assert "without the module imports" in seen.text
    assert 'href="/console/imports"' not in seen.html + other.html
    assert 'href="/console/documents"' in other.html
