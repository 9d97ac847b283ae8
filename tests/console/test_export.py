"""Lists as files: nothing in them runs, and nothing is lost."""

import csv
import io
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from tickwork.console.export import MAX_PAGE, Row, as_csv, cell, every_row


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("=HYPERLINK(A1)", "'=HYPERLINK(A1)"),
        ("+1", "'+1"),
        ("-1", "'-1"),
        ("@SUM(1)", "'@SUM(1)"),
        ("\t=1", "'\t=1"),
        ("\r=1", "'\r=1"),
        (["=1"], '["=1"]'),
        (-1, "-1"),
        (2**60, str(2**60)),
        (None, ""),
        (True, "True"),
        ({"a": UUID(int=1)}, '{"a": "00000000-0000-0000-0000-000000000001"}'),
        (datetime(2026, 11, 18, tzinfo=UTC), "2026-11-18T00:00:00+00:00"),
    ],
)
def test_no_cell_is_a_formula(value: Any, text: str) -> None:
    assert cell(value) == text


def test_quotes_and_lines_stay_within_their_cell() -> None:
    text = as_csv(("a", "b"), [{"a": 'x",=1', "b": "two\r\nlines; , ü"}])

    assert list(csv.reader(io.StringIO(text, newline=""))) == [["a", "b"], ['x",=1', "two\r\nlines; , ü"]]


def test_every_page_of_a_list_is_read_once() -> None:
    stored = [{"id": number} for number in range(2 * MAX_PAGE + 1)]
    asked: list[int | None] = []

    def read(after: int | None, most: int) -> Sequence[Row]:
        asked.append(after)
        start = 0 if after is None else after + 1
        return stored[start : start + most]

    assert list(every_row(read)) == stored
    assert asked == [None, MAX_PAGE - 1, 2 * MAX_PAGE - 1]
