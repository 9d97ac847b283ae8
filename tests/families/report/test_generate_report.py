"""generate_report: the same figures as SQL, in the tenant's time zone and language, in files that are safe to open."""

import csv
import io
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from psycopg.types.json import Jsonb

from tests.world import World
from tickwork.families.report.definitions import definitions
from tickwork.families.report.generate_report import GENERATE_REPORT
from tickwork.jobs.rows import Job
from tickwork.runtime.deadline import Deadline
from tickwork.runtime.work import work

HANDLERS = {"generate_report": GENERATE_REPORT}
OCTOBER = {"month": "2026-10"}
FORMULAS = ["=1+1", "+1", "-1", "@sum", "\t=1", "\r=1", " =1", "＝1", "\n=1"]
ADD_JOBS = """
    insert into jobs (
      tenant_id, type, family, status, attempts, max_attempts, priority, error_code, created_at, started_at, finished_at
    )
    select
      %(tenant)s, 'type_' || n %% 3, 'test', (array['done', 'done', 'failed'])[n %% 3 + 1], 1, 4, 0,
      case n %% 3 when 2 then 'BROKEN' end, moment, moment + interval '1 second', moment + interval '3 seconds'
    from generate_series(1, %(many)s) as n
    cross join lateral (
      select timestamptz '2026-09-30 22:30Z' + make_interval(secs => n * 2419200.0 / %(many)s) as moment
    ) as at
"""


def add_types(world: World) -> None:
    """Of jobs that stay, however long ago they were: a claim purges others."""
    for number in range(3):
        world.type(f"type_{number}", keep_days={"done": None, "failed": None})


class Bureau:
    """A tenant in Berlin with a vault, that gets reports."""

    def __init__(self, world: World, folder: Path) -> None:
        self.world = world
        self.address = (f"file:{folder / 'vault'}", None)
        self.tenant = world.tenant('Müller & "Söhne" <script>')
        world.run("update tenant_settings set timezone = 'Europe/Berlin', language = 'de'")

    def report(self, **payload: Any) -> Job:
        job = self.world.job("generate_report", self.tenant, payload=payload)
        work(self.world.queue, "report", HANDLERS, Deadline(60, 1))
        return self.world.reload(job)

    def files(self, **payload: Any) -> dict[str, str]:
        job = self.report(**payload)
        assert job.status == "done", job.error_message
        artifacts = self.world.service.artifacts
        found = {}
        for file in job.result["files"]:
            with artifacts.read_artifact(self.address, file["artifact_ref"]["id"]) as chunks:
                found[file["name"]] = b"".join(chunks).decode()
        return found

    def add_jobs(self, many: int) -> None:
        self.world.admin.execute(ADD_JOBS, {"tenant": self.tenant, "many": many})


@pytest.fixture
def bureau(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bureau:
    monkeypatch.setenv("TICKWORK_DATABASE_URL", world.worker_url)
    monkeypatch.setenv("TICKWORK_VAULT_URL", f"file:{tmp_path / 'vault'}")
    add_types(world)
    return Bureau(world, tmp_path)


def fill(bureau: Bureau) -> None:
    """Something of everything that reports are about."""
    world, tenant = bureau.world, bureau.tenant
    bureau.add_jobs(300)
    world.run(
        "insert into tickwork.attempts (job_id, number, tenant_id, worker_id, started_at, finished_at, status, "
        "error_code, error_message) select id, 1, tenant_id, 'w', started_at, finished_at, 'failed', 'BROKEN', %s "
        "from jobs where status = 'failed'",
        "=cmd|'/c calc'!A1",
    )
    for index, name in enumerate([*FORMULAS, '<img src=x onerror="alert(1)">', 'a "quoted", name\nof two lines']):
        world.run(
            "insert into documents (tenant_id, name, vault_path, mime_type, size, page_count, doc_type, "
            "doc_type_source, created_at) values (%s, %s, %s, 'text/plain', 1000, 2, 'invoice', 'classifier', "
            "'2026-10-05 12:00Z')",
            *(tenant, name, f"tenant/{tenant}/documents/{index}"),
        )
    usage = (
        "insert into tickwork.{} (tenant_id, month, engine, pages, cents{}) values (%s, '2026-10-01', 'local', 7, 5{})"
    )
    world.admin.execute(usage.format("early_usage", "", ""), [tenant])
    world.admin.execute(usage.format("monthly_usage", ", extractions", ", 3"), [tenant])
    endpoint = world.value(
        "insert into webhook_endpoints (tenant_id, url) values (%s, %s) returning id",
        *(tenant, "https://user.example/hook?token=hidden"),
    )
    event = world.value(
        "insert into events (tenant_id, type, payload) values (%s, 'job.done', %s) returning id", tenant, Jsonb({})
    )
    world.run(
        "insert into webhook_deliveries (tenant_id, webhook_endpoint_id, event_id, status, attempts, latency_ms, "
        "created_at, delivered_at) values (%s, %s, %s, 'delivered', 2, 40, '2026-10-07', '2026-10-07')",
        *(tenant, endpoint, event),
    )
    schedule = world.service.schedules.create_schedule(tenant, "monthly", "type_0", "@monthly")
    world.run(
        "insert into schedule_fires (schedule_id, nominal_at, tenant_id, run_at, outcome, error) "
        "values (%s, '2026-10-01', %s, '2026-10-01', 'refused', 'no')",
        *(schedule["id"], tenant),
    )


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_csv_and_json_have_the_rows_and_totals_of_sql(bureau: Bureau) -> None:
    bureau.add_jobs(1000)

    files = bureau.files(**OCTOBER, reports=["jobs"], formats=["csv", "json"])

    table, document = rows_of(files["jobs-2026-10.csv"]), json.loads(files["jobs-2026-10.json"])
    totals = bureau.world.row(
        "select count(*) as jobs, count(*) filter (where status = 'failed') as failed, min(created_at) as first "
        "from jobs where created_at >= '2026-10-01 00:00+02' and created_at < '2026-11-01 00:00+01' "
        "and type <> 'generate_report'"
    )
    assert totals["jobs"] > 900
    for rows in (table, document["rows"]):
        assert len(rows) == totals["jobs"]
        assert sum(row["status"] == "failed" for row in rows) == totals["failed"]
        assert {float(row["run_seconds"]) for row in rows} == {2.0}
    assert {name: document[name] for name in ("report", "first_day", "last_day", "timezone")} == {
        "report": "jobs",
        "first_day": "2026-10-01",
        "last_day": "2026-10-31",
        "timezone": "Europe/Berlin",
    }


def test_the_period_is_that_of_the_tenants_time_zone(bureau: Bureau) -> None:
    """The first minutes of October in Berlin are still September in UTC; its last day has 25 hours."""
    for moment in ("2026-09-30 21:59Z", "2026-09-30 22:00Z", "2026-10-31 22:59Z", "2026-10-31 23:00Z"):
        bureau.world.run(
            "insert into jobs (tenant_id, type, family, max_attempts, priority, created_at) "
            "values (%s, 'type_0', 'test', 4, 0, %s)",
            *(bureau.tenant, moment),
        )

    berlin = rows_of(bureau.files(**OCTOBER, reports=["jobs"], formats=["csv"])["jobs-2026-10.csv"])
    utc = rows_of(bureau.files(**OCTOBER, reports=["jobs"], formats=["csv"], timezone="UTC")["jobs-2026-10.csv"])

    assert [row["created_at"] for row in berlin] == ["2026-10-01 00:00:00+02", "2026-10-31 23:59:00+01"]
    assert [row["created_at"] for row in utc] == ["2026-10-31 22:59:00+00", "2026-10-31 23:00:00+00"]


def test_without_days_it_is_the_month_before(bureau: Bureau) -> None:
    new_year = "2026-12-31T23:30:00Z"

    assert list(bureau.files(reports=["usage"], before=new_year)) == ["report-2026-12.html"]
    assert list(bureau.files(reports=["usage"], before=new_year, timezone="UTC")) == ["report-2026-11.html"]
    days = {"first_day": "2026-10-30", "last_day": "2026-11-02"}
    assert list(bureau.files(reports=["usage"], formats=["csv"], **days)) == ["usage-2026-10-30-to-2026-11-02.csv"]


@pytest.mark.parametrize("report", definitions())
def test_every_report_has_rows_in_every_format(bureau: Bureau, report: str) -> None:
    fill(bureau)

    files = bureau.files(**OCTOBER, reports=[report], formats=["csv", "json", "html"])

    rows = rows_of(files[f"{report}-2026-10.csv"])
    document = json.loads(files[f"{report}-2026-10.json"])
    assert len(rows) == len(document["rows"]) > 0
    assert list(rows[0]) == list(document["rows"][0])
    assert "Keine in diesem Zeitraum" not in files["report-2026-10.html"]
    assert "hidden" not in "".join(files.values())


def test_no_cell_of_a_csv_file_is_a_formula(bureau: Bureau) -> None:
    fill(bureau)

    files = bureau.files(**OCTOBER, reports=["documents", "errors"], formats=["csv"])

    names = [row["name"] for row in rows_of(files["documents-2026-10.csv"])]
    others = {'<img src=x onerror="alert(1)">', 'a "quoted", name\nof two lines'}
    assert {*names} == {*(f"'{formula}" for formula in FORMULAS), *others}
    assert {row["error_message"] for row in rows_of(files["errors-2026-10.csv"])} == {"'=cmd|'/c calc'!A1"}


class Page(HTMLParser):
    """What a browser would find."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


def test_a_page_is_self_contained_and_has_no_script(bureau: Bureau) -> None:
    fill(bureau)

    (text,) = bureau.files(**OCTOBER).values()

    page = Page(text)
    assert not page.tags & {"script", "img", "link", "iframe", "object", "embed", "base", "form", "a"}
    assert not {name for name in page.attributes if name.startswith("on") or name in ("href", "src", "style")}
    assert "svg" in page.tags
    assert "{{" not in text
    assert "default-src 'none'" in text
    assert 'Müller & "Söhne" <script>' in page.text


def test_a_page_speaks_the_language_of_the_tenant_or_the_one_that_is_asked_for(bureau: Bureau) -> None:
    bureau.add_jobs(3000)

    german, english = (
        Page(bureau.files(**OCTOBER, **language)["report-2026-10.html"]) for language in ({}, {"language": "en"})
    )

    assert "Aufträge pro Tag" in german.text
    assert "01.10.2026 – 31.10.2026 (Europe/Berlin)" in german.text
    assert "erledigt" in german.text
    assert "Jobs per day" in english.text
    assert "2026-10-01 – 2026-10-31" in english.text
    total = bureau.world.value("select count(*) from jobs where type <> 'generate_report'")
    assert f"{total:,}" in english.text
    assert f"{total:,}".replace(",", ".") in german.text


def test_every_text_of_a_template_is_in_both_languages() -> None:
    for definition in definitions().values():
        texts = re.findall(r"\{\{_ (.*?)\}\}", definition.template) + re.findall('as "(.*?)"', definition.template)

        assert definition.about
        assert {text for text in texts if "|" not in text} <= {"MB"}, definition.name


@pytest.mark.parametrize(
    ("payload", "message"),
    [
        ({"reports": ["../jobs"]}, "reports: there are jobs, errors"),
        ({"reports": []}, "reports: there are"),
        ({"formats": []}, "formats: at least one"),
        ({"month": "2026-13"}, "2026-13-01: there is no such day"),
        ({"month": "2026-10", "before": "2026-10-01T00:00:00Z"}, "only one of them"),
        ({"first_day": "2026-10-01"}, "both or neither"),
        ({"first_day": "2026-10-02", "last_day": "2026-10-01"}, "at or after first_day"),
        ({"first_day": "2020-10-02", "last_day": "2026-10-01"}, "at most 366 days"),
        ({"timezone": "Mars/Olympus"}, "timezone: the database does not know it"),
    ],
)
def test_what_cannot_be_reported_is_refused_in_words(bureau: Bureau, payload: dict[str, Any], message: str) -> None:
    job = bureau.report(**payload)

    assert (job.status, job.error_code) == ("failed", "INVALID_PAYLOAD")
    assert message in (job.error_message or "")


def test_a_report_says_nothing_of_another_tenant(bureau: Bureau) -> None:
    fill(bureau)
    mine, bureau.tenant = bureau.tenant, bureau.world.tenant("other")

    files = bureau.files(**OCTOBER, formats=["csv", "json"])

    assert all(rows_of(text) == [] for name, text in files.items() if name.endswith(".csv"))
    assert all(json.loads(text)["rows"] == [] for name, text in files.items() if name.endswith(".json"))
    assert str(mine) not in "".join(files.values())
