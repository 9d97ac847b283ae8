"""generate_report: writes reports about a tenant over a period into the vault, as HTML, CSV or JSON."""

from collections.abc import Callable, Iterator
from datetime import date
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from tickwork.errors import InvalidPayload
from tickwork.families.report.definitions import Definition, definitions
from tickwork.families.report.files import Rows
from tickwork.families.report.page import page
from tickwork.families.report.period import Language, Scope, allow_seconds, days_of, enter_zone, read_scope
from tickwork.jobs.connection import Connection
from tickwork.jobs.handler import Handler, Tools
from tickwork.tools.artifacts import ArtifactRef, store_rows

Format = Literal["html", "csv", "json"]
MIME_TYPES = {"html": "text/html", "csv": "text/csv", "json": "application/json"}
MAX_DAYS = 366
Day = Annotated[str, Field(pattern="^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]


class Payload(BaseModel):
    """Of a month, or from the first to the last day; else of the month before a moment, which is now by default."""

    model_config = ConfigDict(extra="forbid")

    month: Annotated[str, Field(pattern="^[0-9]{4}-[0-9]{2}$")] | None = None
    first_day: Day | None = None
    last_day: Day | None = None
    before: AwareDatetime | None = None
    reports: list[str] | None = None
    formats: list[Format] = ["html"]
    timezone: str | None = None
    language: Language | None = None


class File(BaseModel):
    """`rows` of a page is null: it shows totals."""

    name: str
    rows: int | None
    artifact_ref: ArtifactRef


class Result(BaseModel):
    first_day: Day
    last_day: Day
    timezone: str
    files: list[File]


def generate_report(payload: Payload, tools: Tools) -> Result:
    wanted = wanted_reports(payload)
    days = wanted_days(payload)
    scope: Scope = tools.under_lease(lambda tx: read_scope(tx, payload.timezone, payload.language, days))
    files = []
    parts = list(planned(wanted, dict.fromkeys(payload.formats)))
    for number, (format, chosen) in enumerate(parts):
        tools.progress(number / len(parts), f"writing {format}")
        files.append(written(tools, scope, format, chosen))
    first, last = str(scope.first_day), str(scope.last_day)
    return Result(first_day=first, last_day=last, timezone=scope.timezone, files=files)


def wanted_reports(payload: Payload) -> list[Definition]:
    known = definitions()
    names = list(known) if payload.reports is None else list(dict.fromkeys(payload.reports))
    if not names or not set(names) <= set(known):
        raise InvalidPayload(f"reports: there are {', '.join(known)}")
    if not payload.formats:
        raise InvalidPayload("formats: at least one of html, csv and json")
    return [known[name] for name in names]


def wanted_days(payload: Payload) -> dict[str, Any]:
    given = [payload.month, payload.first_day or payload.last_day, payload.before]
    if sum(each is not None for each in given) > 1:
        raise InvalidPayload("month, first_day and last_day, or before: only one of them")
    first, last = (day and as_date(day) for day in (payload.first_day, payload.last_day))
    if payload.month:
        first, last = days_of(as_date(f"{payload.month}-01"))
    if (first is None) != (last is None):
        raise InvalidPayload("first_day and last_day: both or neither")
    if first and last and not 0 <= (last - first).days < MAX_DAYS:
        raise InvalidPayload(f"last_day: must be at or after first_day, at most {MAX_DAYS} days in all")
    return {"first_day": first, "last_day": last, "before": payload.before}


def as_date(day: str) -> date:
    try:
        return date.fromisoformat(day)
    except ValueError:
        raise InvalidPayload(f"{day}: there is no such day") from None


def planned(wanted: list[Definition], formats: dict[Format, None]) -> Iterator[tuple[Format, list[Definition]]]:
    """One page with all reports, and a file of rows for each."""
    for format in formats:
        if format == "html":
            yield format, wanted
        else:
            yield from ((format, [each]) for each in wanted)


def written(tools: Tools, scope: Scope, format: Format, chosen: list[Definition]) -> File:
    rows = Rows()
    name = f"{'report' if format == 'html' else chosen[0].name}-{scope.label}.{format}"

    def pieces(connection: Connection) -> Iterator[bytes]:
        enter_zone(connection, scope.timezone)
        allow_seconds(connection, tools.seconds_left())
        for piece in writer_of(format, rows)(connection, chosen, scope):
            tools.check()
            yield piece

    ref = store_rows(tools, name, MIME_TYPES[format], pieces)
    return File(name=name, rows=None if format == "html" else rows.count, artifact_ref=ref)


def writer_of(format: Format, rows: Rows) -> Callable[[Connection, list[Definition], Scope], Iterator[bytes]]:
    match format:
        case "html":
            return page
        case "csv":
            return rows.as_csv
        case "json":
            return rows.as_json


GENERATE_REPORT: Handler[Payload] = Handler(Payload, generate_report, Result)
