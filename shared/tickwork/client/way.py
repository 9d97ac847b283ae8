# Written by `make client` from aio/way.py: change that one.
"""The one interface behind every method: a function of the schema public, its arguments, and the rows it returns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from pydantic import BaseModel

    M = TypeVar("M", bound=BaseModel)

Row = dict[str, Any]
Arguments = Mapping[str, Any]


class Watch(Protocol):
    """Knows when a job may have ended, or does not and lets the time pass."""

    def pauses(self) -> Sequence[float]:
        """Seconds to wait at most, the first time, the second time and so on."""

    def wait_for(self, job_id: str, seconds: float) -> None: ...


class Way(Protocol):
    """A way in: a database, the HTTP API, or a supabase client."""

    def rows(self, function: str, arguments: Arguments, *, columns: str = "*", repeatable: bool = True) -> list[Row]:
        """What it returns, with the types of Python. Of the columns a database only returns these.

        Only a repeatable call is sent again after an answer was lost.
        """

    def one(self, model: type[M], function: str, arguments: Arguments, *, repeatable: bool = True) -> M:
        """The only row that it returns, as a model."""

    def watch(self) -> AbstractContextManager[Watch]:
        """To be entered before the job is read for the first time."""

    def close(self) -> None:
        """Close what it has opened itself."""
