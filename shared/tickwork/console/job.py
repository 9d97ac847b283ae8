"""A job: why it is where it is, what happened to it, and what can be done about it."""

import json
import re
import shlex
from datetime import datetime
from typing import TYPE_CHECKING, Any

from tickwork.console.files import has_vault
from tickwork.console.graph import graph_of
from tickwork.console.holds import holds, in_the_way
from tickwork.console.page import Page, Redirect, Shown

if TYPE_CHECKING:
    from tickwork.console.view import View

# The text of the database itself: a number that a browser would round stays exact.
TEXTS = ", jsonb_pretty(payload) as payload_text, jsonb_pretty(result) as result_text"
MAX_RELATED = 30
# A time as explain_job writes it.
A_TIME = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[+-]\d\d(?::\d\d)?)")


def job_page(view: "View", job_id: str) -> Shown:
    id = view.id_of(job_id)
    job = view.row("get_job", TEXTS, job_id=id)
    attempts = view.rows("list_attempts", job_id=id)
    estimate = view.rows("estimate_start", job_id=id)
    return view.show(
        "job.html",
        job=job,
        explained=parts_of(view.value("explain_job", job_id=id)),
        estimate=estimate[0] if estimate else None,
        attempts=attempts,
        steps=view.rows("list_steps", ", jsonb_pretty(result) as result_text", job_id=id),
        graph=graph_of(related(view, job), job["id"]),
        copies=copies(job),
        artifacts=view.rows("list_artifacts", job_id=id) if "reports" in view.modules else [],
        can_download=has_vault(view),
        names=view.names_of([job]),
        paused=in_the_way(holds(view), job["type"], job["family"], job["tenant_id"], job["lane"]),
    )


def parts_of(text: str) -> list[tuple[str, datetime | None]]:
    """A text in parts, those that are times with the time itself."""
    return [(part, time_in(part)) for part in A_TIME.split(text)]


def time_in(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text) if A_TIME.fullmatch(text) else None
    except ValueError:
        return None


def related(view: "View", job: Any) -> list[Any]:
    """The jobs of the same chain, the oldest first, and those that it waited for."""
    if not job["correlation_id"] and not job["after"]:
        return []
    chain = (
        view.rows(
            "find_matching_jobs",
            filter=json.dumps({"correlation_id": job["correlation_id"], "tenant_id": str(job["tenant_id"])}),
            max_jobs=MAX_RELATED,
            oldest_first=True,
        )
        if job["correlation_id"]
        else []
    )
    known = {each["id"] for each in chain}
    awaited = [row for id in (job["after"] or [])[:MAX_RELATED] if id not in known for row in seen(view, id)]
    return [*awaited, *chain, *([job] if job["id"] not in known else [])]


def seen(view: "View", job_id: Any) -> list[Any]:
    return view.select("select * from public.jobs where id = %(id)s", {"id": job_id})


def copies(job: Any) -> dict[str, str]:
    """How to enqueue a job like it. The payload is what the viewer may see of it."""
    payload, type, tenant = job["payload_text"], job["type"], str(job["tenant_id"])
    request = f'{{"tenant_id": "{tenant}", "type": {json.dumps(type)}, "payload": {payload}}}'
    return {
        "SQL": f"select * from enqueue_job('{tenant}', {sql_text(type)}, {sql_text(payload)});",
        "curl": 'curl "$TICKWORK_API_URL/jobs" -H "Authorization: Bearer $TICKWORK_API_KEY" '
        f"-H 'Content-Type: application/json' -d {shlex.quote(request)}",
        "Python": f"tickwork.enqueue({type!r}, json.loads({payload!r}), tenant_id={tenant!r})",
        "TypeScript": f"await tickwork.enqueue({json.dumps(type)}, {payload}, {{ tenant_id: {json.dumps(tenant)} }});",
    }


def sql_text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def cancel(view: "View", job_id: str) -> Redirect:
    view.row("cancel_job", job_id=view.id_of(job_id))
    return back(view, job_id, view.say("The job is cancelled, or its worker has been asked to stop."))


def retry(view: "View", job_id: str) -> Redirect:
    attempts = view.whole_number_in("max_attempts")
    view.row("retry_job", job_id=view.id_of(job_id), run_at=view.typed_time("run_at"), max_attempts=attempts)
    return back(view, job_id, view.say("The job is queued again."))


def reschedule(view: "View", job_id: str) -> Redirect:
    view.row("reschedule_job", job_id=view.id_of(job_id), run_at=view.typed_time("run_at"))
    return back(view, job_id, view.say("The job is due at another time."))


def bury(view: "View", job_id: str) -> Redirect:
    view.row("bury_job", job_id=view.id_of(job_id), reason=view.form.get("reason") or None)
    return back(view, job_id, view.say("The job is dead until somebody retries it."))


def reveal(view: "View", job_id: str) -> Shown:
    revealed = view.row(
        "reveal_job",
        ", jsonb_pretty(payload) as payload_text, jsonb_pretty(result) as result_text",
        job_id=view.id_of(job_id),
        reason=view.form.get("reason", ""),
    )
    return view.show("revealed.html", job_id=job_id, revealed=revealed)


def back(view: "View", job_id: str, said: str) -> Redirect:
    return Redirect(view.url(f"/jobs/{job_id}"), said=said)


PAGES = (
    Page("GET", "/jobs/{job_id}", job_page),
    Page("POST", "/jobs/{job_id}/cancel", cancel),
    Page("POST", "/jobs/{job_id}/retry", retry),
    Page("POST", "/jobs/{job_id}/reschedule", reschedule),
    Page("POST", "/jobs/{job_id}/bury", bury),
    Page("POST", "/jobs/{job_id}/reveal", reveal),
)
