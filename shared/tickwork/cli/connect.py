"""What a command works with: the database, vault and secrets from the options, the environment or the local stack."""

import os
from pathlib import Path

from tickwork.cli import arguments
from tickwork.cli.project import project_root
from tickwork.client import Tickwork
from tickwork.database.connection import Database
from tickwork.errors import BadSetting
from tickwork.settings import load_settings
from tickwork.tools.outbound.policy import Policy, policy_of

API_URL, API_KEY = "TICKWORK_API_URL", "TICKWORK_API_KEY"


def stack_home() -> Path:
    """The folder of the local stack."""
    return Path(os.environ.get("TICKWORK_HOME") or (project_root() or Path()) / ".tickwork")


def client(database_url: str | None) -> Tickwork:
    """Of the database, or of the API if that is what the environment names."""
    if database_url is None and not os.environ.get("TICKWORK_DATABASE_URL") and (api := os.environ.get(API_URL)):
        if not os.environ.get(API_KEY):
            raise BadSetting(f"{API_URL} is set, and {API_KEY} is not: `tickwork keys create` makes a key")
        return Tickwork(url=api, key=os.environ[API_KEY])
    return Tickwork(Database(chosen_url(database_url), "tickwork command line"), secret_key=secret_key(database_url))


def chosen_url(given: str | None, is_worker: bool = False) -> str:
    from tickwork_local.stack import find_stack

    if given is not None:
        return arguments.database_url(given, "--database-url")
    if from_environment := os.environ.get("TICKWORK_DATABASE_URL"):
        return arguments.database_url(from_environment, "TICKWORK_DATABASE_URL")
    if stack := find_stack(stack_home()):
        return stack.worker_url if is_worker else stack.database_url
    raise BadSetting(
        "no database is configured. Start the local stack with `tickwork up`, or set TICKWORK_DATABASE_URL."
    )


def chosen_vault() -> tuple[str, str | None]:
    from tickwork_local.stack import find_stack

    if url := os.environ.get("TICKWORK_VAULT_URL"):
        return url, os.environ.get("TICKWORK_VAULT_KEY")
    if stack := find_stack(stack_home()):
        return stack.vault_url, None
    raise BadSetting("no vault is configured. Start the local stack with `tickwork up`, or set TICKWORK_VAULT_URL.")


def secret_key(database_url: str | None) -> str | None:
    """The key from the environment, or that of the local stack if its database is used. Without a key, secrets are
    stored in Supabase Vault."""
    from tickwork_local.stack import find_stack, own_secret_key

    if key := os.environ.get("TICKWORK_SECRET_KEY"):
        return key
    # Functions outside the local stack could not unseal what is sealed with its key.
    if (stack := find_stack(stack_home())) and stack.database_url == chosen_url(database_url):
        return own_secret_key(stack.home)
    return None


def outbound_policy() -> Policy:
    """Whom the functions may call, according to the environment or the running local stack."""
    from tickwork_local.stack import find_stack, own_outbound

    stack = find_stack(stack_home())
    environment = {**(own_outbound() if stack else {}), **os.environ, "TICKWORK_DATABASE_URL": "postgresql://"}
    return policy_of(load_settings(environment))
