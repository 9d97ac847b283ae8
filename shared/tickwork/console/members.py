"""Members: who belongs to a tenant, and as what."""

from typing import TYPE_CHECKING

from tickwork.console.page import Page, Redirect, Shown

if TYPE_CHECKING:
    from tickwork.console.view import View

ROLES = ("member", "admin", "owner")
# Where the application keeps its members itself, there are no verbs that change them.
KEPT_HERE = "select to_regproc('public.set_member') is not null as is_kept"


def members_page(view: "View") -> Shown:
    members = view.rows("list_members", tenant_id=view.tenant_id)
    (kept,) = view.select(KEPT_HERE, {})
    return view.show("members.html", members=members, roles=ROLES, is_kept=kept["is_kept"])


def set_member(view: "View") -> Redirect:
    user_id = view.id_of(view.form.get("user_id", "").strip())
    view.rows("set_member", tenant_id=view.tenant_id, user_id=user_id, role=view.typed("role"))
    return Redirect(view.url("/members"), view.say("The role was set."))


def remove_member(view: "View", user_id: str) -> Redirect:
    view.value("remove_member", tenant_id=view.tenant_id, user_id=view.id_of(user_id))
    return Redirect(view.url("/members"), view.say("The member was removed."))


PAGES = (
    Page("GET", "/members", members_page, needs_tenant=True),
    Page("POST", "/members", set_member, needs_tenant=True),
    Page("POST", "/members/{user_id}/remove", remove_member, needs_tenant=True),
)
