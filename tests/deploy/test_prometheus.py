"""The real Prometheus of Debian: promtool reads our metrics and rules, and a server scrapes the API."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.error import URLError
from urllib.parse import quote
from urllib.request import urlopen

import pytest
from werkzeug.serving import make_server

from tests.database.test_figures import end_as, roll_up
from tests.world import World
from tests.world.api import api_of
from tests.world.node import CACHE
from tests.world.waiting import until
from tickwork_local.launch import ends_with_parent
from tickwork_local.node import CannotInstall, one_at_a_time, run
from tickwork_local.postgres import free_port

FOLDER = Path(__file__).parents[2] / "infra/observability"


@pytest.fixture(scope="module")
def programs() -> Path:
    """The folder of prometheus and promtool, unpacked from Debian's package once and kept in the cache."""
    tree = CACHE / "prometheus"
    try:
        with one_at_a_time(tree):
            if not (tree / "is-complete").exists():
                shutil.rmtree(tree, ignore_errors=True)
                tree.mkdir(parents=True)
                run(["apt-get", "download", "prometheus"], tree)
                (package,) = tree.glob("*.deb")
                run(["dpkg-deb", "-x", str(package), str(tree)], tree)
                (tree / "is-complete").touch()
    except (CannotInstall, OSError) as error:
        pytest.skip(f"prometheus cannot be installed: {error}")
    return tree / "usr/bin"


def test_the_rules_are_right(programs: Path) -> None:
    for command in (["check", "rules", "tickwork.rules.yml"], ["test", "rules", "tickwork.rules.test.yml"]):
        done = subprocess.run([programs / "promtool", *command], cwd=FOLDER, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr


def test_promtool_has_nothing_against_the_metrics(world: World, programs: Path) -> None:
    populate(world)
    text = world.service.metrics.metrics(tenant_label="tenant_id")

    done = subprocess.run([programs / "promtool", "check", "metrics"], input=text, capture_output=True, text=True)

    assert done.returncode == 0, done.stdout + done.stderr


def populate(world: World) -> None:
    for status in ("done", "dead", "failed", "done"):
        end_as(world, world.running_job(max_attempts=1), status)
    world.running_job()
    world.job()
    roll_up(world)


def test_a_real_prometheus_scrapes_the_api_and_loads_the_rules(world: World, programs: Path, tmp_path: Path) -> None:
    populate(world)
    key = world.service.keys.create_api_key("scrape", ["read"], None)["key"]

    with served(world) as port, prometheus(programs, tmp_path, port, key) as server:
        until(lambda: values(server, "tickwork_jobs_enqueued_total") == [6])
        rules = [rule for group in asked(server, "rules")["groups"] for rule in group["rules"]]
        until(lambda: values(server, "tickwork:completed:rate5m") != [])
        found = {query: values(server, query) for query in dashboard_queries()}

    assert [rule["name"] for rule in rules if rule["health"] == "err"] == []
    assert len(rules) >= 14
    # What there is nothing of here has no values: rates of an hour, webhooks, extractions, schedules, held lanes.
    empty = {query for query, value in found.items() if not value}
    assert all(re.search("webhook|extraction|schedules|lanes|expired|timeouts|retries", query) for query in empty)
    assert found["sum(tickwork_jobs_queued)"] == [1]
    assert found["sum(tickwork_jobs_running) or vector(0)"] == [1]


@contextmanager
def served(world: World) -> Iterator[int]:
    with api_of(world) as api:
        server = make_server("127.0.0.1", 0, api.client.application, threaded=True)
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def prometheus(programs: Path, folder: Path, port: int, key: str) -> Iterator[str]:
    """Configured as in the example, but for the address, the key and more haste."""
    text = (FOLDER / "prometheus.yml").read_text()
    for pattern, value in {
        "60s": "1s",
        "https": "http",
        "api.example.com": f"127.0.0.1:{port}",
        "tickwork.key": str(folder / "key"),
        "tickwork.rules.yml": str(FOLDER / "tickwork.rules.yml"),
    }.items():
        assert pattern in text
        text = text.replace(pattern, value)
    (folder / "prometheus.yml").write_text(text)
    (folder / "key").write_text(key)
    own = free_port()
    options = {"config.file": "prometheus.yml", "storage.tsdb.path": "data", "web.listen-address": f"127.0.0.1:{own}"}
    command = [str(programs / "prometheus"), *(f"--{name}={value}" for name, value in options.items())]
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(ends_with_parent(command), cwd=folder, stdout=log, stderr=log)
    try:
        yield f"http://127.0.0.1:{own}/api/v1/"
    finally:
        process.terminate()
        process.wait()


def asked(server: str, path: str) -> Any:
    try:
        with urlopen(server + path) as response:
            return json.load(response)["data"]
    except URLError:
        return {"result": [], "groups": []}


def values(server: str, query: str) -> list[float]:
    return [float(each["value"][1]) for each in asked(server, f"query?query={quote(query)}")["result"]]


def dashboard_queries() -> list[str]:
    panels = json.loads((FOLDER / "grafana/tickwork.json").read_text())["panels"]
    return [target["expr"].replace("$type", ".*") for panel in panels for target in panel["targets"]]
