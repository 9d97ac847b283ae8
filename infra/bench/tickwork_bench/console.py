"""The pages of the console among many jobs of many tenants: the server's time for each, as a platform admin."""

from uuid import uuid4

import psycopg
from flask import Flask, request
from werkzeug.routing import Rule
from werkzeug.test import Client

from tickwork.api.connections import Connections
from tickwork.console.function import control_plane
from tickwork.console.page import all_pages
from tickwork.console.session import SESSION, session_cookie
from tickwork.settings import load_settings
from tickwork_bench.contenders.tickwork import TYPE, fill
from tickwork_bench.figures import finish_jobs
from tickwork_bench.measure import Bench, Figure, Measurement, Result, Target, seconds_of

ROUNDS = 5
# They lead elsewhere, or need more than their address.
LEFT_OUT = ("/jobs/change", "/sign-in", "/choose-tenant", "/schedules/preview")
SECRET = "signs-the-sessions-of-the-benchmark"  # noqa: S105
# A fiftieth of the finished jobs, as if they had failed: with messages that differ in a number only.
FAILED = """
    with failed as (
      update public.jobs
      set
        status = 'failed',
        error_code = 'BROKEN_' || hashtext(id::text) % 5,
        error_message = 'No user ' || hashtext(id::text)
      where hashtext(id::text) % 50 = 0
        and status = 'done'
      returning *
    )
    insert into tickwork.unsuccessful
    select id, tenant_id, family, type, status, error_code, created_at, finished_at
    from failed
"""


def run(bench: Bench) -> Result:
    jobs, queued, tenants = bench.size(5_000_000, 50_000), bench.size(100_000, 1_000), 1_000
    with bench.place.database() as url, psycopg.connect(url, autocommit=True) as connection:
        fill(url, queued, tenants)
        finish_jobs(bench, connection, jobs)
        connection.execute("set session_replication_role = replica")
        connection.execute(FAILED)
        connection.execute("set session_replication_role = origin")
        connection.execute("vacuum analyze")
        operator = uuid4()
        connection.execute("insert into tickwork.platform_admins (user_id) values (%s)", [operator])
        row = connection.execute("select id, tenant_id from public.jobs where status = 'failed' limit 1").fetchone()
        assert row
        taken = pages_of(bench, url, str(operator), str(row[0]), str(row[1]))
    place = f"{jobs:,} finished and {queued:,} queued jobs of {tenants:,} tenants"
    figures = [Figure(f"{path}, {place}", value, "ms") for path, value in taken.items()]
    return Result(figures, [Target(figure.name, at_most=200) for figure in figures])


def pages_of(bench: Bench, url: str, operator: str, job: str, tenant: str) -> dict[str, float]:
    own = {"TICKWORK_DATABASE_URL": url.replace("//postgres@", "//tickwork_api@"), "TICKWORK_CONSOLE_SECRET": SECRET}
    settings = load_settings(own)
    connections = Connections(settings.database_url)
    app = Flask("console")
    app.url_map.add(Rule("/<path:path>", endpoint="run"))
    function = control_plane(connections, settings)
    app.view_functions["run"] = lambda path: function(request)
    client = Client(app)
    client.set_cookie(SESSION, session_cookie(operator, settings).value)
    lists = [page.path for page in all_pages() if page.method == "GET" and "{" not in page.path]
    filtered = ["?q=status:failed", f"?q=type:{TYPE}", "?q=status:queued+sort:oldest", f"?tenant={tenant}"]
    try:
        return {
            path: milliseconds(bench, client, f"/console{path}")
            for path in [*lists, *(f"/jobs{each}" for each in filtered), f"/?tenant={tenant}", f"/jobs/{job}"]
            if path not in LEFT_OUT
        }
    finally:
        connections.close()


def milliseconds(bench: Bench, client: Client, path: str) -> float:
    """The median of some, after a first one that loads the templates."""
    bench.say(path)
    answer = client.get(path)
    assert answer.status_code == 200, (path, answer.get_data(as_text=True)[:2000])
    return sorted(1000 * seconds_of(lambda: client.get(path)) for _ in range(ROUNDS))[ROUNDS // 2]


CONSOLE = Measurement("console", "the pages of the console among many jobs of many tenants", run)
