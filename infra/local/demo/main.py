"""The demo functions: jobs that are quick, slow, fail at first, always fail, or kill their worker."""

import os
import signal

from pydantic import BaseModel

from tickwork.errors import Permanent, Retryable
from tickwork.jobs.handler import Handler, Handlers, Tools
from tickwork.serve import serve


class Order(BaseModel):
    number: int


class Receipt(BaseModel):
    number: int
    attempt: int


def be_quick(order: Order, tools: Tools) -> Receipt:
    return Receipt(number=order.number, attempt=tools.attempt)


def be_slow(order: Order, tools: Tools) -> Receipt:
    for step in range(1, 9):
        tools.wait(0.25)
        tools.progress(step / 8, f"step {step} of 8")
    return Receipt(number=order.number, attempt=tools.attempt)


def fail_twice(order: Order, tools: Tools) -> Receipt:
    tools.log("knocking", attempt=tools.attempt)
    if tools.attempt <= 2:
        raise Retryable("Nobody was at home", code="NOT_AT_HOME")
    return Receipt(number=order.number, attempt=tools.attempt)


def fail_for_good(order: Order, tools: Tools) -> Receipt:
    raise Permanent("There is no such address", code="NO_SUCH_ADDRESS")


def crash_the_worker(order: Order, tools: Tools) -> Receipt:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("nobody gets here")


HANDLERS: Handlers = {
    "demo_quick": Handler(Order, be_quick),
    "demo_slow": Handler(Order, be_slow),
    "demo_unlucky": Handler(Order, fail_twice),
    "demo_hopeless": Handler(Order, fail_for_good),
}

# In a process of its own, so that it takes nobody with it.
CRASH_HANDLERS: Handlers = {"demo_crash": Handler(Order, crash_the_worker)}

demo = serve("demo", HANDLERS)
demo_crash = serve("demo_crash", CRASH_HANDLERS)
