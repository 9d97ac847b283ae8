"""check_connector: a drive says whose it is, and one that was to be connected again works again."""

import pytest

from tests.families.imports.test_watch_connector import URL, notification_secret, run
from tests.servers.cloud import Cloud
from tests.world.office import Office

__all__ = ["notification_secret"]


@pytest.mark.parametrize("provider", ["dropbox", "onedrive", "gdrive"])
def test_a_check_says_whose_drive_it_is_and_makes_it_active_again(
    office: Office, clouds: dict[str, Cloud], provider: str
) -> None:
    connector = office.connect(provider, status="reauthorize")

    job = run(office, "check_connector", connector)

    assert job.status == "done"
    assert job.result["account_name"] == "Erika"
    row = office.world.row("select status, account_id from connectors")
    assert row == {"status": "active", "account_id": job.result["account_id"]}
    assert row["account_id"]


def test_a_connector_that_works_again_is_watched_again(office: Office, clouds: dict[str, Cloud]) -> None:
    run(office, "check_connector", office.connect("onedrive", watch_url=URL + "onedrive"))

    assert office.world.value("select count(*) from jobs where type = 'watch_connector' and status = 'queued'") == 1


def test_a_check_leaves_a_disabled_connector_disabled(office: Office, clouds: dict[str, Cloud]) -> None:
    run(office, "check_connector", office.connect("dropbox", status="disabled"))

    assert office.world.value("select status from connectors") == "disabled"
