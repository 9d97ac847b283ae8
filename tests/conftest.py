"""The fixtures of tickwork.testing, by shorter names, and the world on top of them."""

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis.internal.conjecture import providers

from tests.servers.pooler import running_pgbouncer
from tests.world import World
from tickwork.testing.database import TEMPLATE, cloned, open_to_all
from tickwork_local.launch import die_with_parent
from tickwork_local.postgres import Server

pytest_plugins = ["tests.world.clouds"]

# The files that `make test` leaves to `make test-all`. Those that take longest come first, so that none of them is left
# to one process at the end.
SLOW = """
    docs/test_guides database/test_isolation database/test_mutants database/test_schedules test_worker
    database/test_model api/test_whole_api cli/test_new local/test_stack test_fan_in serve/test_strangers
    local/test_demo docs/test_own_family local/test_postgres_launcher local/test_project_stack local/test_supabase_stack
    database/test_attacks database/test_attack_scripts database/test_plans chaos/test_storm
    families/imports/test_imports families/imports/test_import_tokens families/webhook/test_deliver_webhook
    runtime/test_outages database/test_turns test_functions families/extract/test_hostile_files
    families/extract/test_unstructured cli/test_main cli/test_webhooks cli/test_passport_commands cli/test_jobs
    cli/test_over_http client/test_contract_cases client/test_supabase_client testing/test_plugin
    database/test_one_and_many database/test_agreement database/test_fire_schedules database/test_migrations
    database/test_adoption database/test_roll_out js/test_client js/test_worker serve/test_wake_up chaos/test_checks
    waking/test_pg_cron waking/test_rabbitmq local/test_wheel cli/test_passports cli/test_pauses cli/test_wait
    client/test_worker gcp/test_gcloud runtime/test_work
"""

# Where the cases are about what may differ between versions of Postgres: plans, rights, dumps, text search, the schema.
EVERY_CASE = {"adoption", "durability", "migrations", "plans", "privileges", "redaction", "roll_out", "search"}


def pytest_configure() -> None:
    # A killed `make test` leaves nothing behind.
    die_with_parent()
    if "TICKWORK_FUZZ_EXAMPLES" not in os.environ:
        try_the_same_examples()


def try_the_same_examples() -> None:
    """Hypothesis takes constants of our modules as values: of those that happen to be loaded, even if derandomized."""
    assert callable(providers._get_local_constants), "another Hypothesis"
    providers._get_local_constants = lambda: providers._local_constants


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if most := int(os.environ.get("TICKWORK_TEST_CASES", "0")):
        leave_out_cases(config, items, most)
    places = {Path(__file__).parent / f"{name}.py": place for place, name in enumerate(SLOW.split())}
    assert all(map(Path.is_file, places)), "SLOW names a file that there is not"
    items.sort(key=lambda item: places.get(item.path, len(places)))
    for item in items:
        if item.path in places:
            item.add_marker("slow")


def leave_out_cases(config: pytest.Config, items: list[pytest.Item], most: int) -> None:
    """Keep the first so many cases of each test, and all of those in EVERY_CASE."""
    seen: Counter[str] = Counter()
    kept: list[pytest.Item] = []
    left_out: list[pytest.Item] = []
    for item in items:
        test = item.nodeid.partition("[")[0]
        seen[test] += 1
        is_kept = seen[test] <= most or item.path.stem.removeprefix("test_") in EVERY_CASE
        (kept if is_kept else left_out).append(item)
    config.hook.pytest_deselected(items=left_out)
    items[:] = kept


@pytest.fixture(scope="session")
def server(tickwork_server: Server) -> Server:
    return tickwork_server


@pytest.fixture(scope="session")
def worker_port(server: Server) -> Iterator[int]:
    """Where workers connect: to the server, or to a transaction-mode pooler in front of it."""
    if not os.environ.get("TICKWORK_TEST_PGBOUNCER"):
        yield server.port
        return
    with pooler(server) as port:
        yield port


@contextmanager
def pooler(server: Server) -> Iterator[int]:
    with (
        TemporaryDirectory(prefix="tickwork-pooler-") as folder,
        running_pgbouncer(server.port, open_to_all(folder)) as port,
    ):
        yield port


@pytest.fixture
def world(server: Server, worker_port: int) -> Iterator[World]:
    with cloned(server, TEMPLATE) as name:
        worker_url = f"postgresql://tickwork_worker@127.0.0.1:{worker_port}/{name}"
        with World(server.url(name), worker_url) as world:
            yield world
