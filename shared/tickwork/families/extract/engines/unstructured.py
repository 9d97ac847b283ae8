"""The Unstructured API as an engine, hosted or on a server of one's own, through its own client."""

import asyncio
import io
import logging
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

from tickwork.errors import JobError, Permanent, RateLimited, Retryable
from tickwork.families.extract.elements import Element, Extracted, cleaned
from tickwork.families.extract.engines import local
from tickwork.families.extract.engines.outline import Outline
from tickwork.families.extract.engines.refusals import MAX_ELEMENTS, MAX_PAGES, MAX_TEXT, Refused

if TYPE_CHECKING:
    import httpx
    from unstructured_client import UnstructuredClient
    from unstructured_client.models.shared import PartitionParameters

Strategy = Literal["fast", "hi_res"]
Report = Callable[[float, str], None]
Stage = Literal["reading", "asking", "answered"]

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
LANGUAGES = ["deu", "eng"]
CONNECT_SECONDS = 10.0
REPORT_SECONDS = 0.5
# What a request that was given up gets to close its connections.
CLOSING_SECONDS = 0.5
LONGEST_DELAY = 3600.0
SPLITTING_SECONDS = 30.0
PARALLEL_PARTS = 5
PAGES_OF_A_PART = 20
PASSWORD_NEEDED = 4  # says PDFium


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
    return _within_limits([_element(raw) for raw in answer])


def try_to_split(file: Path, until: float, report: Report) -> None:
    """Raise Permanent if the client had better not read this PDF, which it does to split it: right here, unguarded."""
    seconds = min(until - time.monotonic(), SPLITTING_SECONDS)
    try:
        with file.open("rb") as source, local.running_child(source, "unstructured", seconds) as child:
            local.Answer(child, time.monotonic() + seconds, report).read()
    except Permanent:
        if time.monotonic() < until:
            raise
        raise Retryable(TOO_SLOW, code="ENGINE_TIMEOUT") from None


def read(data: bytes, outline: Outline) -> None:
    """In a child with its limits: what the client is going to do."""
    import pypdfium2  # type: ignore[import-untyped]
    from pypdf import PdfReader
    from pypdf.errors import DependencyError, FileNotDecryptedError, PdfReadError

    try:
        with pypdfium2.PdfDocument(data) as whole:
            outline.turn_to(len(whole))
            for first in range(0, len(whole), PAGES_OF_A_PART):
                part = pypdfium2.PdfDocument.new()
                part.import_pages(whole, range(first, min(first + PAGES_OF_A_PART, len(whole))))
                part.save(io.BytesIO())
                part.close()
        outline.turn_to(len(list(PdfReader(io.BytesIO(data), strict=False).pages)))
    except pypdfium2.PdfiumError as error:
        raise Refused("encrypted" if error.err_code == PASSWORD_NEEDED else "corrupt") from None
    except (FileNotDecryptedError, DependencyError):
        raise Refused("encrypted") from None
    except PdfReadError:
        # The client notices, and refuses the file or sends it whole.
        pass


def neutral_name(name: str, mime_type: str) -> str:
    """A name that tells the server the format and nothing about the tenant."""
    extension = EXTENSIONS.get(mime_type) or Path(name).suffix.lower()
    return "document" + (extension if re.fullmatch(r"\.[a-z0-9]{1,8}", extension) else "")


def refusal(status: int, headers: Mapping[str, str]) -> JobError:
    """What an answer other than elements means for the job."""
    match status:
        case 400 | 415 | 422:
            return Permanent(UNREADABLE, code="ENGINE_REFUSED")
        case 401 | 403:
            return Permanent("The engine did not accept the operator's key: ask the operator", code="ENGINE_KEY")
        case 413:
            return Permanent("The file is larger than the engine takes: split it", code="FILE_TOO_LARGE")
        case 429:
            return RateLimited(
                "The engine takes no more files for now", code="ENGINE_BUSY", delay=wanted_delay(headers)
            )
        case 503:
            return Retryable("The engine is busy", code="ENGINE_BUSY", delay=wanted_delay(headers))
        case _ if 400 <= status < 500:
            return Permanent("The engine refused the request: ask the operator", code="ENGINE_REFUSED")
        case _ if status >= 500:
            return Retryable("The engine failed on its side", code="ENGINE_UNAVAILABLE")
        case _:
            return Retryable(NO_ELEMENTS, code="ENGINE_ANSWER")


UNREADABLE = "The engine cannot read the file: it may be encrypted, corrupt or of another type than its name says"
UNREACHABLE = "The engine cannot be reached: if this lasts, ask the operator"
TOO_SLOW = "The engine did not answer in time: a file of fewer pages may help"
NO_ELEMENTS = "The engine answered something other than the elements of a document"


def wanted_delay(headers: Mapping[str, str]) -> float | None:
    """The seconds of a Retry-After header, which may also be a date."""
    value = headers.get("Retry-After", "").strip()
    try:
        delay = float(value) if value.isdecimal() else (_point_in_time(value) - datetime.now(UTC)).total_seconds()
    except (ValueError, OverflowError):
        return None
    return min(max(delay, 1.0), LONGEST_DELAY)


def _point_in_time(date: str) -> datetime:
    found = parsedate_to_datetime(date)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


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
        try:
            async with httpx.AsyncClient(event_hooks=hooks) as http:
                request = operations.PartitionRequest(partition_parameters=self._parameters())
                # The client would decompress the parts of a split PDF twice.
                headers = {"Accept-Encoding": "identity"}
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
                # Here and not with the request, or the parts of a split PDF are tried again for half an hour. In
                # milliseconds: two or three more tries if the server fails at once, none if that took its time.
                retry_config=RetryConfig("backoff", BackoffStrategy(200, 500, 2.0, 700), True),
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


def translated(error: Exception, stage: Stage) -> JobError:
    """What an error of the client means for the job; it never tells the address, the key or the answer."""
    import httpx
    from unstructured_client.models.errors import UnstructuredClientError

    match error:
        case UnstructuredClientError():
            return refusal(error.status_code, error.headers)
        case httpx.ConnectTimeout():
            return Retryable(UNREACHABLE, code="ENGINE_UNAVAILABLE")
        case httpx.TimeoutException() | TimeoutError():
            return Retryable(TOO_SLOW, code="ENGINE_TIMEOUT")
        case httpx.TransportError() | OSError():
            return Retryable(UNREACHABLE, code="ENGINE_UNAVAILABLE")
    match stage:
        case "reading":
            # The client reads a PDF to split it, and stumbles over a broken one in many ways.
            return Permanent(UNREADABLE, code="ENGINE_REFUSED")
        case "asking":
            return Retryable(UNREACHABLE, code="ENGINE_UNAVAILABLE")
        case "answered":
            return Retryable(NO_ELEMENTS, code="ENGINE_ANSWER")


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


def _element(raw: Mapping[str, Any]) -> Element:
    type, id, text, found = raw.get("type"), raw.get("element_id"), raw.get("text") or "", raw.get("metadata") or {}
    if not (isinstance(type, str) and isinstance(id, str) and isinstance(text, str) and isinstance(found, dict)):
        raise Retryable(NO_ELEMENTS, code="ENGINE_ANSWER")
    metadata = {name: _clean(found[name]) for name, is_useful in USEFUL.items() if is_useful(found.get(name))}
    return {"type": cleaned(type), "element_id": cleaned(id), "text": cleaned(text), "metadata": metadata}  # type: ignore[typeddict-item]


def _within_limits(elements: list[Element]) -> Extracted:
    page_count = max((each["metadata"].get("page_number", 1) for each in elements), default=0)
    if page_count > MAX_PAGES:
        raise local.refused("too many pages")
    if sum(len(each["text"].encode()) for each in elements) > MAX_TEXT or len(elements) > MAX_ELEMENTS:
        raise local.refused("too much text")
    return Extracted([each for each in elements if each["text"]], page_count)


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value < 1_000_000


def _is_text(value: object, longest: int = 200) -> bool:
    return isinstance(value, str) and len(value) <= longest


# Anything else is of no use here, and may be as large as an image.
USEFUL: dict[str, Callable[[Any], bool]] = {
    "page_number": lambda value: _is_count(value) and value > 0,
    "parent_id": _is_text,
    "text_as_html": partial(_is_text, longest=100_000),
    "category_depth": _is_count,
    "filetype": _is_text,
    "languages": lambda value: isinstance(value, list) and len(value) <= 20 and all(map(_is_text, value)),
}


def _clean(value: Any) -> Any:
    match value:
        case str():
            return cleaned(value)
        case list():
            return [cleaned(each) for each in value]
        case _:
            return value
