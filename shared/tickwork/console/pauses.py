"""Pauses and limits: what keeps jobs from starting, and how to start or end that."""

import re
from typing import TYPE_CHECKING, Any

from psycopg.rows import DictRow

from tickwork.console.holds import LANE, PAUSE, holds
from tickwork.console.page import Page, Redirect, Refused, Shown

if TYPE_CHECKING:
    from tickwork.console.view import View

KINDS = {"family": "family", "type": "type", "tenant": "tenant_id"}
SETTINGS = "select * from public.tenant_settings where tenant_id = %(tenant_id)s"


def pauses_page(view: "View") -> Shown:
    settings = view.select(SETTINGS, {"tenant_id": view.tenant_id}) if view.tenant_id else []
    types = view.rows("list_job_types")
    families = sorted({type["family"] for type in types})
    lanes = [lane for lane in view.rows("list_lanes", tenant_id=view.tenant_id) if is_limited(lane)]
    return view.show(
        "pauses.html",
        holds=holds(view),
        lanes=lanes,
        names=view.names_of(lanes),
        settings=settings,
        families=families,
        types=types,
        may_end=may_end,
    )


def is_limited(lane: DictRow) -> bool:
    return lane["max_running"] is not None or lane["starts_per_minute"] is not None


def may_end(view: "View", scope: str) -> bool:
    """Whether it is worth showing. Who may do it, SQL decides."""
    found = re.match("tenant ([0-9a-f-]{36})", scope)
    return view.manages(view.id_of(found[1])) if found else view.is_platform_admin


def pause(view: "View") -> Redirect:
    kind = view.form.get("kind", "")
    name = view.tenant_id if kind == "tenant" else view.typed("name")
    view.rows("pause_jobs", **scope_of(view, kind, name), reason=view.typed("reason"))
    return Redirect(view.url("/pauses"), view.say("It is paused."))


def end(view: "View") -> Redirect:
    """Of the pause or the hold with this scope."""
    scope = view.form.get("scope", "")
    if lane := LANE.fullmatch(scope):
        view.rows("release_lane", **lane.groupdict())
    elif paused := PAUSE.fullmatch(scope):
        view.rows("resume_jobs", **scope_of(view, paused["kind"], paused["name"]))
    else:
        raise Refused(400, view.say("There is nothing with this name."))
    return Redirect(view.url("/pauses"), view.say("Jobs start again."))


def scope_of(view: "View", kind: str, name: object) -> dict[str, Any]:
    if kind not in KINDS:
        raise Refused(400, view.say("Choose what to pause."))
    return {KINDS[kind]: name}


def hold(view: "View") -> Redirect:
    until = view.typed_time("held_until") or "infinity"
    view.rows("hold_lane", **lane_of(view), held_until=until, reason=view.typed("reason"))
    return Redirect(view.url("/pauses"), view.say("The lane is held."))


def limit(view: "View") -> Redirect:
    limits = {name: view.typed(name) for name in ("max_running", "starts_per_minute")}
    view.rows("limit_lane", **lane_of(view), **limits)
    return Redirect(view.url("/pauses"), view.say("The limits of the lane were set."))


def lane_of(view: "View") -> dict[str, Any]:
    # Empty rather than left out, so that SQL says what is missing.
    names = {name: view.form.get(name, "").strip() for name in ("family", "lane")}
    return {"tenant_id": view.tenant_id, **names}


PAGES = (
    Page("GET", "/pauses", pauses_page),
    Page("POST", "/pauses", pause),
    Page("POST", "/pauses/end", end),
    Page("POST", "/pauses/hold", hold, needs_tenant=True),
    Page("POST", "/pauses/limit", limit, needs_tenant=True),
)
