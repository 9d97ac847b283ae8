"""Keys of passports: none is in a log line, a row or an error, whatever happens."""

from base64 import b64encode
from types import SimpleNamespace
from typing import Any

import pytest

from tests.world import World
from tests.world.passports import SECRET_KEY
from tests.world.signing import KEY, Signer
from tickwork.families.passport import salt_key
from tickwork.passports import compiler

SALT_KEY = b"a salt key that nobody must know"
TABLES = """
    select schemaname || '.' || tablename as name
    from pg_tables
    where schemaname in ('public', 'tickwork')
"""


def test_no_key_is_in_logs_rows_or_errors(
    world: World, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(salt_key, "os", SimpleNamespace(urandom=lambda size: SALT_KEY[:size]))
    signer = Signer(world, monkeypatch)
    version = signer.version()
    signer.finish()
    world.run("select activate_passport(%s)", version)
    world.run("select revoke_passport(%s, 'recall')", version)
    signer.finish()
    monkeypatch.setattr(compiler, "compile_passport", broken)
    failed = signer.compile(signer.row(version)["passport_id"], signer.snapshot(), signer.rules(), "2027-03-01Z")

    logs = "".join(capfd.readouterr())
    rows = "".join(all_rows(world, row["name"]) for row in world.rows(TABLES))

    assert "compiler_build_id" in logs, "an error with all inputs was logged"
    assert failed.error_message
    assert version.hex in rows.replace("-", "")
    for secret in (SALT_KEY.hex(), b64encode(SALT_KEY).decode(), SECRET_KEY, KEY.secret.hex(), SALT_KEY.decode()):
        assert secret not in logs
        assert secret not in rows


def broken(inputs: Any) -> None:
    raise RuntimeError(f"cannot compile {inputs}")


def all_rows(world: World, table: str) -> str:
    return str(world.value(f"select string_agg(each::text, ' ') from {table} as each"))
