"""The API of the local stack: its settings, and a key for it."""

import json
import secrets
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import psycopg

IS_LIVE = """
    select
    from tickwork.api_keys
    where secret_hash = encode(sha256(convert_to(%s, 'UTF8')), 'hex')
      and revoked_at is null
"""
NEW_KEY = "select key from public.create_api_key('local stack', '{read, enqueue, operate}', null)"


# Who works with a stack of their own, in its console.
OPERATOR = "00000000-0000-4000-8000-0000000000ff"
NEW_LINK = "select public.create_sign_in_link(%s, 86400)"


def api_settings(home: Path, url: str, supabase: Mapping[str, str]) -> dict[str, str]:
    """Users sign in with the tokens of the Supabase server, if there is one."""
    found = {"TICKWORK_DATABASE_URL": url, "TICKWORK_CONSOLE_SECRET": own_console_secret(home)}
    if supabase:
        secret = json.loads((home / "supabase" / "settings.json").read_text())["jwt_secret"]
        found |= {"TICKWORK_JWT_SECRET": secret, "TICKWORK_JWT_ISSUER": f"{supabase['supabase_url']}/auth/v1"}
    return found


def own_api_key(home: Path, url: str) -> dict[str, str]:
    """A key for every tenant: created once, with its database, unless that is somebody else's who does not allow it."""
    file = home / "api-key"
    with suppress(psycopg.Error), psycopg.connect(url) as connection:
        if not file.exists() or not connection.execute(IS_LIVE, [file.read_text()]).fetchone():
            row = connection.execute(NEW_KEY).fetchone()
            assert row is not None
            file.touch(mode=0o600)
            file.write_text(row[0])
        return {"api_key": file.read_text()}
    return {}


def own_console_secret(home: Path) -> str:
    """Signs the sessions of the console: created once, so that they outlive the stack."""
    file = home / "console-secret"
    if not file.exists():
        file.touch(mode=0o600)
        file.write_text(secrets.token_urlsafe(32))
    return file.read_text()


def console_link(api_url: str, database_url: str) -> str:
    """A link that signs the operator in to the console, once; they are a platform admin of this database."""
    with psycopg.connect(database_url) as connection:
        connection.execute(
            "insert into tickwork.platform_admins (user_id) values (%s) on conflict do nothing", [OPERATOR]
        )
        row = connection.execute(NEW_LINK, [OPERATOR]).fetchone()
        assert row is not None
    return f"{api_url.partition('/api/')[0].rstrip('/')}/console/sign-in?code={row[0]}"
