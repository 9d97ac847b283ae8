"""A tenant with a vault and connected drives, and imports that run as a function runs them."""

from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from tests.servers.cloud import CLIENT_ID, CLIENT_SECRET, Cloud
from tests.world import World
from tickwork.client import Tickwork
from tickwork.families.imports.check_connector import CHECK_CONNECTOR
from tickwork.families.imports.import_dropbox import IMPORT_DROPBOX
from tickwork.families.imports.import_gdrive import IMPORT_GDRIVE
from tickwork.families.imports.import_onedrive import IMPORT_ONEDRIVE
from tickwork.families.imports.watch_connector import WATCH_CONNECTOR
from tickwork.jobs.handler import Handlers
from tickwork.jobs.rows import Job
from tickwork.runtime.deadline import Deadline
from tickwork.runtime.work import work
from tickwork.tools.vault import open_vault

HANDLERS: Handlers = {
    "import_dropbox": IMPORT_DROPBOX,
    "import_onedrive": IMPORT_ONEDRIVE,
    "import_gdrive": IMPORT_GDRIVE,
    "check_connector": CHECK_CONNECTOR,
    "watch_connector": WATCH_CONNECTOR,
}
SECRET_KEY = b64encode(bytes(range(32))).decode()
PREFIXES = {
    "dropbox": "DROPBOX_APP_KEY DROPBOX_APP_SECRET DROPBOX_URL",
    "onedrive": "MICROSOFT_CLIENT_ID MICROSOFT_CLIENT_SECRET MICROSOFT_URL",
    "gdrive": "GOOGLE_CLIENT_ID GOOGLE_CLIENT_SECRET GOOGLE_URL",
}


def settings_for(world: World, folder: Path, clouds: Mapping[str, Cloud]) -> dict[str, str]:
    """The environment of a function."""
    settings = {
        "TICKWORK_DATABASE_URL": world.worker_url,
        "TICKWORK_VAULT_URL": f"file:{folder / 'vault'}",
        "TICKWORK_SECRET_KEY": SECRET_KEY,
        "TICKWORK_OUTBOUND_ALLOW": "loopback",
        "TICKWORK_OUTBOUND_HTTP": "true",
    }
    for provider, cloud in clouds.items():
        names = (f"TICKWORK_{name}" for name in PREFIXES[provider].split())
        settings |= dict(zip(names, (CLIENT_ID, CLIENT_SECRET, cloud.url), strict=True))
    return settings


class Office:
    def __init__(
        self, world: World, folder: Path, clouds: Mapping[str, Cloud], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.world = world
        self.folder = folder
        self.clouds = clouds
        self.tenant = world.tenant()
        for name, value in settings_for(world, folder, clouds).items():
            monkeypatch.setenv(name, value)

    def connect(self, provider: str, *, tenant: UUID | None = None, **columns: Any) -> UUID:
        """A connector with a refresh token."""
        tenant = tenant or self.tenant
        values = {"tenant_id": tenant, "provider": provider, "name": f"our {provider}", **columns}
        names, marks = ", ".join(values), ", ".join(f"%({name})s" for name in values)
        query = f"insert into public.connectors ({names}) values ({marks}) returning id"
        row = self.world.admin.execute(query, values).fetchone()
        assert row is not None
        id: UUID = row["id"]
        token = self.clouds[provider].refresh_tokens[-1]
        Tickwork(self.world.service.database, secret_key=SECRET_KEY).connectors.set_connector_token(id, token)
        return id

    def request(self, connector: UUID, remote_path: str | None = "", files: list[str] | None = None) -> Job:

        return self.world.service.connectors.request_import(connector, remote_path, files)

    def work(self, jobs: int = 1) -> None:
        work(self.world.queue, "import", HANDLERS, Deadline(600, jobs))

    def bring(self, connector: UUID, remote_path: str | None = "", files: list[str] | None = None) -> Job:
        """The job after one attempt."""
        job = self.request(connector, remote_path, files)
        self.work()
        return self.world.reload(job)

    def documents(self, tenant: UUID | None = None) -> dict[str, dict[str, Any]]:
        rows = self.world.rows("select * from documents where tenant_id = %s", tenant or self.tenant)
        return {row["name"]: row for row in rows}

    def content(self, document: Mapping[str, Any]) -> bytes:
        vault = open_vault(f"file:{self.folder / 'vault'}", document["tenant_id"])
        with vault.read(document["vault_path"]) as blocks:
            return b"".join(blocks)

    def files_in_vault(self) -> list[Path]:
        return [path for path in (self.folder / "vault").rglob("*") if path.is_file()]

    def items(self) -> list[dict[str, Any]]:
        return self.world.rows("select * from imported_items order by path")
