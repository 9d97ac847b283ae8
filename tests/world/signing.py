"""A maker of batteries whose passports are signed."""

from base64 import b64encode
from typing import Any
from uuid import UUID

import pytest

from tests.world import World
from tests.world.passports import HANDLERS as COMPILING
from tests.world.passports import Maker
from tickwork.families.passport.generate_qr import GENERATE_QR
from tickwork.families.sign.sign_passport import SIGN_PASSPORT
from tickwork.families.sign.sign_status_list import SIGN_STATUS_LIST
from tickwork.jobs.handler import Handlers
from tickwork.jobs.rows import Job
from tickwork.passports.packages import package
from tickwork.passports.signatures import SigningKey
from tickwork.passports.trust import Trust
from tickwork.runtime.deadline import Deadline
from tickwork.runtime.work import work

KEY, NEXT_KEY = SigningKey(bytes(range(32))), SigningKey(bytes(range(1, 33)))
TRUST = Trust(pinned=frozenset({KEY.id, NEXT_KEY.id}))
SIGNING: Handlers = {"sign_passport": SIGN_PASSPORT, "sign_status_list": SIGN_STATUS_LIST}
DRAWING: Handlers = {**COMPILING, "generate_qr": GENERATE_QR}


class Signer(Maker):
    """A maker whose passports are signed."""

    def __init__(self, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(world, monkeypatch)
        self.monkeypatch = monkeypatch
        self.configure(KEY)
        self.register(KEY)

    def configure(self, *keys: SigningKey) -> None:
        self.monkeypatch.setenv("TICKWORK_SIGNING_KEY", ",".join(b64encode(key.secret).decode() for key in keys))

    def register(self, key: SigningKey) -> None:
        self.world.run("select register_signing_key(%s, 'test')", b64encode(key.public).decode())

    def work(self, family: str = "passport", handlers: Handlers = COMPILING) -> None:
        work(self.world.queue, family, handlers, Deadline(60, 100))

    def finish(self) -> None:
        """Signs, draws and lists whatever waits for it."""
        self.work("sign", SIGNING)
        self.work("passport", DRAWING)

    def jobs(self, type: str) -> list[Job]:
        rows = self.world.rows("select * from jobs where type = %s order by created_at", type)
        return [Job(**row) for row in rows]

    def row(self, version: UUID) -> dict[str, Any]:
        return self.world.row("select * from passport_versions where id = %s", version)

    def sign_job(self, version: UUID) -> Job:
        job = self.world.job("sign_passport", self.tenant, payload={"passport_version_id": str(version)})
        self.work("sign", SIGNING)
        return self.world.reload(job)

    def package(self, version: UUID) -> bytes:
        row = self.row(version)
        parts = (row["payload_canonical"], row["proof_canonical"], row["receipt_canonical"])
        return package(*parts, row["signature"], row["signing_key_public"])
