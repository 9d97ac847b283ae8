"""Cron expressions of any text: refused with TWCAL, or a calendar whose next time is still to come."""

import re
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from random import Random

from cronsim import CronSim, CronSimError
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz import bounded, quick
from tests.fuzz.json_texts import TEXTS
from tests.fuzz.refusals import refusable
from tests.world import World
from tests.world.cron_oracle import FAR, ZONES, next_fire, next_fire_looked_up_again, random_case

NEXT = "select tickwork.next_time(tickwork.parse_cron(%s), %s, %s)"
TERMS = [
    "*",
    "*/7",
    "0",
    "1",
    "7",
    "07",
    "31",
    "32",
    "59",
    "60",
    "1-5",
    "5-1",
    "2-2",
    "6-6/2",
    "1-30/4",
    "3/2",
    "1,2",
    "*,5",
]
NAMES = ["MON", "sun", "FRI-SAT", "Jan", "feb-DEC", "MON#2", "5#5", "5L", "SUNL", "L", "LW", "L-3", "?", "", "@daily"]
FIELDS = st.sampled_from([*TERMS, *NAMES, "9" * 12]) | st.text(st.sampled_from("0123456789*/,-#LW"), max_size=6)
EXPRESSIONS = (
    st.lists(FIELDS, min_size=5, max_size=5).map(" ".join)
    | st.lists(FIELDS, max_size=8).map("\t ".join)
    | st.text(st.sampled_from("0123456789*/,-#LWMONJAN@ \t\n"), max_size=60)
    | TEXTS
)
MOMENTS = st.datetimes(datetime(1970, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))


@quick
@given(EXPRESSIONS, st.sampled_from(ZONES), MOMENTS)
def test_any_text_is_refused_or_fires_later(world: World, cron: str, zone: str, moment: datetime) -> None:
    with refusable("TWCAL"):
        at = world.value(NEXT, cron, zone, moment)
        assert at is None or moment < at <= moment + FAR + timedelta(days=9)
        # From a second before it, it is the next one, too.
        assert at is None or world.value(NEXT, cron, zone, at - timedelta(seconds=1)) == at


@bounded
@given(st.integers(0), st.sampled_from(ZONES), EXPRESSIONS)
def test_what_cronsim_accepts_fires_at_its_times(world: World, seed: int, zone: str, odd: str) -> None:
    usual, moment = random_case(Random(seed), zone)
    for cron in (usual, odd):
        with suppress(CronSimError), refusable("TWCAL"):
            CronSim(cron, moment)
            found = world.value(NEXT, cron, zone, moment)
            # cronsim reads 6-6/2 as 6/2.
            if not re.search(r"\b(\d+)-\1/", cron):
                assert found in (next_fire(cron, zone, moment), next_fire_looked_up_again(cron, zone, moment))
