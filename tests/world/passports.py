"""A tenant that makes batteries: facts, sealed snapshots and published rules, and jobs that compile passports."""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Any, LiteralString
from uuid import UUID

import pytest
from psycopg.types.json import Jsonb

from tests.world import World
from tickwork.families.passport.compile_passport import COMPILE_PASSPORT
from tickwork.jobs.handler import Handlers
from tickwork.jobs.rows import Job
from tickwork.passports.canonical import Json, canonical
from tickwork.passports.fact import Fact
from tickwork.passports.rules.rules import read_rules
from tickwork.runtime.deadline import Deadline
from tickwork.runtime.work import work

SECRET_KEY = b64encode(bytes(range(32))).decode()
ISSUED_AT = "2027-02-18T00:00:00Z"
HANDLERS: Handlers = {"compile_passport": COMPILE_PASSPORT}


def number(path: str, access: str, unit: str | None = None, **more: Any) -> dict[str, Any]:
    return {"path": path, "access": access, "unit": unit, "schema": {"type": "number"}, **more}


# An attribute of each access class, one that is computed from facts, and a check.
RULES: dict[str, Any] = {
    "facts": {
        "material": {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "mass": {"type": "number", "minimum": 0},
                "unit": {"type": "string", "enum": ["KGM"]},
            },
            "required": ["name", "mass"],
        }
    },
    "attributes": [
        {
            "path": "product.manufacturer",
            "access": "public",
            "schema": {"type": "string"},
            "duty": [{"duty": "mandatory", "categories": ["ev", "lmt", "industrial", "stationary"]}],
        },
        number("performance.rated_capacity", "public", "AMH"),
        number("performance.state_of_charge", "legitimate_interest", "P1"),
        number("circularity.dismantling_minutes", "restricted", "MIN"),
        number("compliance.test_result", "authorities"),
        number("materials.total_mass", "public", "KGM", value="sum.material.mass"),
    ],
    "checks": [
        {
            "code": "CAPACITY_IS_POSITIVE",
            "check": "performance.rated_capacity > 0.0",
            "words": "the rated capacity must be above zero",
        },
        {
            "code": "CAPACITY_IS_USUAL",
            "check": "performance.rated_capacity < 1000.0",
            "words": "the rated capacity is unusually large",
            "severity": "warning",
        },
    ],
}


def attribute(path: str, value: Json, unit: str | None = None) -> Fact:
    return Fact("attribute", path, "1", {"value": value} | ({"unit": unit} if unit else {}))


def material(name: str, mass: float) -> Fact:
    return Fact("material", name, "1", {"name": name, "mass": mass, "unit": "KGM"})


FACTS = [
    attribute("product.manufacturer", "Zellwerk Gmünd GmbH"),
    attribute("performance.rated_capacity", 94.5, "AMH"),
    attribute("performance.state_of_charge", 87, "P1"),
    attribute("circularity.dismantling_minutes", 42.25, "MIN"),
    attribute("compliance.test_result", 0.998),
    material("cobalt", 7.5),
    material("lithium", 4.125),
]


class Maker:
    def __init__(self, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
        self.world = world
        self.tenant = world.tenant()
        monkeypatch.setenv("TICKWORK_DATABASE_URL", world.worker_url)
        monkeypatch.setenv("TICKWORK_SECRET_KEY", SECRET_KEY)
        # Until the function that signs has declared it.
        world.run(
            "insert into job_types (key, family, enqueued_by) values ('sign_passport', 'sign', 'service') "
            "on conflict do nothing"
        )

    def facts(self, facts: Sequence[Fact] = FACTS, tenant: UUID | None = None) -> list[UUID]:
        """Facts as parse_facts leaves them, of a document of their own."""
        tenant = tenant or self.tenant
        version = self._added(ADD_DOCUMENT, {"tenant": tenant, "facts": len(facts)})
        return [
            self._added(
                ADD_FACT,
                {
                    **{"tenant": tenant, "version": version, "canonical": canonical(fact.payload)},
                    **{"type": fact.fact_type, "key": fact.fact_key, "schema": fact.schema_version},
                },
            )
            for fact in facts
        ]

    def snapshot(self, facts: Sequence[Fact] = FACTS, *, is_sealed: bool = True) -> UUID:
        world = self.world
        id: UUID = world.value("select id from create_snapshot(%s, 'spring')", self.tenant)
        world.run("select add_snapshot_items(%s, %s)", id, self.facts(facts))
        if is_sealed:
            world.run("select seal_snapshot(%s)", id)
        return id

    def rules(
        self, source: Mapping[str, Any] = RULES, *, status: str = "published", tenant: UUID | None = None
    ) -> UUID:
        """Published rules that have passed their tests."""
        return self._added(
            ADD_RULES,
            {
                "tenant": tenant or self.tenant,
                "source": Jsonb(source),
                "hash": read_rules(source).hash,
                "status": status,
            },
        )

    def passport(self, battery: str = "ZW-0001", category: str = "ev") -> UUID:
        id: UUID = self.world.value("select id from create_passport(%s, %s, %s, 'Z94')", self.tenant, battery, category)
        return id

    def request(self, passport: UUID, snapshot: UUID, rules: UUID, issued_at: str = ISSUED_AT) -> UUID:
        """The id of the job."""
        id: UUID = self.world.value(
            "select id from request_compile(%s, %s, %s, %s)", passport, snapshot, rules, issued_at
        )
        return id

    def work(self, family: str = "passport", handlers: Handlers = HANDLERS) -> None:
        work(self.world.queue, family, handlers, Deadline(60, 1))

    def job(self, id: UUID) -> Job:
        return Job(**self.world.row("select * from jobs where id = %s", id))

    def compile(self, passport: UUID, snapshot: UUID, rules: UUID, issued_at: str = ISSUED_AT) -> Job:
        """The job after one attempt."""
        id = self.request(passport, snapshot, rules, issued_at)
        self.work()
        return self.job(id)

    def version(self, battery: str = "ZW-0001", issued_at: str = ISSUED_AT) -> UUID:
        """A compiled version of a passport that is made for it."""
        job = self.compile(self.passport(battery), self.snapshot(), self.rules(), issued_at)
        assert job.status == "done", job.error_message
        return UUID(job.result["passport_version_id"])

    def sign(self, version: UUID, *, with_qr: bool = True) -> None:
        """As if it were signed: with bytes of the right length."""
        self.world.run(
            "update passport_versions set status = 'signed', signature = %s, signing_key_id = 'key', "
            "signing_key_public = %s where id = %s",
            *(bytes(64), bytes(32), version),
        )
        if with_qr:
            self.world.run("update passport_versions set qr_payload = 'BPC1', qr_png = 'png' where id = %s", version)

    def _added(self, query: LiteralString, values: Mapping[str, Any]) -> UUID:
        row = self.world.admin.execute(query, values).fetchone()
        assert row is not None
        id: UUID = row["id"]
        return id


ADD_DOCUMENT = """
    with file as (
      insert into documents (tenant_id, name, vault_path, mime_type, size)
      values (
        %(tenant)s, 'bom.json', 'tenant/' || %(tenant)s::text || '/documents/' || gen_random_uuid() || '.json',
        'application/json', 1
      )
      returning id
    ),
    document as (
      insert into passport_documents (tenant_id, name, kind)
      values (%(tenant)s, 'bill of materials', 'bom')
      returning id
    )
    insert into document_versions (tenant_id, passport_document_id, version, document_id, status, fact_count)
    select %(tenant)s, document.id, 1, file.id, 'validated', %(facts)s
    from document, file
    returning id
"""
ADD_FACT = """
    insert into facts (
      tenant_id, document_version_id, fact_type, fact_key, schema_version, payload, payload_canonical
    )
    values (
      %(tenant)s, %(version)s, %(type)s, %(key)s, %(schema)s, convert_from(%(canonical)s, 'UTF8')::jsonb, %(canonical)s
    )
    on conflict on constraint fact_is_unique_in_its_tenant do update
    set confidence = facts.confidence
    returning id
"""
ADD_RULES = """
    with package as (
      insert into rule_packages (tenant_id, name)
      values (%(tenant)s, 'rules ' || left(gen_random_uuid()::text, 8))
      returning id
    ),
    version as (
      insert into rule_package_versions (tenant_id, rule_package_id, version, status, dsl_source, rules_hash)
      select %(tenant)s, package.id, '1', %(status)s, %(source)s, %(hash)s
      from package
      returning id, rules_hash
    ),
    run as (
      insert into rule_tests_runs (
        tenant_id, rule_package_version_id, revision, rules_hash, seed, status, total_cases, passed_count, failed_count
      )
      select %(tenant)s, version.id, 1, version.rules_hash, 4711, 'passed', 500, 500, 0
      from version
    )
    select id
    from version
"""
