"""The Unstructured engines: the real client against a server that speaks the documented protocol."""

import io
import json
import logging
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

# Here, so that its import takes nothing of the time that a test gives a call.
import unstructured_client.general  # noqa: F401
from pypdf import PdfWriter
from unstructured_client._hooks.custom.split_pdf_hook import SplitPdfHook

from tests.servers.unstructured import (
    Reply,
    UnstructuredServer,
    answer,
    broken,
    dribbled,
    held,
    running_unstructured,
    status,
    together,
    zipped,
)
from tests.world.waiting import PATIENCE, until
from tickwork import traces
from tickwork.errors import JobError, Permanent, RateLimited, Retryable
from tickwork.families.extract.elements import Extracted
from tickwork.families.extract.engines import unstructured
from tickwork.families.extract.engines.unstructured import extract, neutral_name
from tickwork.families.extract.engines.unstructured_errors import Stage, refusal, translated, wanted_delay

PDF = "application/pdf"
TEXT = b"Mietvertrag\n\nDie Miete ist hoch."
WHOLE_AND_SPLIT = pytest.mark.parametrize("content", [TEXT, 4], ids=["whole", "split"])
KEY = "key-of-the-operator"
Read = Callable[..., Extracted]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[UnstructuredServer]:
    # The client takes these from the environment: proxies, and a file of certificates in a way that httpx warns of.
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"):
        monkeypatch.delenv(name, raising=False)
    with running_unstructured() as server:
        yield server


@pytest.fixture
def read(server: UnstructuredServer, tmp_path: Path) -> Read:
    """Has the engine read a text, or a PDF of so many pages."""

    def read(content: bytes | int = TEXT, **changes: Any) -> Extracted:
        file = tmp_path / "file"
        file.write_bytes(pdf(content) if isinstance(content, int) else content)
        arguments: dict[str, Any] = {
            "name": "Kündigung Familie Öztürk.pdf",
            "mime_type": PDF if isinstance(content, int) else "text/plain",
            "strategy": "fast",
            "server_url": server.url,
            "api_key": None,
            "seconds": 30.0,
            "report": lambda share, message: None,
            **changes,
        }
        return extract(file, **arguments)

    return read


def pdf(page_count: int) -> bytes:
    """Each page has a title and a paragraph with its number."""
    font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(page_count))
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", f"<< /Type /Pages /Count {page_count} /Kids [{kids}] >>".encode()]
    objects.append(font)
    for number in range(1, page_count + 1):
        text = f"BT /F1 18 Tf 72 700 Td (Title {number}) Tj /F1 10 Tf 0 -40 Td (Body {number}) Tj ET".encode()
        page = f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {3 + 2 * number} 0 R"
        objects.append(page.encode() + b" /Resources << /Font << /F1 3 0 R >> >> >>")
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(text), text))
    return file_of(objects)


def file_of(objects: Sequence[bytes]) -> bytes:
    body, offsets = b"%PDF-1.4\n", []
    for number, each in enumerate(objects, 1):
        offsets.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, each)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    size = len(objects) + 1
    trailer = b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (size, len(body))
    return body + b"xref\n0 %d\n0000000000 65535 f \n" % size + table + trailer


def test_a_text_comes_back_as_elements(read: Read) -> None:
    extracted = read()

    title, paragraph = extracted.elements
    assert (title["type"], title["text"]) == ("Title", "Mietvertrag")
    assert (paragraph["type"], paragraph["text"]) == ("NarrativeText", "Die Miete ist hoch.")
    assert paragraph["metadata"]["parent_id"] == title["element_id"]
    assert extracted.page_count == 1


@pytest.mark.parametrize("strategy", ["fast", "hi_res"])
def test_strategy_and_languages_are_always_said(read: Read, server: UnstructuredServer, strategy: str) -> None:
    read(strategy=strategy)

    (post,) = server.posts
    assert post.fields["strategy"] == [strategy]
    assert post.fields["languages[]"] == ["deu", "eng"]
    assert post.fields["split_pdf_allow_failed"] == ["false"]


def test_the_server_learns_the_format_but_not_the_name_nor_a_path(
    read: Read, server: UnstructuredServer, tmp_path: Path
) -> None:
    read(4)
    read()

    assert {(post.file_name, post.mime_type) for post in server.posts} == {
        ("document.pdf", PDF),
        ("document.txt", "text/plain"),
    }
    sent = repr([(post.headers, post.fields) for post in server.posts])
    assert "Öztürk" not in sent
    assert str(tmp_path) not in sent
    assert "/tmp" not in sent


@pytest.mark.parametrize(
    ("name", "mime_type", "neutral"),
    [
        ("Räumungsklage.TXT", PDF, "document.pdf"),
        ("Brief.ODT", "application/vnd.oasis.opendocument.text", "document.odt"),
        ("Meier.Öztürk", "application/octet-stream", "document"),
        ("Meier.a/b", "application/octet-stream", "document"),
        ("ohne", "application/octet-stream", "document"),
    ],
)
def test_a_neutral_name_keeps_the_extension(name: str, mime_type: str, neutral: str) -> None:
    assert neutral_name(name, mime_type) == neutral


def test_the_key_is_sent_with_each_part(read: Read, server: UnstructuredServer) -> None:
    server.key = KEY

    read(4, api_key=KEY)

    assert [post.headers["unstructured-api-key"] for post in server.posts] == [KEY, KEY]


def test_the_trace_is_sent_with_each_part(read: Read, server: UnstructuredServer) -> None:
    traceparent = f"00-{'ab' * 16}-{'cd' * 8}-01"

    with traces.within(traces.parsed(traceparent)):
        read()
        read(4)

    assert [post.headers.get("traceparent") for post in server.posts] == [traceparent] * 3


def test_without_a_key_there_is_no_header_for_it(read: Read, server: UnstructuredServer) -> None:
    read()
    read(4)

    assert not any("key" in name for post in server.posts for name in post.headers)


def test_a_pdf_of_two_pages_is_sent_whole(read: Read, server: UnstructuredServer) -> None:
    extracted = read(2)

    (post,) = server.posts
    assert (server.probes, post.field("starting_page_number")) == ([], None)
    assert (len(extracted.elements), extracted.page_count) == (4, 2)


def test_a_longer_pdf_is_sent_in_parallel_parts_and_keeps_its_page_numbers(
    read: Read, server: UnstructuredServer
) -> None:
    server.will(*[together(5)] * 5)

    extracted = read(23)

    assert server.probes == ["/general/docs"]
    starts = sorted(int(post.field("starting_page_number") or 0) for post in server.posts)
    assert starts == [1, 6, 11, 16, 21]
    for post in server.posts:
        assert (post.field("split_pdf_page"), post.field("strategy")) == ("false", "fast")
        assert post.fields["languages[]"] == ["deu", "eng"]
    assert [(each["text"], each["metadata"]["page_number"]) for each in extracted.elements] == [
        (f"{kind} {page}", page) for page in range(1, 24) for kind in ("Title", "Body")
    ]
    assert extracted.page_count == 23


def test_an_answer_of_a_part_that_a_proxy_would_compress_is_read(read: Read, server: UnstructuredServer) -> None:
    server.will(zipped, zipped)

    assert read(4).page_count == 4


REFUSALS = [
    (400, Permanent, "ENGINE_REFUSED"),
    (401, Permanent, "ENGINE_KEY"),
    (403, Permanent, "ENGINE_KEY"),
    (404, Permanent, "ENGINE_REFUSED"),
    (406, Permanent, "ENGINE_REFUSED"),
    (413, Permanent, "FILE_TOO_LARGE"),
    (415, Permanent, "ENGINE_REFUSED"),
    (418, Permanent, "ENGINE_REFUSED"),
    (422, Permanent, "ENGINE_REFUSED"),
    (429, RateLimited, "ENGINE_BUSY"),
    (500, Retryable, "ENGINE_UNAVAILABLE"),
    (502, Retryable, "ENGINE_UNAVAILABLE"),
    (503, Retryable, "ENGINE_BUSY"),
    (504, Retryable, "ENGINE_UNAVAILABLE"),
    (599, Retryable, "ENGINE_UNAVAILABLE"),
    (204, Retryable, "ENGINE_ANSWER"),
    (302, Retryable, "ENGINE_ANSWER"),
]


@pytest.mark.parametrize(("number", "kind", "code"), REFUSALS)
def test_each_status_has_its_error(number: int, kind: type[JobError], code: str) -> None:
    error = refusal(number, {})

    assert (type(error), error.code) == (kind, code)


@pytest.mark.parametrize(("number", "kind", "code"), [row for row in REFUSALS if 300 <= row[0] < 500])
def test_a_refusal_of_the_server_becomes_its_error(
    read: Read, server: UnstructuredServer, number: int, kind: type[JobError], code: str
) -> None:
    server.will(status(number))

    with pytest.raises(JobError) as raised:
        read(api_key=KEY)

    assert (type(raised.value), raised.value.code) == (kind, code)
    assert_tells_nothing(raised.value, server)


def test_one_refused_part_fails_the_whole_file(read: Read, server: UnstructuredServer) -> None:
    server.will(status(422))

    with pytest.raises(Permanent) as raised:
        read(10, api_key=KEY)

    assert raised.value.code == "ENGINE_REFUSED"
    assert_tells_nothing(raised.value, server)


@pytest.mark.parametrize(
    ("error", "stage", "kind", "code"),
    [
        (TimeoutError(), "asking", Retryable, "ENGINE_TIMEOUT"),
        (httpx.ReadTimeout(""), "asking", Retryable, "ENGINE_TIMEOUT"),
        (httpx.WriteTimeout(""), "answered", Retryable, "ENGINE_TIMEOUT"),
        (httpx.ConnectTimeout(""), "asking", Retryable, "ENGINE_UNAVAILABLE"),
        (httpx.ConnectError(""), "asking", Retryable, "ENGINE_UNAVAILABLE"),
        (httpx.ReadError(""), "answered", Retryable, "ENGINE_UNAVAILABLE"),
        (httpx.RemoteProtocolError(""), "answered", Retryable, "ENGINE_UNAVAILABLE"),
        (ssl.SSLError(), "reading", Retryable, "ENGINE_UNAVAILABLE"),
        (OverflowError(), "asking", Retryable, "ENGINE_UNAVAILABLE"),
        (ValueError(), "answered", Retryable, "ENGINE_ANSWER"),
        (RecursionError(), "reading", Permanent, "ENGINE_REFUSED"),
    ],
)
def test_each_error_of_the_client_has_its_own(error: Exception, stage: Stage, kind: type[JobError], code: str) -> None:
    found = translated(error, stage)

    assert (type(found), found.code) == (kind, code)


def assert_tells_nothing(error: JobError, server: UnstructuredServer) -> None:
    """An error is for the tenant: no address, no key, no answer of the server."""
    for secret in (server.url, "127.0.0.1", KEY, "secret-of-the-server", "Öztürk", "Miete"):
        assert secret not in str(error)
    assert error.__cause__ is None
    assert error.__suppress_context__


def test_a_key_that_is_not_accepted_is_the_operators_matter(read: Read, server: UnstructuredServer) -> None:
    server.key = "another"

    with pytest.raises(Permanent, match="did not accept the operator's key") as raised:
        read(api_key=KEY)

    assert raised.value.code == "ENGINE_KEY"
    assert_tells_nothing(raised.value, server)


@WHOLE_AND_SPLIT
def test_a_rate_limit_passes_on_how_long_to_wait(read: Read, server: UnstructuredServer, content: bytes | int) -> None:
    server.will(*[status(429, Retry_After="17")] * 2)

    with pytest.raises(RateLimited) as raised:
        read(content)

    assert raised.value.delay == 17


def test_a_rate_limit_is_left_to_the_queue(read: Read, server: UnstructuredServer) -> None:
    server.will(status(429), status(429))

    with pytest.raises(RateLimited) as raised:
        read()

    assert len(server.posts) == 1
    assert raised.value.delay is None


def test_how_long_to_wait_may_be_said_as_a_date() -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(minutes=5), usegmt=True)

    assert 200 < (wanted_delay({"Retry-After": date}) or 0) <= 300


@pytest.mark.parametrize(
    ("value", "delay"),
    [
        ("0", 1),
        ("9" * 400, 3600),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 1),
        ("Wed, 21 Oct 9999 07:28:00 -0000", 3600),
        ("soon", None),
        ("Wed, 21 Oct 2015 07:28:00 +99999999999999999999", None),
        ("-5", None),
        ("²", None),
        ("nan", None),
        ("", None),
    ],
)
def test_how_long_to_wait_stays_within_reason(value: str, delay: float | None) -> None:
    assert wanted_delay({"Retry-After": value}) == delay


@WHOLE_AND_SPLIT
def test_a_server_that_was_busy_for_a_moment_is_asked_again(
    read: Read, server: UnstructuredServer, monkeypatch: pytest.MonkeyPatch, content: bytes | int
) -> None:
    monkeypatch.setattr(unstructured, "TRY_AGAIN_SECONDS", PATIENCE)
    server.will(status(503))

    assert read(content).elements


@WHOLE_AND_SPLIT
def test_a_server_that_stays_busy_is_not_asked_for_long(
    read: Read, server: UnstructuredServer, content: bytes | int
) -> None:
    server.will(*[status(503, Retry_After="40")] * 50)

    with pytest.raises(Retryable) as raised:
        read(content, api_key=KEY)

    assert (raised.value.code, raised.value.delay) == ("ENGINE_BUSY", 40)
    assert 1 < len(server.posts) <= 10
    assert_tells_nothing(raised.value, server)


def test_a_probe_that_fails_fails_the_file(read: Read, server: UnstructuredServer) -> None:
    server.on_probe = status(401)

    with pytest.raises(Permanent) as raised:
        read(4)

    assert raised.value.code == "ENGINE_KEY"
    assert server.posts == []


@WHOLE_AND_SPLIT
def test_a_connection_that_breaks_halfway_is_worth_another_attempt(
    read: Read, server: UnstructuredServer, content: bytes | int
) -> None:
    server.will(*[broken] * 50)

    with pytest.raises(Retryable) as raised:
        read(content, api_key=KEY)

    assert raised.value.code == "ENGINE_UNAVAILABLE"
    assert_tells_nothing(raised.value, server)


def test_a_server_that_is_not_there_is_worth_another_attempt(read: Read) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

    with pytest.raises(Retryable, match="cannot be reached") as raised:
        read(server_url=f"http://127.0.0.1:{port}")

    assert raised.value.code == "ENGINE_UNAVAILABLE"


def test_an_address_that_cannot_be_is_not_blamed_on_the_file(read: Read) -> None:
    with pytest.raises(Retryable) as raised:
        read(server_url="http://127.0.0.1:99999")

    assert raised.value.code == "ENGINE_UNAVAILABLE"


@WHOLE_AND_SPLIT
def test_a_slow_answer_is_cut_at_the_deadline(read: Read, server: UnstructuredServer, content: bytes | int) -> None:
    server.will(*[dribbled] * 2)

    with pytest.raises(Retryable) as raised:
        # A split one is read in a process of its own before.
        read(content, seconds=3.0 if content == 4 else 1.0)

    assert raised.value.code == "ENGINE_TIMEOUT"
    for _ in server.posts:
        assert server.hung_up.acquire(timeout=PATIENCE)


@WHOLE_AND_SPLIT
def test_a_report_that_raises_gives_the_call_up_and_hangs_up(
    read: Read, server: UnstructuredServer, content: bytes | int
) -> None:
    server.will(*[dribbled] * 2)

    def report(share: float, message: str) -> None:
        if server.dribbling.is_set():
            raise InterruptedError("the attempt is to stop")

    with pytest.raises(InterruptedError):
        read(content, seconds=600.0, report=report)

    for _ in server.posts:
        assert server.hung_up.acquire(timeout=PATIENCE)


def test_a_report_that_raises_at_once_sends_nothing(read: Read, server: UnstructuredServer) -> None:
    def report(share: float, message: str) -> None:
        raise InterruptedError("the attempt is to stop")

    with pytest.raises(InterruptedError):
        read(report=report)

    assert server.posts == []


def test_without_time_nothing_is_sent(read: Read, server: UnstructuredServer) -> None:
    with pytest.raises(Retryable) as raised:
        read(seconds=0.0)

    assert raised.value.code == "ENGINE_TIMEOUT"
    assert server.posts == []


def test_the_calling_thread_reports_while_the_request_runs(read: Read, server: UnstructuredServer) -> None:
    enough, reports = threading.Event(), []

    def report(share: float, message: str) -> None:
        reports.append((share, threading.current_thread()))
        if server.posts and len(reports) >= 3:
            enough.set()

    server.will(held(enough))

    assert read(report=report).elements
    shares = [share for share, _ in reports]
    assert shares == sorted(shares)
    assert 0 <= shares[0] <= shares[-1] < 1
    assert {thread for _, thread in reports} == {threading.current_thread()}


def test_a_client_that_is_stuck_is_left_behind(read: Read, server: UnstructuredServer) -> None:
    with SplitPdfHook._split_pdf_setup_lock, pytest.raises(Retryable) as raised:
        read(seconds=0.1)

    assert raised.value.code == "ENGINE_TIMEOUT"
    until(lambda: not any(thread.name == "unstructured" for thread in threading.enumerate()))
    assert (server.probes, server.posts) == ([], [])


NO_ELEMENTS = [
    answer(b"<html>secret-of-the-server</html>", "text/html"),
    answer(b"<html>secret-of-the-server</html>"),
    answer(b"[{"),
    answer(b""),
    answer(b"null"),
    answer(b"17"),
    answer(b'"secret-of-the-server"'),
    answer(b'{"detail": "secret-of-the-server"}'),
    answer(b'["secret-of-the-server"]'),
    answer(b'[{"text": "no type and no id"}]'),
    answer(b'[{"type": "Title", "element_id": "1", "text": 5}]'),
    answer(b'[{"type": "Title", "element_id": "1", "text": "x", "metadata": [1]}]'),
]


@pytest.mark.parametrize(
    ("reply", "content"),
    [*((reply, TEXT) for reply in NO_ELEMENTS), (NO_ELEMENTS[1], 4)],
)
def test_an_answer_without_elements_is_worth_another_attempt(
    read: Read, server: UnstructuredServer, reply: Reply, content: bytes | int
) -> None:
    server.will(reply, reply)

    with pytest.raises(Retryable) as raised:
        read(content, api_key=KEY)

    assert raised.value.code == "ENGINE_ANSWER"
    assert "secret-of-the-server" not in str(raised.value)


def test_an_empty_list_is_an_answer(read: Read, server: UnstructuredServer) -> None:
    server.will(answer(b"[]"))

    extracted = read()

    assert (list(extracted.elements), extracted.page_count) == ([], 0)


def test_elements_are_cleaned_and_stripped_of_what_is_of_no_use(read: Read, server: UnstructuredServer) -> None:
    metadata = {
        "page_number": 3,
        "parent_id": "b" * 32,
        "text_as_html": "<table>\x00</table>",
        "category_depth": 0,
        "filetype": PDF,
        "languages": ["deu"],
        "image_base64": "A" * 10_000,
        "filename": "document.pdf",
        "coordinates": {"points": [[1, 2]]},
    }
    table = {"type": "Table", "element_id": "a" * 32, "text": " Kalt\x00miete \x1b\r\n", "metadata": metadata}
    server.will(answer(json.dumps([table]).encode()))

    (element,) = read().elements

    assert element == {
        "type": "Table",
        "element_id": "a" * 32,
        "text": "Kaltmiete",
        "metadata": {
            "page_number": 3,
            "parent_id": "b" * 32,
            "text_as_html": "<table></table>",
            "category_depth": 0,
            "filetype": PDF,
            "languages": ["deu"],
        },
    }


@pytest.mark.parametrize(
    "metadata",
    [
        {"page_number": "3"},
        {"page_number": True},
        {"page_number": 0},
        {"page_number": 10**20},
        {"parent_id": None},
        {"text_as_html": "x" * 100_001},
        {"languages": [1]},
        {"languages": "deu"},
        {"category_depth": -1},
    ],
)
def test_metadata_of_the_wrong_kind_or_size_is_dropped(
    read: Read, server: UnstructuredServer, metadata: dict[str, Any]
) -> None:
    element = {"type": "Title", "element_id": "a" * 32, "text": "Titel", "metadata": metadata}
    server.will(answer(json.dumps([element]).encode()))

    assert next(iter(read().elements))["metadata"] == {}


def test_a_page_without_text_counts_but_has_no_element(read: Read, server: UnstructuredServer) -> None:
    elements = [
        {"type": "Title", "element_id": "a" * 32, "text": "Titel", "metadata": {"page_number": 1}},
        {"type": "Image", "element_id": "b" * 32, "text": "", "metadata": {"page_number": 2}},
        {"type": "PageBreak", "element_id": "c" * 32, "text": None},
    ]
    server.will(answer(json.dumps(elements).encode()))

    extracted = read()

    assert [each["text"] for each in extracted.elements] == ["Titel"]
    assert extracted.page_count == 2


@pytest.mark.parametrize(
    ("text", "page", "code"), [("x", 2001, "TOO_MANY_PAGES"), ("x" * 5_000_001, 2000, "TOO_MUCH_TEXT")]
)
def test_more_than_a_document_may_have_is_refused(
    read: Read, server: UnstructuredServer, text: str, page: int, code: str
) -> None:
    element = {"type": "Title", "element_id": "a" * 32, "text": text, "metadata": {"page_number": page}}
    server.will(answer(json.dumps([element]).encode()))

    with pytest.raises(Permanent) as raised:
        read()

    assert raised.value.code == code


def locked(user_password: str, algorithm: str) -> bytes:
    writer, file = PdfWriter(clone_from=io.BytesIO(pdf(4))), io.BytesIO()
    writer.encrypt(user_password, owner_password="owner", algorithm=algorithm)
    writer.write(file)
    return file.getvalue()


CATALOG = b"<< /Type /Catalog /Pages 2 0 R >>"
PAGE = b"<< /Type /Page /MediaBox [0 0 9 9] >>"
# Each node of the tree has the next one twice.
THOUSANDS = [b"<< /Type /Pages /Count %d /Kids [%d 0 R %d 0 R] >>" % (2 ** (12 - n), n + 3, n + 3) for n in range(12)]
HUNDREDS = [b"<< /Type /Pages /Count 1 /Kids [%d 0 R] >>" % (number + 3) for number in range(200)]


@pytest.mark.parametrize(
    ("content", "code"),
    [
        pytest.param(b"no PDF at all", "CORRUPT_FILE", id="no PDF"),
        pytest.param(locked("user", "RC4-128"), "ENCRYPTED_FILE", id="locked"),
        pytest.param(file_of([CATALOG, *THOUSANDS, PAGE]), "TOO_MANY_PAGES", id="4096 pages"),
        pytest.param(file_of([CATALOG, *HUNDREDS, PAGE]), "CORRUPT_FILE", id="deep"),
        pytest.param(b"", "EMPTY_FILE", id="empty"),
    ],
)
def test_a_pdf_that_cannot_be_split_never_leaves_the_house(
    read: Read, server: UnstructuredServer, content: bytes, code: str
) -> None:
    with pytest.raises(Permanent) as raised:
        read(content, mime_type=PDF)

    assert raised.value.code == code
    assert (server.probes, server.posts) == ([], [])


def test_a_pdf_that_the_client_cannot_split_is_left_to_the_server(read: Read, server: UnstructuredServer) -> None:
    with pytest.raises(Permanent) as raised:
        read(pdf(4).replace(b"startxref", b"").replace(b"%%EOF", b""), mime_type=PDF)

    assert raised.value.code == "ENGINE_REFUSED"
    assert len(server.posts) == 1


def test_a_pdf_that_may_be_read_but_not_changed_is_split(read: Read, server: UnstructuredServer) -> None:
    assert read(locked("", "AES-256"), mime_type="Application/PDF; version=1.7").page_count == 4
    assert len(server.posts) == 2


@WHOLE_AND_SPLIT
def test_a_proxy_of_the_environment_is_used(
    read: Read, server: UnstructuredServer, monkeypatch: pytest.MonkeyPatch, content: bytes | int
) -> None:
    monkeypatch.setenv("HTTP_PROXY", server.url)

    assert read(content, server_url="http://engine.invalid").elements
    assert all(post.headers["host"] == "engine.invalid" for post in server.posts)


def test_a_server_behind_a_path_is_found(read: Read, server: UnstructuredServer) -> None:
    assert read(4, server_url=f"{server.url}/unstructured/").page_count == 4
    assert server.probes == ["/unstructured/general/docs"]


def test_the_logging_of_the_process_stays_as_it_was(
    read: Read, server: UnstructuredServer, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = logging.getLogger()
    monkeypatch.setattr(root, "handlers", [])
    monkeypatch.setattr(root, "level", logging.WARNING)
    server.will(status(422))

    with pytest.raises(Permanent):
        read()

    assert (root.handlers, root.level) == ([], logging.WARNING)
    assert capfd.readouterr() == ("", "")
