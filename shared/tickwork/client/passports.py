# Written by `make client` from aio/passports.py: change that one.
"""Passports of batteries: compile, activate and disclose them. One method per SQL function, with the same name."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from tickwork.client.way import Row, Way


class Passports:
    def __init__(self, way: Way) -> None:
        self._way = way

    def create_passport(
        self,
        tenant_id: UUID | str | None,
        battery_identifier: str,
        category: str,
        model: str = "",
        gtin: str | None = None,
        serial: str | None = None,
    ) -> Row:
        given = {name: value for name, value in locals().items() if name != "self"}
        (row,) = self._way.rows("create_passport", given, repeatable=False)
        return row

    def list_passports(
        self,
        tenant_id: UUID | str | None = None,
        battery_identifier: str | None = None,
        after_passport_id: UUID | str | None = None,
        max_rows: int = 50,
    ) -> list[Row]:
        """The newest first; for the next page, pass the last id as after_passport_id."""
        given = {name: value for name, value in locals().items() if name != "self"}
        return self._way.rows("list_passports", given)

    def get_passport(self, passport_id: UUID | str) -> Row:
        (row,) = self._way.rows("get_passport", {"passport_id": passport_id})
        return row

    def list_passport_versions(
        self,
        tenant_id: UUID | str | None = None,
        passport_id: UUID | str | None = None,
        status: str | None = None,
        max_rows: int = 50,
    ) -> list[Row]:
        given = {name: value for name, value in locals().items() if name != "self"}
        return self._way.rows("list_passport_versions", given)

    def request_compile(
        self,
        passport_id: UUID | str,
        snapshot_id: UUID | str,
        rule_package_version_id: UUID | str,
        issued_at: datetime | str | None = None,
    ) -> Row:
        """The job that compiles it; with the same time again, the same job."""
        given = {name: value for name, value in locals().items() if name != "self"}
        (row,) = self._way.rows("request_compile", given, repeatable=issued_at is not None)
        return row

    def set_resolver(self, tenant_id: UUID | str | None, resolver: str | None = None) -> str | None:
        """The host that links lead to; None removes it."""
        (row,) = self._way.rows("set_resolver", {"tenant_id": tenant_id, "resolver": resolver})
        host: str | None = row["set_resolver"]
        return host

    def get_resolver(self, tenant_id: UUID | str | None) -> str | None:
        (row,) = self._way.rows("get_resolver", {"tenant_id": tenant_id})
        host: str | None = row["get_resolver"]
        return host

    def set_gtin(self, passport_id: UUID | str, gtin: str | None = None, serial: str | None = None) -> Row:
        given = {"passport_id": passport_id, "gtin": gtin, "serial": serial}
        (row,) = self._way.rows("set_gtin", given)
        return row

    def request_link_qr(self, passport_id: UUID | str) -> Row:
        """The job that makes the QR code of the link."""
        (row,) = self._way.rows("request_link_qr", {"passport_id": passport_id})
        return row

    def activate_passport(self, passport_version_id: UUID | str) -> Row:
        given = {"passport_version_id": passport_version_id}
        (row,) = self._way.rows("activate_passport", given, repeatable=False)
        return row

    def revoke_passport(self, passport_version_id: UUID | str, reason: str) -> Row:
        """Revoke a version for good, and have the status list signed again."""
        given = {"passport_version_id": passport_version_id, "reason": reason}
        (row,) = self._way.rows("revoke_passport", given, repeatable=False)
        return row

    def passport_status_list(self, tenant_id: UUID | str | None = None) -> Row | None:
        """The signed list of what was revoked or superseded; None if nothing was yet."""
        rows = self._way.rows("passport_status_list", {"tenant_id": tenant_id})
        return rows[0] if rows else None

    def disclose(
        self, passport_version_id: UUID | str, audience: str = "public", paths: Sequence[str] | None = None
    ) -> dict[str, Any]:
        """A bundle that can be given to the audience."""
        given = {
            "passport_version_id": passport_version_id,
            "audience": audience,
            "paths": None if paths is None else list(paths),
        }
        (row,) = self._way.rows("disclose", given)
        bundle: dict[str, Any] = row["disclose"]
        return bundle

    def explain_passport(self, passport_id: UUID | str) -> str:
        (row,) = self._way.rows("explain_passport", {"passport_id": passport_id})
        return str(row["explain_passport"])

    def request_export(
        self,
        passport_version_id: UUID | str,
        format: str,
        template: str = "standard",
        audience: str = "public",
    ) -> Row:
        """The job that writes the file: pdf, json_ld or xml."""
        given = {name: value for name, value in locals().items() if name != "self"}
        (row,) = self._way.rows("request_export", given)
        return row

    def list_exports(
        self,
        tenant_id: UUID | str | None = None,
        passport_version_id: UUID | str | None = None,
        max_rows: int = 50,
    ) -> list[Row]:
        given = {name: value for name, value in locals().items() if name != "self"}
        return self._way.rows("list_exports", given)
