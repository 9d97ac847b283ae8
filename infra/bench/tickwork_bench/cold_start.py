"""How long each family's function takes from the start of its process to its first response."""

import http.client
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

import psycopg

from tickwork.shipped import FUNCTIONS
from tickwork_bench.contenders import tickwork
from tickwork_bench.invoke import FOLDER, post
from tickwork_bench.measure import Bench, Measurement, Result, Target, interleaved, median_figure
from tickwork_local.functions import free_ports
from tickwork_local.launch import ends_with_parent

Ask = Callable[[str], int]

API = "api"
HELLO = "hello-world of functions-framework"
MAX_SECONDS = 60
KNOCK_SECONDS = 0.002
# The launcher is not measured: the clock starts when it is done.
ON_YOUR_MARKS = ["sh", "-c", 'echo ready; read go; exec "$@" > /dev/null', "sh"]


def run(bench: Bench) -> Result:
    # What needs no packages is no function.
    folders = [file.parent for file in sorted(FUNCTIONS.glob("*/requirements.txt"))]
    families = {folder.name: (folder / "main.py", 204) for folder in folders}
    sources = {HELLO: (FOLDER / "hello" / "main.py", 200), **families}
    api, _ = sources.pop(API)
    with TemporaryDirectory() as folder, bench.place.database() as url:
        tickwork.prepare(url)
        environment = {
            **os.environ,
            "TICKWORK_DATABASE_URL": tickwork.as_worker(url),
            "TICKWORK_OPEN_ON_LOOPBACK": "true",
            # What is deployed has its byte-code with it: the first round writes ours.
            "PYTHONDONTWRITEBYTECODE": "",
            # Where gunicorn puts its control socket.
            "XDG_RUNTIME_DIR": folder,
        }
        runs = {
            name: partial(milliseconds_to_answer, source, status, environment, post)
            for name, (source, status) in sources.items()
        }
        as_api = {**environment, "TICKWORK_DATABASE_URL": url.replace("//postgres@", "//tickwork_api@")}
        runs[API] = partial(milliseconds_to_answer, api, 200, as_api, partial(get_jobs, key_for(url)))
        # The first round fills the caches of the machine, and does not count.
        samples = interleaved(bench, runs, 1 + bench.size(7, 3))
    figures = [median_figure(name, each[1:], "ms", HELLO) for name, each in samples.items()]
    return Result(figures, [Target(API, [HELLO], at_most=1.6)])


def key_for(url: str) -> str:
    with psycopg.connect(url) as connection:
        row = connection.execute("select key from public.create_api_key('bench', '{read}', null)").fetchone()
    assert row
    return str(row[0])


def get_jobs(key: str, url: str) -> int:
    """The first request that needs all of it: the caller, a connection and a function."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)
    try:
        connection.request("GET", "/api/v1/jobs", headers={"X-Api-Key": key})
        answer = connection.getresponse()
        answer.read()
        return answer.status
    finally:
        connection.close()


def milliseconds_to_answer(source: Path, status: int, environment: dict[str, str], ask: Ask) -> float:
    (port,) = free_ports(1)
    options = ["--target", "main", "--source", str(source), "--host", "127.0.0.1", "--port", str(port)]
    command = [*ON_YOUR_MARKS, sys.executable, "-m", "functions_framework", *options]
    process = subprocess.Popen(
        ends_with_parent(command, by=signal.SIGKILL),
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    with process as function:
        try:
            assert function.stdin
            assert function.stdout
            function.stdout.readline()
            began = time.perf_counter()
            function.stdin.write(b"go\n")
            function.stdin.flush()
            answer = first_answer(f"http://127.0.0.1:{port}", function, ask)
            took = time.perf_counter() - began
        finally:
            os.killpg(function.pid, signal.SIGKILL)
    assert answer == status, f"{source} answered {answer}"
    return took * 1000


def first_answer(url: str, function: subprocess.Popen[bytes], ask: Ask) -> int:
    deadline = time.monotonic() + MAX_SECONDS
    while time.monotonic() < deadline and function.poll() is None:
        try:
            return ask(url)
        except ConnectionError:
            time.sleep(KNOCK_SECONDS)
    raise TimeoutError(f"{function.args!r} did not answer")


COLD_START = Measurement("cold_start", "from the start of each family's process to its first response", run)
