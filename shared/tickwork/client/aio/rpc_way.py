"""The way in by a supabase client, or anything else with its method rpc."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from tickwork.client import looking
from tickwork.client.aio.way import Arguments, Row, Watch
from tickwork.client.json_values import plain, rows_of
from tickwork.errors import NotAllowed, QueueError, Unavailable, queue_error

if TYPE_CHECKING:
    from pydantic import BaseModel

    M = TypeVar("M", bound=BaseModel)


class HasRpc(Protocol):
    def rpc(self, function: str, arguments: Mapping[str, Any]) -> Any: ...


class RpcWay:
    """Who calls, how long it takes at most and what is tried again is the supabase client's to decide."""

    def __init__(self, client: HasRpc) -> None:
        self._client = client

    async def rows(
        self, function: str, arguments: Arguments, *, columns: str = "*", repeatable: bool = True
    ) -> list[Row]:
        given = {name: plain(value) for name, value in arguments.items()}
        try:
            response = await self._client.rpc(function, given).execute()
        except Exception as error:
            raise error_of(error) from error
        return rows_of(function, response.data)

    async def one(self, model: type[M], function: str, arguments: Arguments, *, repeatable: bool = True) -> M:
        (row,) = await self.rows(function, arguments, repeatable=repeatable)
        return model.model_validate(row)

    @asynccontextmanager
    async def watch(self) -> AsyncIterator[Watch]:
        yield RpcWatch()

    async def close(self) -> None:
        """It is for the application to close its client."""


class RpcWatch:
    """Nothing is announced: the job is read again and again."""

    def pauses(self) -> Sequence[float]:
        return looking.LOOK_SECONDS

    async def wait_for(self, job_id: str, seconds: float) -> None:
        await asyncio.sleep(seconds)


def error_of(error: Exception) -> Exception:
    """Ours for one of PostgREST, whose codes are SQLSTATEs or its own."""
    code, message = getattr(error, "code", None), str(getattr(error, "message", None) or error)
    if not isinstance(code, str):
        is_lost = isinstance(error, OSError) or type(error).__module__.startswith("httpx")
        return Unavailable(message, hint="Is the URL of the project right?") if is_lost else error
    # PGRST3xx: the token is missing, expired or wrong.
    if code.startswith("PGRST3"):
        return NotAllowed(message, sqlstate=code, hint="Sign in again.")
    # PGRST0xx: PostgREST does not reach the database; 08, 53 and 57: that has no room or shuts down.
    if code.startswith(("PGRST0", "08", "53", "57")):
        return Unavailable(message, sqlstate=code)
    found: QueueError = queue_error(code, message, getattr(error, "hint", None))
    return found
