"""The fixture `tickwork`: tenants, members, jobs, and time that passes when a test says so."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest

from tests.world.agreement import DISAGREEMENTS
from tickwork.cli.project import Project
from tickwork.database.adoption import members_in, tenants_in
from tickwork.database.migrate import migrate
from tickwork.errors import InvalidRequest
from tickwork.testing import Tickwork
from tickwork.testing.database import cloned
from tickwork_local.postgres import Server

HOUR, DAY = timedelta(hours=1), timedelta(days=1)

# Two families with a file of the same name, and a handler for each way to end.
SHOP = """
from pydantic import BaseModel
from words import WORD
from tickwork.errors import NotYet, Permanent, Retryable
from tickwork.jobs.handler import Handler
from tickwork.jobs.outcomes import Done
from tickwork.jobs.rows import FollowUp
from tickwork.serve import serve

class Order(BaseModel):
    way: str

class Sold(BaseModel):
    word: str

def break_write(connection):
    connection.execute("insert into nowhere default values")

def sell_thing(order, tools):
    match order.way:
        case "explode": raise ValueError("the shop burns")
        case "refuse": raise Permanent("sold out", code="SOLD_OUT")
        case "later": raise Retryable("closed", delay=600)
        case "give_back": raise NotYet("closed", delay=600)
        case "write": return Done(writes=[break_write])
        case "post": return Done(Sold(word=WORD), follow_ups=[FollowUp(type="send_thing")])
        case "wait":
            paid = tools.wait_for("shop.paid", "$.event.ok == true", timeout=7200)
            return Sold(word="for nothing" if paid is None else paid.payload["by"])
        case "again": return Done(follow_ups=[FollowUp(type="sell_thing", payload={"way": "again"})])
    return Sold(word=WORD)

HANDLERS = {"sell_thing": Handler(Order, sell_thing)}
main = serve("shop", HANDLERS)
"""
POST = """
from pydantic import BaseModel
from words import WORD
from tickwork.jobs.handler import Handler

class Nothing(BaseModel):
    pass

class Sent(BaseModel):
    word: str

HANDLERS = {"send_thing": Handler(Nothing, lambda payload, tools: Sent(word=WORD))}
"""
TYPES = """
    insert into job_types (key, family, enqueued_by, max_attempts)
    values
      ('sell_thing', 'shop', 'member', 2), ('send_thing', 'post', 'member', 2), ('wrap_thing', 'nobody', 'member', 2)
"""


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    for family, main in {"shop": SHOP, "post": POST}.items():
        (folder / "functions" / family).mkdir(parents=True)
        (folder / "functions" / family / "main.py").write_text(main)
        (folder / "functions" / family / "words.py").write_text(f'WORD = "of the {family}"\n')
    return folder


@pytest.fixture
def tickwork(tickwork: Tickwork, folder: Path) -> Tickwork:
    tickwork.project = replace(tickwork.project, root=folder, is_real=True)
    tickwork.database.execute(TYPES)
    return tickwork


def sell(tickwork: Tickwork, way: str = "sell") -> str:
    return str(tickwork.enqueue("sell_thing", {"way": way}).id)


def disagreements(tickwork: Tickwork) -> list[str]:
    return [row["problem"] for row in tickwork.database.execute(DISAGREEMENTS)]


def test_jobs_of_all_families_run_with_what_follows_from_them(tickwork: Tickwork) -> None:
    sell(tickwork)
    sell(tickwork, "post")

    assert tickwork.run_due() == {"done": 3}

    assert [job.result for job in tickwork.enqueued("sell_thing")] == [{"word": "of the shop"}] * 2
    assert [(job.status, job.result) for job in tickwork.enqueued("send_thing")] == [("done", {"word": "of the post"})]
    assert tickwork.run_due() == {}


def test_each_test_has_a_database_of_its_own(tickwork: Tickwork) -> None:
    assert tickwork.enqueued("sell_thing") == []
    assert tickwork.database.execute("select from jobs").fetchall() == []


def test_an_exception_of_a_handler_is_raised_after_all_jobs_have_run(tickwork: Tickwork) -> None:
    exploded, sold = sell(tickwork, "explode"), sell(tickwork)

    with pytest.raises(ValueError, match="the shop burns") as raised:
        tickwork.run_due()

    assert raised.traceback[-1].name == "sell_thing"
    assert raised.value.__notes__ == [f"This ended attempt 1 of job {exploded} of the type sell_thing."]
    assert (tickwork.job(exploded).status, tickwork.job(sold).status) == ("queued", "done")


def test_a_write_that_is_refused_is_raised_too(tickwork: Tickwork) -> None:
    sell(tickwork, "write")

    with pytest.raises(psycopg.errors.UndefinedTable, match="nowhere"):
        tickwork.run_due()


def test_without_raising_a_report_says_what_went_wrong(tickwork: Tickwork) -> None:
    exploded = sell(tickwork, "explode")

    ran = tickwork.run_due(raises=False)

    (failure,) = ran.failures
    assert ran == {"retried": 1}
    assert (str(failure.job_id), failure.code, str(failure.error)) == (exploded, "UNEXPECTED", "the shop burns")
    assert failure.exception
    assert "ValueError: the shop burns" in failure.exception


def test_an_error_that_is_raised_on_purpose_is_an_outcome(tickwork: Tickwork) -> None:
    sell(tickwork, "refuse")
    sell(tickwork, "give_back")

    ran = tickwork.run_due()

    assert ran == {"failed": 1, "released": 1}
    assert [failure.code for failure in ran.failures] == ["SOLD_OUT"]


def test_what_is_due_and_cannot_run_is_named_with_the_reason(tickwork: Tickwork) -> None:
    wrapped = tickwork.enqueue("wrap_thing")
    sell(tickwork)
    tickwork.client.pauses.pause_jobs(type="sell_thing")

    ran = tickwork.run_due()

    assert ran == {}
    assert ran.left.keys() == {wrapped.id, tickwork.enqueued("sell_thing")[0].id}
    assert "paused" in " ".join(ran.left.values())


def test_a_job_that_enqueues_itself_does_not_run_for_ever(tickwork: Tickwork) -> None:
    sell(tickwork, "again")

    with pytest.raises(AssertionError, match="does a job enqueue itself"):
        tickwork.run_due()


def test_a_report_that_differs_shows_the_exception(tickwork: Tickwork) -> None:
    sell(tickwork, "explode")

    with pytest.raises(AssertionError) as raised:
        assert tickwork.run_due(raises=False) == {"done": 1}

    assert "attempt 1 of sell_thing: ValueError: the shop burns" in str(raised.value)


def test_a_job_that_waits_becomes_due_when_time_passes(tickwork: Tickwork) -> None:
    later = datetime.now(UTC) + DAY
    job = tickwork.enqueue("send_thing", run_at=later)

    assert tickwork.run_due() == {}
    tickwork.at(later - HOUR)
    assert tickwork.run_due() == {}
    tickwork.at(later)
    assert tickwork.run_due() == {"done": 1}

    assert abs(tickwork.job(job).run_at - later) < timedelta(milliseconds=1)
    assert disagreements(tickwork) == []


def test_time_passes_for_backoffs_from_when_they_began(tickwork: Tickwork) -> None:
    job = sell(tickwork, "later")
    tickwork.at(DAY)
    assert tickwork.run_due() == {"retried": 1}

    tickwork.at(timedelta(seconds=500))
    assert tickwork.run_due() == {}
    tickwork.at(timedelta(seconds=110))

    assert tickwork.run_due() == {"dead": 1}
    assert tickwork.job(job).attempts == 2


def test_a_run_at_is_meant_in_the_time_of_the_test(tickwork: Tickwork) -> None:
    tickwork.at(DAY)
    job = tickwork.enqueue("send_thing", run_at=tickwork.now() + HOUR)

    assert tickwork.run_due() == {}
    assert HOUR / 2 < tickwork.job(job).run_at - tickwork.now() < HOUR
    tickwork.at(HOUR)
    assert tickwork.run_due() == {"done": 1}


def test_a_lease_runs_out(tickwork: Tickwork) -> None:
    job = tickwork.enqueue("send_thing")
    tickwork.database.execute("select * from claim_next_job('post', 'a worker that was killed')")
    assert tickwork.run_due() == {}

    tickwork.at(HOUR)
    tickwork.run_due()
    # If it is not tried again at once.
    tickwork.at(HOUR)
    tickwork.run_due()

    assert (tickwork.job(job).status, tickwork.job(job).attempts) == ("done", 2)


def test_schedules_start_their_jobs_as_if_cron_had_ticked(tickwork: Tickwork) -> None:
    start = (datetime.now(UTC) + DAY).replace(minute=0, second=0, microsecond=0)
    tickwork.client.schedules.create_schedule(
        tickwork.tenant_id, "hourly", "send_thing", "0 * * * *", overlap="allow", starts_at=start
    )

    tickwork.at(start + 3 * HOUR + HOUR / 2)

    assert tickwork.run_due() == {"done": 4}
    assert [job.run_at.astimezone(UTC).hour for job in tickwork.enqueued("send_thing")] == [
        (start + hours * HOUR).hour for hours in range(4)
    ]
    assert disagreements(tickwork) == []


def test_time_only_goes_forward_and_has_a_zone(tickwork: Tickwork) -> None:
    tickwork.at(DAY)

    with pytest.raises(ValueError, match="time only goes forward"):
        tickwork.at(datetime.now(UTC))
    with pytest.raises(ValueError, match="has no time zone"):
        tickwork.at(datetime(2040, 1, 1))


def test_an_event_starts_the_job_of_a_trigger(tickwork: Tickwork) -> None:
    tickwork.client.triggers.create_event_trigger(tickwork.tenant_id, "on order", "shop.ordered", "send_thing")

    tickwork.emit("shop.ordered")
    tickwork.emit("shop.ordered")
    assert tickwork.run_due() == {"done": 1}

    # Its window for equal events is over by then.
    tickwork.at(HOUR)
    tickwork.emit("shop.ordered")
    assert tickwork.run_due() == {"done": 1}


def test_a_job_waits_for_an_event_or_for_its_time(tickwork: Tickwork) -> None:
    paid, unpaid = (
        sell(tickwork, "wait"),
        tickwork.enqueue("sell_thing", {"way": "wait"}, tenant=tickwork.tenant("b")).id,
    )
    assert tickwork.run_due() == {"released": 2}

    tickwork.emit("shop.paid", {"ok": False})
    tickwork.at(HOUR)
    assert tickwork.run_due() == {}
    tickwork.emit("shop.paid", {"ok": True, "by": "card"})
    assert tickwork.run_due() == {"done": 1}
    tickwork.at(HOUR)
    assert tickwork.run_due() == {"done": 1}

    assert [tickwork.job(each).result for each in (paid, unpaid)] == [{"word": "card"}, {"word": "for nothing"}]
    assert disagreements(tickwork) == []


def test_an_endpoint_that_rests_is_tried_again_when_time_has_passed(tickwork: Tickwork) -> None:
    tickwork.database.execute(
        "insert into webhook_endpoints (tenant_id, url, probe_at) "
        "values (%s, 'https://example.com/', now() + interval '1 h')",
        [tickwork.tenant_id],
    )

    tickwork.at(HOUR)

    assert tickwork.database.execute("select probe_at <= now() as is_due from webhook_endpoints").fetchall() == [
        {"is_due": True}
    ]


def test_a_member_sees_what_is_of_the_own_tenants(tickwork: Tickwork) -> None:
    ours, theirs = tickwork.tenant("ours"), tickwork.tenant("theirs")
    tickwork.enqueue("send_thing")
    tickwork.enqueue("send_thing", tenant=theirs)

    rows = tickwork.member_of(ours).execute("select tenant_id from jobs").fetchall()

    assert tickwork.tenant_id == ours
    assert rows == [{"tenant_id": ours}]


def test_a_type_that_does_not_exist_has_no_jobs_to_ask_for(tickwork: Tickwork) -> None:
    with pytest.raises(InvalidRequest, match="there is no type 'sel_thing'"):
        tickwork.enqueued("sel_thing")


OWN_TABLES = """
    create table companies (id uuid primary key default gen_random_uuid(), title text not null, country text not null);
    create table people (company_id uuid not null, person_id uuid not null, mail text not null)
"""


def test_tenants_and_members_are_added_to_the_tables_of_the_application(
    tickwork_server: Server, tmp_path: Path
) -> None:
    tenants, members = tenants_in("companies(id,title)"), members_in("people(company_id,person_id)")
    project = Project(tmp_path, is_real=True, modules=["queue"], tenants=tenants, members=members)
    with cloned(tickwork_server, "template0") as name:
        url = tickwork_server.url(name)
        with psycopg.connect(url) as connection:
            connection.execute(OWN_TABLES)
        migrate(url, ["queue"], tenants, members)
        with Tickwork(project, url, url) as tickwork:
            with pytest.raises(InvalidRequest, match="companies needs more") as refused:
                tickwork.tenant("Acme")
            tenant = tickwork.tenant("Acme", country="DE")
            tickwork.member_of(tenant, mail="ada@example.com")
            members_found = tickwork.database.execute("select tenant_id from tickwork.memberships").fetchall()

            assert refused.value.hint == "Pass its other columns: tickwork.tenant(…, country=…)."
            assert members_found == [{"tenant_id": tenant}]
