"""Payloads and results that are too large for a row, from the client through a worker and back, and until they go."""

import hashlib
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.request import urlopen
from uuid import uuid4

import psycopg
import pytest
from pydantic import BaseModel

from tests.database.test_retention import tick
from tests.world import World
from tickwork.client.direct.artifacts import Artifacts
from tickwork.errors import InvalidRequest, NoSuchArtifact, Permanent
from tickwork.families.report.remove_artifacts import REMOVE_ARTIFACTS
from tickwork.jobs.handler import Handler, Handlers, Tools
from tickwork.jobs.outcomes import Done
from tickwork.jobs.rows import FollowUp, Job
from tickwork.runtime.attempt import Attempt
from tickwork.runtime.deadline import Deadline
from tickwork.runtime.work import work
from tickwork.tools.artifacts import MAX_JSON_BYTES, ArtifactRef, read_json, store, verified
from tickwork.tools.vault import Vault, open_vault

LARGE = {"text": "ä" * 200_000}


class Text(BaseModel):
    text: str


def repeat(payload: Text, tools: Tools) -> Text:
    return payload


HANDLERS: Handlers = {"repeat_text": Handler(Text, repeat), "remove_artifacts": REMOVE_ARTIFACTS}


class Shop:
    """A tenant with a vault, and a type whose handler returns its payload."""

    def __init__(self, world: World, folder: Path) -> None:
        self.world = world
        self.folder = folder / "vault"
        self.address = (f"file:{self.folder}", None)
        self.tenant = world.tenant()
        schema = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}}
        self.type = world.type("repeat_text", payload_schema=schema)

    @property
    def artifacts(self) -> Artifacts:
        return self.world.service.artifacts

    @property
    def vault(self) -> Vault:
        return open_vault(self.address[0], self.tenant)

    def stored(self, payload: dict[str, Any] | None = None) -> dict[str, Any]:
        return dict(self.artifacts.stored(self.address, self.tenant, payload or LARGE))

    def enqueue(self, payload: dict[str, Any], **options: Any) -> Job:
        return self.world.job(self.type, self.tenant, payload=payload, **options)

    def work(self, family: str = "test") -> None:
        work(self.world.queue, family, HANDLERS, Deadline(60, 10))

    def files(self) -> list[str]:
        return sorted(str(file.relative_to(self.folder)) for file in self.folder.rglob("*") if file.is_file())


@pytest.fixture
def shop(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shop:
    monkeypatch.setenv("TICKWORK_DATABASE_URL", world.worker_url)
    monkeypatch.setenv("TICKWORK_VAULT_URL", f"file:{tmp_path / 'vault'}")
    return Shop(world, tmp_path)


def test_a_large_payload_and_a_large_result_pass_through_the_vault(shop: Shop) -> None:
    job = shop.enqueue(shop.stored())

    shop.work()

    done = shop.world.reload(job)
    assert done.status == "done"
    assert list(done.payload) == list(done.result) == ["artifact_ref"]
    assert shop.artifacts.resolved(shop.address, done.result) == LARGE
    rows = shop.artifacts.list_artifacts(job_id=job.id)
    assert {row["name"] for row in rows} == {"payload.json", "result.json"}
    assert shop.files() == sorted(row["vault_path"] for row in rows)


def test_what_fits_is_not_stored(shop: Shop) -> None:
    small = {"text": "a" * 60_000}

    job = shop.enqueue(shop.stored(small))
    shop.work()

    assert shop.world.reload(job).result == small
    assert shop.artifacts.resolved(shop.address, small) == small
    assert shop.artifacts.list_artifacts() == []


def test_without_a_vault_a_large_result_fails_the_attempt_with_the_reason(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = shop.enqueue(shop.stored())
    monkeypatch.delenv("TICKWORK_VAULT_URL")

    shop.work()

    assert shop.world.reload(job).error_code == "VAULT_MISSING"


def test_a_follow_up_may_have_a_large_payload(shop: Shop) -> None:
    stored = shop.stored()
    first = Handler(Text, lambda payload, tools: Done(follow_ups=[FollowUp(type=shop.type, payload=stored)]))
    shop.world.type("first_step")
    shop.world.job("first_step", shop.tenant, payload={"text": "small"})

    work(shop.world.queue, "test", {"first_step": first}, Deadline(60, 1))
    shop.work()

    assert shop.world.value("select status from jobs where type = %s", shop.type) == "done"


def test_artifacts_stay_as_long_as_their_job_and_go_with_it(shop: Shop) -> None:
    job, kept = shop.enqueue(shop.stored()), shop.enqueue(shop.stored())
    shop.work()
    age(shop.world, job, days=31)

    tick(shop.world)
    assert len(shop.files()) == 4
    # The tick after the one that has deleted the job.
    tick(shop.world)
    shop.work("report")

    left = shop.artifacts.list_artifacts()
    assert {row["job_id"] for row in left} == {kept.id}
    assert shop.files() == sorted(row["vault_path"] for row in left)
    assert shop.world.row("select status, result from jobs where type = 'remove_artifacts'") == {
        "status": "done",
        "result": {"removed": 2},
    }


def test_a_purge_by_hand_removes_them_too(shop: Shop) -> None:
    job = shop.enqueue(shop.stored())
    shop.work()

    shop.world.service.maintenance.purge_jobs(timedelta(0))
    tick(shop.world)
    shop.work("report")

    assert (shop.files(), shop.artifacts.list_artifacts(job_id=job.id)) == ([], [])


def test_what_no_job_has_is_removed_after_a_day(shop: Shop) -> None:
    stored, young = shop.stored(), shop.stored()
    older = "update artifacts set remove_at = remove_at - interval '1 day' where id = %s"
    shop.world.run(older, stored["artifact_ref"]["id"])

    tick(shop.world)
    shop.work("report")

    assert [str(row["id"]) for row in shop.artifacts.list_artifacts()] == [young["artifact_ref"]["id"]]
    assert len(shop.files()) == 1
    with pytest.raises(NoSuchArtifact):
        shop.enqueue(stored)


def test_a_vault_that_cannot_be_reached_costs_no_file_its_row(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    shop.stored()
    shop.world.run("update artifacts set remove_at = now()")
    monkeypatch.delenv("TICKWORK_VAULT_URL")

    tick(shop.world)
    tick(shop.world)
    shop.work("report")

    assert shop.world.value("select count(*) from artifacts") == 1
    assert shop.world.row("select status, error_code, count(*) over () from jobs") == {
        "status": "queued",
        "error_code": "VAULT_MISSING",
        "count": 1,
    }


def test_a_failed_attempt_leaves_nothing_that_is_not_removed_with_the_job(shop: Shop) -> None:
    """The file was written, and then the attempt was lost."""
    job = shop.world.job(shop.type, shop.tenant, payload={"text": "a"})
    attempt = Attempt(shop.world.queue, shop.world.worked_job())
    store(attempt.tools, "half.bin", "application/octet-stream", [b"abc"])

    shop.world.run("delete from jobs where id = %s", job.id)
    tick(shop.world)
    shop.work("report")

    assert shop.files() == []


def test_an_artifact_belongs_to_one_job(shop: Shop) -> None:
    stored = shop.stored()
    shop.enqueue(stored)

    with pytest.raises(NoSuchArtifact, match="that no job has yet"):
        shop.enqueue(stored)


def test_a_repeated_enqueue_leaves_the_first_artifact_to_its_job(shop: Shop) -> None:
    first = shop.enqueue(shop.stored(), idempotency_key="once")

    again = shop.enqueue(shop.stored(), idempotency_key="once")

    assert again.id == first.id
    assert shop.world.value("select count(*) from artifacts where job_id is null") == 1


def spoiled(ref: dict[str, Any], how: str) -> dict[str, Any]:
    """A reference as an attacker writes it."""
    match how:
        case "another id":
            return {**ref, "id": str(uuid4())}
        case "another hash":
            return {**ref, "sha256": "0" * 64}
        case "another size":
            return {**ref, "size": ref["size"] + 1}
        case "a path":
            return {**ref, "id": f"../../{ref['id']}"}
        case "a path beside it":
            return {**ref, "vault_path": f"tenant/{uuid4()}/documents/a.pdf"}
        case "upper case":
            return {**ref, "id": ref["id"].upper()}
        case "braces":
            return {**ref, "id": "{" + ref["id"] + "}"}
        case "a hash with a line break":
            return {**ref, "sha256": ref["sha256"] + "\n"}
        case "a negative size":
            return {**ref, "size": -ref["size"]}
        case "a size in words":
            return {**ref, "size": str(ref["size"])}
        case "a huge size":
            return {**ref, "size": 10**30}
        case "nothing":
            return {}
        case _:
            return {**ref, "id": None}


HOSTILE = [
    *("another id", "another hash", "another size", "a path", "a path beside it", "upper case", "braces"),
    *("a hash with a line break", "a negative size", "a size in words", "a huge size", "nothing", "no id"),
]


@pytest.mark.parametrize("way", ["enqueue_job", "enqueue_jobs", "insert"])
def test_hostile_references_are_refused_whichever_way_they_come(shop: Shop, way: str) -> None:
    ref = shop.stored()["artifact_ref"]
    member = shop.world.member_of(shop.tenant)

    def send(payload: dict[str, Any]) -> None:
        match way:
            case "enqueue_job":
                shop.enqueue(payload)
            case "enqueue_jobs":
                job = {"tenant_id": str(shop.tenant), "type": shop.type, "payload": payload}
                shop.world.service.jobs.enqueue_jobs([job])
            case _:
                insert = "insert into jobs (tenant_id, type, payload) values (%s, %s, %s)"
                member.execute(insert, [shop.tenant, shop.type, json.dumps(payload)])

    for how in HOSTILE:
        with pytest.raises((InvalidRequest, NoSuchArtifact, psycopg.Error)) as refused:
            send({"artifact_ref": spoiled(ref, how)})
        assert getattr(refused.value, "sqlstate", None) in ("TWPAY", "TWART"), how
    assert shop.world.value("select count(*) from jobs") == 0
    assert shop.world.value("select count(*) from artifacts where job_id is not null") == 0

    send({"artifact_ref": ref})
    assert shop.world.value("select count(*) from jobs") == 1


def test_another_tenants_artifact_is_not_there(shop: Shop) -> None:
    stranger = shop.world.member_of(shop.world.tenant("stranger"))
    stored = shop.stored()
    id = stored["artifact_ref"]["id"]

    with pytest.raises(NoSuchArtifact):
        shop.world.job(shop.type, shop.world.tenant("other"), payload=stored)
    with pytest.raises(psycopg.Error, match="there is no artifact"):
        stranger.execute("select * from sign_artifact(%s)", [id])
    assert stranger.execute("select * from list_artifacts()").fetchall() == []
    with pytest.raises(psycopg.Error, match="you are not a member"):
        stranger.execute("select add_artifact(%s, 1, repeat('0', 64))", [shop.tenant])


def test_a_reference_beside_other_values_is_refused(shop: Shop) -> None:
    with pytest.raises(InvalidRequest, match="nothing else beside it"):
        shop.enqueue({**shop.stored(), "text": "a"})


def test_a_type_that_redacts_values_takes_no_artifact(shop: Shop) -> None:
    shop.world.run("update job_types set redacted = array['payload.text'] where key = %s", shop.type)

    with pytest.raises(InvalidRequest, match="redacts values"):
        shop.enqueue(shop.stored())


def test_a_large_result_of_a_type_that_redacts_values_is_refused(shop: Shop) -> None:
    job = shop.enqueue(shop.stored())
    shop.world.run("update job_types set redacted = array['result.text'] where key = %s", shop.type)

    shop.work()

    assert shop.world.reload(job).error_code == "REFUSED"
    assert [row["name"] for row in shop.artifacts.list_artifacts()] == ["payload.json"]


@pytest.mark.parametrize("how", ["other bytes", "more bytes", "fewer bytes", "gone"])
def test_a_file_that_was_changed_in_the_vault_is_not_read(shop: Shop, how: str) -> None:
    stored = shop.stored()
    job = shop.enqueue(stored)
    (path,) = (shop.folder / file for file in shop.files())
    content = path.read_bytes()
    match how:
        case "other bytes":
            path.write_bytes(b" " + content[1:])
        case "more bytes":
            path.write_bytes(content + b" ")
        case "fewer bytes":
            path.write_bytes(content[:-1])
        case _:
            path.unlink()

    shop.work()

    failed = shop.world.reload(job)
    assert (failed.status, failed.error_code) == ("failed", "FILE_MISSING" if how == "gone" else "FILE_CHANGED")
    with pytest.raises(Permanent):
        shop.artifacts.resolved(shop.address, stored)


def test_a_handler_gets_no_artifact_but_that_of_its_own_job(shop: Shop) -> None:
    """Somebody has written another reference into the row, which nobody has checked."""
    other = shop.stored()
    shop.enqueue(other, run_at=datetime(2100, 1, 1, tzinfo=UTC))
    job = shop.enqueue({"text": "a"})
    shop.world.run("update jobs set payload = %s where id = %s", json.dumps(other), job.id)

    shop.work()

    failed = shop.world.reload(job)
    assert (failed.status, failed.error_message) == ("failed", "artifact_ref: the job has no such artifact")


@pytest.mark.parametrize("content", [b"[1]", b'"text"', b"{", b"\xff", b"[" * 100_000])
def test_an_artifact_that_is_no_object_is_an_invalid_payload(shop: Shop, content: bytes) -> None:
    row = shop.artifacts.add_artifact(shop.tenant, len(content), hashlib.sha256(content).hexdigest())
    shop.vault.write(row["vault_path"], [content], "application/json")
    ref = {"id": str(row["id"]), "sha256": row["sha256"], "size": row["size"]}

    job = shop.enqueue({"artifact_ref": ref})
    shop.work()

    assert shop.world.reload(job).error_code == "INVALID_PAYLOAD"


def test_what_is_too_large_for_memory_is_not_even_opened(shop: Shop) -> None:
    ref = ArtifactRef(id=uuid4(), sha256="0" * 64, size=MAX_JSON_BYTES + 1)

    with pytest.raises(Permanent, match="larger than 64 MB"):
        read_json(shop.vault, f"tenant/{shop.tenant}/artifacts/missing", ref)


def test_no_more_is_read_than_the_reference_says() -> None:
    passed = 0

    def endless() -> Iterator[bytes]:
        nonlocal passed
        while True:
            passed += 1
            yield b"x" * 1000

    with pytest.raises(Permanent, match="not the one that was stored"):
        list(verified(endless(), ArtifactRef(id=uuid4(), sha256="0" * 64, size=2500)))
    assert passed == 3


def test_members_get_a_url(shop: Shop) -> None:
    job = shop.enqueue(shop.stored())
    (row,) = shop.artifacts.list_artifacts(job_id=job.id)
    member = shop.world.member_of(shop.tenant)

    (found,) = member.execute("select * from sign_artifact(%s, 60)", [row["id"]]).fetchall()
    url = shop.artifacts.sign_artifact(shop.address, row["id"], 60)

    assert (found["vault_path"], found["tenant_id"]) == (row["vault_path"], shop.tenant)
    with urlopen(url) as file:
        assert json.load(file) == LARGE
    with pytest.raises(InvalidRequest, match="1 to 86400"):
        shop.artifacts.sign_artifact(shop.address, row["id"], 86401)


def test_an_artifact_has_a_plain_name_a_type_a_size_and_a_hash(shop: Shop) -> None:
    names = ["../a", ".hidden", "a/b", "", "a" * 101, "a\n"]
    wrong: list[tuple[str, Any]] = [("mime_type", "html"), ("sha256", "xyz"), ("size", -1)]

    for column, value in [*(("name", name) for name in names), *wrong]:
        given = {"size": 1, "sha256": "0" * 64, "name": "a.txt", "mime_type": "text/plain", column: value}
        with pytest.raises(InvalidRequest) as refused:
            shop.artifacts.add_artifact(shop.tenant, **given)
        assert refused.value.sqlstate == "TWARG", (column, value)


def age(world: World, job: Job, days: int) -> None:
    ago = timedelta(days=days)
    older = "update jobs set created_at = created_at - %s, finished_at = finished_at - %s where id = %s"
    world.run(older, ago, ago, job.id)
