"""Reads what people type into what the queue understands; each error names the field and the rule."""

import json
from datetime import datetime
from typing import Any
from uuid import UUID

from tickwork.database.connection import Database
from tickwork.errors import BadSetting, InvalidRequest
from tickwork.settings import is_postgres_url


def database_url(given: str, name: str) -> str:
    try:
        return is_postgres_url(given)
    except ValueError as error:
        # Without its context, which may show the password.
        raise BadSetting(f"{name}: {error}. Example: postgresql://user:password@host:5432/database") from None


def job_id(given: str, name: str = "ID") -> UUID:
    hint = "It looks like 123e4567-e89b-42d3-a456-426614174000; `tickwork jobs` shows the ids."
    return uuid(given, f"{name}: {given!r} is not a job id", hint)


def document_id(given: str) -> UUID:
    return uuid(given, f"ID: {given!r} is not a document id", "`tickwork documents` shows the ids.")


def webhook_id(given: str) -> UUID:
    hint = "`tickwork webhooks` and `tickwork webhooks deliveries` show the ids."
    return uuid(given, f"ID: {given!r} is not an id", hint)


def uuid(given: str, refusal: str, hint: str) -> UUID:
    try:
        return UUID(given)
    except ValueError:
        raise InvalidRequest(refusal, hint=hint) from None


def payload(given: str) -> Any:
    try:
        value = json.loads(given)
        json.dumps(value, ensure_ascii=False).encode()
    except RecursionError:
        raise InvalidRequest("payload: nested deeper than 32 levels", hint="Flatten the payload.") from None
    except UnicodeEncodeError:
        raise InvalidRequest("payload: contains half of a surrogate pair, which is not a character") from None
    except ValueError as error:
        raise InvalidRequest(
            f"payload: is not JSON ({error})", hint="""Example: --payload '{"document_id": "…"}'"""
        ) from None
    if value is None:
        raise InvalidRequest("payload: must be an object, not null", hint="For an empty payload, leave it out.")
    return value


def point_in_time(database: Database, given: str | None, name: str = "run_at") -> datetime | None:
    """A time, or an interval from now, as read by Postgres and by its clock."""
    if given is None:
        return None
    readings = ["select %(given)s::timestamptz as at"]
    # 08:00 could also be read as an interval of eight hours, which is hardly ever meant.
    if any(each.isalpha() for each in given):
        readings.append("select now() + %(given)s::interval as at")
    for reading in readings:
        try:
            at: datetime = database.rows(reading, {"given": given})[0]["at"]
        except InvalidRequest:
            continue
        return at
    hint = "Use a time up to the year 9999, such as 2027-01-31T08:00Z, or an interval from now, such as '1 hour'."
    raise InvalidRequest(f"{name}: {given!r} is not a point in time", hint=hint)
