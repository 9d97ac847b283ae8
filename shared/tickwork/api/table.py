"""Which module has the routes of a path. A module is imported when the first request for it comes."""

from collections.abc import Sequence
from functools import cache
from importlib import import_module

from tickwork.api.route import Route

# The beginning of a path, the longest first.
MODULES = {
    "jobs/triggers": "triggers",
    "jobs": "jobs",
    "admin/jobs/definitions": "job_types",
    "schedules": "schedules",
    "triggers": "triggers",
    "events": "events",
    "webhooks": "webhooks",
    "documents": "documents",
    "search": "documents",
    "artifacts": "artifacts",
    "passports": "passports",
    "signing-keys": "signing_keys",
    "rules": "rules",
    "passport_documents": "passport_documents",
    "facts": "facts",
    "snapshots": "snapshots",
    "connectors": "connectors",
    "members": "members",
    "tenants": "members",
    "audit": "audit",
    "keys": "keys",
    "whoami": "keys",
    "workers": "workers",
    "worker": "worker",
    "health": "workers",
    "pauses": "pauses",
    "lanes": "pauses",
    "metrics": "metrics",
    "alerts": "alerts",
}


def routes_for(path: str) -> Sequence[Route]:
    for beginning, module in MODULES.items():
        if path == beginning or path.startswith(beginning + "/"):
            return routes_of(module)
    return ()


@cache
def routes_of(module: str) -> tuple[Route, ...]:
    found: tuple[Route, ...] = import_module(f"tickwork.api.{module}").ROUTES
    return found


def all_routes() -> list[Route]:
    return [route for module in dict.fromkeys(MODULES.values()) for route in routes_of(module)]


def module_of(route: Route) -> str:
    """The resource that the route belongs to."""
    return next(module for module in MODULES.values() if route in routes_of(module))
