"""For the tests of a project: the pytest fixture `tickwork`, a real database with the queue for each test."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tickwork.testing.fixture import Tickwork as Tickwork
    from tickwork.testing.ran import Ran as Ran

__all__ = ["Ran", "Tickwork"]


def __getattr__(name: str) -> Any:
    """Loaded when they are used: pytest loads this package at every start, for tests that need no database, too."""
    from tickwork.testing.fixture import Tickwork
    from tickwork.testing.ran import Ran

    try:
        return {"Ran": Ran, "Tickwork": Tickwork}[name]
    except KeyError:
        raise AttributeError(name) from None
