"""The real Supabase client on the server of the local stack."""

import time
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import supabase

from tests.world.node import installed, path
from tests.world.waiting import PATIENCE
from tickwork_local.supabase import PACKAGE, Lite, Supabase
from tickwork_local.supabase import running_supabase as running_server


@dataclass(frozen=True)
class SupabaseServer:
    server: Supabase
    http: httpx.Client = field(repr=False)

    def client(self, user_id: str | None = None) -> supabase.Client:
        """What a browser has: signed in as this user for an hour, or anonymous."""
        key = self.server.publishable_key
        return self._client(key, self.server.token(user_id, exp=int(time.time()) + 3600) if user_id else key)

    async def async_client(self, user_id: str, stack: AsyncExitStack) -> supabase.AsyncClient:
        """The same as `client`, for an event loop; closed with the stack."""
        http = await stack.enter_async_context(httpx.AsyncClient(timeout=PATIENCE))
        bearer = self.server.token(user_id, exp=int(time.time()) + 3600)
        options = supabase.AsyncClientOptions(headers={"Authorization": f"Bearer {bearer}"}, httpx_client=http)
        return await supabase.acreate_client(self.server.url, self.server.publishable_key, options)

    def service_client(self) -> supabase.Client:
        """What a server has: service_role, past every policy."""
        return self._client(self.server.secret_key, self.server.secret_key)

    def _client(self, key: str, bearer: str) -> supabase.Client:
        # Left to itself, each client warns of its own deprecated settings and keeps its connections open for good.
        options = supabase.ClientOptions(headers={"Authorization": f"Bearer {bearer}"}, httpx_client=self.http)
        return supabase.create_client(self.server.url, key, options)


@contextmanager
def running_supabase(database_url: str, home: Path) -> Iterator[SupabaseServer]:
    lite = Lite(installed(PACKAGE, "tickwork/supabase-lite") / "@supabase" / "lite" / "dist", path())
    log = home / "supabase.log"
    with httpx.Client(timeout=PATIENCE) as http, running_server(lite, database_url, home, log) as server:
        yield SupabaseServer(server, http)
