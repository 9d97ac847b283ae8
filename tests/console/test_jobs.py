"""The list of jobs, a job, errors, and changes to many jobs at once."""

import json
from html import unescape
from uuid import UUID

import pytest

from tests.console.conftest import Viewers
from tests.world.console import Browser, Seen, user_of
from tickwork.families.manage.change_jobs import CHANGE_JOBS
from tickwork.jobs.rows import Job
from tickwork.runtime.deadline import Deadline
from tickwork.runtime.work import work

HOSTILE = "<script>alert(1)</script>'\"&"


def failed(viewers: Viewers, tenant: UUID, message: str = "It broke", code: str = "BROKEN") -> Job:
    job = viewers.world.job("greet_person", tenant=tenant, payload={"name": "x"})
    while (claimed := viewers.world.claim()).id != job.id:
        viewers.world.queue.complete_job(claimed, {})
    viewers.world.queue.fail_job(claimed, {"code": code, "message": message}, retryable=False)
    return viewers.world.reload(job)


def test_each_viewer_sees_the_jobs_of_their_tenants(viewers: Viewers) -> None:
    own, foreign = (viewers.world.job("greet_person", tenant=each) for each in (viewers.acme, viewers.other))

    for browser, sees_own, sees_foreign in (
        (viewers.member, True, False),
        (viewers.admin, True, False),
        (viewers.stranger, False, True),
        (viewers.operator, True, True),
    ):
        html = browser.get("/jobs").html
        assert (str(own.id) in html) is sees_own
        assert (str(foreign.id) in html) is sees_foreign


def test_a_foreign_job_is_not_there(viewers: Viewers) -> None:
    job = viewers.world.job("greet_person", tenant=viewers.acme)

    assert viewers.member.get(f"/jobs/{job.id}").status == 200
    assert viewers.stranger.get(f"/jobs/{job.id}").status == 404
    assert viewers.stranger.get("/jobs/nonsense").status == 404
    for verb in ("cancel", "retry", "reschedule", "bury", "reveal"):
        seen = viewers.stranger.post(f"/jobs/{job.id}/{verb}", run_at="2030-01-01T00:00", reason="x")
        assert seen.status == 404
    assert viewers.world.reload(job).status == "queued"


def test_the_filter_finds_what_it_says(viewers: Viewers) -> None:
    world = viewers.world
    payload = {"name": "Ada", "user": {"id": 7}}
    wanted = world.job("greet_person", tenant=viewers.acme, payload=payload, lane="connector:1")
    world.job("greet_person", tenant=viewers.acme, payload={"name": "Bob", "user": {"id": 8}})

    for text in (
        "payload.user.id:7",
        'payload.name:"Ada" status:queued',
        "lane:connector:1",
        "type:greet_person payload.user.id:7 since:2h sort:oldest",
        f"tenant:{viewers.acme} lane:connector:1",
    ):
        assert listed(viewers.admin, text) == [str(wanted.id)], text
    assert listed(viewers.admin, "payload.user.id:9") == []
    assert listed(viewers.stranger, "payload.user.id:7") == []
    assert listed(viewers.stranger, f"tenant:{viewers.acme}") == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nonsense", "such as status:dead"),
        ("status:gone", "must be queued, running"),
        ("since:yesterday", "such as 30min"),
        ("type:", "needs a value"),
        ('type:"x', "quote is not closed"),
        ("payload.:1", "write a path"),
        ("tenant:acme", "id of a tenant"),
        (HOSTILE, "quote is not closed"),
    ],
)
def test_a_filter_that_is_not_understood_says_what_to_write(viewers: Viewers, text: str, message: str) -> None:
    seen = viewers.member.get("/jobs", q=text)

    assert seen.status == 400
    assert message in seen.text
    assert "<script>alert" not in seen.html


def test_the_id_of_a_job_leads_to_it(viewers: Viewers) -> None:
    job = viewers.world.job("greet_person", tenant=viewers.acme)

    assert viewers.member.get("/jobs", q=job.id).headers["Location"] == f"/console/jobs/{job.id}"


def test_pages_go_on_where_the_last_one_ended(viewers: Viewers) -> None:
    tenant = viewers.world.tenant("paged")
    viewers.world.run(
        "insert into jobs (tenant_id, type) select %s, 'greet_person' from generate_series(1, 60)", tenant
    )

    first = viewers.operator.get("/jobs", tenant=tenant)
    rest = viewers.operator.get(link(first.html, 'rel="next" href="'))

    assert "60 jobs" in first.text
    assert len(rows(first.html)) == 50
    assert len(rows(rest.html)) == 10
    assert not {*rows(first.html)} & {*rows(rest.html)}


def test_all_that_match_are_exported(viewers: Viewers) -> None:
    tenant = viewers.world.tenant("exported")
    viewers.world.job("greet_person", tenant=tenant, payload={"name": "=1+1"}, correlation_id="=cmd()")
    viewers.world.job("greet_person", tenant=tenant, lane="connector:1")

    csv = viewers.operator.get("/jobs", tenant=tenant, q="sort:oldest", format="csv")
    found = json.loads(viewers.operator.get("/jobs", tenant=tenant, q="lane:connector:1", format="json").html)

    assert csv.headers["Content-Disposition"] == 'attachment; filename="tickwork-jobs.csv"'
    assert csv.html.count("greet_person") == 2
    assert ",'=cmd()," in csv.html
    assert [each["lane"] for each in found] == ["connector:1"]
    assert json.loads(viewers.stranger.get("/jobs", tenant=tenant, format="json").html) == []


def test_a_refresh_moves_no_row(viewers: Viewers) -> None:
    tenant = viewers.world.tenant("live")
    viewers.world.job("greet_person", tenant=tenant)
    opened = viewers.operator.get("/jobs", tenant=tenant)
    viewers.world.job("greet_person", tenant=tenant)

    again = viewers.operator.get(link(opened.html, 'id="jobs" class="live" hx-nonce="' + nonce(opened) + '" hx-get="'))

    assert rows(again.html) == rows(opened.html)
    assert "1 new ones" in again.text


def test_a_job_says_why_and_shows_exact_numbers(viewers: Viewers) -> None:
    job = viewers.world.job("greet_person", tenant=viewers.acme)
    viewers.world.run(
        """update jobs set payload = '{"big": 12345678901234567890.10, "text": "<b>"}' where id = %s""", job.id
    )

    seen = viewers.member.get(f"/jobs/{job.id}")

    assert "It has been due since" in seen.text
    assert "jobs are ahead of it" in seen.text
    assert "12345678901234567890.10" in seen.text
    assert "<b>" not in seen.html


def test_what_is_done_to_a_job(viewers: Viewers) -> None:
    job = viewers.world.job("greet_person", tenant=viewers.acme)
    path = f"/jobs/{job.id}"

    assert "only admins" in viewers.member.post(f"{path}/bury", reason="x").text
    assert "dead until somebody" in viewers.admin.post(f"{path}/bury", reason="not wanted").text
    assert "queued again" in viewers.admin.post(f"{path}/retry", max_attempts="3").text
    assert "due at another time" in viewers.admin.post(f"{path}/reschedule", run_at="2030-01-01T00:00").text
    assert "is cancelled" in viewers.admin.post(f"{path}/cancel").text
    assert viewers.admin.post(f"{path}/retry", max_attempts="x").status == 400
    assert viewers.admin.post(f"{path}/reschedule", run_at="soon").status == 400
    assert viewers.world.reload(job).status == "cancelled"
    refused = viewers.world.rows("select code from audit_log where action = 'refused bury'")
    assert refused == [{"code": "TWADM"}]


def test_a_chain_is_drawn(viewers: Viewers) -> None:
    first = viewers.world.job("greet_person", tenant=viewers.acme, correlation_id="chain <1>")
    second = viewers.world.job("greet_person", tenant=viewers.acme, correlation_id="chain <1>", after=[first.id])

    html = viewers.member.get(f"/jobs/{second.id}").html

    assert html.count('<rect class="node') == 2
    assert f'href="/console/jobs/{first.id}"' in html


def test_the_steps_of_a_job_are_shown(viewers: Viewers) -> None:
    job = viewers.world.job("greet_person", tenant=viewers.acme)
    step = "insert into tickwork.steps (job_id, name, tenant_id, number, kind, result, bytes, attempt)"
    viewers.world.run(
        f"{step} values (%s, 'charge <card>', %s, 1, 'step', %s, 1, 1)", job.id, viewers.acme, '{"paid": 7}'
    )

    seen = viewers.member.get(f"/jobs/{job.id}")

    assert "charge <card>" in seen.text
    assert '"paid": 7' in seen.text


def test_only_platform_admins_reveal(viewers: Viewers) -> None:
    job = viewers.world.job("greet_person", tenant=viewers.acme, payload={"password": "hunter2"})
    path = f"/jobs/{job.id}"

    assert all("hunter2" not in each.get(path).html for each in (viewers.member, viewers.admin, viewers.operator))
    assert "hunter2" not in viewers.admin.post(f"{path}/reveal", reason="curious").html
    assert "hunter2" in viewers.operator.post(f"{path}/reveal", reason="support case 7").html


def test_errors_are_grouped_and_all_of_a_group_retried(viewers: Viewers) -> None:
    jobs = [failed(viewers, viewers.acme, f"No user {number} of '{HOSTILE}'", "NO_USER") for number in (1, 2, 3)]
    other = failed(viewers, viewers.acme, "Out of paper", "NO_PAPER")
    foreign = failed(viewers, viewers.other, "No user 4 of 'x'", "NO_USER")

    seen = viewers.admin.get("/errors")
    preview = viewers.admin.get(link(seen.html, 'class="button" href="'))
    q = hidden(preview.html, "q")
    queued = viewers.admin.post("/jobs/change", action="retry", q=q, reason="the users are back")
    work(viewers.world.queue, "manage", {"change_jobs": CHANGE_JOBS}, Deadline(60, 10))

    (group,) = (
        each for each in viewers.world.service.jobs.list_errors(viewers.acme) if each["error_code"] == "NO_PAPER"
    )
    assert sum(group["per_step"]) == group["jobs"] == group["per_step"][-1] == 1
    assert "NO_USER" in seen.text
    assert "<script>alert" not in seen.html
    assert "3 jobs match now" in preview.text
    assert "this is the job that does it" in queued.text
    assert {viewers.world.reload(job).status for job in jobs} == {"queued"}
    assert viewers.world.reload(other).status == viewers.world.reload(foreign).status == "failed"
    assert viewers.admin.post("/jobs/change", action="retry", q=q, reason="").status == 400
    assert viewers.member.post("/jobs/change", action="retry", q=q, reason="x").status == 403


def test_marked_jobs_are_changed_where_they_can_be(viewers: Viewers) -> None:
    ended = failed(viewers, viewers.acme)
    queued = viewers.world.job("greet_person", tenant=viewers.acme)

    response = viewers.admin.client.post(
        "/console/jobs/marked",
        data={"action": "cancel", "marked": [str(queued.id), str(ended.id)]},
        headers={"Sec-Fetch-Site": "same-origin"},
    )
    seen = viewers.admin.get(response.headers["Location"].removeprefix("/console"))

    assert "1 of 2 jobs were changed" in seen.text
    assert viewers.world.reload(queued).status == "cancelled"
    assert viewers.world.reload(ended).status == "failed"
    assert viewers.admin.post("/jobs/marked", action="cancel").status == 400
    assert viewers.admin.post("/jobs/marked", action="drop", marked=str(queued.id)).status == 400


def test_a_view_is_kept_in_the_browser(viewers: Viewers) -> None:
    seen = viewers.member.post("/jobs/views", name="Mine <b>", q="status:dead")

    assert "Mine <b>" in seen.text
    assert "Mine <b>" in viewers.member.get("/jobs").text
    assert "Mine <b>" not in viewers.admin.get("/jobs").text
    assert "Mine" not in viewers.member.post("/jobs/views", name="Mine <b>", q="").text


def test_a_read_only_viewer_changes_nothing(viewers: Viewers) -> None:
    job = viewers.world.job("greet_person", tenant=viewers.acme)
    browser = viewers.nobody.sign_in(user_of(viewers.admin))
    browser.post("/preferences", access="read-only", language="en", theme="dark", zone="Europe/Berlin")

    assert "Cancel" not in browser.get(f"/jobs/{job.id}").text
    assert browser.post(f"/jobs/{job.id}/cancel").status == 403
    assert viewers.world.reload(job).status == "queued"
    assert 'data-theme="dark"' in browser.get("/jobs").html


def listed(browser: Browser, text: str) -> list[str]:
    seen = browser.get("/jobs", q=text)
    assert seen.status == 200, seen.text
    return rows(seen.html)


def rows(html: str) -> list[str]:
    return [part.partition('"')[0] for part in html.split('<tr id="job-')[1:]]


def link(html: str, before: str) -> str:
    """The path of the console that follows this text."""
    assert before in html
    return unescape(html.partition(before)[2].partition('"')[0]).removeprefix("/console")


def hidden(html: str, name: str) -> str:
    return unescape(html.partition("<main")[2].partition(f'name="{name}" value="')[2].partition('"')[0])


def nonce(seen: Seen) -> str:
    policy = seen.headers["Content-Security-Policy"]
    return str(policy.partition("'nonce-")[2].partition("'")[0])
