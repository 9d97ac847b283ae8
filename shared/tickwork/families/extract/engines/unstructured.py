"""The Unstructured API as an engine, hosted or on a server of one's own, through its own client."""

import asyncio
import logging
import re
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

from tickwork import traces
from tickwork.errors import Permanent, Retryable
from tickwork.families.extract.elements import Extracted
from tickwork.families.extract.engines import local
from tickwork.families.extract.engines.unstructured_elements import element_of, within_limits
from tickwork.families.extract.engines.unstructured_errors import NO_ELEMENTS, TOO_SLOW, Stage, translated

if TYPE_CHECKING:
    import httpx
    from unstructured_client import UnstructuredClient
    from unstructured_client.models.shared import PartitionParameters

Strategy = Literal["fast", "hi_res"]
Report = Callable[[float, str], None]

PDF = "application/pdf"
# The rest keep the extension of their name.
EXTENSIONS = {
    PDF: ".pdf",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ".docx",
    "message/rfc822": ".eml",
    "text/csv": ".csv",
    "text/html": ".html",
    "text/markdown": ".md",
    "text/plain": ".txt",
}
SPLITTER = f"{local.ENGINES}.unstructured_split"
LANGUAGES = ["deu", "eng"]
CONNECT_SECONDS = 10.0
REPORT_SECONDS = 0.5
# What a request that was given up gets to close its connections.
CLOSING_SECONDS = 0.5
SPLITTING_SECONDS = 30.0
PARALLEL_PARTS = 5
# Two or three more tries if a busy server fails at once, none if that took its time.
TRY_AGAIN_SECONDS = 0.7


def extract(
    file: Path,
    name: str,
    mime_type: str,
    strategy: Strategy,
    server_url: str | None,
    api_key: str | None,
    seconds: float,
    report: Report,
) -> Extracted:
    """What the server reads out of the file; given up after `seconds`, and as soon as `report` raises."""
    if seconds <= 0:
        raise Retryable(TOO_SLOW, code="ENGINE_TIMEOUT")
    until = time.monotonic() + seconds
    mime_type = mime_type.partition(";")[0].strip().lower()
    if mime_type == PDF:
        try_to_split(file, until, report)
    report(0.0, "sending the file")
    with file.open("rb") as content:
        call = Call(content, neutral_name(name, mime_type), mime_type, strategy, server_url, api_key, until)
        answer = _reporting(call, seconds, report)
    return within_limits([element_of(raw) for raw in answer])


def try_to_split(file: Path, until: float, report: Report) -> None:
    """Raise Permanent if the client had better not read this PDF, which it does to split it: right here, unguarded."""
    seconds = min(until - time.monotonic(), SPLITTING_SECONDS)
    try:
        with file.open("rb") as source, local.running_child(source, SPLITTER, seconds) as child:
            local.ChildOutput(child, time.monotonic() + seconds, report).read()
    except Permanent:
        if time.monotonic() < until:
            raise
        raise Retryable(TOO_SLOW, code="ENGINE_TIMEOUT") from None


def neutral_name(name: str, mime_type: str) -> str:
    """A name that tells the server the format and nothing about the tenant."""
    extension = EXTENSIONS.get(mime_type) or Path(name).suffix.lower()
    return "document" + (extension if re.fullmatch(r"\.[a-z0-9]{1,8}", extension) else "")


@dataclass(frozen=True)
class Call:
    """One file on its way to the server."""

    content: BinaryIO
    name: str
    mime_type: str
    strategy: Strategy
    server_url: str | None
    api_key: str | None = field(repr=False)
    until: float

    async def answer(self) -> list[dict[str, Any]]:
        import httpx
        from unstructured_client.models import operations

        stage: Stage = "reading"

        async def asking(request: httpx.Request) -> None:
            nonlocal stage
            stage = "asking"
            request.extensions["timeout"]["connect"] = CONNECT_SECONDS

        async def answered(response: httpx.Response) -> None:
            nonlocal stage
            stage = "answered"

        hooks: dict[str, list[Callable[..., Any]]] = {"request": [asking], "response": [answered]}
        seconds = self.until - time.monotonic()
        trace = traces.current()
        try:
            async with httpx.AsyncClient(event_hooks=hooks) as http:
                request = operations.PartitionRequest(partition_parameters=self._parameters())
                # The client would decompress the parts of a split PDF twice.
                headers = {"Accept-Encoding": "identity", **({"traceparent": str(trace)} if trace else {})}
                client = self._client(http, seconds)
                response = await client.general.partition_async(request=request, http_headers=headers)
        except MemoryError:
            raise
        except Exception as error:
            raise translated(error, stage) from None
        if response.elements is None:
            raise Retryable(NO_ELEMENTS, code="ENGINE_ANSWER")
        return response.elements

    def _parameters(self) -> "PartitionParameters":
        from unstructured_client.models import shared

        # Nothing of this machine goes in here: with a file that is not split, all of it is sent.
        return shared.PartitionParameters(
            files=shared.Files(content=self.content, file_name=self.name, content_type=self.mime_type),
            strategy=shared.Strategy(self.strategy),
            languages=LANGUAGES,
            # Asked to split, the client takes any file for a PDF at first.
            split_pdf_page=self.mime_type == PDF,
            split_pdf_allow_failed=False,
            split_pdf_concurrency_level=PARALLEL_PARTS,
        )

    def _client(self, http: "httpx.AsyncClient", seconds: float) -> "UnstructuredClient":
        import httpx
        from unstructured_client import UnstructuredClient
        from unstructured_client.utils import BackoffStrategy, RetryConfig

        # The client insists on a second one, for calls that wait: this cannot send anything.
        with _quiet_logging(), httpx.Client(transport=httpx.BaseTransport(), trust_env=False) as never_used:
            return UnstructuredClient(
                api_key_auth=self.api_key,
                server_url=self.server_url,
                client=never_used,
                async_client=http,
                # Here and not with the request, or the parts of a split PDF are tried again for half an hour.
                retry_config=RetryConfig(
                    "backoff", BackoffStrategy(200, 500, 2.0, round(TRY_AGAIN_SECONDS * 1000)), True
                ),
                timeout_ms=max(1, int(seconds * 1000)),
            )


@contextmanager
def _quiet_logging() -> Iterator[None]:
    """The client would have all loggers of the process write to stderr, and its own what the server answered."""
    logging.getLogger("unstructured-client").disabled = True
    root, guard = logging.getLogger(), logging.NullHandler()
    root.addHandler(guard)
    try:
        yield
    finally:
        root.removeHandler(guard)


def _reporting(call: Call, seconds: float, report: Report) -> list[dict[str, Any]]:
    """The answer to a call that runs beside this thread, which reports until then."""
    answer: Future[list[dict[str, Any]]] = Future()
    loop = asyncio.new_event_loop()
    task = loop.create_task(call.answer())
    threading.Thread(target=_run, args=(loop, task, answer), name="unstructured", daemon=True).start()
    try:
        while not wait([answer], timeout=min(REPORT_SECONDS, max(call.until - time.monotonic(), 0))).done:
            left = call.until - time.monotonic()
            if left <= 0:
                raise Retryable(TOO_SLOW, code="ENGINE_TIMEOUT")
            report(min(1 - left / seconds, 0.95), "waiting for the engine")
    except BaseException:
        with suppress(RuntimeError):  # it has ended just now
            loop.call_soon_threadsafe(task.cancel)
        wait([answer], timeout=CLOSING_SECONDS)
        raise
    return answer.result()


def _run(loop: asyncio.AbstractEventLoop, task: "asyncio.Task[Any]", answer: "Future[Any]") -> None:
    ending: Callable[[], None]
    try:
        ending = partial(answer.set_result, loop.run_until_complete(task))
    except BaseException as error:
        ending = partial(answer.set_exception, error)
    # Last, so that nothing is open any more when the answer is there.
    loop.run_until_complete(loop.shutdown_default_executor())
    loop.close()
    ending()
