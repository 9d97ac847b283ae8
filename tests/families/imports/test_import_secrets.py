"""No secret shows up anywhere: canaries are planted as tokens and client secrets, then all output is searched."""

import pytest

from tests.servers.cloud import Asked, Cloud, Reply, Requests, cut_after, hanging_up, saying
from tests.world.office import Office

TABLES = """
    select concat_ws('.', quote_ident(table_schema), quote_ident(table_name)) as name
    from information_schema.tables
    where table_schema in ('public', 'tickwork') and table_type = 'BASE TABLE'
"""


def echo(status: int) -> Reply:
    """A server that says everything it was told, in its body and its headers."""

    def reply(requests: Requests, asked: Asked) -> None:
        told = str(dict(asked.headers)) + asked.body.decode()
        body = {"error": {"code": told, "message": told, "errors": [{"reason": told}]}, "error_summary": told}
        requests.send_json(status, body, Retry_After=asked.headers.get("Authorization", "x"))

    return reply


TROUBLES = [
    *(echo(status) for status in (200, 400, 401, 403, 404, 409, 410, 418, 429, 500, 503)),
    saying(302, Location="http://169.254.169.254/canary"),
    saying(200, [1]),
    hanging_up,
    cut_after(3),
]


@pytest.mark.parametrize("provider", ["dropbox", "onedrive", "gdrive"])
def test_no_canary_leaves_its_cage(
    office: Office, clouds: dict[str, Cloud], provider: str, capfd: pytest.CaptureFixture[str]
) -> None:
    cloud, world = clouds[provider], office.world
    cloud.rotates, cloud.expires_in = True, 0
    world.run("update job_types set max_attempts = 1")
    token_paths = {"dropbox": "/oauth2/token", "onedrive": "/common", "gdrive": "/token"}
    codes = set()
    for number, trouble in enumerate(TROUBLES):
        for place in (cloud.lists, cloud.downloads_at, token_paths[provider]):
            connector = office.connect(provider)
            cloud.put(f"/papers/{number} {place.replace('/', '-')}.txt", f"{number} {place}".encode())
            cloud.troubled(place, trouble)
            job = office.bring(connector, "/papers")
            codes |= {job.error_code, *(each["reason"] for each in (job.result or {}).get("failed", []))}
            cloud.trouble.clear()
            world.run("update tickwork.lane_rules set held_until = null")
    office.bring(office.connect(provider), "/papers")

    output = "".join(capfd.readouterr())
    assert '"settle"' in output
    assert "canary" not in output
    for table in (row["name"] for row in world.admin.execute(TABLES)):
        rows = world.admin.execute(f"select t::text as row from {table} as t").fetchall()
        assert not [row for row in rows if "canary" in row["row"]], table
    # Otherwise nothing was tried.
    assert len(codes) > 5
    assert any("canary" in asked.headers.get("Authorization", "") for asked in cloud.asked)
    assert any(b"canary" in asked.body for asked in cloud.asked)
    assert len(office.documents()) >= len(TROUBLES)
