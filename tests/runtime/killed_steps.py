"""A job whose process is killed in each of its steps, given the URLs of operator and worker, how many steps, and when.

Every attempt is a process of its own, which kills itself with SIGKILL: `after` its step is stored, or `within` the
transaction that stores it, when the write of the step has been performed. Prints how many were killed.
"""

import os
import signal
import sys
from functools import partial

import psycopg
from pydantic import BaseModel

from tickwork.database.connection import Connection, Database
from tickwork.jobs.handler import Handler, Tools
from tickwork.jobs.outcomes import Done, Report
from tickwork.queue import Queue
from tickwork.runtime.deadline import Deadline
from tickwork.runtime.work import work


class Payload(BaseModel):
    pass


class Sum(BaseModel):
    total: int


def process_in_steps(tools: Tools, steps: int, when: str) -> Sum:
    total = 0
    for number in range(1, steps + 1):
        total += tools.step(f"step {number}", partial(do, tools, number, when), Sum).total
        if when == "after":
            kill(tools, number)
    return Sum(total=total)


def do(tools: Tools, number: int, when: str) -> Done:
    def write(connection: Connection) -> None:
        connection.execute("insert into notes values (%s, %s)", [tools.tenant_id, f"step {number}"])
        if when == "within":
            kill(tools, number)

    return Done(Sum(total=number), writes=[write])


def kill(tools: Tools, number: int) -> None:
    """The first attempt ends in the first step, the second one in the second, and so on."""
    if tools.attempt == number:
        os.kill(os.getpid(), signal.SIGKILL)


def run_once(worker_url: str, steps: int, when: str) -> None:
    handler = Handler(Payload, lambda _, tools: process_in_steps(tools, steps, when))
    queue, report = Queue(Database(worker_url), "worker"), Report("test")
    # The server may not have noticed yet that the process of the last attempt is gone.
    while not report.claimed:
        report = work(queue, "test", {"greet_person": handler}, Deadline(float("inf"), 1))


def main(database_url: str, worker_url: str, steps: str, when: str) -> None:
    for killed in range(100):
        child = os.fork()
        if child == 0:
            run_once(worker_url, int(steps), when)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if not os.WIFSIGNALED(status):
            print(killed)
            return
        assert os.WTERMSIG(status) == signal.SIGKILL
        with psycopg.connect(database_url) as connection:
            connection.execute("update jobs set lease_expires_at = clock_timestamp() where status = 'running'")


if __name__ == "__main__":
    main(*sys.argv[1:])
