# Written by `make client` from aio/rules.py: change that one.
"""Rules of battery passports. One method per SQL function, with the same name."""

from collections.abc import Mapping
from datetime import date
from typing import Any
from uuid import UUID

from tickwork.client.json_values import as_json
from tickwork.client.way import Row, Way


class Rules:
    def __init__(self, way: Way) -> None:
        self._way = way

    def save_rules(
        self,
        tenant_id: UUID | str | None,
        package: str,
        version: str,
        dsl_source: Mapping[str, Any],
        tests_source: Mapping[str, Any] | None = None,
        valid_from: date | str | None = None,
    ) -> Row:
        """Set a version of a rule package, as a draft."""
        given = {name: value for name, value in locals().items() if name != "self"}
        given["dsl_source"] = as_json(dsl_source)
        given["tests_source"] = None if tests_source is None else as_json(tests_source)
        (row,) = self._way.rows("save_rules", given)
        return row

    def request_rule_tests(self, rule_package_version_id: UUID | str, seed: int | None = None) -> Row:
        """The job that tests them."""
        given = {"rule_package_version_id": rule_package_version_id, "seed": seed}
        (row,) = self._way.rows("request_rule_tests", given)
        return row

    def publish_rules(self, rule_package_version_id: UUID | str) -> Row:
        """Publish validated rules; a draft is tested first."""
        (row,) = self._way.rows("publish_rules", {"rule_package_version_id": rule_package_version_id})
        return row

    def retire_rules(self, rule_package_version_id: UUID | str) -> Row:
        (row,) = self._way.rows("retire_rules", {"rule_package_version_id": rule_package_version_id})
        return row

    def list_rules(
        self, tenant_id: UUID | str | None = None, package: str | None = None, max_rows: int = 50
    ) -> list[Row]:
        return self._way.rows("list_rules", {"tenant_id": tenant_id, "package": package, "max_rows": max_rows})

    def get_rules(self, rule_package_version_id: UUID | str) -> Row:
        (row,) = self._way.rows("get_rules", {"rule_package_version_id": rule_package_version_id})
        return row

    def list_rule_tests(self, rule_package_version_id: UUID | str, max_rows: int = 50) -> list[Row]:
        given = {"rule_package_version_id": rule_package_version_id, "max_rows": max_rows}
        return self._way.rows("list_rule_tests", given)
