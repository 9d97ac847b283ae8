"""Latency: charts and tables over each window, for each viewer."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.console.conftest import Viewers
from tests.database.test_metrics import happened
from tickwork.console.windows import LENGTHS, window


@pytest.fixture(scope="module", autouse=True)
def figures(viewers: Viewers) -> None:
    viewers.world.job(tenant=viewers.acme)
    now = datetime.now(UTC)
    for age in (timedelta(minutes=3), timedelta(hours=5), timedelta(days=3), timedelta(days=20), timedelta(days=300)):
        happened(viewers.world, 10, now - age, tenant=viewers.acme)
    happened(viewers.world, 10, now - timedelta(minutes=3), tenant=viewers.other)


@pytest.mark.parametrize(("name", "jobs"), [("1h", 1), ("24h", 2), ("7d", 3), ("30d", 4), ("400d", 5)])
def test_each_window_has_its_jobs(viewers: Viewers, name: str, jobs: int) -> None:
    seen = viewers.member.get("/latency", window=name)

    assert f"test greet_person {jobs} " in seen.text
    assert seen.html.count("<svg") == 3
    assert 1 <= seen.html.count('<tr id="step-') <= jobs


def test_tenants_see_their_own_and_platform_admins_all(viewers: Viewers) -> None:
    assert "test greet_person 1 " in viewers.stranger.get("/latency").text
    assert "test greet_person 2 " in viewers.operator.get("/latency").text
    assert "test greet_person 1 " in viewers.operator.get("/latency", tenant=viewers.acme).text
    assert viewers.stranger.get("/latency", tenant=viewers.acme).status in (403, 404)


def test_one_type_is_chosen(viewers: Viewers) -> None:
    viewers.world.type("bill_person")

    assert '<tr id="step-' in viewers.member.get("/latency", type="greet_person").html
    assert '<tr id="step-' not in viewers.member.get("/latency", type="bill_person").html
    assert viewers.member.get("/latency", window="<script>").status == 404


def test_it_is_exported(viewers: Viewers) -> None:
    lines = viewers.member.get("/latency", window="400d", format="csv").html.splitlines()

    assert lines[1].startswith("test,greet_person,5,")


@pytest.mark.parametrize("name", LENGTHS)
def test_a_window_has_as_many_steps_as_can_be_told_apart(name: str) -> None:
    before = datetime.now(UTC)
    times = window(name).times

    assert 20 < len(times) <= 120
    assert times[-1] <= datetime.now(UTC)
    assert before < times[-1] + window(name).step
