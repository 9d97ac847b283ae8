"""Choosing the tenant whose queue is shown, by a part of its name or by its id."""

from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from tickwork.console.page import Page, Redirect, Shown
from tickwork.console.sign_in import own_address

if TYPE_CHECKING:
    from tickwork.console.view import View

MAX_TENANTS = 1000


def choose_tenant(view: "View") -> "Shown | Redirect":
    words = view.query.get("words", "").strip()
    going_to = own_address(view, view.query.get("next", ""))
    if not words:
        return Redirect(of_tenant(going_to, None))
    found = view.rows("find_tenants", words=words, max_tenants=MAX_TENANTS)
    meant = [tenant for tenant in found if tenant["name"].lower() == words.lower()] or found
    if len(meant) == 1:
        return Redirect(of_tenant(going_to, meant[0]["tenant_id"]))
    choices = [(tenant["name"], tenant["tenant_id"], of_tenant(going_to, tenant["tenant_id"])) for tenant in meant]
    return view.show("tenants_found.html", words=words, choices=choices)


def of_tenant(address: str, tenant_id: Any) -> str:
    """The address for this tenant, or for all; what is on its page is what was on the page of another one."""
    parts = urlsplit(address)
    query = [(name, value) for name, value in parse_qsl(parts.query) if name not in ("tenant", "after")]
    if tenant_id:
        query.append(("tenant", str(tenant_id)))
    return parts._replace(query=urlencode(query)).geturl()


def tenant_names(view: "View") -> Shown:
    return view.show("tenant_names.html", found=view.rows("find_tenants", max_tenants=MAX_TENANTS))


PAGES = (
    Page("GET", "/choose-tenant", choose_tenant),
    Page("GET", "/choose-tenant/names", tenant_names),
)
