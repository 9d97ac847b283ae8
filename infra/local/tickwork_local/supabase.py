"""A PostgREST-compatible server (@supabase/lite) in front of a local database, for the real Supabase clients."""

import json
import os
import secrets
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.request import Request

from tickwork.errors import Error
from tickwork.shipped import ROOT
from tickwork_local import node
from tickwork_local.launch import ends_with_parent
from tickwork_local.postgres import free_port
from tickwork_local.ticker import OPENER

PACKAGE = ROOT / "infra/local/supabase_lite"
KEYS = ("publishable_key", "secret_key", "jwt_secret")
# An admin of acme: see supabase/seed.sql.
DEMO_USER = "00000000-0000-4000-8000-000000000002"
START_SECONDS = 60


class SupabaseFailed(Error):
    """The server does not start; the message has the end of its log."""


@dataclass(frozen=True)
class Lite:
    """The server as it is installed here, and the path with the Node that runs it."""

    folder: Path
    path: str

    def command(self) -> list[str]:
        options = ["--no-admin", "--host", "127.0.0.1", "--config", "config.mjs"]
        return [node.program(self.path), str(self.folder / "cli" / "index.js"), "start", *options]


@dataclass(frozen=True)
class Supabase:
    """Where the server is, and its keys, which are good for nothing else."""

    url: str
    publishable_key: str
    secret_key: str = field(repr=False)
    jwt_secret: str = field(repr=False)

    def token(self, user_id: str = DEMO_USER, **claims: Any) -> str:
        """What signs a user in; always the same one, and good for as long as the keys are."""
        import jwt

        own = {"sub": user_id, "role": "authenticated", "aud": "authenticated"}
        return jwt.encode({**own, **claims}, self.jwt_secret, algorithm="HS256")

    def as_json(self) -> dict[str, str]:
        return {
            "supabase_url": self.url,
            "supabase_anon_key": self.publishable_key,
            "supabase_service_key": self.secret_key,
            "supabase_user": DEMO_USER,
            "supabase_token": self.token(),
        }


def installed_lite() -> Lite:
    """Installed once for all stacks of a user, with the first one that wants it."""
    path = node.path_with_node()
    place = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tickwork" / "supabase-lite"
    if not place.exists():
        print(f"Installing the Supabase server from npm into {place} …", flush=True)
    return Lite(node.installed(PACKAGE, place, path) / "@supabase" / "lite" / "dist", path)


@contextmanager
def running_supabase(lite: Lite, database_url: str, home: Path, log: Path, port: int = 0) -> Iterator[Supabase]:
    """Serve the schema `public` of a migrated database until the block ends, and change nothing in it.

    The login of `database_url` must see all tables and be free to `set role` to anon, authenticated and service_role.
    Tables and functions are read once, at the start. The keys are kept in `home`.
    """
    port = port or free_port()
    driver = (lite.folder / "db" / "postgres" / "PostgresConnection.js").as_uri()
    keys = write_settings(home, driver=driver, database_url=database_url, port=port)
    server = Supabase(f"http://127.0.0.1:{port}", *keys)
    began = log.stat().st_size if log.exists() else 0
    with log.open("ab") as output:
        process = subprocess.Popen(
            ends_with_parent(lite.command(), by=signal.SIGKILL),
            cwd=home,
            env={**node.environment(lite.path), "HOME": str(home)},
            stdin=subprocess.DEVNULL,
            # There it only prints its keys.
            stdout=subprocess.DEVNULL,
            stderr=output,
            start_new_session=True,
        )
    try:
        if not responds(server, process):
            ending = log.read_bytes()[began:].decode(errors="replace").strip()[-1000:]
            raise SupabaseFailed(f"the Supabase server does not start: see {log}, which ends with\n{ending}")
        yield server
    finally:
        process.kill()
        process.wait()


def write_settings(home: Path, **settings: Any) -> list[str]:
    """For the server to read, with the keys of this home; they are created once."""
    home.mkdir(parents=True, exist_ok=True)
    # It finds its configuration in the folder that it runs in only.
    shutil.copy(PACKAGE / "config.mjs", home)
    file = home / "settings.json"
    file.touch(mode=0o600)
    kept = json.loads(file.read_text() or "{}")
    keys = {name: kept.get(name) or f"sb_{name.removesuffix('_key')}_{secrets.token_hex(24)}" for name in KEYS}
    file.write_text(json.dumps({**settings, **keys}, indent=2))
    return list(keys.values())


def responds(server: Supabase, process: "subprocess.Popen[bytes]") -> bool:
    request = Request(f"{server.url}/rest/v1/", headers={"apikey": server.secret_key})  # noqa: S310 - it is ours
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        with suppress(OSError), OPENER.open(request, timeout=START_SECONDS):
            return True
        time.sleep(0.05)
    return False
