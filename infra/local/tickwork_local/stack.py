"""The whole product on one machine: Postgres, the functions, and a ticker that wakes them."""

import json
import os
import shutil
import signal
import sys
import tempfile
import time
from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import psycopg

from tickwork.cli.project import Project
from tickwork.database.migrate import edited_since
from tickwork.errors import Error
from tickwork.shipped import ROOT
from tickwork_local.api import api_settings, own_api_key
from tickwork_local.functions import Function, Functions
from tickwork_local.postgres import PortTaken, PostgresFailed, Server, is_taken, running_postgres, try_lock
from tickwork_local.project_database import OwnDatabase, existing_database, without_password
from tickwork_local.signing import own_signing_key
from tickwork_local.supabase import Lite, running_supabase
from tickwork_local.ticker import Ticker
from tickwork_local.watching import Say, WatchedMigrations, say_nothing

DATABASE = "tickwork"
# The family that has a key of its own.
SIGN = "sign"
PORT_ADVICE = "stop what listens there, or choose others with --port, or `port` under [stack] in tickwork.toml."


class StackFailed(Error):
    """The local stack cannot run; the message says what to do."""


@dataclass(frozen=True)
class Stack:
    home: Path
    pid: int
    database_url: str
    worker_url: str
    vault_url: str
    functions: Mapping[str, str]
    # Where the HTTP API is, and a key for it, if it is served.
    api: Mapping[str, str]
    # Where the Supabase server is, and its keys, if there is one: see `Supabase.as_json`.
    supabase: Mapping[str, str]

    def as_json(self) -> dict[str, Any]:
        return {
            "pid": self.pid,
            "database_url": self.database_url,
            "worker_database_url": self.worker_url,
            "vault_url": self.vault_url,
            "functions": dict(self.functions),
            "logs": str(self.home / "logs"),
            **self.api,
            **self.supabase,
        }

    def print_places(self) -> None:
        """Where everything is, for people to read."""
        places = {
            "database": without_password(self.database_url),
            "vault": self.vault_url,
            **self.functions,
            "logs": str(self.home / "logs"),
            **{name.replace("_", " "): value for name, value in {**self.api, **self.supabase}.items()},
        }
        width = max(map(len, places))
        for name, where in places.items():
            print(f"{name:<{width}} {where}")


@contextmanager
def running_stack(
    home: Path,
    functions: Mapping[str, Function],
    *,
    project: Project | None = None,
    database_url: str | None = None,
    supabase: Lite | None = None,
    api: Function | None = None,
    port: int = 0,
    tick_seconds: float = 30,
    reset: bool = False,
    say: Say = say_nothing,
) -> Iterator[Stack]:
    """Start everything, and stop it at the end; the database is kept, unless `reset`.

    The database is a Postgres of the stack's own, on `port` if that is not 0, or the one at `database_url`. One port
    above it, `supabase` serves it to the Supabase clients.
    """
    home, project = home.absolute(), project or Project(home.absolute().parent)
    check_home(home)
    with ExitStack() as cleanup:
        cleanup.enter_context(only_one_stack(home))
        if reset:
            discard(home)
        (home / "logs").mkdir(exist_ok=True)
        supabase_port = port and port + 1
        check_ports({**functions, **({"api": api} if api else {})}, supabase_port if supabase else 0)
        database = (
            existing_database(database_url, project)
            if database_url
            else cleanup.enter_context(own_database(home, port, project))
        )
        vault_url = os.environ.get("TICKWORK_VAULT_URL") or f"file:{home / 'vault'}"
        settings = {
            "TICKWORK_DATABASE_URL": database.worker_url,
            "TICKWORK_VAULT_URL": vault_url,
            "TICKWORK_SECRET_KEY": os.environ.get("TICKWORK_SECRET_KEY") or own_secret_key(home),
            **{name: os.environ.get(name) or value for name, value in own_outbound().items()},
        }
        # Only that function gets the key.
        signing = {name: function for name, function in functions.items() if name == SIGN}
        others = {name: function for name, function in functions.items() if name != SIGN}
        urls = cleanup.enter_context(Functions(others, settings, home / "logs", say)).urls
        if signing:
            of_sign = {**settings, **own_signing_key(home, database.url)}
            urls |= cleanup.enter_context(Functions(signing, of_sign, home / "logs", say)).urls
            urls = {family: urls[family] for family in functions}
        served: Mapping[str, str] = {}
        if supabase:
            log = home / "logs" / "supabase.log"
            server = running_supabase(supabase, database.url, home / "supabase", log, supabase_port)
            served = cleanup.enter_context(server).as_json()
        opened: Mapping[str, str] = {}
        if api:
            of_api = api_settings(home, database.api_url, served)
            found = cleanup.enter_context(Functions({"api": api}, {**settings, **of_api}, home / "logs", say)).urls
            opened = {"api_url": found["api"], **own_api_key(home, database.url)}
        stack = Stack(home, os.getpid(), database.url, database.worker_url, vault_url, urls, opened, served)
        cleanup.enter_context(Ticker(stack.database_url, urls, tick_seconds, home / "logs" / "ticker.log"))
        if project.is_real:
            folder = project.root / "migrations"
            cleanup.enter_context(WatchedMigrations(folder, partial(database.bring_up_to_date, project), say))
        write_state(stack)
        yield stack


def write_state(stack: Stack) -> None:
    # A password may be in it.
    state = stack.home / "starting.json"
    state.touch(mode=0o600)
    state.write_text(json.dumps(stack.as_json(), indent=2))
    state.rename(stack.home / "stack.json")


def check_ports(functions: Mapping[str, Function], supabase: int) -> None:
    """Those of a stack that was just killed become free in a moment."""
    deadline = time.monotonic() + 3
    ports = {f"the function {family}": function.port for family, function in functions.items()}
    for whose, port in {**ports, "the Supabase server": supabase}.items():
        while port and is_taken(port):
            if time.monotonic() > deadline:
                raise StackFailed(f"port {port}, for {whose}, is taken: {PORT_ADVICE}")
            time.sleep(0.05)


@contextmanager
def own_database(home: Path, port: int, project: Project) -> "Iterator[OwnDatabase]":
    with translated(running_postgres(home / "postgres", port=port or None)) as server:
        urls = [server.url(DATABASE, user=role) for role in ("tickwork_worker", "tickwork_api")]
        database = OwnDatabase(server.url(DATABASE), *urls)
        create_database(server.url())
        database.bring_up_to_date(project)
        check_unedited(database.url)
        if project.tenants is None:
            with psycopg.connect(database.url) as connection:
                connection.execute((ROOT / "supabase/seed.sql").read_bytes())
        yield database


def own_outbound() -> dict[str, str]:
    """Receivers and APIs of a developer are on this machine, without certificates."""
    return {"TICKWORK_OUTBOUND_ALLOW": "loopback", "TICKWORK_OUTBOUND_HTTP": "true"}


def own_secret_key(home: Path) -> str:
    """The key that seals the secrets of this stack: created once, with its database."""
    file = home / "secret-key"
    if not file.exists():
        file.touch(mode=0o600)
        file.write_text(b64encode(os.urandom(32)).decode())
    return file.read_text()


@contextmanager
def stopped_by_signals() -> Iterator[None]:
    """Leave the block quietly, and with it everything that it started, on Ctrl-C, SIGTERM or a closed terminal."""

    def leave(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt(number)

    signals = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signals.append(signal.SIGHUP)
    previous = {each: signal.signal(each, leave) for each in signals}
    try:
        yield
    except KeyboardInterrupt as interrupt:
        sys.exit(128 + (interrupt.args[0] if interrupt.args else signal.SIGINT))
    finally:
        for each, handler in previous.items():
            signal.signal(each, handler)


def find_stack(home: Path) -> Stack | None:
    """The stack that runs with this home, if one does; a killed one leaves its file behind, but not its lock."""
    try:
        with (home / "stack.lock").open() as lock:
            if try_lock(lock):
                return None
        state = json.loads((home / "stack.json").read_text())
        return Stack(
            home.absolute(),
            state["pid"],
            state["database_url"],
            state["worker_database_url"],
            state["vault_url"],
            state["functions"],
            {name: value for name, value in state.items() if name.startswith("api_")},
            {name: value for name, value in state.items() if name.startswith("supabase_")},
        )
    except (OSError, ValueError, KeyError):
        return None


def check_home(home: Path) -> None:
    """Create the folder, or make sure that it is ours: a reset deletes its contents."""
    home.mkdir(parents=True, exist_ok=True)
    if any(home.iterdir()) and not any((home / name).exists() for name in ("stack.lock", "postgres.lock")):
        raise StackFailed(f"{home} contains other files: set TICKWORK_HOME to a folder that is empty or new")


@contextmanager
def only_one_stack(home: Path) -> Iterator[None]:
    """Hold the lock of the home folder, which the kernel releases when this process ends, however it ends."""
    with (home / "stack.lock").open("a") as lock:
        # Somebody may just be checking whether it is held.
        deadline = time.monotonic() + 3
        while not try_lock(lock):
            if time.monotonic() > deadline:
                running = find_stack(home)
                who = (
                    f"process {running.pid}; `tickwork status` shows where"
                    if running
                    else "and is starting or stopping"
                )
                raise StackFailed(f"a local stack is already running in {home} ({who})")
            time.sleep(0.05)
        (home / "stack.json").unlink(missing_ok=True)
        try:
            yield
        finally:
            (home / "stack.json").unlink(missing_ok=True)


def discard(home: Path) -> None:
    """Move the data away before it is deleted: the Postgres of a killed stack may still be shutting down in it."""
    grave = Path(tempfile.mkdtemp(prefix="discarded-", dir=home))
    for name in ("postgres", "vault", "logs", "secret-key", "api-key"):
        with suppress(FileNotFoundError):
            (home / name).rename(grave / name)
    for each in home.glob("discarded-*"):
        shutil.rmtree(each, ignore_errors=True)


@contextmanager
def translated(server: AbstractContextManager[Server]) -> Iterator[Server]:
    try:
        with server as running:
            yield running
    except PortTaken as error:
        raise StackFailed(f"{error}: {PORT_ADVICE}") from error
    except PostgresFailed as error:
        raise StackFailed(str(error)) from error


def create_database(server_url: str) -> None:
    with psycopg.connect(server_url, autocommit=True) as connection:
        if not connection.execute("select 1 from pg_database where datname = %s", [DATABASE]).fetchone():
            connection.execute(f"create database {DATABASE}")


def check_unedited(url: str) -> None:
    if edited := edited_since(url):
        raise StackFailed(
            f"{edited[0]} has been edited since it was applied here. "
            "Run `tickwork up --reset` to create the database again; its contents are lost."
        )
