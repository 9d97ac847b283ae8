"""Imports into every kind of vault: what is streamed there is whole, and what breaks off leaves nothing."""

from pathlib import Path

import pytest

from tests.servers.cloud import Bytes, Generated, running
from tests.servers.dropbox import Dropbox
from tests.servers.storage import StorageServer, answering
from tests.tools.test_vault import (
    Place,
    amazon,
    credentials,
    file_place,
    moto,
    place,
    s3_place,
    storage,
    storage_of_all,
    supabase_place,
)
from tests.world import World
from tests.world.office import Office

__all__ = [
    "amazon",
    "credentials",
    "file_place",
    "moto",
    "place",
    "s3_place",
    "storage",
    "storage_of_all",
    "supabase_place",
]


def use(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TICKWORK_VAULT_URL", place.url)
    monkeypatch.setenv("TICKWORK_VAULT_KEY", place.key or "")


def test_whole_files_arrive_and_others_leave_nothing(
    world: World, tmp_path: Path, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    dropbox = Dropbox()
    with running(dropbox):
        office = Office(world, tmp_path, {"dropbox": dropbox}, monkeypatch)
        use(place, monkeypatch)
        content = Generated(12_000_000)
        dropbox.put("/papers/large.bin", content)
        dropbox.put("/papers/same.bin", content)
        dropbox.put("/papers/bad.bin", Generated(11_000_000, seed=2)).served = Generated(11_000_000, seed=3)

        job = office.bring(office.connect("dropbox"), "/papers")

    assert (job.result["imported_count"], job.result["known_count"]) == (1, 1)
    assert [each["reason"] for each in job.result["failed"]] == ["FILE_CHANGED"]
    document = world.row("select vault_path, size, sha256 from documents")
    assert place.contents() == {document["vault_path"]: b"".join(content.blocks())}


def test_a_vault_that_is_down_is_no_fault_of_the_files(
    world: World, tmp_path: Path, supabase_place: Place, storage: StorageServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    dropbox = Dropbox()
    with running(dropbox):
        office = Office(world, tmp_path, {"dropbox": dropbox}, monkeypatch)
        use(supabase_place, monkeypatch)
        dropbox.put("/papers/one.txt", Bytes(b"one"))
        storage.trouble = answering(503)

        job = office.bring(office.connect("dropbox"), "/papers")

    assert (job.status, job.error_code) == ("queued", "VAULT_UNAVAILABLE")
    assert [(item["status"], item["tries"]) for item in office.items()] == [("pending", 0)]
