"""What holds for all pages: German, read-only, and lists that would be too long."""

import pytest

from tests.console.conftest import Viewers
from tickwork.console.navigation import ENTRIES
from tickwork.console.preferences import PREFERENCES

FORMS = ("/schedules/new", "/triggers/new", "/triggers/test", "/documents/search", "/documents/usage")
PATHS = [*(entry.path for entry in ENTRIES if not entry.needs_platform_admin), *FORMS]


@pytest.mark.parametrize("path", PATHS)
def test_it_is_shown_in_german(viewers: Viewers, path: str) -> None:
    viewers.admin.client.set_cookie(PREFERENCES, "de|||")
    seen = viewers.admin.get(path)
    viewers.admin.client.delete_cookie(PREFERENCES)

    assert seen.status == 200
    assert '<html lang="de"' in seen.html


@pytest.mark.parametrize("path", [path for path in PATHS if path != "/preferences"])
def test_a_read_only_viewer_is_offered_no_change(viewers: Viewers, path: str) -> None:
    viewers.admin.client.set_cookie(PREFERENCES, "en||read-only|")
    main = viewers.admin.get(path).html.partition("<main")[2]
    refused = viewers.admin.post("/pauses", kind="tenant")
    viewers.admin.client.delete_cookie(PREFERENCES)

    assert "<button>Save</button>" not in main
    assert '<details class="change"' not in main
    assert refused.status == 403


def test_a_list_that_is_too_long_asks_for_a_tenant(viewers: Viewers) -> None:
    viewers.world.run(
        "insert into schedules (tenant_id, label, type, cron_expr, timezone) "
        "select %s, 'many ' || number, 'greet_person', '@daily', 'UTC' from generate_series(1, 501) as number",
        viewers.other,
    )

    seen = viewers.operator.get("/schedules")

    assert "There are more than 500: choose a tenant" in seen.text
    assert seen.html.count('<tr id="schedule-') == 500
    assert "There are more than" not in viewers.operator.get("/schedules", tenant=viewers.acme).text
