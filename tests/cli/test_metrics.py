"""The commands for metrics and latency, as people and cron use them."""

import json
from pathlib import Path

from tests.cli.test_main import Ask, ask
from tests.database.test_figures import end_as, roll_up
from tests.database.test_metrics import samples_in, total
from tests.world import World

__all__ = ["ask"]


def test_metrics_go_to_the_terminal_or_to_a_file(world: World, ask: Ask, tmp_path: Path) -> None:
    tenant = world.tenant("acme")
    end_as(world, world.running_job(tenant=tenant), "done")
    roll_up(world)
    file = tmp_path / "tickwork.prom"

    shown = ask("metrics", "--tenant", "acme", "--prefix", "bpc_")
    written = ask("metrics", "--textfile", str(file))

    assert total(samples_in(shown.stdout), "bpc_jobs_completed_total", status="done") == 1
    assert written.stdout == ""
    assert total(samples_in(file.read_text()), "tickwork_jobs_completed_total", status="done") == 1
    assert [each.name for each in tmp_path.glob("*tickwork.prom*")] == ["tickwork.prom"]


def test_latency_is_a_table_or_json(world: World, ask: Ask) -> None:
    assert "No job ended in that time" in ask("latency").stdout
    end_as(world, world.running_job(), "done")
    roll_up(world)

    assert "greet_person" in ask("latency", "--since", "1 hour ago", "--type", "greet_person").stdout
    (row,) = json.loads(ask("latency", "--json").stdout)
    assert row["jobs"] == 1
