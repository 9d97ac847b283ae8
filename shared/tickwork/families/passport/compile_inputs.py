"""What a compilation is made from, read and checked in one transaction that holds the passport."""

import json
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import sha256
from typing import Any
from uuid import UUID

from tickwork.errors import Permanent
from tickwork.jobs.connection import Connection
from tickwork.passports.canonical import read_canonical
from tickwork.passports.fact import Fact
from tickwork.passports.receipt import RuleTests
from tickwork.passports.rules.rules import Rules, RulesRefused, read_rules
from tickwork.passports.snapshot import snapshot_bytes

Row = dict[str, Any]


def hold_passport(connection: Connection, passport_id: UUID) -> Row:
    """Until the end of the transaction, nobody else gives it a salt key or a version."""
    found = connection.execute(
        "select * from public.passports where id = %s for no key update", [passport_id]
    ).fetchone()
    if found is None:
        raise Permanent("There is no such passport", code="PASSPORT_NOT_FOUND")
    return found


def sealed_snapshot(connection: Connection, snapshot_id: UUID) -> Row:
    found = connection.execute(
        "select status, snapshot_hash from public.snapshots where id = %s", [snapshot_id]
    ).fetchone()
    if found is None:
        raise Permanent("There is no such snapshot", code="SNAPSHOT_NOT_FOUND")
    if found["status"] != "sealed":
        raise Permanent(f"The snapshot is {found['status']}. Seal it first", code="SNAPSHOT_NOT_SEALED")
    return found


def facts_of(connection: Connection, snapshot_id: UUID, snapshot_hash: bytes) -> list[Fact]:
    """The facts of the snapshot, if they are still those that were sealed."""
    rows = connection.execute(FACTS, [snapshot_id]).fetchall()
    facts = [
        Fact(row["fact_type"], row["fact_key"], row["schema_version"], payload_of(row["payload_canonical"]))
        for row in rows
    ]
    if sha256(snapshot_bytes(facts)).digest() != snapshot_hash:
        raise Permanent("The facts of the snapshot are not those that were sealed", code="SNAPSHOT_TAMPERED")
    return facts


# Of the held tenant only, whatever a snapshot of it names.
FACTS = """
    select facts.fact_type, facts.fact_key, facts.schema_version, facts.payload_canonical
    from public.snapshot_items
    join public.facts on facts.id = snapshot_items.fact_id
      and facts.tenant_id = snapshot_items.tenant_id
    where snapshot_items.snapshot_id = %s
"""


def payload_of(content: bytes) -> dict[str, Any]:
    payload = read_canonical(content)
    assert isinstance(payload, dict), "a constraint of facts"
    return payload


def published_rules(connection: Connection, rule_package_version_id: UUID, issued_at: datetime) -> tuple[Row, Rules]:
    row = connection.execute(RULES, [rule_package_version_id]).fetchone()
    if row is None:
        raise Permanent("There are no such rules", code="RULE_PACKAGE_NOT_FOUND")
    if row["status"] != "published":
        raise Permanent(f"The rules are {row['status']}. Publish them first", code="RULE_PKG_NOT_PUBLISHED")
    if row["valid_from"] and row["valid_from"] > issued_at.astimezone(UTC).date():
        raise Permanent(f"The rules are valid from {row['valid_from']}", code="RULE_PKG_NOT_PUBLISHED")
    try:
        rules = rules_of(row["dsl_source"])
    except RulesRefused as error:
        raise Permanent(f"The rules cannot be read: {error}", code="COMPILE_ERROR") from None
    if rules.hash != row["rules_hash"]:
        raise Permanent("The rules are not those that were tested and published", code="RULES_TAMPERED")
    return row, rules


@lru_cache(maxsize=8)
def rules_of(source: str) -> Rules:
    """By their text: whatever is changed in it is read anew."""
    return read_rules(json.loads(source))


RULES = """
    select
      rule_package_versions.id,
      rule_package_versions.version,
      rule_package_versions.status,
      rule_package_versions.valid_from,
      rule_package_versions.rules_hash,
      rule_package_versions.dsl_source::text as dsl_source,
      rule_packages.name as package
    from public.rule_package_versions
    join public.rule_packages on rule_packages.id = rule_package_versions.rule_package_id
    where rule_package_versions.id = %s
"""


def tests_of(connection: Connection, rules: Row) -> RuleTests | None:
    """The last run that passed with these very rules."""
    row = connection.execute(TESTS, [rules["id"], rules["rules_hash"]]).fetchone()
    return RuleTests(str(row["id"]), str(row["seed"]), row["passed_count"]) if row else None


TESTS = """
    select id, seed, passed_count
    from public.rule_tests_runs
    where rule_package_version_id = %s
      and rules_hash = %s
      and status = 'passed'
    order by created_at desc, id desc
    limit 1
"""


def active_receipt_hash(connection: Connection, passport_id: UUID) -> bytes | None:
    """That of the version which the new one is to supersede."""
    row = connection.execute(
        "select receipt_hash from public.passport_versions where passport_id = %s and status = 'active'", [passport_id]
    ).fetchone()
    return row["receipt_hash"] if row else None
