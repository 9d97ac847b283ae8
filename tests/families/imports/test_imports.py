"""What holds for imports from every provider: each file once, nothing twice, and what goes wrong is named."""

import json
from collections.abc import Callable
from contextlib import suppress
from uuid import UUID

import pytest

from tests.servers.cloud import (
    Asked,
    Bytes,
    Cloud,
    Generated,
    Requests,
    cut_after,
    hanging_up,
    saying,
    serve,
    sha256_of,
)
from tests.world.every_provider import at_once, cloud, connector, office, provider
from tests.world.office import Office
from tickwork.families.imports import import_drive
from tickwork.jobs.handler import Tools

__all__ = ["cloud", "connector", "office", "provider"]


def test_a_second_import_of_an_unchanged_folder_downloads_nothing(
    office: Office, cloud: Cloud, connector: UUID
) -> None:
    for number in range(12):
        cloud.put(f"/papers/{number}.txt", f"paper {number}".encode())
    office.bring(connector, "/papers")

    job = office.bring(connector, "/papers")

    assert (job.status, job.result["imported_count"]) == ("done", 0)
    assert cloud.downloads.total() == len(office.documents()) == len(office.files_in_vault()) == 12


def test_a_later_import_brings_only_what_changed(office: Office, cloud: Cloud, connector: UUID) -> None:
    for name in ("same", "changed"):
        cloud.put(f"/papers/{name}.txt", name.encode())
    office.bring(connector, "/papers")

    cloud.put("/papers/changed.txt", b"another text")
    cloud.put("/papers/new.txt", b"new")
    job = office.bring(connector, "/papers")

    assert job.result["imported_count"] == 2
    assert cloud.downloads == {"/papers/same.txt": 1, "/papers/changed.txt": 2, "/papers/new.txt": 1}
    # What a document says does not change under anybody's hands: the new revision is a new document.
    contents = sorted(office.content(row) for row in office.world.rows("select * from documents"))
    assert contents == [b"another text", b"changed", b"new", b"same"]


def test_the_document_of_a_deleted_file_stays(office: Office, cloud: Cloud, connector: UUID) -> None:
    cloud.put("/papers/one.txt", b"one")
    office.bring(connector, "/papers")

    cloud.delete("/papers/one.txt")
    office.bring(connector, "/papers")

    assert [item["status"] for item in office.items()] == ["gone"]
    assert [*office.documents()] == ["one.txt"]


def test_bytes_that_the_tenant_has_are_not_stored_twice(office: Office, cloud: Cloud, connector: UUID) -> None:
    cloud.put("/papers/one.txt", b"the same words")
    cloud.put("/papers/two.txt", b"the same words")

    job = office.bring(connector, "/papers")

    assert (job.result["imported_count"], job.result["known_count"]) == (1, 1)
    assert len(office.documents()) == len(office.files_in_vault()) == 1
    assert len({item["document_id"] for item in office.items()}) == 1


def test_two_tenants_with_the_same_file_share_nothing(office: Office, cloud: Cloud, provider: str) -> None:
    cloud.put("/papers/one.txt", b"the same words")
    rival = office.world.tenant("rival")
    connectors = {tenant: office.connect(provider, tenant=tenant) for tenant in (office.tenant, rival)}

    for each in connectors.values():
        office.bring(each, "/papers")

    ours, theirs = office.documents()["one.txt"], office.documents(rival)["one.txt"]
    assert ours["id"] != theirs["id"]
    assert ours["vault_path"].startswith(f"tenant/{office.tenant}/")
    assert theirs["vault_path"].startswith(f"tenant/{rival}/")
    assert cloud.downloads["/papers/one.txt"] == 2


def test_another_tenants_connector_cannot_be_used(office: Office, cloud: Cloud, connector: UUID, provider: str) -> None:
    rival = office.world.tenant("rival")
    cloud.put("/papers/one.txt", b"ours")

    job = office.world.job(f"import_{provider}", rival, payload={"connector_id": str(connector), "remote_path": ""})
    office.work()

    job = office.world.reload(job)
    assert (job.status, job.error_code) == ("failed", "CONNECTOR_MISSING")
    assert cloud.asked == []


def test_just_the_named_files_are_imported(office: Office, cloud: Cloud, connector: UUID) -> None:
    for name in ("one", "two", "three"):
        cloud.put(f"/papers/{name}.txt", name.encode())

    job = office.bring(connector, "/papers", ["/papers/one.txt", "two.txt", "/papers/missing.txt", "/papers"])

    assert {*office.documents()} == {"one.txt", "two.txt"}
    reasons = {each["name"]: each["reason"] for each in job.result["failed"]}
    assert reasons == {"/papers/missing.txt": "NOT_THERE", "/papers": "FOLDER"}


def test_a_connection_that_is_cut_is_taken_up_where_it_broke(office: Office, cloud: Cloud, connector: UUID) -> None:
    content = Generated(5_000_000)
    cloud.put("/papers/large.bin", content)
    cloud.troubled(cloud.downloads_at, cut_after(1_000_000), cut_after(1_500_000))

    job = office.bring(connector, "/papers")

    assert job.result["imported_count"] == 1
    assert office.documents()["large.bin"]["sha256"] == sha256_of(content)
    ranges = [asked.headers.get("Range") for asked in cloud.asked_for(cloud.downloads_at)]
    assert len(ranges) == 3
    assert ranges[0] is None
    assert all(each and each.startswith("bytes=") for each in ranges[1:])


def test_a_server_that_knows_no_ranges_is_good_enough(office: Office, cloud: Cloud, connector: UUID) -> None:
    content = Generated(3_000_000)
    cloud.put("/papers/large.bin", content)
    cloud.knows_ranges = False
    cloud.troubled(cloud.downloads_at, cut_after(1_000_000))

    job = office.bring(connector, "/papers")

    assert job.result["imported_count"] == 1
    assert len(cloud.asked_for(cloud.downloads_at)) == 2
    assert office.documents()["large.bin"]["sha256"] == sha256_of(content)


def test_a_file_that_is_not_what_was_listed_fails_alone(office: Office, cloud: Cloud, connector: UUID) -> None:
    cloud.put("/papers/bad.txt", b"listed").served = Bytes(b"servad")
    cloud.put("/papers/good.txt", b"good")

    job = office.bring(connector, "/papers")

    assert job.status == "done"
    assert [*office.documents()] == ["good.txt"]
    assert len(office.files_in_vault()) == 1
    assert [(each["name"], each["reason"]) for each in job.result["failed"]] == [("/papers/bad.txt", "FILE_CHANGED")]


def test_what_failed_is_tried_again_by_the_next_import(office: Office, cloud: Cloud, connector: UUID) -> None:
    file = cloud.put("/papers/bad.txt", b"listed")
    file.served = Bytes(b"servad")
    office.bring(connector, "/papers")

    file.served = None
    job = office.bring(connector, "/papers")

    assert job.result["imported_count"] == 1
    assert [*office.documents()] == ["bad.txt"]


def test_a_provider_that_is_down_costs_the_job_an_attempt_and_the_files_nothing(
    office: Office, cloud: Cloud, connector: UUID
) -> None:
    for number in range(5):
        cloud.put(f"/papers/{number}.txt", f"{number}".encode())
    cloud.troubled(cloud.downloads_at, *[saying(503)] * 3)

    job = office.bring(connector, "/papers")

    assert (job.status, job.error_code, job.attempts) == ("queued", "PROVIDER_UNAVAILABLE", 1)
    office.world.service.jobs.reschedule_job(job.id, "now")
    office.work()
    assert office.world.reload(job).result["imported_count"] == 5


def test_two_imports_of_one_folder_at_once_bring_each_file_once(
    office: Office, cloud: Cloud, connector: UUID, provider: str
) -> None:
    """In no lane, as somebody may enqueue them who does not call request_import."""
    for number in range(20):
        cloud.put(f"/papers/{number}.txt", f"paper {number}".encode())
    payload = {"connector_id": str(connector), "remote_path": "/papers"}
    jobs = [office.world.job(f"import_{provider}", office.tenant, payload=payload) for _ in range(2)]

    at_once(office)

    results = [office.world.reload(job).result for job in jobs]
    assert sum(result["imported_count"] for result in results) == 20
    assert {item["status"] for item in office.items()} == {"imported"}
    assert len(office.documents()) == len(office.files_in_vault()) == 20


def test_a_job_hands_the_rest_to_another_when_it_has_had_enough(
    office: Office, cloud: Cloud, connector: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_drive, "FILES_PER_JOB", 4)
    for number in range(10):
        cloud.put(f"/papers/{number}.txt", f"paper {number}".encode())
    first = office.request(connector, "/papers")

    office.work(9)

    jobs = office.world.rows("select * from jobs order by created_at")
    assert [job["status"] for job in jobs] == ["done"] * 3
    assert [job["result"]["imported_count"] for job in jobs] == [4, 4, 2]
    assert [job["result"]["is_continued"] for job in jobs] == [True, True, False]
    assert {job["lane"] for job in jobs} == {f"connector:{connector}"}
    assert [job["source_ref"] for job in jobs] == [None, str(first.id), str(jobs[1]["id"])]
    assert cloud.downloads.total() == len(office.documents()) == 10


def test_a_named_list_of_files_is_handed_on_too(
    office: Office, cloud: Cloud, connector: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_drive, "FILES_PER_JOB", 2)
    paths = [cloud.put(f"/papers/{number}.txt", f"paper {number}".encode()).path for number in range(5)]
    office.request(connector, None, paths)

    office.work(9)

    results = [row["result"]["imported_count"] for row in office.world.rows("select * from jobs order by created_at")]
    assert results == [2, 2, 1]


def short_of_time(looks: int) -> Callable[[Tools], float]:
    """A clock that says that the time is up after so many looks."""
    left = iter([1000.0] * looks)
    return lambda tools: next(left, 0.0)


def test_a_job_stops_in_time_and_the_next_goes_on(
    office: Office, cloud: Cloud, connector: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(10):
        cloud.put(f"/papers/{number}.txt", f"paper {number}".encode())
    with monkeypatch.context() as patched:
        patched.setattr(Tools, "seconds_left", short_of_time(12))
        patched.setattr("tickwork.runtime.watch.stop_in_time", lambda attempt, deadline: None)
        first = office.bring(connector, "/papers")

    office.work(5)

    assert first.status == "done"
    assert first.result["is_continued"]
    assert 0 < first.result["imported_count"] < 10
    assert len(office.documents()) == 10
    assert office.world.value("select count(*) from imported_items where status <> 'imported'") == 0


def test_a_file_that_takes_longer_than_a_whole_job_fails_and_the_chain_ends(
    office: Office, cloud: Cloud, connector: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    cloud.put("/papers/endless.bin", Generated(3_000_000))
    monkeypatch.setattr("tickwork.families.imports.download.Stream._limits", out_of_time)
    office.request(connector, "/papers")

    office.work(9)

    jobs = office.world.rows("select * from jobs order by created_at")
    assert [job["status"] for job in jobs] == ["done", "done"]
    assert [each["reason"] for each in jobs[1]["result"]["failed"]] == ["TOO_SLOW"]


def out_of_time(stream: object) -> None:
    from tickwork.families.imports.errors import OutOfTime

    raise OutOfTime


def test_a_killed_job_goes_on_where_it_was(office: Office, cloud: Cloud, connector: UUID) -> None:
    for number in range(6):
        cloud.put(f"/papers/{number}.txt", f"paper {number}".encode())
    cloud.troubled(cloud.downloads_at, *[serve] * 3, die)
    job = office.request(connector, "/papers")
    with suppress(SystemExit):
        office.work()
    stalled = office.world.reload(job)
    if stalled.status == "running":
        office.world.expire(stalled)
    else:
        office.world.service.jobs.reschedule_job(job.id, "now")

    office.work(2)

    result = office.world.reload(job).result
    assert (result["imported_count"], len(result["document_ids"])) == (6, 6)
    assert len(office.documents()) == len(office.files_in_vault()) == 6


def die(requests: Requests, asked: Asked) -> None:
    """Whatever ends the attempt in the middle; test_import_large.py kills the process itself."""
    requests.cloud.troubled(requests.cloud.downloads_at, *[hanging_up] * 9)
    hanging_up(requests, asked)


@pytest.mark.parametrize("engine", [None, "local"])
def test_each_document_is_read_if_the_connector_says_so(
    office: Office, cloud: Cloud, provider: str, engine: str | None
) -> None:
    connector = office.connect(provider, extract=engine)
    file = cloud.put("/papers/one.md", b"# One\n\nText.")

    office.bring(connector, "/papers")

    id = office.documents()[file.name]["id"]
    follow_ups = office.world.rows("select payload, lane from jobs where type = 'extract_document'")
    asked = [{"payload": {"document_id": str(id), "engine": "local"}, "lane": None}]
    assert follow_ups == (asked if engine else [])
    extractions = office.world.rows("select document_id, engine, status from extractions")
    assert extractions == ([{"document_id": id, "engine": "local", "status": "queued"}] if engine else [])


def test_the_consent_that_was_given_for_the_connector_goes_along(office: Office, cloud: Cloud, provider: str) -> None:
    user = UUID(int=7)
    connector = office.connect(
        provider, extract="unstructured_fast", consent_given_at="2026-01-01", consent_given_by=user
    )
    cloud.put("/papers/one.md", b"# One\n\nText.")

    office.bring(connector, "/papers")

    extraction = office.world.row(
        "select engine, consent_given_at is not null as has, consent_given_by from extractions"
    )
    assert extraction == {"engine": "unstructured_fast", "has": True, "consent_given_by": user}


def test_documents_of_a_job_that_died_are_handed_on_by_the_next(office: Office, cloud: Cloud, provider: str) -> None:
    connector = office.connect(provider, extract="local")
    for number in range(5):
        cloud.put(f"/papers/{number}.txt", f"paper {number}".encode())
    cloud.troubled(cloud.downloads_at, *[serve] * 2, *[saying(503)] * 9)
    dead = office.request(connector, "/papers")
    office.world.run("update jobs set max_attempts = 1")
    office.work()

    cloud.trouble.clear()
    office.bring(connector, "/papers")

    assert office.world.reload(dead).status == "dead"
    assert office.world.value("select count(*) from jobs where type = 'extract_document'") == 5


HOSTILE = [
    "../../etc/passwd",
    "a\x00b\x1b[31m.txt",
    "invoice\u202efdp.exe",
    "half \ud800 a pair.txt",
    "   ",
    ".hidden",
    "re\u0301sume\u0301.txt",
    "x" * 900 + ".pdf",
    "日本語 🎉.md",
]


def test_hostile_names_are_made_harmless_and_named(office: Office, cloud: Cloud, connector: UUID) -> None:
    for number, name in enumerate(HOSTILE):
        cloud.put(f"/papers/{number}.txt", f"{number}".encode()).name = name

    job = office.bring(connector, "/papers")

    assert (job.status, job.result["imported_count"]) == ("done", len(HOSTILE))
    names = {*office.documents()}
    for name in names:
        assert name.isprintable()
        assert 1 <= len(name) <= 500
        assert not {"/", "\\"} & {*name}
        assert not name.startswith(".")
    assert {"_hidden", "résumé.txt", "日本語 🎉.md"} <= names
    assert len(job.result["renamed"]) >= 5
    for file in office.files_in_vault():
        assert file.name.isascii()


def test_long_paths_are_no_trouble(office: Office, cloud: Cloud, connector: UUID) -> None:
    folders = "/".join(chr(0x1F300 + number) * 200 for number in range(8))
    cloud.put(f"/papers/{folders}/{'日' * 200}.txt", b"deep down")

    job = office.bring(connector, "/papers")

    assert (job.status, job.result["imported_count"]) == ("done", 1)


def test_ten_thousand_entries_are_listed_page_by_page(
    office: Office, cloud: Cloud, connector: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Listed and not fetched, which would only take longer."""
    for number in range(10_000):
        cloud.put(f"/many/{number}.txt", b"all the same")
    monkeypatch.setattr(import_drive.Import, "_fetch_all", lambda self, folder: True)

    job = office.bring(connector, "/many")

    assert job.status == "done"
    counted = office.world.row("select count(*) as items, count(distinct item_id) as ids from imported_items")
    assert counted == {"items": 10_000, "ids": 10_000}
    assert len(cloud.asked_for(cloud.lists)) > 5


def test_progress_counts_files_and_bytes(
    office: Office, cloud: Cloud, connector: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        cloud.put(f"/papers/{number}.bin", Generated(2_000_000, seed=number))
    said: list[str | None] = []
    real = Tools.progress

    def progress(tools: Tools, done: float, message: str | None = None) -> None:
        said.append(message)
        real(tools, done, message)

    monkeypatch.setattr(Tools, "progress", progress)
    office.bring(connector, "/papers")

    assert said[0] == "listing, 0 files so far"
    assert said[-1] == "2 of 3 files, 6.0 of 6.0 MB"


def test_a_missing_folder_fails_for_good(office: Office, connector: UUID) -> None:
    job = office.bring(connector, "/nowhere")

    assert (job.status, job.error_code) == ("failed", "FOLDER_MISSING")


def test_an_import_of_everything_known_goes_on_past_a_folder_that_is_gone(
    office: Office, cloud: Cloud, connector: UUID
) -> None:
    cloud.put("/papers/one.txt", b"one")
    office.bring(connector, "/papers")
    office.world.run(
        "insert into connector_folders (connector_id, remote_path, tenant_id) values (%s, '/nowhere', %s)",
        connector,
        office.tenant,
    )
    cloud.put("/papers/two.txt", b"two")

    job = office.bring(connector, None)

    assert (job.status, job.result["imported_count"]) == ("done", 1)
    assert [each["reason"] for each in job.result["failed"]] == ["FOLDER_MISSING"]


CIRCLES = {
    "dropbox": '{"entries": [], "cursor": "same", "has_more": true}',
    "onedrive": '{"value": [], "@odata.nextLink": "{url}/v1.0/me/drive/root/delta?token=0-0"}',
    "gdrive": '{"files": [], "nextPageToken": "same"}',
}


def test_pages_that_lead_in_a_circle_end_the_attempt(
    office: Office, cloud: Cloud, connector: UUID, provider: str
) -> None:
    page = json.loads(CIRCLES[provider].replace("{url}", cloud.url))
    cloud.troubled(cloud.lists, *[saying(200, page)] * 20)

    job = office.bring(connector, "id:folder" if provider == "gdrive" else "")

    assert (job.status, job.error_code) == ("queued", "PROVIDER_UNCLEAR")
    assert len(cloud.asked_for(cloud.lists)) <= 3
