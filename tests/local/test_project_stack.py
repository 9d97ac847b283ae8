"""`tickwork up` in a project: its families beside the built-in ones, its migrations, its ports, and what is edited."""

import json
import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import SystemRandom
from typing import Any

import psycopg
import pytest

from tests.world import World
from tests.world.command_line import COMMAND, environment_for, open_folder, run, run_all, started
from tests.world.waiting import PATIENCE, until
from tickwork.database.migrate import migrate
from tickwork.testing.database import cloned
from tickwork_local.postgres import Server
from tickwork_local.stack import find_stack

APPLICATION = """
    create table organizations (id uuid primary key default gen_random_uuid(), name text not null);
    create table users (id uuid primary key, organization_id uuid not null references organizations, role text);
    create table documents (id bigint primary key);
    insert into organizations (name) values ('Acme');
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    with open_folder() as folder:
        yield folder


def new_project(folder: Path, *options: str) -> Path:
    root = folder / "shop"
    root.mkdir()
    commands = [
        ("new", "project", *options),
        ("new", "family", "billing"),
        ("new", "type", "write_invoice", "--family", "billing", "--table", "invoices"),
    ]
    for asked in run_all(commands, home=root / ".tickwork", cwd=root):
        assert asked.returncode == 0, asked.stderr
    return root


class Up:
    """`tickwork up` in a project, and what it says."""

    def __init__(self, root: Path, process: "subprocess.Popen[bytes]") -> None:
        self.root, self.process = root, process

    def said(self) -> str:
        return (self.root.parent / "output").read_text()

    def wait_for(self, words: str) -> None:
        until(lambda: words in self.said() or self.process.poll() is not None, f"{words!r} is not said")
        assert words in self.said()

    def status(self) -> Any:
        return json.loads(run("status", "--json", home=self.root / ".tickwork").stdout)

    def result_of(self, text: str, tenant: str = "acme") -> Any:
        payload = json.dumps({"text": text})
        options = ["--tenant", tenant, "--json"]
        asked = run("enqueue", "write_invoice", payload, *options, home=self.root / ".tickwork", cwd=self.root)
        assert asked.returncode == 0, asked.stderr
        id = json.loads(asked.stdout)["id"]
        with psycopg.connect(self.status()["database_url"], autocommit=True) as connection:
            query = "select result from jobs where id = %s and status = 'done'"
            until(lambda: connection.execute(query, [id]).fetchone(), "nobody works")
            row = connection.execute(query, [id]).fetchone()
        return row and row[0]


@contextmanager
def running(root: Path, *options: str) -> Iterator[Up]:
    home, output = root / ".tickwork", root.parent / "output"
    with started("up", *options, home=home, output=output, cwd=root / "functions") as process:
        up = Up(root, process)
        until(lambda: find_stack(home) or process.poll() is not None, "the stack does not start")
        assert process.poll() is None, up.said()
        yield up


def free_first_port() -> int:
    """The first of thirty that are free, where nobody else looks for any: each process of tests has its own part."""
    process = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    begin = 10_000 + process % 10 * 1_000
    firsts = SystemRandom().sample(range(begin, begin + 1_000, 50), 20)
    return next(first for first in firsts if all(is_free(first + each) for each in range(30)))


def is_free(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0


def test_ones_own_family_runs_beside_the_built_in_ones_at_fixed_ports(folder: Path) -> None:
    root = new_project(folder, "--with", "webhooks")
    first = free_first_port()
    places = {"webhook": 12, "manage": 15, "billing": 18}
    wanted = {family: f"http://127.0.0.1:{first + place}" for family, place in places.items()}

    with running(root, "--port", str(first)) as up:
        (root / "docs").mkdir()
        environment = environment_for(root, {})
        del environment["TICKWORK_HOME"]
        found = subprocess.run(
            [*COMMAND, "status", "--json"], cwd=root / "docs", env=environment, capture_output=True, timeout=PATIENCE
        )
        assert json.loads(found.stdout)["database_url"] == f"postgresql://postgres@127.0.0.1:{first}/tickwork"
        assert json.loads(found.stdout)["functions"] == wanted
        assert up.result_of(" Hello ") == {"text": "Hello"}
        assert "Left out: extract (needs the module documents), classify (needs the module documents)" in up.said()
        second = run("up", "--port", str(first), home=folder / "other", cwd=root)
        assert second.returncode == 1
        assert f"port {first + 12}, for the function webhook, is taken" in second.stderr
        assert "--port, or `port` under [stack] in tickwork.toml" in second.stderr

    # The migrations of the project are applied again.
    with running(root, "--port", str(first), "--reset") as up:
        assert up.status()["functions"] == wanted
        assert up.result_of("again") == {"text": "again"}


def test_a_port_of_the_database_that_is_taken_is_named(folder: Path) -> None:
    root = new_project(folder, "--with", "queue")
    first = free_first_port()
    with socket.create_server(("127.0.0.1", first)):
        (root / "tickwork.toml").write_text(f"[project]\nmodules = ['queue']\n[stack]\nport = {first}\n")
        asked = run("up", home=root / ".tickwork", cwd=root, TICKWORK_PORT="")

    assert asked.returncode == 1
    assert f"port {first} is taken: stop what listens there, or choose others with --port" in asked.stderr


def test_what_is_edited_takes_effect_at_once(folder: Path) -> None:
    root = new_project(folder, "--with", "webhooks")
    handler = root / "functions/billing/write_invoice.py"
    original = handler.read_text()

    with running(root) as up:
        assert up.result_of("one") == {"text": "one"}
        handler.write_text(original.replace("payload.text.strip())", "payload.text.upper())"))
        up.wait_for("billing reloaded")
        assert up.result_of("two") == {"text": "TWO"}

        handler.write_text("import nonexistent\n")
        up.wait_for("billing does not load: ModuleNotFoundError: No module named 'nonexistent'")
        assert up.status()["running"]
        handler.write_text(original)
        until(lambda: up.said().count("billing reloaded") == 2, "it does not recover")
        assert up.result_of("three") == {"text": "three"}

        empty = root / "migrations/20990101000000_paid.sql"
        empty.write_text("")
        empty.write_text("alter table public.invoices add column paid boolean;")
        up.wait_for("applied 20990101000000_paid")
        empty.write_text("alter table public.invoices add column paid date;")
        up.wait_for("20990101000000_paid.sql has been edited since it was applied. Undo the edit")
        (root / "migrations/20990101000001_broken.sql").write_text("select 1;\nselect nonsense;")
        empty.write_text("alter table public.invoices add column paid boolean;")
        up.wait_for('20990101000001_broken.sql, line 2: column "nonsense" does not exist')
        assert up.status()["running"]


def test_an_existing_database_is_worked_with_but_only_changed_by_migrate(folder: Path, server: Server) -> None:
    with cloned(server, "template0") as name:
        url = server.url(name)
        with psycopg.connect(url) as connection:
            connection.execute(APPLICATION)
        members = "public.users(organization_id, id, role)"
        tables = ["--tenants", "public.organizations(id, name)", "--members", members]
        root = new_project(folder, "--with", "queue", *tables, "--database-url", url)
        home = root / ".tickwork"

        unmigrated, reset = (run("up", *options, home=home, cwd=root) for options in ([], ["--reset"]))
        migrated = run("migrate", url, home=home, cwd=root)
        with running(root) as up:
            assert up.result_of("Hello", tenant="Acme") == {"text": "Hello"}
            worker_url = up.status()["worker_database_url"]
            (root / "migrations/20990101000000_more.sql").write_text("create table more ();")
            up.wait_for("the database lacks 20990101000000_more. Run `tickwork migrate")
            with psycopg.connect(worker_url) as connection:
                assert connection.execute("select current_user").fetchone() == ("tickwork_worker",)
        with psycopg.connect(url) as connection:
            rows = connection.execute("select text, name from invoices join organizations o on o.id = tenant_id")
            assert rows.fetchall() == [("Hello", "Acme")]

    assert f"the database lacks tickwork's schema\n  Run `tickwork migrate {url}`." in unmigrated.stderr
    assert "--reset: only a database of the stack's own can be emptied" in reset.stderr
    assert migrated.returncode == 0, migrated.stderr
    assert migrated.stdout.rstrip().endswith("_write_invoice")


def test_a_worker_imports_the_files_beside_main(folder: Path, world: World) -> None:
    root = new_project(folder)
    migrate(world.url, own=root / "migrations")
    job = world.job("write_invoice", payload={"text": "Hello"})

    with started(
        *("worker", "billing", "--database-url", world.worker_url),
        home=root / ".tickwork",
        output=folder / "output",
        cwd=root / "tests",
    ) as worker:
        until(lambda: world.reload(job).status == "done" or worker.poll() is not None)

    assert world.reload(job).result == {"text": "Hello"}, os.linesep + (folder / "output").read_text()
