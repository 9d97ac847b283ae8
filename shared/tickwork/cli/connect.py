"""What a command works with: the database, the vault and the secrets that options, environment or local stack name."""

import os
from pathlib import Path

from tickwork.cli import arguments
from tickwork.client import Client
from tickwork.database.connection import Database
from tickwork.errors import BadSetting
from tickwork.settings import load_settings
from tickwork.tools.outbound.policy import Policy, policy_of

HOME = Path(os.environ.get("TICKWORK_HOME") or ".tickwork")


def client(database_url: str | None) -> Client:
    return Client(Database(chosen_url(database_url), "tickwork command line"), secret_key(database_url))


def chosen_url(given: str | None, is_worker: bool = False) -> str:
    from tickwork_local.stack import find_stack

    if given is not None:
        return arguments.database_url(given, "--database-url")
    if from_environment := os.environ.get("TICKWORK_DATABASE_URL"):
        return arguments.database_url(from_environment, "TICKWORK_DATABASE_URL")
    if stack := find_stack(HOME):
        return stack.worker_url if is_worker else stack.database_url
    raise BadSetting("there is no database. Start the local stack with `tickwork up`, or set TICKWORK_DATABASE_URL.")


def chosen_vault() -> tuple[str, str | None]:
    from tickwork_local.stack import find_stack

    if url := os.environ.get("TICKWORK_VAULT_URL"):
        return url, os.environ.get("TICKWORK_VAULT_KEY")
    if stack := find_stack(HOME):
        return stack.vault_url, None
    raise BadSetting("there is no vault. Start the local stack with `tickwork up`, or set TICKWORK_VAULT_URL.")


def secret_key(database_url: str | None) -> str | None:
    """That of the environment, or in the database of the local stack that of the stack; without one, Supabase Vault
    keeps the secrets."""
    from tickwork_local.stack import find_stack, own_secret_key

    if key := os.environ.get("TICKWORK_SECRET_KEY"):
        return key
    # Sealed with the key of a stack, nobody else's functions could open them.
    if (stack := find_stack(HOME)) and stack.database_url == chosen_url(database_url):
        return own_secret_key(stack.home)
    return None


def outbound_policy() -> Policy:
    """Whom the functions may call, as the environment says or as the running local stack has told them."""
    from tickwork_local.stack import find_stack, own_outbound

    stack = find_stack(HOME)
    environment = {**(own_outbound() if stack else {}), **os.environ, "TICKWORK_DATABASE_URL": "postgresql://"}
    return policy_of(load_settings(environment))
