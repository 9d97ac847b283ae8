"""Templates: everything that is put into a page is escaped, and there is no way around it."""

from datetime import UTC, datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from tickwork.console import charts, static
from tickwork.console.words import Words

if TYPE_CHECKING:
    from tickwork.console.view import View

# In place of the nonce while a page is made, so that the same page is the same text.
NONCE = "nonce-of-this-response"
UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


@cache
def environment() -> Environment:
    return Environment(
        loader=PackageLoader("tickwork.console"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def rendered(view: "View", template: str, **values: Any) -> str:
    from tickwork.console.navigation import entries, grouped

    navigation = entries(view)
    return (
        environment()
        .get_template(template)
        .render(
            view=view,
            _=view.say,
            url=view.url,
            here=view.here,
            nonce=NONCE,
            static=lambda name: f"{view.settings.console_path}/static/{name}?{static.version()}",
            navigation=navigation,
            menus=grouped(navigation),
            charts=charts,
            ago=lambda time: ago(time, view.say),
            absolute=lambda time: absolute(time, view),
            duration=lambda seconds: duration(seconds, view.say),
            number=lambda value: number(value, view.say.language),
            **values,
        )
    )


def ago(time: datetime, say: Words, now: datetime | None = None) -> str:
    """How long ago, or in how long, to the largest unit: 3 min ago, in 2 d."""
    distance = time - (now or datetime.now(UTC))
    if abs(distance) < timedelta(seconds=1):
        return say("now")
    text = largest_unit(abs(distance.total_seconds()), say)
    return say("in {}", text) if distance > timedelta() else say("{} ago", text)


def largest_unit(seconds: float, say: Words) -> str:
    size, unit = next(each for each in UNITS if seconds >= each[0] or each[0] == 1)
    return f"{int(seconds // size)} {say(unit)}"


def duration(seconds: float | None, say: Words) -> str:
    """Short ones to the millisecond, long ones in their two largest units."""
    if seconds is None:
        return "–"
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 60:
        return f"{number(float(seconds), say.language)} {say('s')}"
    place = next(place for place, (size, _) in enumerate(UNITS) if seconds >= size)
    (size, unit), (less, smaller) = UNITS[place], UNITS[min(place + 1, len(UNITS) - 1)]
    rest = int(seconds % size // less)
    return f"{int(seconds // size)} {say(unit)}" + (f" {rest} {say(smaller)}" if rest else "")


def absolute(time: datetime, view: "View") -> str:
    """In the viewer's zone, and to the second."""
    local = time.astimezone(view.preferences.zone)
    date = local.strftime("%d.%m.%Y" if view.say.language == "de" else "%Y-%m-%d")
    return f"{date} {local.strftime('%H:%M:%S')} {local.tzname()}"


def number(value: float | None, language: str) -> str:
    if value is None:
        return "–"
    text = f"{value:,}" if isinstance(value, int) else f"{value:,.1f}"
    return text.translate(str.maketrans(",.", ".,")) if language == "de" else text
