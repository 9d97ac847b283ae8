"""Cron expressions: read as people write them, refused with a reason, and on time when the clock changes."""

import os
from datetime import UTC
from random import Random

import pytest

from tests.world import World
from tests.world.cron_oracle import ZONES, next_fire, next_fire_looked_up_again, random_case
from tickwork.errors import InvalidRequest

# Of each zone; `make explore` takes 20,000.
CASES = int(os.environ.get("TICKWORK_CALENDAR", "200"))
NEXT = """
    select tickwork.next_time(tickwork.parse_cron(cron), %s, moment) as at
    from unnest(%s::text[], %s::timestamptz[]) with ordinality as given(cron, moment, place)
    order by place
"""


@pytest.mark.parametrize("zone", ZONES)
def test_the_calendar_agrees_with_cronsim_around_clock_changes(world: World, zone: str) -> None:
    random = Random(zone)
    cases = [random_case(random, zone) for _ in range(CASES)]

    found = [row["at"] for row in world.rows(NEXT, zone, [cron for cron, _ in cases], [at for _, at in cases])]

    differing = []
    for (cron, moment), at in zip(cases, found, strict=True):
        if at != next_fire(cron, zone, moment):
            expected = next_fire_looked_up_again(cron, zone, moment)
            differing += [(cron, moment, at, expected)] if at != expected else []
    assert differing == []
    assert sum(at is not None for at in found) > CASES / 2


BY_HAND = [
    ("0 9 L * *", "2027-02-01", ["2027-02-28 09:00", "2027-03-31 09:00"]),
    ("0 9 L 2 *", "2028-02-01", ["2028-02-29 09:00", "2029-02-28 09:00"]),
    # The last of January and of February 2027 are Sundays, that of July a Saturday.
    ("0 9 LW * *", "2027-01-01", ["2027-01-29 09:00", "2027-02-26 09:00", "2027-03-31 09:00"]),
    ("0 9 LW 7 *", "2027-07-01", ["2027-07-30 09:00"]),
    ("0 9 * * MON#2", "2027-01-01", ["2027-01-11 09:00", "2027-02-08 09:00"]),
    ("0 9 * * 5#5", "2027-01-01", ["2027-01-29 09:00", "2027-04-30 09:00"]),
    ("0 9 * * 5L", "2027-01-01", ["2027-01-29 09:00", "2027-02-26 09:00"]),
    ("0 9 * * SUNL", "2027-01-01", ["2027-01-31 09:00"]),
    ("0 9 * * 7#1", "2027-01-01", ["2027-01-03 09:00"]),
    ("0 9 1,L * *", "2027-01-15", ["2027-01-31 09:00", "2027-02-01 09:00"]),
    ("@daily", "2027-01-01 00:00", ["2027-01-02 00:00"]),
    ("@Hourly", "2027-01-01 00:30", ["2027-01-01 01:00"]),
    ("@weekly", "2027-01-01", ["2027-01-03 00:00"]),
    ("@monthly", "2027-01-02", ["2027-02-01 00:00"]),
    ("@yearly", "2027-01-02", ["2028-01-01 00:00"]),
    (" 5\t4  * jan-Mar,12 mon-FRI ", "2027-03-31 05:00", ["2027-12-01 04:05"]),
    ("0 0 29 2 *", "2027-01-01", ["2028-02-29 00:00", "2032-02-29 00:00"]),
]


@pytest.mark.parametrize(("cron", "after", "expected"), BY_HAND)
def test_what_cron_expressions_mean(world: World, cron: str, after: str, expected: list[str]) -> None:
    rows = world.service.schedules.preview_schedule(cron, "UTC", f"{after}Z", len(expected))

    assert [f"{row['nominal_at'].astimezone(UTC):%Y-%m-%d %H:%M}" for row in rows] == expected


REFUSED = [
    ("* * * * * *", "has 6 fields, not 5", "no field for seconds"),
    ("* * * *", "has 4 fields, not 5", "Minute, hour"),
    ("", "has 1 fields, not 5", "Minute, hour"),
    ("@reboot", "has 1 fields, not 5", "@daily"),
    ("60 * * * *", "'60' cannot be the minute", "0 to 59"),
    ("* 24 * * *", "'24' cannot be the hour", "0 to 23"),
    ("* * 0 * *", "'0' cannot be the day of the month", "1 to 31"),
    ("* * * 13 *", "'13' cannot be the month", "1 to 12"),
    ("* * * * 8", "'8' cannot be the day of the week", "0 to 7"),
    ("* * * * MON#6", "'MON#6' cannot be the day of the week", "cannot be read"),
    ("* * * FOO *", "'FOO' cannot be the month", "cannot be read"),
    ("*/0 * * * *", "'*/0' cannot be the minute", "step"),
    ("*/60 * * * *", "'*/60' cannot be the minute", "step"),
    ("5-1 * * * *", "'5-1' cannot be the minute", "backwards"),
    ("1,,2 * * * *", "'' cannot be the minute", "cannot be read"),
    ("-1 * * * *", "'-1' cannot be the minute", "cannot be read"),
    ("1-2-3 * * * *", "'1-2-3' cannot be the minute", "cannot be read"),
    ("* * L-3 * *", "'L-3' cannot be the day of the month", "cannot be read"),
    ("٣ * * * *", "'٣' cannot be the minute", ""),
    ("* " * 3000, "fields, not 5", "Minute, hour"),
    ("1" * 5000 + " * * * *", "fields, not 5", "Minute, hour"),
]


@pytest.mark.parametrize(("cron", "complaint", "hint"), REFUSED, ids=lambda given: given[:20])
def test_what_cannot_be_read_is_refused_with_a_reason(world: World, cron: str, complaint: str, hint: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        world.service.schedules.preview_schedule(cron)

    assert complaint in str(refused.value)
    assert refused.value.sqlstate == "TWCAL"
    assert hint in (refused.value.hint or "")


def test_an_unknown_time_zone_is_refused(world: World) -> None:
    for zone in ("Mars/Base", "posix/Europe/Berlin", "berlin", ""):
        with pytest.raises(InvalidRequest, match="timezone: there is no time zone"):
            world.service.schedules.preview_schedule("@daily", zone)


def test_a_time_that_comes_twice_runs_once(world: World) -> None:
    rows = world.service.schedules.preview_schedule("30 2 * * *", "Europe/Berlin", "2027-10-30T12:00Z", 2)

    assert [row["local_time"] for row in rows] == ["Sun 31 Oct 2027 02:30", "Mon 01 Nov 2027 02:30"]


NOTED = [
    ("30 2 * * *", "2027-03-27T12:00Z", "Sun 28 Mar 2027 03:00", "because 02:30 does not exist on this day"),
    (
        "30 2 * * *",
        "2027-10-30T12:00Z",
        "Sun 31 Oct 2027 02:30",
        "02:30 comes twice on this day: this is the first time",
    ),
    ("*/30 2 * * *", "2027-10-30T12:00Z", "Sun 31 Oct 2027 02:00", "and it runs again the second time"),
    ("0 3 * * *", "2027-03-27T12:00Z", "Sun 28 Mar 2027 03:00", None),
    ("0 12 * * *", "2027-03-27T12:00Z", "Sun 28 Mar 2027 12:00", None),
]


@pytest.mark.parametrize(("cron", "after", "local_time", "note"), NOTED)
def test_a_preview_says_where_the_clock_changes(
    world: World, cron: str, after: str, local_time: str, note: str | None
) -> None:
    (row,) = world.service.schedules.preview_schedule(cron, "Europe/Berlin", after, 1)

    assert row["local_time"] == local_time
    assert (row["note"] or "").endswith(note or "")
    assert (row["note"] is None) == (note is None)
