"""What a newcomer reads: times with their distance, figures with their window, and where a pause leads."""

from datetime import UTC, datetime, timedelta
from html import unescape

import pytest

from tests.console.conftest import Viewers
from tickwork.console.charts import points
from tickwork.console.job import parts_of
from tickwork.console.navigation import ENTRIES
from tickwork.console.preferences import PREFERENCES


def test_an_explanation_has_its_times_in_the_viewers_zone(viewers: Viewers) -> None:
    due = datetime.now(UTC).replace(microsecond=0) + timedelta(days=3, hours=1)
    job = viewers.world.job(tenant=viewers.acme, run_at=due)
    viewers.admin.client.set_cookie("tickwork-zone", "Asia/Tokyo")

    seen = viewers.admin.get(f"/jobs/{job.id}").text
    viewers.admin.client.delete_cookie("tickwork-zone")

    local = due + timedelta(hours=9)
    assert f"It is not due before {local:%Y-%m-%d %H:%M:%S} JST (in 3 d)" in seen


@pytest.mark.parametrize("text", ["2026-99-99 00:00:00+00", "no time", "2026-11-18 04:05+00"])
def test_what_only_looks_like_a_time_stays_as_it_is(text: str) -> None:
    parts = parts_of(f"It says {text}.")

    assert "".join(part for part, _ in parts) == f"It says {text}."
    assert [at for _, at in parts if at] == []


def test_figures_are_named_with_their_window(viewers: Viewers) -> None:
    text = viewers.admin.get("/").text

    for words in (
        "p95 wait – last hour",
        "queued in the last 24 hours",
        "all done jobs",
        "Last tick: ",
        "Dead: all of",
    ):
        assert words in text
    assert "last last" not in text
    assert "Last tick: last" not in text


def test_a_pause_leads_to_its_jobs(viewers: Viewers) -> None:
    job = viewers.world.job(tenant=viewers.acme)
    pauses = viewers.world.service.pauses
    pauses.pause_jobs(type="greet_person")
    pauses.pause_jobs(tenant_id=viewers.acme)
    try:
        seen = viewers.operator.get("/")
    finally:
        pauses.resume_jobs(type="greet_person")
        pauses.resume_jobs(tenant_id=viewers.acme)

    assert "tenant acme" in seen.text
    links = (f"/jobs?tenant={viewers.acme}&q=status%3Aqueued", "/jobs?q=status%3Aqueued+type%3Agreet_person")
    for link in links:
        assert f'href="/console{link}"' in unescape(seen.html)
        assert str(job.id) in viewers.operator.get(link).html


@pytest.mark.parametrize("language", ["en", "de"])
def test_every_page_is_in_the_navigation_and_the_current_one_is_marked(viewers: Viewers, language: str) -> None:
    viewers.operator.client.set_cookie(PREFERENCES, f"{language}|||")
    seen = viewers.operator.get("/alerts").html.partition("<nav")[2].partition("</nav>")[0]
    viewers.operator.client.delete_cookie(PREFERENCES)

    assert [entry.path for entry in ENTRIES if f'href="/console{entry.path}"' not in seen] == []
    assert seen.count('aria-current="page"') == 1
    assert seen.count('<summary class="current">') == 1


@pytest.mark.parametrize(("place", "dash"), [(0, "5.0,0.0 0.0,0.0"), (1, "295.0,0.0 300.0,0.0")])
def test_a_value_alone_is_drawn_too(place: int, dash: str) -> None:
    values = [3 if place == each else None for each in range(3)]

    assert points(values, 3) == [dash]


@pytest.mark.parametrize(
    ("message", "normalised"),
    [
        ("demo@vm:5802:0ba321f4 stopped", "demo@vm:#:… stopped"),
        ("commit 1234567 of deadbeef, facade", "commit # of deadbeef, facade"),
        ("key A1B2C3D4E5F60718.", "key …."),
    ],
)
def test_ids_do_not_make_another_error(viewers: Viewers, message: str, normalised: str) -> None:
    assert viewers.world.value("select tickwork.normalised_error(%s)", message) == normalised
