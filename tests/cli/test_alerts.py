"""The commands for alerts, as platform admins use them."""

from tests.cli.test_main import Ask, ask
from tests.world import World

__all__ = ["ask"]


def test_rules_are_shown_and_changed(world: World, ask: Ask) -> None:
    changed = ask("alerts", "change", "queue_size", "--threshold", "50", "--for-seconds", "5")
    switched_off = ask("alerts", "change", "queue_megabytes", "--off")

    assert changed.stdout == "queue_size opens above 50 and closes at 40, after 5 s (warning).\n"
    assert switched_off.stdout == "queue_megabytes is off.\n"
    assert "queue_size" in ask("alerts", "rules").stdout


def test_alerts_are_listed_and_told(world: World, ask: Ask) -> None:
    operations = world.tenant("operations")
    assert ask("alerts").stdout == "There was no alert.\n"
    world.run("update alert_rules set threshold = -1, closes_at = -1, for_seconds = 0 where key = 'queue_size'")

    told = ask("alerts", "tell", "operations")
    world.run("select tickwork.check_alerts()")

    assert told.stdout == "Alerts are events of operations.\n"
    assert "queue_size" in ask("alerts", "--open").stdout
    assert world.value("select tenant_id from events where type = 'alert.opened'") == operations
    assert ask("alerts", "tell", "--nobody").stdout == "Alerts are only noted.\n"
