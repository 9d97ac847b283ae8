"""Whatever cannot be installed here is skipped, with its reason; `make check-deploy` prints them."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest

from tests.deploy.extended_postgres import extended_binaries
from tests.world.command_line import open_folder
from tests.world.supabase_vault import VAULT
from tickwork_local.node import CannotInstall
from tickwork_local.postgres import PostgresFailed, Server, running_postgres


@pytest.fixture(scope="module")
def extended_server() -> Iterator[Server]:
    """Postgres 15 with pg_cron and plpgsql_check, and with the schemas that Supabase brings along."""
    try:
        binaries = extended_binaries()
    except CannotInstall as error:
        pytest.skip(str(error))
    settings = {"shared_preload_libraries": "pg_cron", "cron.use_background_workers": "on", "fsync": "off"}
    with ExitStack() as running:
        folder = running.enter_context(open_folder())
        try:
            server = running.enter_context(running_postgres(folder / "data", binaries=binaries, settings=settings))
        except PostgresFailed as error:
            # As root it runs as somebody else, who cannot enter a private folder.
            if "cannot run" not in str(error):
                raise
            pytest.skip(str(error))
        with psycopg.connect(server.url(), autocommit=True) as connection:
            connection.execute(Path("infra/local/stand_ins.sql").read_bytes())
            connection.execute("create schema extensions")
            # What the migrations grant on it, they grant themselves.
            connection.execute(VAULT.partition("grant usage")[0])
            connection.execute("create extension plpgsql_check with schema extensions")
            connection.execute('alter role postgres set search_path = "$user", public, extensions')
        yield server
