"""What the audit log has of requests to the API."""

from tests.api.conftest import Users


def test_a_change_and_a_refusal_are_in_the_log(users: Users) -> None:
    job = users.member.post("jobs", type="greet_person").body["id"]
    header = {"X-Request-Id": "the-request"}

    assert users.member.post(f"jobs/{job}/retry", header).status == 403
    assert users.admin.post(f"jobs/{job}/bury", header, reason="no").status == 200

    logged = {row["action"]: row for row in users.admin.get("audit").items}
    refused = logged["refused retry_job"]
    assert (refused["target"], refused["code"]) == (f"/api/v1/jobs/{job}/retry", "TWADM")
    assert "the-request" in str(refused)
    assert "the-request" in str(logged["jobs.buried"])
    assert str(users.acme) not in str(users.stranger.get("audit").items)
