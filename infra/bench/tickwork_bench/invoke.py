"""What it takes to have a function process one job, over HTTP."""

import http.client
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

from tickwork_bench.contenders import Sender, tickwork
from tickwork_bench.measure import Bench, Measurement, Result, latency_figures
from tickwork_local.functions import Function, Functions

FOLDER = Path(__file__).parents[1] / "functions"
FUNCTIONS = {name: Function(FOLDER / name / "main.py") for name in ("nothing", "hello")}
HELLO = "hello-world of functions-framework"
WARM_UPS = 10


def run(bench: Bench) -> Result:
    with TemporaryDirectory() as logs, bench.place.database() as url:
        tickwork.prepare(url)
        settings = {"TICKWORK_DATABASE_URL": tickwork.as_worker(url)}
        with tickwork.sender(url) as sender, Functions(FUNCTIONS, settings, Path(logs)) as running:
            samples = measured(bench, sender, running.urls["nothing"], running.urls["hello"])
    return Result(latency_figures(samples, HELLO))


def measured(bench: Bench, sender: Sender, nothing: str, hello: str) -> dict[str, list[float]]:
    samples: dict[str, list[float]] = {"tickwork, one job": [], HELLO: []}
    invocations = bench.size(300, 50)
    for number in range(-WARM_UPS, invocations):
        bench.say(f"invocation {max(number, 0)} of {invocations}")
        sender.one_by_one(1)
        for took, url in zip(samples.values(), (nothing, hello), strict=True):
            milliseconds = milliseconds_of_post(url)
            if number >= 0:
                took.append(milliseconds)
    return samples


def milliseconds_of_post(url: str) -> float:
    """On a connection of its own, as cron would."""
    began = time.perf_counter()
    status = post(url)
    took = time.perf_counter() - began
    assert status == 200, f"{url} answered {status}"
    return took * 1000


def post(url: str) -> int:
    place = urlsplit(url).netloc
    connection = http.client.HTTPConnection(place, timeout=60)
    try:
        connection.request("POST", "/")
        answer = connection.getresponse()
        answer.read()
        return answer.status
    finally:
        connection.close()


INVOKE = Measurement("invoke", "a function over HTTP, with one job", run)
