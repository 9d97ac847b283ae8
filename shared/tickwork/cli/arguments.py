"""Reads what people type into what the queue understands; each error names the field and the rule."""

import json
import re
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from tickwork.client import Tickwork
from tickwork.errors import BadSetting, InvalidRequest
from tickwork.settings import is_postgres_url


def database_url(given: str, name: str) -> str:
    try:
        return is_postgres_url(given)
    except ValueError as error:
        # Without its context, which may show the password.
        raise BadSetting(f"{name}: {error}. Example: postgresql://user:password@host:5432/database") from None


def job_id(client: Tickwork, given: str, name: str = "ID") -> UUID:
    return whole_id(client, "public.jobs", given, name, "job")


def document_id(client: Tickwork, given: str) -> UUID:
    return whole_id(client, "public.documents", given, "ID", "document")


def endpoint_id(client: Tickwork, given: str) -> UUID:
    return whole_id(client, "public.webhook_endpoints", given, "ID", "endpoint")


def delivery_id(client: Tickwork, given: str) -> UUID:
    return whole_id(client, "public.webhook_deliveries", given, "ID", "delivery")


def whole_id(client: Tickwork, table: str, given: str, name: str, kind: str) -> UUID:
    """The only id of the table that begins like that; a whole one is taken as it is."""
    digits = digits_of_id(given, name, kind)
    if len(digits) == 32:
        return UUID(digits)
    if not client.has_database:
        raise InvalidRequest(f"{name}: {given!r} is not a whole id", hint="Over HTTP, give all of its digits.")
    ends = {"first": UUID(digits.ljust(32, "0")), "last": UUID(digits.ljust(32, "f"))}
    rows = client.database.rows(f"select id from {table} where id between %(first)s and %(last)s limit 2", ends)
    if len(rows) != 1:
        what = f"several ids of {PLURALS[kind]} begin" if rows else f"no id of {PLURALS[kind]} begins"
        hint = "Give more of its digits." if rows else f"`{LISTED_BY[kind]}` shows the ids."
        raise InvalidRequest(f"{name}: {what} with {given!r}", hint=hint)
    id: UUID = rows[0]["id"]
    return id


def digits_of_id(given: str, name: str, kind: str) -> str:
    """The hexadecimal digits of an id, or of its beginning."""
    digits = given.replace("-", "").lower()
    if not re.fullmatch("[0-9a-f]{4,32}", digits):
        if kind in NAMED:
            raise InvalidRequest(
                f"{name}: there is no {NAMED[kind]} {given!r}", hint=f"`{LISTED_BY[kind]}` lists them."
            )
        hint = f"Give an id that `{LISTED_BY[kind]}` shows, or at least its first four digits."
        article = "an" if kind == "endpoint" else "a"
        raise InvalidRequest(f"{name}: {given!r} is not {article} {kind} id", hint=hint)
    return digits


# What has a name too, by which it was not found.
NAMED = {
    "passport": "passport of battery",
    "passport version": "passport of battery",
    "document version": "document",
    "snapshot": "snapshot",
    "rules": "package of rules",
}
PLURALS = {
    "job": "jobs",
    "document": "documents",
    "endpoint": "endpoints",
    "delivery": "deliveries",
    "passport": "passports",
    "passport version": "passport versions",
    "passport document": "passport documents",
    "document version": "document versions",
    "snapshot": "snapshots",
    "rules": "rules",
}
LISTED_BY = {
    "job": "tickwork jobs",
    "document": "tickwork documents",
    "endpoint": "tickwork webhooks",
    "delivery": "tickwork webhooks deliveries",
    "passport": "tickwork passport list",
    "passport version": "tickwork passport list",
    "passport document": "tickwork passport documents list",
    "document version": "tickwork passport documents list",
    "snapshot": "tickwork passport snapshot list",
    "rules": "tickwork passport rules list",
}


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
            f"payload: is not JSON ({error})", hint="""Example: tickwork enqueue TYPE '{"document_id": "…"}'"""
        ) from None
    if value is None:
        raise InvalidRequest("payload: must be an object, not null", hint="For an empty payload, leave it out.")
    return value


def point_in_time(client: Tickwork, given: str | None, name: str = "run_at") -> datetime | None:
    """A time, or an interval from now, as read by Postgres and by its clock; over HTTP, by ours."""
    if given is None:
        return None
    if not client.has_database:
        return read_here(given, name)
    readings = ["select %(given)s::timestamptz as at"]
    # 08:00 could also be read as an interval of eight hours, which is hardly ever meant.
    if any(each.isalpha() for each in given):
        readings.append("select now() + %(given)s::interval as at")
    for reading in readings:
        try:
            at: datetime = client.database.rows(reading, {"given": given})[0]["at"]
        except InvalidRequest:
            continue
        return at
    hint = "Use a time up to the year 9999, such as 2027-01-31T08:00Z, or an interval from now, such as '1 hour'."
    raise InvalidRequest(f"{name}: {given!r} is not a point in time", hint=hint)


INTERVAL = re.compile(r"(\d{1,6}) ?(second|minute|hour|day|week)s?( ago)?")


def read_here(given: str, name: str) -> datetime:
    if given == "now":
        return datetime.now(UTC)
    if match := INTERVAL.fullmatch(given):
        apart = timedelta(**{f"{match[2]}s": int(match[1])})
        return datetime.now(UTC) + (-apart if match[3] else apart)
    with suppress(ValueError):
        if (at := datetime.fromisoformat(given)).tzinfo:
            return at
    hint = "Over HTTP, use a time with its zone, such as 2027-01-31T08:00Z, or such as '1 hour' or '2 days ago'."
    raise InvalidRequest(f"{name}: {given!r} is not a point in time", hint=hint)
