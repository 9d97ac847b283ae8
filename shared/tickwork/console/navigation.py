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
    # The menu that it is in, if it is not in the navigation itself.
    group: str = ""


ENTRIES = (
    Entry("/", "Overview", "o"),
    Entry("/jobs", "Jobs", "j"),
    Entry("/errors", "Errors", "e"),
    Entry("/latency", "Latency", "l"),
    Entry("/schedules", "Schedules", "s"),
    Entry("/triggers", "Triggers", "t", module="webhooks", group="Events"),
    Entry("/webhooks", "Webhooks", "h", module="webhooks", group="Events"),
    Entry("/documents", "Documents", "d", module="documents", group="Files"),
    Entry("/imports", "Imports", "i", module="imports", group="Files"),
    Entry("/pauses", "Pauses", "p", group="Operations"),
    Entry("/types", "Types", "y", group="Operations"),
    Entry("/workers", "Workers", "w", group="Operations"),
    Entry("/alerts", "Alerts", "a", needs_platform_admin=True, group="Operations"),
    Entry("/tenants", "Tenants", "n", group="Admin"),
    Entry("/members", "Members", "m", group="Admin"),
    Entry("/keys", "API keys", "k", needs_admin=True, group="Admin"),
    Entry("/audit", "Audit", "u", group="Admin"),
    Entry("/preferences", "Preferences", ",", group="Admin"),
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


def grouped(found: list[Entry]) -> dict[str, list[Entry]]:
    """The entries by their menu, in the order of the navigation."""
    groups: dict[str, list[Entry]] = {}
    for entry in found:
        groups.setdefault(entry.group, []).append(entry)
    return groups
