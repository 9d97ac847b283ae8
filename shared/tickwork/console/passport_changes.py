"""Changes of battery passports: created, activated, revoked, exported."""

from typing import TYPE_CHECKING

from tickwork.console.page import Page, Redirect

if TYPE_CHECKING:
    from tickwork.console.view import View


def create_passport(view: "View") -> Redirect:
    created = view.row(
        "create_passport",
        tenant_id=view.tenant_id,
        battery_identifier=view.typed("battery_identifier", ""),
        category=view.typed("category", ""),
        model=view.typed("model", ""),
        gtin=view.typed("gtin"),
        serial=view.typed("serial"),
    )
    return Redirect(view.url(f"/passports/{created['id']}"), view.say("The passport was created."))


def activate_version(view: "View", version_id: str) -> Redirect:
    version = view.row("activate_passport", passport_version_id=view.id_of(version_id))
    said = view.say("Version {} is active.", version["number"])
    return Redirect(view.url(f"/passports/{version['passport_id']}"), said)


def revoke_version(view: "View", version_id: str) -> Redirect:
    id, reason = view.id_of(version_id), view.typed("reason", "")
    version = view.row("revoke_passport", passport_version_id=id, reason=reason)
    said = view.say("Version {} was revoked.", version["number"])
    return Redirect(view.url(f"/passports/{version['passport_id']}"), said)


def request_export(view: "View", passport_id: str, version_id: str) -> Redirect:
    view.rows(
        "request_export",
        passport_version_id=view.id_of(version_id),
        format=view.typed("format", ""),
        audience=view.typed("audience", ""),
    )
    said = view.say("The export was requested: its file is listed when its job is done.")
    return Redirect(view.url(f"/passports/{passport_id}"), said)


PAGES = (
    Page("POST", "/passports", create_passport, module="passports", needs_tenant=True),
    Page("POST", "/passports/versions/{version_id}/activate", activate_version, module="passports"),
    Page("POST", "/passports/versions/{version_id}/revoke", revoke_version, module="passports"),
    Page("POST", "/passports/{passport_id}/versions/{version_id}/exports", request_export, module="passports"),
)
