"""The way in by SQL, for a program with an event loop. Not generated: what waits differs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import psycopg
from psycopg.rows import dict_row

from tickwork.client import looking
from tickwork.client.aio.way import Arguments, Row, Watch
from tickwork.client.database_way import DatabaseWay, Looking, in_sql
from tickwork.database.call import check_integers, statement
from tickwork.database.connection import translated
from tickwork.errors import InvalidRequest

if TYPE_CHECKING:
    from pydantic import BaseModel

    M = TypeVar("M", bound=BaseModel)


class ThreadedWay:
    """Calls a database from another thread, which makes it reconnect and prepare statements as it does elsewhere."""

    def __init__(self, inner: DatabaseWay) -> None:
        self._inner = inner

    async def rows(
        self, function: str, arguments: Arguments, *, columns: str = "*", repeatable: bool = True
    ) -> list[Row]:
        return await asyncio.to_thread(self._inner.rows, function, arguments, columns=columns, repeatable=repeatable)

    async def one(self, model: type[M], function: str, arguments: Arguments, *, repeatable: bool = True) -> M:
        return await asyncio.to_thread(self._inner.one, model, function, arguments, repeatable=repeatable)

    @asynccontextmanager
    async def watch(self) -> AsyncIterator[Watch]:
        watching = self._inner.watch()
        watch = await asyncio.to_thread(watching.__enter__)
        try:
            yield ThreadedWatch(watch)
        finally:
            await asyncio.to_thread(watching.__exit__, None, None, None)

    async def close(self) -> None:
        self._inner.close()


class ThreadedWatch:
    def __init__(self, inner: Looking) -> None:
        self._inner = inner

    def pauses(self) -> Sequence[float]:
        return self._inner.pauses()

    async def wait_for(self, job_id: str, seconds: float) -> None:
        await asyncio.to_thread(self._inner.wait_for, job_id, seconds)


class OpenConnectionWay:
    """In the transaction of a connection that the application has opened, and commits and closes itself."""

    def __init__(self, connection: psycopg.AsyncConnection[Any]) -> None:
        self._connection = connection

    async def rows(
        self, function: str, arguments: Arguments, *, columns: str = "*", repeatable: bool = True
    ) -> list[Row]:
        given = in_sql(arguments)
        check_integers(given)
        async with self._connection.cursor(row_factory=dict_row) as cursor:
            try:
                await cursor.execute(statement(function, tuple(given), columns), given)
                return await cursor.fetchall()
            except UnicodeEncodeError:
                raise InvalidRequest("a text is not valid Unicode: write it in UTF-8", sqlstate="TWARG") from None
            except psycopg.Error as error:
                raise translated(error) from error

    async def one(self, model: type[M], function: str, arguments: Arguments, *, repeatable: bool = True) -> M:
        (row,) = await self.rows(function, arguments, columns=f"to_json({function})::text as one")
        return model.model_validate_json(row["one"])

    @asynccontextmanager
    async def watch(self) -> AsyncIterator[Watch]:
        yield AsyncLooking()

    async def close(self) -> None:
        """It is for the application to close it."""


class AsyncLooking:
    def pauses(self) -> Sequence[float]:
        return looking.LOOK_SECONDS

    async def wait_for(self, job_id: str, seconds: float) -> None:
        await asyncio.sleep(seconds)
