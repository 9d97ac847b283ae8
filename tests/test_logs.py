"""A log line is one line, whatever is in it, and tells no secrets."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any, get_args

import pytest

from tickwork.logs import MAX_FIELD_LENGTH, Severity, bound, log, log_exception, traced

LABELS = "logging.googleapis.com/labels"
TRACE = "logging.googleapis.com/trace"
TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736"

Lines = Callable[[], list[dict[str, Any]]]

MANY_LONG_LINES = f"""
import threading
from tickwork.logs import log
def write(digit):
    for number in range(20):
        log("write", number=number, **{{f"field_{{each}}": digit * {MAX_FIELD_LENGTH} for each in range(10)}})
threads = [threading.Thread(target=write, args=(digit,)) for digit in "01234567"]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


@pytest.fixture
def lines(capsys: pytest.CaptureFixture[str]) -> Lines:
    return lambda: [json.loads(line) for line in capsys.readouterr().out.splitlines()]


@pytest.fixture(autouse=True)
def no_project(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GOOGLE_CLOUD_PROJECT", raising=False)


def test_a_line_has_a_verb_a_time_a_severity_and_its_fields(lines: Lines) -> None:
    log("claim", number=1, text="ä", share=0.5, nothing=None, is_so=True)

    (line,) = lines()
    assert line.pop("time").endswith("+00:00")
    assert line == {
        "severity": "INFO",
        "message": "claim",
        LABELS: {},
        "number": 1,
        "text": "ä",
        "share": 0.5,
        "nothing": None,
        "is_so": True,
    }


@pytest.mark.parametrize("severity", get_args(Severity))
def test_every_severity_is_one_of_cloud_logging(severity: Severity, lines: Lines) -> None:
    log("claim", severity)

    assert lines()[0]["severity"] == severity
    assert severity in ("DEBUG", "INFO", "NOTICE", "WARNING", "ERROR", "CRITICAL", "ALERT", "EMERGENCY")


@pytest.mark.parametrize(
    "text",
    [
        'x"}\n{"severity": "INFO", "message": "settle"}',
        "x\r\ny",
        "\x1b[2J\x1b]0;title\x07",
        "\x00\x08\x0b\x0c\x7f\x85",
        "\u2028\u2029\u202e",
        "\ud800",
    ],
)
def test_a_forged_line_stays_one_line(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with bound(label=text):
        log(text, field=text, other=[text], error=ValueError(text))

    written = capsys.readouterr().out
    line = json.loads(written)
    # Nothing that a terminal or a log reader would act upon, except the end of the line.
    assert written.endswith("\n")
    assert all(" " <= character <= "~" for character in written.removesuffix("\n").replace("\x7f", ""))
    assert line["message"] == line["field"] == line["error"] == line[LABELS]["label"] == text


def test_a_field_cannot_pose_as_the_time_or_the_severity(lines: Lines) -> None:
    log(
        "claim",
        "ERROR",
        **{"severity": "INFO", "message": "settle", "time": 1, LABELS: {"family": "other"}, "verb": "x"},
    )

    (line,) = lines()
    assert (line["severity"], line["message"], line[LABELS], line["verb"]) == ("ERROR", "claim", {}, "x")
    assert line["time"] != 1


def test_any_value_makes_a_line_of_json(capsys: pytest.CaptureFixture[str]) -> None:
    log("claim", a=float("nan"), b=float("inf"), c={("x",): object}, d=b"\xff", e={1}, stream="text")

    line = json.loads(capsys.readouterr().out, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert (line["a"], line["b"], line["stream"]) == ("nan", "inf", "text")


@pytest.mark.parametrize("length", [MAX_FIELD_LENGTH, MAX_FIELD_LENGTH + 1, 10_000_000])
def test_a_long_field_is_cut_in_its_middle(length: int, lines: Lines) -> None:
    text = "a" + "x" * (length - 2) + "z"

    with bound(label=text):
        log(text, field=text, list=[text])

    (line,) = lines()
    for cut in (line["field"], line["message"], line[LABELS]["label"]):
        assert cut[0] == "a"
        assert cut[-1] == "z"
        assert cut == text if length == MAX_FIELD_LENGTH else f"({length} characters)" in cut
        assert len(cut) < MAX_FIELD_LENGTH + 40
    assert len(line["list"]) < MAX_FIELD_LENGTH + 40


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://worker:hunter2@host:5432/db",
        "cannot reach postgresql://worker:hunter2@host, nor https://u:hunter2@other/path",
        "postgresql://worker:hun@hunter2@host/db",
        "postgresql://host/db?user=worker&password=hunter2&sslmode=require",
        "host=host password=hunter2 user=worker",
        "PGPASSWORD=hunter2 psql",
        "https://hunter2@host/",
    ],
)
def test_passwords_are_removed(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with bound(label=text):
        log(text, text=text, error=ValueError(text), nested={"url": [text]})
        log_exception("handler_raised", ValueError(text))

    written = capsys.readouterr().out
    assert "hunter2" not in written
    assert "host" in written or "psql" in written


@pytest.mark.parametrize("text", ["https://example.com/@someone", "someone@example.com", "http://127.0.0.1:80/a?b=c"])
def test_what_is_no_password_stays(text: str, lines: Lines) -> None:
    log("fetch", text=text)

    assert lines()[0]["text"] == text


def test_an_exception_is_logged_with_its_causes(lines: Lines) -> None:
    try:
        try:
            raise ValueError("the cause")
        except ValueError as error:
            raise RuntimeError("x" * 2 * MAX_FIELD_LENGTH + " the end") from error
    except RuntimeError as error:
        log_exception("handler_raised", error)

    (line,) = lines()
    assert (line["severity"], line["message"]) == ("ERROR", "handler_raised")
    assert line["exception"].startswith("Traceback")
    assert "the cause" in line["exception"]
    assert line["exception"].endswith("the end")


def test_labels_are_text_on_every_line_inside_and_none_outside(lines: Lines) -> None:
    with bound(family="test", attempt=1):
        log("claim")
        with bound(attempt=2):
            log("run")
        log("settle")
    log("stop")

    assert [line[LABELS] for line in lines()] == [
        {"family": "test", "attempt": "1"},
        {"family": "test", "attempt": "2"},
        {"family": "test", "attempt": "1"},
        {},
    ]


def test_labels_and_traces_of_one_thread_are_not_those_of_another(lines: Lines) -> None:
    with bound(family="test"), traced(None, TRACE_ID):
        thread = threading.Thread(target=log, args=("claim",))
        thread.start()
        thread.join()

    (line,) = lines()
    assert line[LABELS] == {}
    assert TRACE not in line


@pytest.mark.parametrize(
    ("traceparent", "cloud_trace"),
    [
        (f"00-{TRACE_ID}-00f067aa0ba902b7-01", None),
        (None, f"{TRACE_ID}/1234567890;o=1"),
        (None, TRACE_ID),
        (f"00-{TRACE_ID}-00f067aa0ba902b7-01", f"{'0' * 32}/1"),
        ("nonsense", f"{TRACE_ID}/1"),
    ],
)
def test_a_trace_is_on_every_line_inside(traceparent: str | None, cloud_trace: str | None, lines: Lines) -> None:
    with traced(traceparent, cloud_trace):
        log("claim")
    log("stop")

    inside, outside = lines()
    assert inside[TRACE] == TRACE_ID
    assert TRACE not in outside


def test_a_trace_is_named_as_cloud_logging_finds_it(lines: Lines, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "my-project")

    with traced(None, f"{TRACE_ID}/1;o=1"):
        log("claim")

    assert lines()[0][TRACE] == f"projects/my-project/traces/{TRACE_ID}"


@pytest.mark.parametrize(
    "header",
    [
        "",
        "-",
        TRACE_ID[:-1],
        f"00-{TRACE_ID}",
        f"00-{TRACE_ID.upper()}-00f067aa0ba902b7-01",
        f"00-{TRACE_ID}f-00f067aa0ba902b7-01",
        f"{TRACE_ID}f/1",
        "x" * 100_000,
        f'"\n{TRACE_ID}/1',
    ],
)
def test_a_trace_that_is_none_is_left_out(header: str, lines: Lines) -> None:
    with traced(header, header):
        log("claim")

    assert TRACE not in lines()[0]


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_long_lines_of_many_threads_do_not_mix(unbuffered: str) -> None:
    written = subprocess.run(
        [sys.executable, "-c", MANY_LONG_LINES],
        env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
        stdout=subprocess.PIPE,
        check=True,
    ).stdout

    lines = [json.loads(line) for line in written.splitlines()]
    assert len(lines) == 8 * 20
    assert all(len({line[f"field_{each}"] for each in range(10)}) == 1 for line in lines)
