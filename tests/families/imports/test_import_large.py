"""An import that is killed again and again: bounded memory, every file exactly once. See also `make test-large`."""

import os
import random
import shutil
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.servers.cloud import Asked, Bytes, Content, Generated, Requests, running, sha256_of
from tests.servers.dropbox import Dropbox
from tests.world import World
from tests.world.command_line import COMMAND, environment_for
from tests.world.office import Office, settings_for
from tests.world.waiting import until
from tickwork_local.launch import ends_with_parent

IS_LARGE = bool(os.environ.get("TICKWORK_TEST_LARGE"))
FILES, LARGE_FILE, KILLS = (1000, 2 << 30, 10) if IS_LARGE else (150, 64 << 20, 3)
MAX_MEGABYTES = 200
SEED = 6


class Killer:
    """Kills a process after so many requests and blocks; before that it looks how much memory it has used."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self.left: int | None = None
        self.peak_megabytes = 0.0
        self.lock = threading.Lock()

    def arm(self, process: "subprocess.Popen[bytes]", events: int | None) -> None:
        with self.lock:
            self.process, self.left = process, events

    def tick(self) -> None:
        with self.lock:
            if self.process is None or self.left is None:
                return
            self.left -= 1
            if self.left == 0:
                self.look()
                os.kill(self.process.pid, signal.SIGKILL)

    def look(self) -> None:
        assert self.process is not None
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        peak = next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
        self.peak_megabytes = max(self.peak_megabytes, peak / 1024)


@dataclass(frozen=True)
class Watched:
    """Content whose every block is an occasion."""

    content: Content
    killer: Killer

    @property
    def size(self) -> int:
        return self.content.size

    def blocks(self, offset: int = 0) -> Iterator[bytes]:
        for block in self.content.blocks(offset):
            self.killer.tick()
            yield block


class WatchedDropbox(Dropbox):
    def __init__(self, killer: Killer) -> None:
        super().__init__()
        self.killer = killer

    def take(self, requests: Requests, asked: Asked) -> None:
        self.killer.tick()
        super().take(requests, asked)


@pytest.fixture
def killer() -> Killer:
    return Killer()


@pytest.fixture
def dropbox(killer: Killer) -> Iterator[WatchedDropbox]:
    cloud = WatchedDropbox(killer)
    with running(cloud):
        yield cloud


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """Emptied at the end: pytest would keep gigabytes for the next three runs."""
    yield tmp_path
    shutil.rmtree(tmp_path)


@contextmanager
def worker(office: Office, folder: Path) -> Iterator["subprocess.Popen[bytes]"]:
    environment = environment_for(folder / "home", settings_for(office.world, folder, office.clouds))
    with (folder / "worker.log").open("ab") as log:
        process = subprocess.Popen(
            ends_with_parent([*COMMAND, "worker", "import"]),
            env=environment,
            stdout=log,
            stderr=log,
        )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def is_over(world: World) -> bool:
    return not world.value("select count(*) from jobs where status in ('queued', 'running')")


def test_memory_is_bounded_and_every_file_comes_exactly_once_however_often_it_is_killed(
    world: World, folder: Path, dropbox: WatchedDropbox, killer: Killer, monkeypatch: pytest.MonkeyPatch
) -> None:
    office = Office(world, folder, {"dropbox": dropbox}, monkeypatch)
    large = Generated(LARGE_FILE)
    expected = {f"{number}.txt": sha256_of(Bytes(f"paper {number}".encode())) for number in range(FILES)}
    for name in expected:
        dropbox.put(f"/papers/{name}", f"paper {name.removesuffix('.txt')}".encode())
    # In the middle, so that it is not always what is killed last.
    dropbox.put("/papers/5 large.bin", Watched(large, killer))
    expected["5 large.bin"] = sha256_of(large)
    # Counted by what the server has to do for its hash.
    dropbox.metadata(next(file for file in dropbox.files.values() if file.name == "5 large.bin"))
    chance = random.Random(SEED)
    events = FILES + (LARGE_FILE >> 20)
    connector = office.connect("dropbox")
    office.request(connector, "/papers")

    kills = 0
    while not is_over(world):
        with worker(office, folder) as process:
            killer.arm(process, chance.randint(3, events // 6) if kills < KILLS else None)
            until(lambda: process.poll() is not None or is_over(world), seconds=900)
            if process.poll() is None:
                killer.look()
            else:
                kills += 1
        world.run("update jobs set lease_expires_at = clock_timestamp() - interval '1 second' where status = 'running'")

    documents = world.rows("select name, sha256, vault_path from documents")
    jobs = world.rows("select status, attempts from jobs where type = 'import_dropbox'")
    print(f"{kills} kills, {len(jobs)} jobs, {len(documents)} documents, peak {killer.peak_megabytes:.0f} MB")
    assert kills == KILLS
    assert {job["status"] for job in jobs} == {"done"}
    assert len(documents) == FILES + 1
    assert {row["name"]: row["sha256"] for row in documents} == expected
    # Nothing but drafts, whose names begin with a dot, is left of those that were killed.
    assert len([path for path in office.files_in_vault() if path.name[0] != "."]) == FILES + 1
    assert killer.peak_megabytes < MAX_MEGABYTES
