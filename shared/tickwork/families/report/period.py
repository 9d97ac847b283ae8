"""What a report covers: the days of a period in the time zone of the tenant, and who the tenant is."""

from calendar import monthrange
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal

import psycopg

from tickwork.errors import InvalidPayload
from tickwork.jobs.connection import Connection

Language = Literal["en", "de"]

TENANT = "select name, timezone, language from tickwork.reported_tenant()"
# In the time zone of the transaction. Without days: the month before a moment.
DAYS = """
    select first_day, last_day, first_day::timestamptz::text as begins_at, (last_day + 1)::timestamptz::text as ends_at
    from (
      select
        coalesce(%(first_day)s, month.first_day - interval '1 month')::date as first_day,
        coalesce(%(last_day)s, month.first_day - interval '1 day')::date as last_day
      from (select date_trunc('month', coalesce(%(before)s, now()))) as month(first_day)
    ) as days
"""


@dataclass(frozen=True)
class Scope:
    """The tenant and the days."""

    tenant: str
    timezone: str
    language: Language
    first_day: date
    last_day: date
    begins_at: str
    ends_at: str

    @property
    def parameters(self) -> dict[str, Any]:
        """Of every query."""
        return {name: getattr(self, name) for name in ("first_day", "last_day", "begins_at", "ends_at")}

    @property
    def label(self) -> str:
        """2026-10 for a month, else the first and the last day."""
        if (self.first_day, self.last_day) == days_of(self.first_day):
            return f"{self.first_day:%Y-%m}"
        return f"{self.first_day}-to-{self.last_day}"


def days_of(day: date) -> tuple[date, date]:
    """The first and the last day of its month."""
    return day.replace(day=1), day.replace(day=monthrange(day.year, day.month)[1])


def read_scope(connection: Connection, timezone: str | None, language: Language | None, days: dict[str, Any]) -> Scope:
    """What is not given is the tenant's own."""
    (tenant,) = connection.execute(TENANT).fetchall()
    timezone = timezone or tenant["timezone"]
    enter_zone(connection, timezone)
    (found,) = connection.execute(DAYS, days).fetchall()
    return Scope(tenant["name"], timezone, language or tenant["language"], **found)


def allow_seconds(connection: Connection, seconds: float) -> None:
    """For one statement of this transaction: the server's own limit is for what is done in a moment."""
    connection.execute("select set_config('statement_timeout', %s, true)", [str(max(int(seconds * 1000), 1))])


def enter_zone(connection: Connection, timezone: str) -> None:
    """From here on the transaction shows times in this zone, and its days begin at midnight there."""
    try:
        connection.execute("select set_config('TimeZone', %s, true)", [timezone])
    except psycopg.errors.InvalidParameterValue:
        raise InvalidPayload("timezone: the database does not know it") from None
