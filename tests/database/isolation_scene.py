"""The database of the matrix of test_isolation.py: two tenants, and those who try to get at them."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple, Self
from uuid import UUID, uuid4

import pytest

from tests.database.isolation_arguments import Target
from tests.database.isolation_catalogue import (
    AN_ID,
    BY_NUMBER,
    FUNCTIONS,
    OPEN_FUNCTIONS,
    RELATIONS,
    SERVE_ALL,
    TENANT_OF,
    TYPES,
)
from tests.database.isolation_population import COLLEAGUE, INSIDER, PLATFORM_ADMIN, REMOVED, STRANGER, populate
from tests.database.isolation_rights import KEYS
from tests.world import World
from tickwork.database.connection import Connection
from tickwork.testing.database import TEMPLATE, cloned
from tickwork_local.postgres import Server

CONTEXTS = ("claims", "other tenant", "cold", "warm", "malformed", "sql")


class Actor(NamedTuple):
    """Somebody who connects as a role, and says at the start of each transaction who he is."""

    name: str
    role: str
    home: Target | None
    introduction: str
    # Who he is in docs/reference/rights.md, or nobody; none for roles that are not asked who they are.
    kind: str = ""

    @property
    def contexts(self) -> tuple[str, ...]:
        """Each one that can tell something: without claims nobody differs from others of his role."""
        if self.name in SERVE_ALL or (self.kind and self.name.endswith("of beta") and self.name != "admin of beta"):
            return CONTEXTS[:1]
        return CONTEXTS[:2] if self.kind and self.name != "admin of alpha" else CONTEXTS

    def home_in(self, context: str) -> Target | None:
        return self.home if context in ("claims", "other tenant") else None


class Row(NamedTuple):
    table: str
    text: str
    is_foreign: bool


class Scene(World):
    """A database with two tenants, each with jobs in every status, attempts and a member."""

    def __enter__(self) -> Self:
        super().__enter__().run("set search_path = ''")
        self.alpha, self.beta = self.target("alpha"), self.target("beta")
        self.kept_rows: dict[tuple[str, str, UUID], dict[str, Any]] = {}
        self.kept_arguments: dict[tuple[str, UUID, UUID], dict[str, str]] = {}
        self.first_rows: dict[tuple[str, str], dict[str, Any]] = {}
        return self

    @cached_property
    def relations(self) -> list[dict[str, Any]]:
        return self.rows(RELATIONS)

    @cached_property
    def functions(self) -> list[dict[str, Any]]:
        return self.rows(FUNCTIONS)

    @cached_property
    def open_functions(self) -> set[str]:
        """Those that some client may call."""
        return {row["signature"] for row in self.rows(OPEN_FUNCTIONS)}

    @cached_property
    def types(self) -> dict[str, dict[str, Any]]:
        return {type["name"]: type for type in self.rows(TYPES)}

    @cached_property
    def tenant_of(self) -> dict[str, str | None]:
        numbered = {
            relation["name"]: BY_NUMBER for relation in self.relations if "tenant_number" in (relation["columns"] or [])
        }
        return {relation["name"]: "tenant_id" for relation in self.relations} | numbered | TENANT_OF

    def target(self, word: str) -> Target:
        jobs = self.rows(
            "select jobs.*, token from public.jobs left join tickwork.leases on job_id = jobs.id "
            "where jobs.family = %s order by token, created_at",
            word,
        )
        ids = {job["status"]: job["id"] for job in jobs}
        tenant = jobs[0]["tenant_id"]
        documents = self.rows("select id from public.documents where tenant_id = %s order by name", tenant)
        connector = self.value("select id from public.connectors where tenant_id = %s", tenant)
        number = self.value("select number from tickwork.tenants where tenant_id = %s", tenant)
        delivery = self.row("select * from public.webhook_deliveries where tenant_id = %s", tenant)
        spare = self.value("select id from public.events where tenant_id = %s and type = 'spare'", tenant)
        trigger = self.value("select id from public.event_triggers where tenant_id = %s", tenant)
        key = self.value("select id from tickwork.api_keys where name = %s", word)
        signed = self.row("select * from public.passport_versions where tenant_id = %s and status = 'signed'", tenant)
        others = [
            *(each["id"] for each in documents),
            delivery["webhook_endpoint_id"],
            delivery["id"],
            spare,
            trigger,
            connector,
            self.value("select id from public.schedules where tenant_id = %s", tenant),
            key,
            self.value("select id from public.artifacts where tenant_id = %s and job_id is null", tenant),
            self.value("select id from public.passport_documents where tenant_id = %s", tenant),
            self.value("select id from public.document_versions where tenant_id = %s", tenant),
            self.value("select fact_id from public.fact_sources where tenant_id = %s", tenant),
            self.value("select id from public.facts where tenant_id = %s order by created_at limit 1", tenant),
            self.value("select id from public.snapshots where tenant_id = %s and status = 'building'", tenant),
            self.value("select id from public.rule_package_versions where tenant_id = %s and status = 'draft'", tenant),
            signed["snapshot_id"],
            signed["rule_package_version_id"],
            signed["passport_id"],
            signed["id"],
        ]
        return Target(word, tenant, ids, jobs[0]["token"], number, *others)

    @cached_property
    def actors(self) -> list[Actor]:
        job, token = self.alpha.jobs["running"], self.alpha.token
        forged = f"set_config('tickwork.job_id', '{self.beta.jobs['running']}', true), "
        forged += f"set_config('tickwork.lease_token', '{uuid4()}', true)"
        return [
            self.caller("admin of alpha", "authenticated", INSIDER, self.alpha, "admin"),
            Actor("worker with a lease", "tickwork_worker", self.alpha, f"select public.hold_job('{job}', '{token}')"),
            Actor("worker", "tickwork_worker", None, f"select {forged}"),
            self.caller("anon", "anon", INSIDER),
            self.caller("removed member", "authenticated", REMOVED, None, "nobody"),
            self.caller("stranger", "authenticated", STRANGER, None, "nobody"),
            self.caller("service", "service_role", INSIDER, self.alpha),
            self.caller("platform admin", "authenticated", PLATFORM_ADMIN, self.alpha, "platform admin"),
            self.caller("admin of beta", "authenticated", COLLEAGUE, self.beta, "admin"),
            *(actor for home in (self.alpha, self.beta) for actor in self.others_of(home)),
        ]

    def others_of(self, home: Target) -> Iterator[Actor]:
        query = "select user_id from public.memberships where (tenant_id, role) = (%s, %s)"
        for role, kind in {"member": "member", "owner": "admin"}.items():
            user = self.value(query, home.tenant, role)
            yield self.caller(f"{role} of {home.word}", "authenticated", user, home, kind)
        for name, kind in KEYS.items():
            yield self.key(f"{name} key of {home.word}", f"{name} {home.word}", home, kind)

    def key(self, name: str, key: str, home: Target, kind: str) -> Actor:
        hash = self.value("select secret_hash from tickwork.api_keys where name = %s", key)
        claims = json.dumps({"tickwork_key": hash, "role": "authenticated"})
        return Actor(name, "authenticated", home, f"select set_config('request.jwt.claims', '{claims}', true)", kind)

    def caller(self, name: str, role: str, user: UUID, home: Target | None = None, kind: str = "") -> Actor:
        claims = json.dumps({"sub": str(user), "role": role})
        return Actor(name, role, home, f"select set_config('request.jwt.claims', '{claims}', true)", kind)

    @cached_property
    def tables(self) -> list[str]:
        return [relation["name"] for relation in self.relations if relation["is_table"]]

    @cached_property
    def rows_at_first(self) -> dict[str | None, dict[str, set[Row]]]:
        homes = (self.alpha, self.beta, None)
        return {home and home.word: self.rows_seen_from(home, self.tables, self.admin) for home in homes}

    @cached_property
    def secrets(self) -> dict[str | None, set[str]]:
        """What nobody but the others knows: their ids and words."""
        found: dict[str | None, set[str]] = {}
        for home, tables in self.rows_at_first.items():
            own, others = (
                " ".join(row.text for row in chain(*tables.values()) if row.is_foreign is is_foreign)
                for is_foreign in (False, True)
            )
            found[home] = {*re.findall(AN_ID, others), "alpha", "beta"} - {*re.findall(AN_ID, own), home}
        return found

    def rows_seen_from(self, home: Target | None, tables: Iterable[str], connection: Connection) -> dict[str, set[Row]]:
        """By table, all rows, each with the transaction that wrote it, and whether it is not the tenant's own."""
        found: dict[str, set[Row]] = {table: set() for table in tables}
        parts = [
            f"select '{table}' as table, concat(t.xmin, ' ', t) as text, "
            f"({self.tenant_of[table] or 'null'} = %(home)s::uuid) is not true as is_foreign from {table} as t"
            for table in found
        ]
        for row in connection.execute(" union all ".join(parts), {"home": home and home.tenant}) if parts else ():
            found[row["table"]].add(Row(**row))
        return found

    def changed(self, home: Target | None, written: Sequence[str], connection: Connection) -> frozenset[Row]:
        before = self.rows_at_first[home and home.word]
        after = self.rows_seen_from(home, before.keys() & written, connection)
        return frozenset(row for table, rows in after.items() for row in rows ^ before[table])


@pytest.fixture(scope="module")
def populated(server: Server) -> Iterator[str]:
    with cloned(server, TEMPLATE) as name:
        with World(server.url(name), server.url(name, "tickwork_worker")) as world:
            populate(world)
        yield name


@pytest.fixture
def scene(server: Server, populated: str) -> Iterator[Scene]:
    with cloned(server, populated) as name, Scene(server.url(name), server.url(name, "tickwork_worker")) as scene:
        yield scene
