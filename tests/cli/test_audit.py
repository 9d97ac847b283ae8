"""The command for the audit log, as people use it."""

from pathlib import Path

from tests.cli.test_main import answer
from tests.world import World
from tests.world.command_line import run_all


def test_the_audit_log_is_shown_by_tenant_and_action(world: World, tmp_path: Path) -> None:
    tenant = world.tenant()
    world.service.pauses.pause_jobs(tenant_id=tenant)
    world.service.pauses.resume_jobs(tenant_id=tenant)
    commands = [["--tenant", "acme"], ["--tenant", "acme", "--action", "pauses.created", "--json"]]

    shown, chosen = run_all([["audit", *each, "--database-url", world.url] for each in commands], home=tmp_path)

    assert [line.split()[4] for line in shown.stdout.splitlines()[1:]] == ["pauses.deleted", "pauses.created"]
    assert [row["target"] for row in answer(chosen)] == [f"pauses tenant {tenant}"]
