"""The HTTP API on loopback: a page of jobs against the SQL alone, and a claim."""

import http.client
import json
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

import psycopg

from tickwork.shipped import FUNCTIONS
from tickwork_bench.contenders import send_all, tickwork
from tickwork_bench.measure import Bench, Measurement, Result, Target, interleaved, latency_figures, seconds_of
from tickwork_local.functions import Function, Functions

SQL, PAGE, CLAIM = "50 jobs by SQL", "50 jobs over HTTP", "a claim over HTTP"
WARM_UPS = 20


def run(bench: Bench) -> Result:
    rounds = bench.size(1000, 100)
    with TemporaryDirectory() as logs, bench.place.database() as url:
        tickwork.prepare(url)
        with tickwork.sender(url) as sender:
            send_all(sender, url, rounds + WARM_UPS + 100)
        settings = {"TICKWORK_DATABASE_URL": url.replace("//postgres@", "//tickwork_api@")}
        api = {"api": Function(FUNCTIONS / "api" / "main.py")}
        with psycopg.connect(url, autocommit=True) as connection, Functions(api, settings, Path(logs)) as running:
            runs = runs_of(connection, running.urls["api"])
            samples = interleaved(bench, runs, rounds + WARM_UPS)
    taken = {name: each[WARM_UPS:] for name, each in samples.items()}
    targets = [Target(f"{PAGE}, p50", [f"{SQL}, p50"], at_most=3), Target(f"{CLAIM}, p50", at_most=5)]
    return Result(latency_figures(taken, SQL), targets)


def runs_of(connection: psycopg.Connection[Any], url: str) -> dict[str, Callable[[], float]]:
    row = connection.execute("select id from public.organizations limit 1").fetchone()
    assert row
    operator = new_key(connection, "operate", row[0])
    worker = new_key(connection, f"worker:{tickwork.FAMILY}", None)
    http_api = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)
    claim = json.dumps({"family": tickwork.FAMILY, "worker_id": "bench", "lease_seconds": tickwork.LEASE_SECONDS})

    def ask(method: str, path: str, key: str, body: str | None = None) -> None:
        http_api.request(method, path, body, {"X-Api-Key": key, "Content-Type": "application/json"})
        answer = http_api.getresponse()
        text = answer.read()
        assert answer.status == 200, text
        assert len(json.loads(text)["items"]) == (50 if method == "GET" else 1)

    def page() -> None:
        rows = connection.execute("select * from public.list_jobs(tenant_id => %s, max_jobs => 50)", [row[0]])
        assert len(rows.fetchall()) == 50

    return {
        SQL: lambda: 1000 * seconds_of(page),
        PAGE: lambda: 1000 * seconds_of(lambda: ask("GET", "/api/v1/jobs?limit=50", operator)),
        CLAIM: lambda: 1000 * seconds_of(lambda: ask("POST", "/api/v1/worker/jobs/claim", worker, claim)),
    }


def new_key(connection: psycopg.Connection[Any], scope: str, tenant: object) -> str:
    row = connection.execute("select key from public.create_api_key(%s, %s, %s)", [scope, [scope], tenant]).fetchone()
    assert row
    return str(row[0])


API = Measurement("api", "the HTTP API: a page of jobs against the SQL alone, and a claim", run)
