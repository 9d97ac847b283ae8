"""Readers take time in proportion to what they read, whatever shape it has."""

import gc
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module

import pytest

from tests.world.hostile_shapes import SHAPES, Shape
from tickwork.families.extract.engines.outline import Outline
from tickwork.families.extract.engines.refusals import Refused

SIZE = 100_000
# In proportion would be four times, its square sixteen.
GROWTH, MAX_RATIO = 4, 8
# What a measurement may be off, and how long one may take at all, in seconds of the processor's time.
NOISE, MAX_SECONDS = 0.05, 20


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, shapes in SHAPES.items() for name in shapes])
def test_a_file_four_times_as_large_takes_about_four_times_as_long(kind: str, name: str) -> None:
    shape = SHAPES[kind][name]

    with limited_time():
        small = seconds_for(kind, shape, SIZE)
        large = seconds_for(kind, shape, SIZE * GROWTH)

    assert large <= MAX_RATIO * small + NOISE


@contextmanager
def limited_time() -> Iterator[None]:
    """Without it a reader that has gone wrong would take hours."""

    def give_up(*_: object) -> None:
        raise AssertionError(f"more than {MAX_SECONDS} s of the processor's time")

    before = signal.signal(signal.SIGVTALRM, give_up)
    signal.setitimer(signal.ITIMER_VIRTUAL, MAX_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def seconds_for(kind: str, shape: Shape, size: int) -> float:
    read = import_module(f"tickwork.families.extract.engines.{kind}").read
    data = shape(size)
    # As in the child, which does not collect either.
    gc.disable()
    start = time.process_time()
    try:
        read(data, Outline(lambda line: None))
    except Refused:
        pass
    finally:
        gc.enable()
    return time.process_time() - start
