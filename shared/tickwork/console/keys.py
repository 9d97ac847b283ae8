"""API keys: those that there are, a new one, and revoking one."""

from typing import TYPE_CHECKING

from psycopg.rows import DictRow

from tickwork.console.page import Page, Redirect, Shown

if TYPE_CHECKING:
    from tickwork.console.view import View

PAGE_SIZE = 100
SCOPES = ("read", "enqueue", "operate")


def keys_page(view: "View", created: DictRow | None = None) -> Shown:
    after = view.query.get("after")
    keys = view.rows(
        "list_api_keys",
        tenant_id=view.tenant_id,
        with_revoked=view.query.get("revoked") == "yes",
        max_keys=PAGE_SIZE,
        after_id=view.id_of(after) if after else None,
    )
    older = view.here(after=keys[-1]["id"]) if len(keys) == PAGE_SIZE else None
    return view.show("keys.html", keys=keys, older=older, created=created, scopes=SCOPES)


def create_key(view: "View") -> Shown:
    """Shown in the response itself: the key is in no cookie, no address, and on no other page."""
    workers = [f"worker:{family}" for family in view.form.get("families", "").replace(",", " ").split()]
    created = view.row(
        "create_api_key",
        name=view.form.get("name", "").strip(),
        scopes=[scope for scope in SCOPES if view.form.get(f"scope-{scope}") == "yes"] + workers,
        tenant_id=view.tenant_id,
        expires_at=view.typed_time("expires_at"),
    )
    return keys_page(view, created)


def revoke_key(view: "View", key_id: str) -> Redirect:
    view.rows("revoke_api_key", key_id=view.id_of(key_id))
    return Redirect(view.url("/keys"), view.say("The key was revoked."))


PAGES = (
    Page("GET", "/keys", keys_page),
    Page("POST", "/keys", create_key, needs_tenant=True),
    Page("POST", "/keys/{key_id}/revoke", revoke_key),
)
