"""The HTTP side: functions-framework calls what `serve` returns, once for every wake-up."""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from tickwork import spans
from tickwork.database.connection import MAX_SILENCE_SECONDS, Database
from tickwork.database.version import SchemaCheck
from tickwork.errors import CallerRefused, QueueError, WrongSchema
from tickwork.jobs.handler import Handlers
from tickwork.jobs.outcomes import Report
from tickwork.logs import log, traced
from tickwork.queue import Queue, queue_for
from tickwork.runtime.deadline import Deadline
from tickwork.runtime.maintenance import maintain
from tickwork.runtime.presence import Presence
from tickwork.runtime.work import work
from tickwork.serve.callers import check_caller
from tickwork.serve.routes import NO_ROUTES, Response, Routes, route_of
from tickwork.settings import Settings
from tickwork.waking.rabbitmq import required_check
from tickwork.web.bodies import leave_body
from tickwork.web.health import Health
from tickwork.web.starting import settings_or_exit, use_guarded_worker

if TYPE_CHECKING:
    from flask import Request


def serve(family: str, handlers: Handlers, routes: Routes = NO_ROUTES) -> "Callable[[Request], Response]":
    """A function for functions-framework that processes the due jobs of one family.

    `routes` handle requests whose path begins with their key.
    """
    settings = settings_or_exit()
    use_guarded_worker()
    database = Database(settings.database_url, f"tickwork {family}", MAX_SILENCE_SECONDS)
    schema = SchemaCheck(database)
    presences: dict[int, Presence] = {}
    # With a connection of its own: it must not wait for a claim.
    asked = Database(settings.database_url, f"tickwork {family} health", MAX_SILENCE_SECONDS)
    health = Health(asked, required_check(settings))

    def function(request: "Request") -> Response:
        if request.method in ("GET", "HEAD") and (found := health.answer(request.path)):
            leave_body(request, is_refused=False)
            return found
        queue = queue_for(family, database, settings)
        # Each fork of this process is a worker of its own.
        presence = presences.setdefault(os.getpid(), Presence(queue, "function", [family], handlers))
        route = route_of(request.path, routes)
        with traced(request.headers.get("traceparent"), request.headers.get("X-Cloud-Trace-Context")):
            response = (
                route(request, database, settings)
                if route
                else answer(request, queue, family, handlers, settings, schema, presence)
            )
        spans.flush()
        leave_body(request, is_refused=response[1] >= 400)
        return response

    return function


def answer(
    request: "Request",
    queue: Queue,
    family: str,
    handlers: Handlers,
    settings: Settings,
    schema: SchemaCheck,
    presence: Presence,
) -> Response:
    """204 if nothing was due, else 200 and a report, even if jobs failed: the queue retries, cron must not."""
    if request.method != "POST":
        return {"error": "Wake the function with POST; the body is ignored."}, 405
    try:
        check_caller(dict(request.headers), request.remote_addr, family, settings)
    except CallerRefused as refusal:
        log("refuse_caller", "WARNING", reason=str(refusal))
        return {
            "error": "The caller could not be verified. See TICKWORK_BEARER_SECRET in docs/reference/settings.md."
        }, 401
    try:
        schema.check()
        with presence.invoked():
            report = work_within_budget(queue, family, handlers, settings, presence)
    except WrongSchema as error:
        log("refuse_schema", "ERROR", reason=str(error), hint=error.hint)
        return {"error": "The versions of the function and the schema do not match; see its log."}, 503
    except QueueError as error:
        log("fail_to_claim", "ERROR", reason=str(error), hint=error.hint)
        return {"error": "The queue cannot be reached; the next wake-up tries again."}, 503
    return ("", 204) if report.claimed == 0 else (report.as_json(), 200)


def work_within_budget(
    queue: Queue, family: str, handlers: Handlers, settings: Settings, presence: Presence | None = None
) -> Report:
    """
    Process what is due, look after the queue, and process what that has made due.

    With `look_again_seconds`, do so again that long after the start, as long as time remains. This makes up for a
    scheduler that can only call once a minute.
    """
    deadline = Deadline(settings.budget_seconds, settings.max_jobs)
    report = work(queue, family, handlers, deadline, presence)
    has_time = True
    while has_time:
        maintain(queue)
        try:
            report.include(work(queue, family, handlers, deadline, presence))
        except QueueError as error:
            if report.claimed == 0:
                raise
            # What was done so far is worth reporting; the next wake-up continues.
            log("fail_to_claim", "WARNING", reason=str(error))
            break
        has_time = settings.look_again_seconds > 0 and deadline.wait(settings.look_again_seconds)
    return report
