"""The api function as it is deployed: under functions-framework, in processes of its own."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.serve.test_wake_up import running_function
from tests.world import World
from tests.world.api import ISSUER, KEY, PREFIX, SECRET

SOURCE = Path(__file__).parents[2] / "functions" / "api" / "main.py"


@contextmanager
def running_api(world: World, folder: Path) -> Iterator[str]:
    """The URL of the API on the database of a test."""
    settings = {
        "TICKWORK_DATABASE_URL": world.url.replace("postgres@", "tickwork_api@"),
        "TICKWORK_JWT_SECRET": SECRET,
        "TICKWORK_JWT_ISSUER": ISSUER,
        "TICKWORK_SECRET_KEY": KEY,
        "TICKWORK_VAULT_URL": f"file:{folder / 'vault'}",
    }
    with running_function(SOURCE, folder, **settings) as served:
        yield f"http://127.0.0.1:{served.port}{PREFIX}"
