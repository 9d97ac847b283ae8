"""Waiting for something to come true, without a fixed sleep."""

import time
from collections.abc import Callable

# Seconds for what comes at once on an idle machine. Only a test that fails waits so long.
PATIENCE = 180


def until(
    condition: Callable[[], object],
    otherwise: str = "it did not come true in time",
    seconds: float = PATIENCE,
    pause: float = 0.02,
) -> None:
    give_up_at = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < give_up_at, otherwise
        time.sleep(pause)
