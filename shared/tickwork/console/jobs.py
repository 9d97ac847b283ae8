"""Jobs: the list, and what is done to those that are marked or that match."""

import json
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote
from uuid import UUID

from tickwork.console.export import every_row, exported, is_export
from tickwork.console.filters import QUALIFIERS, SOURCES, STATUSES, Filter, NotUnderstood, parse
from tickwork.console.holds import Hold, holds, in_the_way
from tickwork.console.page import Page, Redirect, Refused, Shown
from tickwork.console.preferences import YEAR
from tickwork.console.session import Cookie, cookie_name
from tickwork.errors import WrongStatus

if TYPE_CHECKING:
    from tickwork.console.view import View

PAGE_SIZE = 50
EXPORTED = (
    *("id", "tenant_id", "type", "family", "status", "source", "attempts", "max_attempts", "priority", "lane"),
    *("created_at", "run_at", "started_at", "finished_at", "worker_id", "error_code", "error_message"),
    *("idempotency_key", "dedupe_key", "correlation_id", "payload", "result"),
)
VIEWS = "tickwork-views"
MAX_VIEWS = 10
MAX_COUNT = 10_000
ACTIONS = ("retry", "cancel", "reschedule")


def jobs_page(view: "View") -> "Shown | Redirect":
    try:
        wanted = parse(view.query.get("q", ""))
    except NotUnderstood as problem:
        return view.show("jobs.html", 400, **listed(view, Filter(view.query["q"]), []), problem=str(problem))
    if wanted.job_id:
        return Redirect(view.url(f"/jobs/{wanted.job_id}"))
    if is_export(view):
        every = every_row(lambda after, size: found(view, wanted, after, size))
        return exported(view, "jobs", EXPORTED, every)
    after = view.id_of(view.query["after"]) if "after" in view.query else None
    jobs = found(view, wanted, after, PAGE_SIZE + 1)
    return view.show("jobs.html", **listed(view, wanted, jobs), problem=None)


def found(view: "View", wanted: Filter, after: UUID | None, size: int) -> list[Any]:
    """Those that came since the list was opened are only counted, so that no row moves."""
    until = {"created_before": view.query["until"]} if "until" in view.query else {}
    return view.rows(
        "find_matching_jobs",
        filter=wanted.as_json(tenant_id=tenant_of(view, wanted), **until),
        max_jobs=size,
        after_id=after,
        oldest_first=wanted.oldest_first,
    )


def tenant_of(view: "View", wanted: Filter) -> UUID | None:
    """The one of the header, unless the filter names another."""
    return None if "tenant_id" in wanted.fields else view.tenant_id


def listed(view: "View", wanted: Filter, jobs: list[Any]) -> dict[str, Any]:
    shown = jobs[:PAGE_SIZE]
    tenant = tenant_of(view, wanted)
    count = view.value("count_matching_jobs", filter=wanted.as_json(tenant_id=tenant), at_most=MAX_COUNT + 1)
    newest = shown[0]["created_at"] if shown and "after" not in view.query and not wanted.oldest_first else None
    return {
        "wanted": wanted,
        "jobs": shown,
        "names": view.names_of(shown) if view.tenant_id is None else {},
        "count": count,
        "max_count": MAX_COUNT,
        "next": view.here(after=shown[-1]["id"]) if len(jobs) > PAGE_SIZE else None,
        # What a refresh asks for: the same rows again, as they are then.
        "again": view.here(until=newest + timedelta(microseconds=1)) if newest else view.here(),
        "newer": newer(view, wanted, tenant),
        "suggestions": suggestions(view),
        "views": saved_views(view),
        "oldest_first": f"{wanted.text} sort:oldest".strip(),
        "newest_first": wanted.text.replace("sort:oldest", "").strip(),
    }


def newer(view: "View", wanted: Filter, tenant: object) -> int:
    if "until" not in view.query or wanted.oldest_first:
        return 0
    since = {"created_after": view.query["until"]}
    return int(view.value("count_matching_jobs", filter=wanted.as_json(tenant_id=tenant, **since), at_most=1000))


def suggestions(view: "View") -> list[str]:
    types = [f"type:{row['key']}" for row in view.rows("list_job_types")]
    fixed = [*(f"status:{each}" for each in STATUSES), *(f"source:{each}" for each in SOURCES)]
    return [*fixed, *types, *(f"{name}:" for name in QUALIFIERS), "since:1h", "since:24h", "sort:oldest"]


def saved_views(view: "View") -> list[list[str]]:
    """Names and filters that the viewer keeps in this browser."""
    try:
        found = json.loads(unquote(view.request.cookies.get(cookie_name(VIEWS, view.request), "[]")))
        return [[str(name)[:40], str(text)[:500]] for name, text in found][:MAX_VIEWS]
    except (ValueError, TypeError):
        return []


def save_view(view: "View") -> Redirect:
    name, text = view.form.get("name", "").strip()[:40], view.form.get("q", "")[:500]
    others = [each for each in saved_views(view) if each[0] != name]
    kept = [*others, [name, text]] if name and text else others
    cookie = Cookie(VIEWS, quote(json.dumps(kept[-MAX_VIEWS:])), YEAR)
    return Redirect(view.url("/jobs", q=text), said=view.say("The view is kept."), cookies=[cookie])


def change_marked(view: "View") -> Redirect:
    """Each is tried; those that cannot be changed any more are counted, and left as they are."""
    verb = {"retry": "retry_job", "cancel": "cancel_job"}.get(view.form.get("action", ""))
    if not verb:
        raise Refused(400, view.say("There is no such change."))
    if not view.marked:
        raise Refused(400, view.say("No job is marked: mark some first."))
    changed = sum(changed_one(view, verb, view.id_of(each)) for each in view.marked[:PAGE_SIZE])
    said = view.say("{} of {} jobs were changed.", changed, len(view.marked))
    return Redirect(view.url("/jobs", q=view.form.get("q")), said=said)


def changed_one(view: "View", verb: str, job_id: UUID) -> bool:
    try:
        with view.savepoint():
            view.row(verb, job_id=job_id)
        return True
    except WrongStatus:
        return False


def change_page(view: "View") -> Shown:
    """What will be changed, how many there are, and why: nothing happens yet."""
    return view.show("change_jobs.html", **preview(view, view.query), problem=None)


def preview(view: "View", given: Any) -> dict[str, Any]:
    action = given.get("action", "")
    if action not in ACTIONS:
        raise Refused(400, view.say("There is no such change."))
    try:
        wanted = parse(given.get("q", ""))
    except NotUnderstood as problem:
        raise Refused(400, str(problem)) from None
    tenant = tenant_of(view, wanted)
    filter = wanted.as_json(tenant_id=tenant, **usual_status(action, wanted))
    count = view.value("count_matching_jobs", filter=filter, at_most=MAX_COUNT + 1)
    return {
        "action": action,
        "wanted": wanted,
        "filter": filter,
        "count": count,
        "max_count": MAX_COUNT,
        "paused": [] if action == "cancel" else paused(view, wanted),
    }


def paused(view: "View", wanted: Filter) -> list[Hold]:
    """What may keep the jobs that match from starting: of the type of the filter, or of any."""
    type = wanted.fields.get("type")
    found = holds(view)
    if not type:
        return found
    families = {row["key"]: row["family"] for row in view.rows("list_job_types")}
    tenant = wanted.fields.get("tenant_id", view.tenant_id)
    return in_the_way(found, type, families.get(type), tenant, wanted.fields.get("lane"))


def usual_status(action: str, wanted: Filter) -> dict[str, str]:
    """The status of those that are changed, where that is only one: so that the count is right."""
    return {} if "status" in wanted.fields or action != "reschedule" else {"status": "queued"}


def change(view: "View") -> "Shown | Redirect":
    given = preview(view, view.form)
    if not (reason := view.form.get("reason", "").strip()):
        return view.show("change_jobs.html", 400, **given, problem=view.say("Say why: it is kept in the audit log."))
    job = view.row(
        "change_matching_jobs",
        action=given["action"],
        filter=given["filter"],
        reason=reason,
        run_at=view.typed_time("run_at"),
    )
    return Redirect(view.url(f"/jobs/{job['id']}"), said=view.say("It has been queued: this is the job that does it."))


PAGES = (
    Page("GET", "/jobs", jobs_page),
    Page("GET", "/jobs/change", change_page),
    Page("POST", "/jobs/change", change),
    Page("POST", "/jobs/marked", change_marked),
    Page("POST", "/jobs/views", save_view),
)
