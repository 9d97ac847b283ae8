"""A real PostgREST-compatible server (@supabase/lite) for tests with the real Supabase client."""

import json
import secrets
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import jwt
import supabase

from tests.world.node import environment, installed
from tests.world.waiting import PATIENCE
from tickwork_local.launch import ends_with_parent
from tickwork_local.postgres import free_port

PACKAGE = Path(__file__).parent / "supabase_lite"

# Where the server is not PostgREST: it grants all of `public` to anon and authenticated and replaces auth.uid(),
# serves an empty schema when the database is away, encodes jsonb arguments twice, writes times and numbers as Postgres
# does, hides the SQLSTATEs it does not know, and asks its auth for the user of each token even when that is off (on, it
# makes tables of its own). The lines below put this right.
CONFIG = r"""
import { createPostgresConnection } from %(driver)s;
const isJson = (text) => { try { JSON.parse(text); return true; } catch { return false; } };
const encode = (value) => (typeof value === "string" && isJson(value) ? value : JSON.stringify(value));
const isoTime = (text) => text.replace(" ", "T").replace(/\+00$/, "+00:00");
const type = (oid, parse, serialize = String) => ({ to: oid, from: [oid], parse, serialize });
const types = { json: type(114, JSON.parse, encode), jsonb: type(3802, JSON.parse, encode),
  timestamp: type(1114, isoTime), timestamptz: type(1184, isoTime), numeric: type(1700, Number) };
const connection = createPostgresConnection({ url: %(database_url)s, postgresOptions: { types } });
await connection.driver.unsafe("select 1");
if (!connection.ensureRlsContext) throw new Error("this version of the server grants rights in another way");
connection.ensureRlsContext = async () => true;
const known = /^(PT|PGRST|21|22|42|53|55|25006|2350[235])/;
connection.normalizeDbError = (error) => error.name !== "PostgresError" || known.test(error.code) ? error : {
  code: "PGRST", detail: JSON.stringify({ status: /^(40|57|XX)/.test(error.code) ? 500 : 400, headers: {} }),
  message: JSON.stringify({ code: error.code, message: error.message, details: error.detail, hint: error.hint }) };
const noUsers = { repo: { findUserById: async () => null } };
const middlewares = [async (context, next) => { context.set("authService", noUsers); await next(); }];
export default { connection, api: { port: %(port)s, schemas: ["public"] }, options: { server: { middlewares } },
  auth: { enabled: false, publishable_key: %(publishable_key)s, secret_key: %(secret_key)s, jwt_secret: %(jwt_secret)s }
};
"""


@dataclass(frozen=True)
class SupabaseServer:
    url: str
    publishable_key: str
    secret_key: str = field(repr=False)
    jwt_secret: str = field(repr=False)
    http: httpx.Client = field(repr=False)

    def token(self, user_id: str, role: str = "authenticated") -> str:
        """The bearer token of a signed-in user, good for one hour."""
        claims = {"sub": user_id, "role": role, "aud": "authenticated", "exp": int(time.time()) + 3600}
        return jwt.encode(claims, self.jwt_secret, algorithm="HS256")

    def client(self, user_id: str | None = None) -> supabase.Client:
        """What a browser has: signed in as this user, or anonymous."""
        return self._client(self.publishable_key, self.token(user_id) if user_id else self.publishable_key)

    def service_client(self) -> supabase.Client:
        """What a server has: service_role, past every policy."""
        return self._client(self.secret_key, self.secret_key)

    def _client(self, key: str, bearer: str) -> supabase.Client:
        # Left to itself, each client warns of its own deprecated settings and keeps its connections open for good.
        options = supabase.ClientOptions(headers={"Authorization": f"Bearer {bearer}"}, httpx_client=self.http)
        return supabase.create_client(self.url, key, options)


@contextmanager
def running_supabase(database_url: str, home: Path) -> Iterator[SupabaseServer]:
    """
    Serve the schema `public` of a migrated database until the block ends, and change nothing in it.

    The login of `database_url` must see all tables and be free to `set role` to anon, authenticated and service_role.
    Tables and functions are read once, at the start: what a test creates later stays unknown to the server.
    """
    keys = {name: f"sb_{name}_{secrets.token_hex(24)}" for name in ("publishable_key", "secret_key", "jwt_secret")}
    lite = installed(PACKAGE, "supabase-lite") / "@supabase" / "lite" / "dist"
    port = free_port()
    driver = (lite / "db" / "postgres" / "PostgresConnection.js").as_uri()
    settings = {**keys, "driver": driver, "database_url": database_url, "port": port}
    home.mkdir(parents=True, exist_ok=True)
    (home / "config.mjs").write_text(CONFIG % {name: json.dumps(value) for name, value in settings.items()})
    command = ["node", str(lite / "cli" / "index.js"), "start", "--no-admin", "--config", "config.mjs"]
    env = {**environment(), "HOME": str(home)}
    with (home / "supabase.log").open("wb") as log, httpx.Client(timeout=PATIENCE) as http:
        server = SupabaseServer(url=f"http://127.0.0.1:{port}", http=http, **keys)
        command = ends_with_parent(command, by=signal.SIGKILL)
        process = subprocess.Popen(command, cwd=home, env=env, stdout=log, stderr=log)
        try:
            _wait_until_ready(server, process, home / "supabase.log")
            yield server
        finally:
            process.kill()
            process.wait()


def _wait_until_ready(server: SupabaseServer, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and process.poll() is None:
        with suppress(httpx.TransportError):
            if server.http.get(f"{server.url}/rest/v1/", headers={"apikey": server.secret_key}).is_success:
                return
        time.sleep(0.05)
    raise RuntimeError(f"the Supabase server did not start:\n{log.read_text()[-2000:]}")
