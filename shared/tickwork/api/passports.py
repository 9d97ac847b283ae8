"""Passports: compile, activate and disclose them."""

from tickwork.api.fields import ID, NAME, ROWS, TIME, ForTenant, OfTenant, Request, list_of, text
from tickwork.api.route import Route


class Create(ForTenant):
    battery_identifier = text(200, min_length=1)
    category = NAME
    model = text(200).or_else("")
    gtin = text(14).or_null()
    serial = text(20).or_null()


class List(OfTenant):
    battery_identifier = text(200).or_null()
    after_passport_id = ID.or_null()
    max_rows = ROWS.or_else(50)


class OfPassport(Request):
    passport_id = ID


class SetGtin(OfPassport):
    gtin = text(14).or_null()
    serial = text(20).or_null()


class SetResolver(ForTenant):
    resolver = text(200).or_null()


class Compile(OfPassport):
    snapshot_id = ID
    rule_package_version_id = ID
    issued_at = TIME.or_null()


class ListVersions(OfTenant):
    passport_id = ID.or_null()
    status = NAME.or_null()
    max_rows = ROWS.or_else(50)


class OfVersion(Request):
    passport_version_id = ID


class Disclose(OfVersion):
    audience = NAME.or_else("public")
    paths = list_of(text(200), 2000).or_null()


class Export(OfVersion):
    format = NAME
    template = NAME.or_else("standard")
    audience = NAME.or_else("public")


class ListExports(OfTenant):
    passport_version_id = ID.or_null()
    max_rows = ROWS.or_else(50)


class Revoke(OfVersion):
    reason = text(1000, min_length=1)


ROUTES = (
    Route("GET", "passports", "list_passports", List, "rows", cursor="id", page_size="max_rows"),
    Route("POST", "passports", "create_passport", Create),
    Route("GET", "passports/versions", "list_passport_versions", ListVersions, "rows"),
    Route("POST", "passports/versions/{passport_version_id}/activate", "activate_passport", OfVersion),
    Route("POST", "passports/versions/{passport_version_id}/revoke", "revoke_passport", Revoke),
    Route("POST", "passports/versions/{passport_version_id}/disclose", "disclose", Disclose, "value"),
    Route("POST", "passports/versions/{passport_version_id}/exports", "request_export", Export),
    Route("GET", "passports/exports", "list_exports", ListExports, "rows"),
    Route("GET", "passports/status-list", "passport_status_list", ForTenant, "rows"),
    Route("GET", "passports/resolver", "get_resolver", ForTenant, "value"),
    Route("PUT", "passports/resolver", "set_resolver", SetResolver, "value"),
    Route("GET", "passports/{passport_id}", "get_passport", OfPassport),
    Route("GET", "passports/{passport_id}/explain", "explain_passport", OfPassport, "value"),
    Route("POST", "passports/{passport_id}/compile", "request_compile", Compile),
    Route("PUT", "passports/{passport_id}/gtin", "set_gtin", SetGtin),
    Route("POST", "passports/{passport_id}/link-qr", "request_link_qr", OfPassport),
)
