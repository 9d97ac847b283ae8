"""Battery passports: the list, one of them with its versions, and their files."""

from typing import TYPE_CHECKING, Any

from tickwork.console.export import every_row, exported, is_export
from tickwork.console.files import file_of, has_vault
from tickwork.console.page import Page, Redirect, Sent, Shown
from tickwork.console.webhooks import only

if TYPE_CHECKING:
    from tickwork.console.view import View

PAGE_SIZE = 50
VERSIONS_SHOWN = 20
ATTRIBUTES_SHOWN = 500
EXPORTS_SHOWN = 50
EXPORTED = (
    *("id", "battery_identifier", "model", "category", "gtin", "serial", "link_qr_payload"),
    *("active_version_id", "active_number", "activated_at"),
    *("latest_version_id", "latest_number", "latest_status", "latest_issued_at", "created_at"),
)
# There are no verbs for these: row-level security decides what is seen.
VERSIONS = """
    select
      overview.*, snapshots.name as snapshot, rule_packages.name as rules,
      rule_package_versions.version as rules_version,
      translate(encode(passport_versions.qr_png, 'base64'), E'\\n', '') as qr_image
    from public.passport_version_overview as overview
    join public.passport_versions on passport_versions.id = overview.id
    left join public.snapshots on snapshots.id = overview.snapshot_id
    left join public.rule_package_versions on rule_package_versions.id = overview.rule_package_version_id
    left join public.rule_packages on rule_packages.id = rule_package_versions.rule_package_id
    where overview.passport_id = %(passport_id)s
    order by overview.number desc
    limit %(limit)s
"""
LINK = """
    select link_qr_payload as text, translate(encode(link_qr_png, 'base64'), E'\\n', '') as image
    from public.passports
    where id = %(passport_id)s
      and link_qr_payload is not null
"""
# As json, which keeps numbers as they were hashed.
ATTRIBUTES = """
    select attribute.path, attribute.said ->> 'value' as value, attribute.said ->> 'unit' as unit,
      attribute.said ->> 'access' as access
    from public.passport_versions
    cross join lateral json_each(
      convert_from(passport_versions.payload_canonical, 'UTF8')::json -> 'attributes'
    ) as attribute(path, said)
    where passport_versions.id = %(passport_version_id)s
    order by attribute.path collate "C"
    limit %(limit)s
"""
EXPORTS = """
    select passport_exports.*, passport_versions.number
    from public.passport_exports
    join public.passport_versions on passport_versions.id = passport_exports.passport_version_id
    where passport_versions.passport_id = %(passport_id)s
    order by passport_exports.created_at desc, passport_exports.id desc
    limit %(limit)s
"""
EXPORT = """
    select passport_exports.*, overview.battery_identifier, overview.number
    from public.passport_exports
    join public.passport_version_overview as overview on overview.id = passport_exports.passport_version_id
    where passport_exports.id = %(id)s
"""


def passports_page(view: "View") -> Shown:
    def read(after: Any, size: int) -> list[Any]:
        battery = view.query.get("battery")
        return view.rows(
            "list_passports",
            **{
                "tenant_id": view.tenant_id,
                "battery_identifier": battery,
                "after_passport_id": after,
                "max_rows": size,
            },
        )

    if is_export(view):
        return exported(view, "passports", EXPORTED, every_row(read))
    passports = read(view.id_of(view.query["after"]) if "after" in view.query else None, PAGE_SIZE + 1)
    shown = passports[:PAGE_SIZE]
    older = view.here(after=shown[-1]["id"]) if len(passports) > PAGE_SIZE else None
    return view.show("passports.html", passports=shown, older=older)


def passport_page(view: "View", passport_id: str) -> Shown:
    passport = view.row("get_passport", passport_id=view.id_of(passport_id))
    versions = view.select(VERSIONS, {"passport_id": passport["id"], "limit": VERSIONS_SHOWN + 1})
    latest = {"passport_version_id": passport["latest_version_id"], "limit": ATTRIBUTES_SHOWN + 1}
    attributes = view.select(ATTRIBUTES, latest)
    return view.show(
        "passport.html",
        passport=passport,
        links=view.select(LINK, {"passport_id": passport["id"]}),
        explained=view.value("explain_passport", passport_id=passport["id"]),
        versions=versions[:VERSIONS_SHOWN],
        has_older=len(versions) > VERSIONS_SHOWN,
        attributes=attributes[:ATTRIBUTES_SHOWN],
        has_further=len(attributes) > ATTRIBUTES_SHOWN,
        exports=view.select(EXPORTS, {"passport_id": passport["id"], "limit": EXPORTS_SHOWN}),
        can_download=has_vault(view),
    )


def bundle(view: "View", version_id: str) -> Shown:
    """As the database writes it: a number that went through Python could have another hash."""
    id, audience = view.id_of(version_id), view.query.get("audience", "public")
    found = view.row("disclose", ", disclose::text as text", passport_version_id=id, audience=audience)
    return Shown(found["text"], mime_type="application/json", file_name=f"passport-{id}-{audience}.json")


def download_export(view: "View", export_id: str) -> Redirect | Sent:
    found = only(view, EXPORT, export_id)
    extension = found["vault_path"].rpartition(".")[2]
    name = f"{found['battery_identifier']} {found['number']} {found['audience']}.{extension}"
    return file_of(view, found["tenant_id"], found["vault_path"], name)


PAGES = (
    Page("GET", "/passports", passports_page, module="passports", needs_tenant=True),
    Page("GET", "/passports/{passport_id}", passport_page, module="passports"),
    Page("GET", "/passports/versions/{version_id}/bundle", bundle, module="passports"),
    Page("GET", "/passports/exports/{export_id}/file", download_export, module="passports"),
)
