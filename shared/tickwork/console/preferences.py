"""How a viewer wants the console: language, colours, time zone, read-only."""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from tickwork.console.page import Page, Redirect, Shown
from tickwork.console.session import Cookie, cookie_name
from tickwork.console.words import LANGUAGES
from tickwork.settings import Settings

if TYPE_CHECKING:
    from flask import Request

    from tickwork.console.view import View

PREFERENCES = "tickwork-preferences"
# Set by the script of the console, so it is not one of ours to trust.
ZONE = "tickwork-zone"
THEMES = ("auto", "light", "dark")
YEAR = 365 * 24 * 60 * 60


@dataclass(frozen=True)
class Preferences:
    language: str = "en"
    theme: str = "auto"
    is_read_only: bool = False
    zone_name: str = "UTC"

    @cached_property
    def zone(self) -> ZoneInfo:
        try:
            return ZoneInfo(self.zone_name)
        except (ValueError, OSError, LookupError):
            return ZoneInfo("UTC")


def preferences_of(request: "Request", settings: Settings) -> Preferences:
    language, theme, access, zone = (request.cookies.get(cookie_name(PREFERENCES, request), "").split("|") + [""] * 4)[
        :4
    ]
    spoken = request.accept_languages.best_match(list(LANGUAGES)) or "en"
    return Preferences(
        language if language in LANGUAGES else spoken,
        theme if theme in THEMES else "auto",
        access == "read-only",
        next(filter(is_zone, (zone, request.cookies.get(ZONE, ""))), "UTC"),
    )


def is_zone(name: str) -> bool:
    return re.fullmatch("[A-Za-z0-9_+-]{1,30}(/[A-Za-z0-9_+-]{1,30}){0,2}", name) is not None


def preferences_page(view: "View") -> Shown:
    return view.show("preferences.html", languages=LANGUAGES, themes=THEMES)


def keep_preferences(view: "View") -> Redirect:
    chosen = [view.form.get(name, "") for name in ("language", "theme", "access", "zone")]
    value = "|".join(part if is_zone(part) else "" for part in chosen)
    return Redirect(view.url("/preferences"), cookies=[Cookie(PREFERENCES, value, YEAR)])


PAGES = (
    Page("GET", "/preferences", preferences_page),
    # Not a change of any row: a read-only viewer needs it to be one no longer.
    Page("POST", "/preferences", keep_preferences, is_open=True),
)
