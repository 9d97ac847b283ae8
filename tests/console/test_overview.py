"""The overview: what each viewer sees of the queue, and the choice of a tenant."""

import csv
import io
import json

import pytest

from tests.console.conftest import Viewers
from tests.database.test_figures import end_as, roll_up
from tests.world.api import member_of

HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module", autouse=True)
def queue(viewers: Viewers) -> None:
    """Two ended and three queued jobs of acme, one queued job of another tenant."""
    world = viewers.world
    for status in ("done", "dead"):
        end_as(world, world.running_job(tenant=viewers.acme, max_attempts=1), status)
    for tenant in (viewers.acme, viewers.acme, viewers.acme, viewers.other):
        world.job(tenant=tenant)
    roll_up(world)


def card(text: str, name: str) -> str:
    """What follows the name of a card."""
    return text.partition(f" {name} ")[2].split(" ")[0]


def test_a_member_sees_the_figures_of_the_tenant(viewers: Viewers) -> None:
    text = viewers.member.get("/").text

    assert [card(text, name) for name in ("queued", "running", "done", "dead", "due now")] == ["3", "0", "1", "1", "3"]
    assert card(text, "success rate") == "50.0"
    assert "Tenants with the most due jobs" not in text
    assert "other" not in text


def test_a_platform_admin_sees_all_tenants_and_the_busiest_of_them(viewers: Viewers) -> None:
    seen = viewers.operator.get("/")

    assert card(seen.text, "queued") == "4"
    assert seen.text.partition("Tenants with the most due jobs")[2].index("acme") < seen.text.partition(
        "Tenants with the most due jobs"
    )[2].index("other")
    assert f'href="/console/?tenant={viewers.acme}"' in seen.html
    assert card(viewers.operator.get("/", tenant=viewers.other).text, "queued") == "1"


def test_another_tenant_is_not_seen_even_by_its_id(viewers: Viewers) -> None:
    assert card(viewers.stranger.get("/").text, "queued") == "1"
    assert viewers.stranger.get("/", tenant=viewers.acme).status in (403, 404)


def test_whoever_belongs_to_several_tenants_chooses_one_for_rates(viewers: Viewers) -> None:
    both = viewers.nobody.sign_in(member_of(viewers.world, viewers.acme, viewers.other))

    text = both.get("/").text

    assert card(text, "queued") == "4"
    assert "Choose one tenant to see rates" in text
    assert "success rate" in both.get("/", tenant=viewers.acme).text
    assert viewers.nobody.sign_in(member_of(viewers.world)).get("/").status == 200


def test_what_is_paused_or_held_is_there_with_its_reason(viewers: Viewers) -> None:
    pauses = viewers.world.service.pauses
    pauses.pause_jobs(tenant_id=viewers.other, reason=HOSTILE)
    pauses.hold_lane("test", viewers.acme, "drive", "infinity", "the drive is full")
    try:
        admin, stranger = viewers.admin.get("/"), viewers.stranger.get("/")
    finally:
        pauses.resume_jobs(tenant_id=viewers.other)
        pauses.release_lane("test", viewers.acme, "drive")

    assert "the drive is full" in admin.text
    assert "onerror" not in admin.text
    assert HOSTILE in stranger.text
    assert HOSTILE not in stranger.html


def test_open_alerts_are_for_platform_admins(viewers: Viewers) -> None:
    world = viewers.world
    world.run(
        "insert into alerts (rule, severity, message, value, worst) values ('queue_size', 'warning', %s, 1, 1)",
        "101 queued",
    )
    try:
        assert "101 queued" in viewers.operator.get("/").text
        assert "101 queued" not in viewers.admin.get("/").text
    finally:
        world.run("delete from alerts")


def test_the_queue_is_exported_as_csv_and_json(viewers: Viewers) -> None:
    as_csv, as_json = (viewers.member.get("/", format=name) for name in ("csv", "json"))

    (row,) = csv.DictReader(io.StringIO(as_csv.html))
    assert (row["type"], row["queued"], row["done"]) == ("greet_person", "3", "1")
    assert as_csv.headers["Content-Disposition"] == 'attachment; filename="tickwork-queue.csv"'
    assert json.loads(as_json.html)[0]["queued"] == 3
    assert viewers.member.get("/", format="xml").status == 400


def test_a_tenant_is_chosen_by_part_of_its_name(viewers: Viewers) -> None:
    chosen = viewers.operator.client.get("/console/choose-tenant?words=ACM&next=/console/audit?action%3Dx")

    assert chosen.headers["Location"] == f"/console/audit?action=x&tenant={viewers.acme}"
    page = viewers.operator.get("/", tenant=viewers.acme)
    assert 'name="words" value="acme"' in page.html
    cleared = viewers.operator.client.get(f"/console/choose-tenant?words=&next=/console/?tenant%3D{viewers.acme}")
    assert cleared.headers["Location"] == "/console/"


def test_several_tenants_are_listed_and_none_is_said(viewers: Viewers) -> None:
    first, second = viewers.world.tenant("branch north"), viewers.world.tenant(f"branch {HOSTILE}")

    several = viewers.operator.get("/choose-tenant", words="branch")

    assert str(first) in several.html
    assert str(second) in several.html
    assert HOSTILE not in several.html
    assert "No tenant has" in viewers.operator.get("/choose-tenant", words="nothing at all").text


def test_the_names_of_tenants_are_those_that_one_may_see(viewers: Viewers) -> None:
    assert '<option value="acme">' in viewers.operator.get("/choose-tenant/names").html
    assert "acme" not in viewers.stranger.get("/choose-tenant/names").html
    assert "No tenant has" in viewers.stranger.get("/choose-tenant", words=viewers.acme).text


def test_a_choice_leads_to_no_other_site(viewers: Viewers) -> None:
    chosen = viewers.operator.client.get("/console/choose-tenant?words=acme&next=https://evil.example/")

    assert chosen.headers["Location"] == f"/console/?tenant={viewers.acme}"


def test_a_silent_queue_says_so(viewers: Viewers) -> None:
    viewers.world.run("update tickwork.family_types set asked_at = null")
    viewers.world.run("update tickwork.waiting set run_at = run_at - interval '1 hour'")

    assert "no worker has asked for its type" in viewers.member.get("/").text
