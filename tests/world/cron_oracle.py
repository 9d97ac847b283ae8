"""When a cron expression fires, according to cronsim: another implementation of Debian's rules."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from random import Random
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

# Half an hour, no change at all, a change at midnight, a day that was left out, a change by two hours.
ZONES = (
    *("UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Santiago", "Africa/Cairo"),
    *("Asia/Kolkata", "Pacific/Apia", "Africa/Casablanca", "Asia/Beirut", "America/Havana", "Antarctica/Troll"),
)
# Further than this nobody looks.
FAR = timedelta(days=9 * 365)


@cache
def changes(zone: str) -> list[datetime]:
    """The days after which the clock was another one, from 2010 to 2016; a quiet day if there are none.

    Long ago, since the server and Python may know different versions of what is to come; and a rare expression fires
    nine years later.
    """
    days = [datetime(2010, 1, 1, tzinfo=UTC) + timedelta(days=day) for day in range(7 * 365)]
    offsets = [day.astimezone(ZoneInfo(zone)).utcoffset() for day in days]
    return [days[place] for place in range(1, len(days)) if offsets[place] != offsets[place - 1]] or [days[1000]]


def random_case(random: Random, zone: str) -> tuple[str, datetime]:
    moment = random.choice(changes(zone)) + timedelta(seconds=random.randint(-2 * 86400, 2 * 86400))
    return random_expression(random), moment


def random_expression(random: Random) -> str:
    return " ".join(
        (
            random_field(random, 0, 59),
            random_field(random, 0, 23) if random.random() < 0.6 else str(random.randint(0, 4)),
            random_field(random, 1, 31) if random.random() < 0.5 else "*",
            random_field(random, 1, 12) if random.random() < 0.3 else "*",
            random_field(random, 0, 7) if random.random() < 0.4 else "*",
        )
    )


def random_field(random: Random, lowest: int, highest: int) -> str:
    # cronsim reads 6-6/2 as 6/2; a range that has only one value is left out.
    first, last = sorted(random.sample(range(lowest, highest + 1), 2))
    step = random.randint(1, highest - lowest)
    listed = ",".join(str(random.randint(lowest, highest)) for _ in range(random.randint(2, 4)))
    kinds = ("*", f"*/{step}", str(first), f"{first}-{last}", f"{first}-{last}/{step}", f"{first}/{step}", listed)
    (kind,) = random.choices(kinds, weights=(35, 15, 25, 10, 5, 3, 7))
    return kind


def next_fire(expression: str, zone: str, moment: datetime) -> datetime | None:
    """The first time after the moment, within nine years."""
    found = first_of(fires(expression, zone, moment), moment)
    return found if found and found <= moment + FAR else None


def next_fire_looked_up_again(expression: str, zone: str, moment: datetime) -> datetime | None:
    """The same, but asked from every half hour around clock changes, too.

    cronsim steps by whole hours, and so passes over times right after a change; asked from a later moment it finds
    them. A time at which the clock shows something else than the expression names is none.
    """
    around = [moment, next_fire(expression, zone, moment) or moment]
    near = [change for change in changes(zone) if any(abs(change - each) < timedelta(days=4) for each in around)]
    starts = [change + timedelta(minutes=30 * step, seconds=-1) for change in near for step in range(-48, 48)]
    found = [first_of(fires(expression, zone, start), moment) for start in [moment, *starts] if start >= moment]
    return min((each for each in found if each and each <= moment + FAR), default=None)


def fires(expression: str, zone: str, start: datetime) -> Iterator[datetime]:
    try:
        cron = CronSim(expression, start.astimezone(ZoneInfo(zone)))
    except CronSimError:
        return
    is_fixed = not any(field.startswith("*") for field in expression.split()[:2])
    for local in cron:
        at = local.astimezone(UTC)
        shown = at.astimezone(ZoneInfo(zone)).replace(tzinfo=None)
        if is_fixed or next(CronSim(expression, shown - timedelta(seconds=1))) == shown:
            yield at


def first_of(times: Iterator[datetime], moment: datetime) -> datetime | None:
    return next((at for at in times if at > moment), None)
