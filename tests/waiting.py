"""Waiting for something to come true, without a fixed sleep."""

import time
from collections.abc import Callable


def until(
    condition: Callable[[], object], otherwise: str = "it did not come true in time", seconds: float = 60
) -> None:
    give_up_at = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < give_up_at, otherwise
        time.sleep(0.02)
