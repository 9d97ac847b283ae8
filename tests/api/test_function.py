"""The function as it is deployed: under functions-framework, over HTTP."""

import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

from tests.api.conftest import users_of
from tests.serve.test_wake_up import Answer, Served, running_function
from tests.world import World
from tests.world.api import ISSUER, SECRET, member_of, user_token
from tests.world.waiting import until

MAIN = Path(__file__).parents[2] / "functions/api/main.py"
KEY = "tw_" + "k" * 43


def settings(world: World) -> dict[str, str]:
    url = world.url.replace("postgres@", "tickwork_api:database-password@")
    return {"TICKWORK_DATABASE_URL": url, "TICKWORK_JWT_SECRET": SECRET, "TICKWORK_JWT_ISSUER": ISSUER}


def sent(served: Served, method: str, path: str, headers: Mapping[str, str], body: bytes = b"") -> Answer:
    return served.wake({**headers, "Content-Type": "application/json"}, body, method, f"/api/v1/{path}")


def test_those_who_wait_do_not_keep_others_waiting(world: World, tmp_path: Path) -> None:
    acme = world.tenant()
    job = world.job(tenant=acme)
    by_member = {"Authorization": f"Bearer {user_token(member_of(world, acme))}"}

    with running_function(MAIN, tmp_path, **settings(world)) as served, ThreadPoolExecutor(12) as pool:
        waits = [pool.submit(sent, served, "GET", f"jobs/{job.id}?wait=20", by_member) for _ in range(12)]
        # Those that find half of the threads waiting are answered at once.
        until(lambda: sum(each.done() for each in waits) >= 8)
        assert sent(served, "GET", "jobs", by_member).status == 200
        claimed = world.claim()
        world.queue.complete_job(claimed, {})
        answers = [each.result().body["status"] for each in waits]

    assert answers.count("done") <= 4
    assert set(answers) <= {"done", "queued"}
    assert "done" in answers


def test_no_credential_is_in_a_log_an_error_or_a_table(world: World, tmp_path: Path) -> None:
    with users_of(world) as users:
        token = user_token(member_of(world, users.acme))
    forged = token[:-4] + "AAAA"
    credentials = {"a user's token": token, "a forged token": forged, "a key": KEY}

    with running_function(MAIN, tmp_path, **settings(world)) as served:
        answers = []
        for credential in credentials.values():
            for headers in ({"Authorization": f"Bearer {credential}"}, {"X-Api-Key": credential}):
                answers.append(sent(served, "GET", "jobs", headers))
                answers.append(sent(served, "GET", f"jobs/{uuid4()}", headers))
                answers.append(sent(served, "POST", "jobs", headers, b'{"type": "greet_person"}'))
                answers.append(sent(served, "POST", "jobs", headers, b"{"))
        written = served.output() + served.complaints()

    assert {answer.status for answer in answers} >= {200, 400, 401, 404}
    tables = world.rows(
        "select quote_ident(schemaname) || '.' || quote_ident(tablename) as name from pg_tables "
        "where schemaname in ('public', 'tickwork')"
    )
    stored = "".join(
        str(row) for table in tables for row in world.admin.execute(f"select t::text from {table['name']} as t")
    )
    for name, credential in credentials.items():
        for part in {credential, credential.rpartition(".")[2]}:
            assert part not in json.dumps([answer.body for answer in answers]), name
            assert part not in written, name
            assert part not in stored, name
    assert "database-password" not in written


def test_strangers_open_no_connection(world: World, tmp_path: Path) -> None:
    with running_function(MAIN, tmp_path, **settings(world)) as served:
        for _ in range(100):
            assert sent(served, "POST", "jobs", {"Authorization": "Bearer x.y.z"}, b"{}").status == 401
        opened = world.value(
            "select count(*) from pg_stat_activity where datname = current_database() and usename = 'tickwork_api'"
        )

    assert opened == 0


def test_paths_that_functions_framework_does_not_route_get_a_problem(world: World, tmp_path: Path) -> None:
    with running_function(MAIN, tmp_path, **settings(world)) as served:
        answers = [served.wake({}, b"", "GET", path) for path in ("/api/v1/jobs/%0A", "/a%0Ab", "/favicon.ico")]

    # The first would be a job, if somebody had signed in.
    assert [answer.status for answer in answers] == [401, 404, 404]
    assert all(answer.body["request_id"] for answer in answers)
