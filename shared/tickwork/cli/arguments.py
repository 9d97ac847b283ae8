"""What people type, read as what the queue understands; each refusal names the field and the rule."""

import importlib.util
import json
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from tickwork.errors import BadSetting, InvalidRequest
from tickwork.jobs.handler import Handlers
from tickwork.queue import Queue


def database_url(given: str, name: str) -> str:
    if not given.startswith(("postgresql://", "postgres://")):
        raise BadSetting(
            f"{name}: must start with postgresql://, such as postgresql://user:password@host:5432/database"
        )
    return given


def job_id(given: str, name: str = "ID") -> UUID:
    try:
        return UUID(given)
    except ValueError:
        hint = "It looks like 123e4567-e89b-42d3-a456-426614174000; `tickwork jobs` shows the ids."
        raise InvalidRequest(f"{name}: {given!r} is no job id", hint=hint) from None


def document_id(given: str) -> UUID:
    try:
        return UUID(given)
    except ValueError:
        hint = "`tickwork documents` shows the ids."
        raise InvalidRequest(f"ID: {given!r} is no document id", hint=hint) from None


def tenant_id(queue: Queue, given: str) -> UUID:
    known = "select id from public.organizations where name = %(given)s or id::text = lower(%(given)s)"
    rows = queue.database.rows(known, {"given": given})
    if len(rows) != 1:
        what = f"{len(rows)} tenants are named" if rows else "there is no tenant"
        raise InvalidRequest(
            f"tenant: {what} {given!r}", hint="`tickwork tenants` lists them; an id is always unambiguous."
        )
    found: UUID = rows[0]["id"]
    return found


def payload(given: str) -> Any:
    try:
        value = json.loads(given)
        json.dumps(value, ensure_ascii=False).encode()
    except RecursionError:
        raise InvalidRequest("payload: nested deeper than 32 levels", hint="Flatten the payload.") from None
    except UnicodeEncodeError:
        raise InvalidRequest("payload: contains one half of a surrogate pair, which is no character") from None
    except ValueError as error:
        raise InvalidRequest(
            f"payload: is not JSON ({error})", hint="""Example: --payload '{"document_id": "…"}'"""
        ) from None
    if value is None:
        raise InvalidRequest("payload: must be an object, not null", hint="For an empty payload leave it out.")
    return value


def point_in_time(queue: Queue, given: str | None, name: str = "run_at") -> datetime | None:
    """A time, or an interval from now on, as Postgres reads it and by its clock."""
    if given is None:
        return None
    readings = ["select %(given)s::timestamptz as at"]
    # 08:00 would be an interval of eight hours, which is hardly what was meant.
    if any(each.isalpha() for each in given):
        readings.append("select now() + %(given)s::interval as at")
    for reading in readings:
        try:
            at: datetime = queue.database.rows(reading, {"given": given})[0]["at"]
        except InvalidRequest:
            continue
        return at
    hint = "It is a time until the year 9999, such as 2027-01-31T08:00Z, or an interval from now, such as '1 hour'."
    raise InvalidRequest(f"{name}: {given!r} is no point in time", hint=hint)


def handlers(functions: Path, family: str) -> Handlers:
    source = functions / family / "main.py"
    if not source.exists():
        raise InvalidRequest(
            f"FAMILY: there is no {source}", hint="Name the folder of your functions with --functions."
        )
    spec = importlib.util.spec_from_file_location(f"tickwork_function_{family}", source)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
        found: Handlers = module.HANDLERS
    except Exception as error:
        hint = "It must import without errors and set HANDLERS; --debug shows where it fails."
        raise InvalidRequest(f"FAMILY: {source} does not load ({type(error).__name__}: {error})", hint=hint) from error
    return found
