"""The commands for reports, as people and scripts use them."""

from pathlib import Path

import pytest

from tests.cli.test_main import Ask, answer, ask, refusal
from tests.families.report.test_generate_report import HANDLERS
from tests.world import World
from tests.world.command_line import run
from tickwork.runtime.deadline import Deadline
from tickwork.runtime.work import work

__all__ = ["ask"]


def test_reports_are_listed_requested_and_downloaded(
    world: World, ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tenant, vault = world.tenant(), f"file:{tmp_path / 'vault'}"
    monkeypatch.setenv("TICKWORK_DATABASE_URL", world.worker_url)
    monkeypatch.setenv("TICKWORK_VAULT_URL", vault)
    options = ["--tenant", "acme", "--month", "2026-10", "--format", "html", "--format", "csv"]

    listed = answer(run("reports", "--json", home=tmp_path / "home"))
    requested = answer(ask("reports", "request", *options, "--json"))
    repeated = ask("reports", "request", *options)
    too_early = refusal(ask("reports", "download", requested["id"], TICKWORK_VAULT_URL=vault))
    work(world.queue, "report", HANDLERS, Deadline(60, 1))
    downloaded = ask("reports", "download", requested["id"], "--to", str(tmp_path / "here"), TICKWORK_VAULT_URL=vault)

    names = [row["report"] for row in listed]
    assert names == ["jobs", "errors", "usage", "deliveries", "documents", "schedules"]
    assert requested["idempotency_key"] == f"report-{tenant}-2026-10"
    assert repeated.stdout.startswith("It was requested before.")
    assert "has no files" in too_early
    files = {*(f"{name}-2026-10.csv" for name in names), "report-2026-10.html"}
    assert {Path(line).name for line in downloaded.stdout.splitlines()} == files
    assert {file.name for file in (tmp_path / "here").iterdir()} == files
