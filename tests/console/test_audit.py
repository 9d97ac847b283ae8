"""The audit log: filters, pages, what was refused, and who sees which rows."""

import csv
import io
import re
from uuid import uuid4

import pytest

from tests.console.conftest import Viewers

HOSTILE = "=HYPERLINK(<b>)"
ACTOR = uuid4()


@pytest.fixture(scope="module", autouse=True)
def log(viewers: Viewers) -> None:
    insert = (
        "insert into audit_log (tenant_id, actor_kind, actor_id, action, target, before, after, code, detail, at) "
        "values (%s, 'user', %s, %s, %s, %s::jsonb, %s::jsonb, %s, %s, %s)"
    )
    world, now = viewers.world, "2026-06-01T12:00:00Z"
    for number in range(60):
        world.run(insert, viewers.acme, None, "jobs.retried", f"job {number}", None, None, None, None, now)
    before, after = '{"cron": "@daily", "paused_at": null}', '{"cron": "@hourly", "paused_at": "2026-01-01"}'
    world.run(insert, viewers.acme, ACTOR, "schedules.changed", HOSTILE, before, after, None, None, "2026-07-01T12:00Z")
    world.run(insert, viewers.acme, ACTOR, "refused retry_job", "job 1", None, None, "TWADM", "not yours", now)
    world.run(insert, viewers.other, None, "jobs.cancelled", "secret of another tenant", None, None, None, None, now)


def targets(html: str) -> list[str]:
    return re.findall(r'<tr id="audit-(\d+)"', html)


def test_an_admin_sees_the_rows_of_the_tenant_and_others_do_not(viewers: Viewers) -> None:
    assert "jobs.retried" in viewers.admin.get("/audit").text
    for browser in (viewers.admin, viewers.member):
        assert "secret of another tenant" not in browser.get("/audit", action="jobs.cancelled").text
    assert "jobs.retried" not in viewers.member.get("/audit").text
    assert "jobs.retried" not in viewers.stranger.get("/audit").text
    assert "jobs.retried" not in viewers.stranger.get("/audit", tenant=viewers.acme).text
    assert "secret of another tenant" in viewers.operator.get("/audit").text


def test_before_and_after_are_shown_field_by_field(viewers: Viewers) -> None:
    seen = viewers.admin.get("/audit", action="schedules.changed")

    assert "cron @daily @hourly" in seen.text
    assert "paused_at – 2026-01-01" in seen.text
    assert HOSTILE in seen.text
    assert HOSTILE not in seen.html


def test_what_was_refused_is_marked(viewers: Viewers) -> None:
    text = viewers.admin.get("/audit", actor=ACTOR, target="job 1").text

    assert "refused retry_job job 1 TWADM not yours" in text


def test_filters_are_in_the_address(viewers: Viewers) -> None:
    def count(**query: object) -> int:
        return len(targets(viewers.admin.get("/audit", **query).html))

    assert count(action="schedules.changed") == 1
    assert count(target="job 7") == 1
    assert count(actor=ACTOR) == 2
    assert count(since="2026-06-15T00:00", until="2026-07-15T00:00") == 1
    assert count(until="2020-01-01T00:00") == 0
    for wrong in ({"actor": "me"}, {"since": "yesterday"}, {"after": "x"}, {"after": "9" * 30}):
        assert viewers.admin.get("/audit", **wrong).status in (400, 404), wrong


def test_pages_go_on_by_key_and_keep_the_filter(viewers: Viewers) -> None:
    first = viewers.admin.get("/audit", action="jobs.retried")
    (address,) = re.findall(r'rel="next" href="/console/audit\?([^"]*)"', first.html)
    after = re.findall(r"after=(\d+)", address)[0]
    second = viewers.admin.get("/audit", action="jobs.retried", after=after)

    assert "action=jobs.retried" in address
    assert len(targets(first.html)) == 50
    assert len(targets(second.html)) == 10
    assert not {*targets(first.html)} & {*targets(second.html)}
    assert 'rel="next"' not in second.html


def test_an_export_has_every_page_and_no_formula(viewers: Viewers) -> None:
    file = viewers.admin.get("/audit", format="csv", after="1").html

    rows = list(csv.DictReader(io.StringIO(file)))
    assert len([row for row in rows if row["action"] == "jobs.retried"]) == 60
    assert f"'{HOSTILE}" in {row["target"] for row in rows}
