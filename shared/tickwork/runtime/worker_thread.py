"""The thread that handlers run in."""

import contextvars
import threading
from collections.abc import Callable
from typing import Any


class WorkerThread:
    """A thread that works on its own. One whose handler hangs or does not stop is abandoned, with its handler.

    What that handler does from then on is lost: only an outcome that is there in time gets written.
    """

    def __init__(self, work: Callable[..., None], *arguments: Any, on_end: Callable[[], None] | None = None) -> None:
        self._error: BaseException | None = None
        self._on_end = on_end
        self._ended = threading.Event()
        context = contextvars.copy_context()
        threading.Thread(target=context.run, args=(self._run, work, *arguments), daemon=True).start()

    def wait(self, seconds: float) -> bool:
        """Whether it has ended, at the latest after so many seconds; raises what it was ended by."""
        has_ended = self._ended.wait(seconds)
        if self._error:
            raise self._error
        return has_ended

    def _run(self, work: Callable[..., None], *arguments: Any) -> None:
        try:
            work(*arguments)
        except BaseException as error:
            self._error = error
        self._ended.set()
        if self._on_end:
            self._on_end()
