"""Runs handlers that are `async`."""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from tickwork.jobs.handler import Tools

T = TypeVar("T")


def result_of(handler: Coroutine[Any, Any, T], tools: Tools) -> T:
    """Run it to its end, in an event loop of its own, so that it keeps no other handler waiting.

    If the attempt has to stop, it is cancelled at its next `await`.
    """
    with asyncio.Runner() as runner:
        return runner.run(stoppable(handler, tools))


async def stoppable(handler: Coroutine[Any, Any, T], tools: Tools) -> T:
    loop, task = asyncio.get_running_loop(), asyncio.ensure_future(handler)

    def stop() -> None:
        # The loop may have been closed just now.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(task.cancel)

    tools.on_interrupt = stop
    try:
        # It may have been asked to before anybody listened.
        tools.check()
        return await task
    except asyncio.CancelledError:
        tools.check()
        raise
    finally:
        tools.on_interrupt = None
