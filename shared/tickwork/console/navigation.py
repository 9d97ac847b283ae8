"""The entries of the navigation, for whoever may see them."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tickwork.console.view import View


@dataclass(frozen=True)
class Entry:
    path: str
    name: str
    # The key that opens it after g.
    key: str
    needs_platform_admin: bool = False
    # Of any tenant.
    needs_admin: bool = False
    # The part of the schema that it is about, if a database may be without.
    module: str | None = None


ENTRIES = (
    Entry("/", "Overview", "o"),
    Entry("/jobs", "Jobs", "j"),
    Entry("/errors", "Errors", "e"),
    Entry("/latency", "Latency", "l"),
    Entry("/schedules", "Schedules", "s"),
    Entry("/triggers", "Triggers", "t", module="webhooks"),
    Entry("/webhooks", "Webhooks", "h", module="webhooks"),
    Entry("/documents", "Documents", "d", module="documents"),
    Entry("/imports", "Imports", "i", module="imports"),
    Entry("/pauses", "Pauses", "p"),
    Entry("/types", "Types", "y"),
    Entry("/members", "Members", "m"),
    Entry("/keys", "API keys", "k", needs_admin=True),
    Entry("/workers", "Workers", "w"),
    Entry("/alerts", "Alerts", "a", needs_platform_admin=True),
    Entry("/audit", "Audit", "u"),
    Entry("/preferences", "Preferences", ","),
)


def entries(view: "View") -> list[Entry]:
    """None for whoever is not signed in."""
    if not view.me:
        return []
    manages_any = view.is_platform_admin or any(view.manages(tenant["tenant_id"]) for tenant in view.tenants)
    return [
        entry
        for entry in ENTRIES
        if (view.is_platform_admin or not entry.needs_platform_admin)
        and (manages_any or not entry.needs_admin)
        and (entry.module is None or entry.module in view.modules)
    ]
