"""Alerts and their rules: for platform admins only, to see and to change."""

from typing import Any

import pytest

from tests.console.conftest import Viewers

CHANGED: dict[str, Any] = {
    **{"threshold": "500", "closes_at": "400.5", "for_seconds": "30"},
    **{"severity": "critical", "is_on": "yes"},
}


@pytest.fixture(scope="module", autouse=True)
def alerts(viewers: Viewers) -> None:
    viewers.world.run(
        "insert into alerts (rule, severity, message, value, worst, closed_at) values "
        "('queue_size', 'warning', 'open <b>one</b>', 1, 7, null), "
        "('failure_ratio', 'critical', 'past one', 1, 9, now() + interval '1 minute')"
    )


def rule(viewers: Viewers, key: str = "queue_size") -> dict[str, object]:
    query = "select threshold, closes_at, for_seconds, severity, is_on from alert_rules where key = %s"
    return dict(viewers.world.row(query, key))


def test_a_platform_admin_sees_open_and_past_alerts_and_the_rules(viewers: Viewers) -> None:
    seen = viewers.operator.get("/alerts")

    opened, _, rest = seen.text.partition(" Rules ")
    assert "open <b>one</b>" in opened
    assert "past one" in rest.partition(" Past ")[2]
    assert "<b>one</b>" not in seen.html
    assert "dead_in_an_hour jobs that died within the last hour" in rest
    assert 'href="/console/alerts"' in seen.html


def test_nobody_else_sees_or_changes_them(viewers: Viewers) -> None:
    before = rule(viewers)
    for browser in (viewers.admin, viewers.member, viewers.stranger):
        assert browser.get("/alerts").status == 403
        assert browser.post("/alerts/queue_size", **CHANGED).status == 403
        assert "/console/alerts" not in browser.get("/").html

    assert viewers.nobody.get("/alerts").status == 303
    assert rule(viewers) == before
    refused = "select count(*) from audit_log where starts_with(action, 'refused')"
    assert viewers.world.value(refused) > 0


def test_a_rule_is_changed_and_switched_off(viewers: Viewers) -> None:
    changed = viewers.operator.post("/alerts/queue_size", **CHANGED)

    assert "The rule queue_size was changed." in changed.text
    assert [*rule(viewers).values()] == [500, 400.5, 30, "critical", True]
    viewers.operator.post("/alerts/endpoints_down", threshold="1", closes_at="0", for_seconds="0", severity="warning")
    assert rule(viewers, "endpoints_down")["is_on"] is False


@pytest.mark.parametrize(
    "wrong",
    [
        {"threshold": "many"},
        {"closes_at": "1e9"},
        {"for_seconds": "86401"},
        {"for_seconds": "nan"},
        {"severity": "mild"},
        {"threshold": "nan"},
        {"threshold": "inf"},
    ],
)
def test_what_makes_no_sense_changes_nothing(viewers: Viewers, wrong: dict[str, str]) -> None:
    before = rule(viewers)

    assert viewers.operator.post("/alerts/queue_size", **{**CHANGED, **wrong}).status in (400, 422)
    assert rule(viewers) == before


def test_a_rule_that_is_not_there_is_not_found(viewers: Viewers) -> None:
    assert viewers.operator.post("/alerts/nothing", **CHANGED).status in (404, 422)


def test_what_was_typed_stays_when_it_is_refused(viewers: Viewers) -> None:
    refused = viewers.operator.post("/alerts/queue_size", **{**CHANGED, "threshold": "many", "for_seconds": "77"})

    assert "queue_size: threshold: must be a number." in refused.text
    assert 'value="many"' in refused.html
    assert 'value="77"' in refused.html
    assert refused.html.count('<details class="change" open>') == 1
    assert 'hx-get="/console/alerts"' in refused.html


def test_past_alerts_are_shown_page_by_page(viewers: Viewers) -> None:
    viewers.world.run(
        "insert into alerts (rule, severity, message, value, worst, opened_at, closed_at) "
        "select 'dead_in_an_hour', 'warning', 'number ' || number, 1, 1, now() - number * interval '1 day', now() "
        "from generate_series(1, 60) as number"
    )

    first = viewers.operator.get("/alerts")
    link = first.html.partition('rel="next" href="/console')[2].partition('"')[0]
    second = viewers.operator.get(link)

    shown = [sum(f"number {number} " in page.text for page in (first, second)) for number in range(1, 61)]
    assert set(shown) == {1}
    assert 'rel="next"' not in second.html
    assert viewers.operator.get("/alerts", format="json").html.count("number ") == 60
