"""Calls that may wait: for the end of a job, or for a job to claim."""

import time
from collections.abc import Callable
from threading import BoundedSemaphore

from tickwork.api.calling import Caller, Origin, call
from tickwork.api.connections import Connections
from tickwork.api.reading import Arguments
from tickwork.api.route import Route
from tickwork.web.starting import thread_count

MAX_WAIT_SECONDS = 20
# How long until the next look: often at first, as most of what is waited for is short.
FIRST_LOOK_SECONDS, LAST_LOOK_SECONDS = 0.05, 0.5
# Half of the threads: the others serve those who do not wait. Who finds none free is answered at once.
_waiters = BoundedSemaphore(max(thread_count() // 2, 1))

# Whether there is nothing to wait for any longer, seen from the response.
Ends: dict[str, Callable[[str], bool]] = {
    "wait": lambda text: '"finished_at":null' not in text,
    "wait_seconds": lambda text: '"items": []' not in text,
}


def answered(
    connections: Connections, route: Route, arguments: Arguments, caller: Caller, origin: Origin
) -> str | None:
    text = call(connections, route, arguments, caller, origin)
    waits = [name for name in Ends if name in route.own_fields and arguments.values.get(name)]
    if not waits or text is None or Ends[waits[0]](text) or not _waiters.acquire(blocking=False):
        return text
    try:
        until = time.monotonic() + min(arguments.values[waits[0]], MAX_WAIT_SECONDS)
        pause = FIRST_LOOK_SECONDS
        while time.monotonic() + pause < until and text is not None and not Ends[waits[0]](text):
            time.sleep(pause)
            pause = min(pause * 1.5, LAST_LOOK_SECONDS)
            text = call(connections, route, arguments, caller, origin)
    finally:
        _waiters.release()
    return text
