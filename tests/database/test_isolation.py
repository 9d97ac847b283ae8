"""
Nobody sees or changes what is another tenant's: every object, by every actor, in every context.

Two tenants, alpha and beta, have rows in every table. The matrix has one cell for each

    actor     members of both tenants, workers with and without a lease, anon, somebody removed, a stranger, the service
    context   signed in; aiming at the other tenant; no claims, on a cold or warm connection; broken claims; SQL in them
    attack    select, insert, update and delete on each table and view, and a call of each function in the catalogue

Each cell is tried in a transaction that is rolled back. It is wrong if the actor saw or touched a row of another tenant
(`breach`), if the answer tells an id of another tenant from one that does not exist (`betrayal`), or if the actor got
nothing although it is at home and has the right, since then the cell proves nothing (`void`). A table or function that
is added is in the matrix by itself; if a function takes an argument that nobody knows, the test says which, and
isolation_arguments.py is where it goes. The deliberate holes at the end show that each check can fail.
"""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, NamedTuple, Self
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg.rows import dict_row

from tests.database.isolation_arguments import BY_TYPE, Target, arguments_for
from tests.database.test_privileges import CLIENT_COLUMNS, DOCUMENT_COLUMNS, OURS, broken_rules, unlisted_grants
from tests.world import World
from tests.world.receivers import emit, endpoint
from tickwork.database.connection import Connection
from tickwork.errors import LeaseLost
from tickwork.testing.database import TEMPLATE, cloned
from tickwork_local.postgres import Server

INSIDER, COLLEAGUE, REMOVED, STRANGER = (UUID(int=number) for number in range(1, 5))
CONTEXTS = ("claims", "other tenant", "cold", "warm", "malformed", "sql")
BROKEN = {"malformed": '{"sub": ', "sql": '{"sub": "x\' or true --"}'}
# A row's tenant is in its tenant_id or behind its tenant_number, but for these. None: it is no tenant's, and no
# client's to change.
TENANT_OF = {
    "public.organizations": "id",
    "tickwork.organizations": "id",
    "public.job_types": None,
    "public.extraction_engines": None,
    "tickwork.platform_admins": None,
    "tickwork.family_types": None,
    "tickwork.functions": None,
    "tickwork.call_tokens": None,
    "tickwork.ticks": None,
    "tickwork.call_secrets": None,
    "tickwork.schema_versions": None,
    "tickwork.event_purge": None,
    "tickwork.pauses": "substring(scope from '^tenant ([0-9a-f-]+)')::uuid",
}
BY_NUMBER = "(select tenants.tenant_id from tickwork.tenants where tenants.number = tenant_number)"
NO_TENANTS = {table for table, tenant in TENANT_OF.items() if tenant is None}
READ_BY_ALL = (
    ("public.job_types", "select"),
    ("public.extraction_engines", "select"),
    ("tickwork.schema_versions", "select"),
)
# It holds nothing that could be known from elsewhere.
SAYS_NOTHING = ("tickwork.event_purge", "select")
# Called otherwise than by the queue, with what the tenant has already, they are refused, as they should be.
REFUSED = (
    "tickwork.guard_table",
    "tickwork.check_change",
    "tickwork.take_keys",
    "tickwork.follow_jobs",
    "tickwork.insert_job(",
    "tickwork.insert_new_jobs",
    "tickwork.start_job",
    "tickwork.enqueue_import",
)
# They read nothing: the answer to another id is another number.
HASHES = ("tickwork.search_key", "tickwork.search_vector")
AN_ID = "[0-9a-f]{8}-[0-9a-f-]{27}"
# Functions that take one of these parameters, and null for the others.
ONE_SCOPE, SCOPES = ("pause_jobs", "resume_jobs", "scope_of"), {"family", "type", "tenant_id"}
RELATIONS = f"""
    select concat_ws('.', relnamespace::regnamespace, relname) as name, relkind in ('r', 'p') as is_table, (
      select array_agg(column_name::text order by ordinal_position) from information_schema.columns
      where table_schema = relnamespace::regnamespace::text and table_name = relname
        and is_updatable = 'YES' and is_generated = 'NEVER'
    ) as columns
    from pg_class where relnamespace {OURS} and relkind in ('r', 'p', 'v', 'm', 'f') order by name
"""
# Queries for all columns that the caller may read.
READABLE = f"""
    select concat_ws('.', relnamespace::regnamespace, relname) as name,
      format('select %s from %s', string_agg(format('%I::text', attname), ', '), pg_class.oid::regclass) as query
    from pg_class join pg_attribute on attrelid = pg_class.oid and attnum > 0 and not attisdropped
    where relnamespace {OURS} and relkind in ('r', 'p', 'v', 'm', 'f')
      and has_column_privilege(attrelid, attnum, 'select')
    group by pg_class.oid
"""
# The fields of composite types, and which of them are the rows of a table.
TYPES = f"""
    select format_type(pg_type.oid, null) as name, relkind in ('r', 'p') as is_table,
      jsonb_object_agg(attname, format_type(atttypid, null) order by attnum) as fields
    from pg_type join pg_class on pg_class.oid = typrelid join pg_attribute on attrelid = typrelid and attnum > 0
    where relnamespace {OURS} and not attisdropped group by pg_type.oid, relkind
"""
# Trigger functions are left out: nobody can call them.
FUNCTIONS = f"""
    select pg_proc.oid::regprocedure::text as signature, coalesce(
      jsonb_agg(jsonb_build_object('name', proargnames[place], 'type', format_type(type, null),
        'is_optional', place > pronargs - pronargdefaults) order by place) filter (where place is not null), '[]'
    ) as parameters
    from pg_proc left join unnest(proargtypes) with ordinality as parameter(type, place) on true
    where pronamespace {OURS} and prorettype <> 'trigger'::regtype group by pg_proc.oid order by signature
"""
OPEN_FUNCTIONS = f"""
    select distinct pg_proc.oid::regprocedure::text as signature
    from pg_proc, unnest(array['anon', 'authenticated', 'service_role', 'tickwork_worker']) as client
    where pronamespace {OURS} and has_function_privilege(client, pg_proc.oid, 'execute')
"""
POLICIES = """
    select policyname, client, concat_ws('.', schemaname, tablename) as relation, expression
    from pg_policies, unnest(array[qual, with_check]) as expression,
      unnest(array['anon', 'authenticated', 'tickwork_worker']) as client
    where expression is not null and array['public', client]::name[] && roles
      and policyname !~ '^everybody_signed_in_reads|^the_worker_reads_schema_versions$'
"""
TRAPS = """
    create temp table memberships as select tenant_id, gen_random_uuid() as user_id from public.memberships;
    create temp table organizations as select * from public.organizations;
    create temp table jobs as select * from public.jobs;
    create function lair.spring(uuid, uuid) returns boolean language plpgsql
      as $$ begin raise exception 'trapped' using errcode = 'TRAPS'; end $$;
    create operator lair.= (leftarg = uuid, rightarg = uuid, function = lair.spring);
    set search_path = lair, pg_temp, pg_catalog, public;
"""


class Actor(NamedTuple):
    """Somebody who connects as a role, and says at the start of each transaction who he is."""

    name: str
    role: str
    home: Target | None
    introduction: str

    def home_in(self, context: str) -> Target | None:
        return self.home if context in ("claims", "other tenant") else None


class Attack(NamedTuple):
    object: str
    verb: str
    statement: str
    parameters: dict[str, str | None]


class Answer(NamedTuple):
    code: str | None
    text: str
    row_count: int = 0
    touched: frozenset[str] = frozenset()

    def is_yes_to(self, attack: Attack) -> bool:
        return self.row_count > 0 or (
            ".raise_" in attack.object and self.code in ("TWLSE", "TWSTA", "TWDLV", "TWJOB", "TWCAL")
        )


class Scene(World):
    """A database with two tenants, each with jobs in every status, attempts and a member."""

    def __enter__(self) -> Self:
        super().__enter__().run("set search_path = ''")
        self.alpha, self.beta = self.target("alpha"), self.target("beta")
        self.kept_rows: dict[tuple[str, str, UUID], dict[str, Any]] = {}
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
        others = [
            *(each["id"] for each in documents),
            delivery["webhook_endpoint_id"],
            delivery["id"],
            spare,
            trigger,
            connector,
            self.value("select id from public.schedules where tenant_id = %s", tenant),
        ]
        return Target(word, tenant, ids, jobs[0]["token"], number, *others)

    @cached_property
    def actors(self) -> list[Actor]:
        job, token = self.alpha.jobs["running"], self.alpha.token
        forged = f"set_config('tickwork.job_id', '{self.beta.jobs['running']}', true), "
        forged += f"set_config('tickwork.lease_token', '{uuid4()}', true)"
        return [
            self.caller("member of alpha", "authenticated", INSIDER, self.alpha),
            Actor("worker with a lease", "tickwork_worker", self.alpha, f"select public.hold_job('{job}', '{token}')"),
            Actor("worker", "tickwork_worker", None, f"select {forged}"),
            self.caller("member of beta", "authenticated", COLLEAGUE, self.beta),
            self.caller("anon", "anon", INSIDER),
            self.caller("removed member", "authenticated", REMOVED),
            self.caller("stranger", "authenticated", STRANGER),
            self.caller("service", "service_role", INSIDER, self.alpha),
        ]

    def caller(self, name: str, role: str, user: UUID, home: Target | None = None) -> Actor:
        claims = json.dumps({"sub": str(user), "role": role})
        return Actor(name, role, home, f"select set_config('request.jwt.claims', '{claims}', true)")

    @cached_property
    def rows_at_first(self) -> dict[str | None, frozenset[str]]:
        return {home and home.word: self.rows_outside(home, self.admin) for home in (self.alpha, self.beta, None)}

    def rows_outside(self, home: Target | None, connection: Connection) -> frozenset[str]:
        """All rows that are not the tenant's own, each with the transaction that wrote it."""
        parts = []
        for table in (relation["name"] for relation in self.relations if relation["is_table"]):
            tenant = self.tenant_of[table]
            where = f"where ({tenant} = %(home)s) is not true" if tenant else ""
            parts.append(f"select concat(t.xmin, ' ', t) as row from {table} as t {where}")
        rows = connection.execute(" union all ".join(parts), {"home": home and home.tenant})
        return frozenset(row["row"] for row in rows)


@pytest.fixture(scope="module")
def populated(server: Server) -> Iterator[str]:
    with cloned(server, TEMPLATE) as name:
        with World(server.url(name), server.url(name, "tickwork_worker")) as world:
            populate_tenant(world, "alpha", INSIDER, REMOVED, dedupe_key="alpha")
            populate_tenant(world, "beta", COLLEAGUE, idempotency_key="key", dedupe_key="key")
            world.run("delete from memberships where user_id = %s", REMOVED)
            # What is everybody's is nobody's secret.
            world.run("delete from document_types where tenant_id is null")
            world.run("insert into tickwork.platform_admins values (%s)", uuid4())
            world.run("delete from tickwork.tenants where tenant_id = %s", world.tenant("without a number"))
            world.run("delete from tenant_settings where tenant_id = %s", world.tenant("without settings"))
            populate_calls(world)
        yield name


# What `tickwork cron install` adds, without pg_net behind it.
SEND_CALL = """
    create function tickwork.send_call(url text, headers jsonb, timeout_milliseconds integer) returns bigint
      language sql set search_path = '' as 'select 1';
    alter function tickwork.send_call owner to tickwork_owner;
    revoke execute on function tickwork.send_call from public;
"""


def populate_calls(world: World) -> None:
    world.run(SEND_CALL)
    world.run("insert into tickwork.call_secrets values ('tickwork_hmac_secret', repeat('alpha-beta-', 4))")
    for word in ("alpha", "beta"):
        world.run("insert into tickwork.functions (family, url) values (%s, %s)", word, f"https://{word}.example")
        world.run("insert into tickwork.call_tokens (family, number) values (%s, 1)", word)
        world.run("insert into tickwork.ticks (family, due_jobs, request_ids) values (%s, 0, '{}')", word)


def populate_tenant(world: World, word: str, *users: UUID, **keys: str) -> None:
    tenant, type = world.tenant(word), world.type(f"do_{word}", family=word, max_running=1000)
    world.service.pauses.limit_lane(word, tenant, word, max_running=5, starts_per_minute=100)
    world.service.pauses.hold_lane(word, tenant, "held", "infinity")
    world.job(type, tenant, payload={"secret": word}, lane=word)
    world.claim(word, lease_seconds=3600)
    later = world.job(type, tenant, lane="held", run_at=datetime(2100, 1, 1, tzinfo=UTC))
    world.job(type, tenant, after=[later.id])
    to_check = "insert into tickwork.to_check select number, %s from tickwork.tenants where tenant_id = %s"
    world.run(to_check, later.id, tenant)
    for status in ("done", "failed", "dead", "cancelled"):
        job = world.job(type, tenant, lane=word, correlation_id="key")
        ended = "update jobs set status = %s, error_code = 'no', finished_at = now() where id = %s"
        world.run(ended, status, job.id)
    world.job(type, tenant, **keys)
    populate_documents(world, tenant, word)
    populate_secrets(world, tenant, word)
    # Connectors first: their events are not to be delivered.
    populate_connectors(world, tenant, word)
    populate_schedules(world, tenant, word)
    populate_webhooks(world, tenant, word)
    attempt = "select id, 7, tenant_id, family, now(), now(), 'failed' from jobs where tenant_id = %s"
    world.run(f"insert into tickwork.attempts {attempt}", tenant)
    world.run("insert into tickwork.exceptions select id, 7, tenant_id, family from jobs where tenant_id = %s", tenant)
    world.run("insert into tickwork.pauses (scope) values (%s)", f"tenant {tenant}")
    world.run("insert into tickwork.blocked select number, %s, %s, now() from tickwork.tenants", word, type)
    for user in users:
        world.run("insert into memberships (tenant_id, user_id, role) values (%s, %s, 'admin')", tenant, user)


def populate_secrets(world: World, tenant: UUID, word: str) -> None:
    world.run("select tickwork.store_secret(%s, 'tenant', 'a_name', %s, true)", tenant, f"secret {word}")


def populate_schedules(world: World, tenant: UUID, word: str) -> None:
    row = world.service.schedules.create_schedule(tenant, word, f"do_{word}", "@yearly", payload_template={"is": word})
    world.service.schedules.run_schedule(row["id"])


def populate_connectors(world: World, tenant: UUID, word: str) -> None:
    connector = world.value(
        "insert into connectors (tenant_id, provider, name, account_id) values (%s, 'dropbox', %s, %s) returning id",
        tenant,
        word,
        word,
    )
    world.run(
        "insert into connector_folders (connector_id, tenant_id, remote_path, cursor) values (%s, %s, '', %s)",
        connector,
        tenant,
        word,
    )
    world.run(
        "insert into imported_items (connector_id, tenant_id, item_id, folder, path, name, revision) "
        "values (%s, %s, 'an id', '', %s, %s, '1')",
        connector,
        tenant,
        f"/{word}",
        word,
    )


def populate_documents(world: World, tenant: UUID, word: str) -> None:
    document, _ = (
        world.value(
            "insert into documents (tenant_id, name, vault_path, mime_type, size) values (%s, %s, %s, 'text/plain', 1) "
            "returning id",
            tenant,
            name,
            f"tenant/{tenant}/{name}",
        )
        for name in (word, f"{word}_to_spare")
    )
    extraction = world.value(
        "insert into extractions (tenant_id, document_id, engine) values (%s, %s, 'local') returning id",
        tenant,
        document,
    )
    world.run(
        "insert into document_chunks (tenant_id, document_id, extraction_id, chunk_index, element_type, text) "
        "values (%s, %s, %s, 0, 'NarrativeText', %s)",
        tenant,
        document,
        extraction,
        f"secret {word}",
    )
    world.run(
        "insert into document_words (tenant_id, document_id, words) values (%s, %s, %s)", tenant, document, [word]
    )
    world.run("insert into document_types (tenant_id, key, label) values (%s, %s, 'own')", tenant, f"own_{word}")
    world.run("select correct_document_type(%s, %s)", document, f"own_{word}")


def populate_webhooks(world: World, tenant: UUID, word: str) -> None:
    """A delivery that has failed, of the tenant's running job, as if that were its own."""
    emit(world, tenant, "spare")
    endpoint(world, tenant, description=word)
    world.service.triggers.create_event_trigger(tenant, word, "invoice.*", f"do_{word}", payload_template={"is": word})
    emit(world, tenant, secret=word)
    world.run(
        "update webhook_deliveries set status = 'failed', job_id = ("
        "select id from jobs where status = 'running' and tenant_id = webhook_deliveries.tenant_id limit 1"
        ") where tenant_id = %s",
        tenant,
    )


@pytest.fixture
def scene(server: Server, populated: str) -> Iterator[Scene]:
    with cloned(server, populated) as name, Scene(server.url(name), server.url(name, "tickwork_worker")) as scene:
        yield scene


def attacks(scene: Scene, target: Target, is_aimed: bool) -> Iterator[Attack]:
    for relation in scene.relations:
        yield from attacks_on_rows(scene, relation, target, is_aimed)
    for function in scene.functions:
        yield from calls(scene, function, target)


def attacks_on_rows(scene: Scene, relation: dict[str, Any], target: Target, is_aimed: bool) -> Iterator[Attack]:
    name, columns = relation["name"], relation["columns"]
    tenant = scene.tenant_of[name]
    where = f" where {tenant} = '{target.tenant}'" if tenant else ""
    found = scene.rows(f"select to_jsonb(t) as row from {name} as t{where} limit 1")
    assert found, f"{name} has no row of {target.word}: the matrix would prove nothing"
    aim = where if is_aimed else ""
    yield Attack(name, "select", f"select t::text as row from {name} as t{aim}", {})
    if not columns:
        return
    keys = {"user_id": str(uuid4()), "key": "a_key", "number": 99, "chunk_index": 99, "owner": "an_owner"}
    keys |= {"remote_path": "a_path", "item_id": "another id", "job_id": str(uuid4()), "label": "a label"}
    keys |= {"nominal_at": "2031-01-01"}
    keys |= {"family": "a_family", "lane": "a_lane", "scope": "a_scope", "idempotency_key": None, "dedupe_key": "new"}
    if lacking := {"tickwork.tenants": "without a number", "public.tenant_settings": "without settings"}.get(name):
        keys["tenant_id"] = str(scene.value("select id from public.organizations where name = %s", lacking))
    row = {**found[0]["row"], **keys}
    row["id"] = 99 if isinstance(row.get("id"), int) else str(uuid4())
    # A chunk belongs to the document of its extraction.
    of = target.document if name == "public.document_chunks" else target.spare
    row |= {"document_id": str(of), "event_id": str(target.event)}
    row |= {"vault_path": f"tenant/{target.tenant}/{uuid4()}"}
    names = {"public.jobs": CLIENT_COLUMNS, "public.documents": DOCUMENT_COLUMNS}.get(name, ", ".join(columns))
    copy = f"select {names} from jsonb_populate_record(null::{name}, %(row)s)"
    yield Attack(
        name, "insert", f"insert into {name} ({names}) overriding system value {copy}", {"row": json.dumps(row)}
    )
    yield Attack(name, "update", f"update {name} set {columns[-1]} = {columns[-1]}{aim}", {})
    yield Attack(name, "delete", f"delete from {name}{aim}", {})


def calls(scene: Scene, function: dict[str, Any], target: Target) -> Iterator[Attack]:
    """A call with every argument, one with those it needs, and one for each that may be left out."""
    signature, parameters = function["signature"], {each["name"]: each for each in function["parameters"]}
    name, rival = signature.partition("(")[0], scene.alpha if target.word == "beta" else scene.beta
    is_leased = parameters.keys() & {"lease_token", "tokens", "heartbeats", "outcomes", "outcome", "endings"}
    job = target.jobs["running" if is_leased else "dead" if "retry" in name else "queued"]
    argument = Arguments(scene, target, job, rival)
    if "outcomes" in parameters:
        # Where it settles and claims, it finds nothing to claim: a claim may touch every tenant.
        argument.values["family"] = "none"
    if name.endswith("cancel_jobs"):
        argument.values["status"] = "queued"
    if name.endswith("change_jobs"):
        argument.values["verb"] = "retried"
    required = [each for each in parameters if not parameters[each]["is_optional"]]
    optional = [each for each in parameters if parameters[each]["is_optional"]]
    is_of_one_scope = name.rpartition(".")[2] in ONE_SCOPE
    for extra in [[], *([each] for each in optional), optional] if optional and not is_of_one_scope else [optional]:
        for scope in SCOPES if is_of_one_scope else [None]:
            given = [*required, *extra]
            listed = ", ".join(f"{each} => {argument.expression(each, parameters[each]['type'])}" for each in given)
            chosen = {each: argument.value(each, parameters[each]["type"]) for each in given}
            chosen |= dict.fromkeys(SCOPES - {scope}) if scope else {}
            yield Attack(signature, "rpc", f"select answer::text as row from {name}({listed}) as answer", chosen)


class Arguments:
    """What an attack on a target gives for the parameters of a function."""

    def __init__(self, scene: Scene, target: Target, job: UUID, rival: Target) -> None:
        self.scene, self.target, self.job = scene, target, job
        self.values = arguments_for(target, job, rival.tenant)

    def expression(self, name: str, type: str) -> str:
        element = type.removesuffix("[]")
        if f"{name}:{type}" in self.values or element not in self.scene.types:
            return f"%({name})s::{type}"
        filled = f"jsonb_populate_record(null::{element}, %({name})s::jsonb)"
        return filled if element == type else f"array[{filled}]"

    def value(self, name: str, type: str) -> str | None:
        element = type.removesuffix("[]")
        if f"{name}:{type}" not in self.values and element in self.scene.types:
            return json.dumps(self.row(element))
        return self.plain(name, type)

    def row(self, type: str) -> dict[str, Any]:
        if self.scene.types[type]["is_table"]:
            return self.stored(type)
        fields: dict[str, str] = self.scene.types[type]["fields"]
        return {name: self.field(name, of_type) for name, of_type in fields.items()}

    def field(self, name: str, type: str) -> Any:
        element = type.removesuffix("[]")
        if element in self.scene.types:
            return self.row(element) if element == type else [self.row(element)]
        value = self.plain(name, type)
        return json.loads(value) if value and type == "jsonb" else value

    def plain(self, name: str, type: str) -> str | None:
        """A value of a type that is not ours."""
        value = self.values.get(f"{name}:{type}", self.values.get(name))
        if value is None:
            value = "{}" if type.endswith("[]") else BY_TYPE.get(type)
        assert value is not None, f"the matrix has no argument for {name} of type {type}"
        return value or None

    def stored(self, table: str) -> dict[str, Any]:
        kept: dict[str, Any] | None = self.scene.kept_rows.get((table, self.target.word, self.job))
        return kept or self.scene.kept_rows.setdefault((table, self.target.word, self.job), self.read(table))

    def read(self, table: str) -> dict[str, Any]:
        name = table if "." in table else f"public.{table}"
        tenant = self.scene.tenant_of[name]
        where = f"{tenant} = '{self.target.tenant}'" if tenant else f"strpos(t::text, '{self.target.word}') > 0"
        found: dict[str, Any] = self.scene.value(
            f"select to_jsonb(t) from {name} as t where {where} order by strpos(t::text, '{self.job}') = 0 limit 1"
        )
        # A second one of the same name would be refused.
        return {**found, "label": "a label"}


def connect(scene: Scene, actor: Actor, context: str) -> Connection:
    connection = psycopg.connect(scene.url, autocommit=True, row_factory=dict_row, prepare_threshold=None)
    login, role = (actor.role, "none") if actor.role == "tickwork_worker" else ("authenticator", actor.role)
    connection.execute(f"set session authorization {login}; set role {role}")
    if context == "warm":
        # What was set for one transaction reads '' ever after, and no longer null.
        with connection.transaction():
            connection.execute(actor.introduction)
    return connection


def attempt(scene: Scene, connection: Connection, actor: Actor, context: str, attack: Attack) -> Answer:
    """What comes of it, told by the operator before it is rolled back."""
    home = actor.home_in(context)
    with connection.transaction(force_rollback=True):
        if context in BROKEN:
            setting = "tickwork.job_id" if actor.role == "tickwork_worker" else "request.jwt.claims"
            connection.execute("select set_config(%s, %s, true)", [setting, BROKEN[context]])
        elif context not in ("cold", "warm"):
            connection.execute(actor.introduction)
        try:
            cursor = connection.execute(attack.statement, attack.parameters)
            text = " ".join(str(row["row"]) for row in cursor) if cursor.description else ""
        except psycopg.Error as error:
            return Answer(error.sqlstate, str(error))
        connection.execute("reset session authorization; set local search_path = pg_catalog")
        touched = scene.rows_outside(home, connection) ^ scene.rows_at_first[home and home.word]
        return Answer(None, text, cursor.rowcount, touched)


def matrix(scene: Scene) -> Iterator[str | None]:
    """For each cell what is wrong with it, or None."""
    for actor in scene.actors:
        for context in CONTEXTS:
            home, target = actor.home_in(context), actor.home or scene.alpha
            if context == "other tenant":
                target = scene.alpha if target is scene.beta else scene.beta
            if target is not home:
                target = target._replace(token=home.token if home else uuid4())
            with connect(scene, actor, context) as connection:
                for attack in attacks(scene, target, is_aimed=context == "other tenant"):
                    # What nobody may call is refused before the context is looked at: once is enough.
                    if attack.verb == "rpc" and context != "claims" and attack.object not in scene.open_functions:
                        continue
                    answer = attempt(scene, connection, actor, context, attack)
                    complaint = breach(scene, actor, home, attack, answer)
                    if context == "other tenant":
                        complaint = complaint or betrayal(scene, connection, actor, attack, answer)
                    if context == "claims" and home:
                        complaint = complaint or void(scene, actor, attack, answer)
                    yield complaint and f"{actor.name}, {context}: {attack.verb} {attack.object}: {complaint}"


def breach(scene: Scene, actor: Actor, home: Target | None, attack: Attack, answer: Answer) -> str | None:
    """What of others' the actor saw or changed. The service serves every tenant."""
    if actor.role == "service_role" or (actor.role == "tickwork_worker" and serves_all(attack)):
        return None
    secrets = {*re.findall(AN_ID, " ".join(scene.rows_at_first[home and home.word])), "alpha", "beta"}
    secrets -= {home.word if home else "", *re.findall(f"{AN_ID}|alpha|beta", str(attack.parameters))}
    seen = [secret for secret in secrets if secret in answer.text and attack[:2] not in READ_BY_ALL]
    return f"saw {seen}, touched {answer.touched}" if seen or answer.touched else None


def serves_all(attack: Attack) -> bool:
    """A claim is for every tenant, and so is what a provider notifies us of."""
    return "claim_" in attack.object or "note_changes" in attack.object


def betrayal(scene: Scene, connection: Connection, actor: Actor, attack: Attack, answer: Answer) -> str | None:
    """Whether the answer tells another tenant's id from one that does not exist."""
    if attack.verb != "rpc" or actor.role == "service_role" or "claim_" in attack.object:
        return None
    if attack.object.startswith(HASHES):
        return None
    unknown = {name: value and re.sub(AN_ID, str(uuid4()), value) for name, value in attack.parameters.items()}
    other = attempt(scene, connection, actor, "other tenant", attack._replace(parameters=unknown))
    said, would_say = (re.sub(AN_ID, "<id>", f"{each.code} {each.text}") for each in (answer, other))
    return None if said == would_say else f"says {said!r}, but {would_say!r} of an unknown id"


def void(scene: Scene, actor: Actor, attack: Attack, answer: Answer) -> str | None:
    """Whether the actor has the right and is at home, and yet got nothing."""
    right = "execute" if attack.verb == "rpc" else attack.verb
    kind = {"execute": "function", "delete": "table"}.get(right, "any_column")
    is_granted = scene.value(f"select has_{kind}_privilege(%s, %s, %s)", actor.role, attack.object, right)
    return f"void: {answer}" if is_granted and not answer.is_yes_to(attack) else None


def leaks(scene: Scene) -> Iterator[str]:
    return (cell for cell in matrix(scene) if cell and "void" not in cell)


def blunt_attacks(scene: Scene) -> Iterator[Attack]:
    """Those that fail, or would not be noticed, even when nothing stands in their way."""
    operator = scene.caller("operator", "postgres", COLLEAGUE)
    job, token = scene.beta.jobs["running"], scene.beta.token
    operator = operator._replace(introduction=f"{operator.introduction}, public.hold_job('{job}', '{token}')")
    for attack in attacks(scene, scene.beta, is_aimed=True):
        answer = attempt(scene, scene.admin, operator, "claims", attack)
        is_noticed = breach(scene, operator, None, attack, answer) or attack.verb == "rpc"
        is_noticed = is_noticed or attack[:2] in (*READ_BY_ALL, SAYS_NOTHING)
        if not (answer.is_yes_to(attack) and is_noticed) and not attack.object.startswith(REFUSED):
            yield attack


def open_policies(scene: Scene) -> Iterator[str]:
    """Policies that let a client through on a cold connection, were there no other barrier."""
    policies = scene.rows(POLICIES)
    with psycopg.connect(scene.url) as cold, cold.transaction(force_rollback=True):
        for relation in scene.relations:
            if relation["is_table"]:
                cold.execute(f"alter table {relation['name']} disable row level security")
                cold.execute(f"grant select on {relation['name']} to anon, authenticated, tickwork_worker")
        for policy in policies:
            with suppress(psycopg.errors.InsufficientPrivilege), cold.transaction(force_rollback=True):
                cold.execute(f"set local session authorization {policy['client']}")
                if cold.execute(f"select from {policy['relation']} where {policy['expression']}").rowcount:
                    yield f"{policy['policyname']} lets {policy['client']} through"


def sprung_traps(scene: Scene) -> Iterator[str]:
    """Functions that answer otherwise when the caller's search_path leads to his own tables and operators."""
    scene.run("create schema lair")
    scene.run("grant create, usage on schema lair to public")
    actor = scene.actors[0]
    with connect(scene, actor, "claims") as plain, connect(scene, actor, "claims") as trapped:
        trapped.execute(TRAPS)
        for target in (scene.alpha, scene.beta):
            for attack in attacks(scene, target, is_aimed=True):
                if attack.verb == "rpc":
                    usual, now = (attempt(scene, each, actor, "claims", attack) for each in (plain, trapped))
                    if (usual.code, usual.row_count) != (now.code, now.row_count) or now.touched:
                        yield f"{attack.object}: {now} instead of {usual}"


def shown_tokens(scene: Scene) -> Iterator[str]:
    """Where a member can read the token of a lease."""
    tokens = [str(lease["token"]) for lease in scene.rows("select token from tickwork.leases")]
    assert str(scene.alpha.token) in tokens
    for place, text in seen_by_a_member(scene).items():
        if any(token in text for token in tokens):
            yield place


def seen_by_a_member(scene: Scene) -> dict[str, str]:
    """All that he can read: in tables and views, and by the functions that tell of jobs."""
    (member, *_) = scene.actors
    calls = ("list_jobs()", "queue_summary()", f"explain_job('{scene.alpha.jobs['running']}')")
    with connect(scene, member, "claims") as connection, connection.transaction():
        connection.execute(member.introduction)
        queries = {row["name"]: row["query"] for row in connection.execute(READABLE).fetchall()}
        queries |= {call: f"select * from public.{call}" for call in calls}
        return {place: str(connection.execute(query).fetchall()) for place, query in queries.items()}


def test_no_cell_of_the_matrix_leaks_and_none_is_void(scene: Scene, capsys: pytest.CaptureFixture[str]) -> None:
    cells = list(matrix(scene))

    assert [cell for cell in cells if cell] == []
    assert len(cells) >= 300
    with capsys.disabled():
        print(f"cross-tenant rows 0 in {len(cells)} cells, void cells 0")


def test_each_attack_would_succeed_and_be_noticed_if_nothing_stood_in_its_way(scene: Scene) -> None:
    assert list(blunt_attacks(scene)) == []


def test_no_policy_lets_a_client_through_when_nothing_is_set(scene: Scene) -> None:
    assert list(open_policies(scene)) == []


def test_tables_and_operators_of_the_caller_are_never_used(scene: Scene) -> None:
    assert list(sprung_traps(scene)) == []


def test_a_member_sees_the_running_job_and_its_token_nowhere(scene: Scene) -> None:
    seen = seen_by_a_member(scene)

    assert str(scene.alpha.jobs["running"]) in seen["public.jobs"]
    assert str(scene.alpha.jobs["running"]) in seen["public.job_attempts"]
    assert list(shown_tokens(scene)) == []


def test_deleting_a_tenant_leaves_nothing_of_it_and_its_worker_hears_so(world: World) -> None:
    populate_tenant(world, "acme", INSIDER, dedupe_key="key")
    (job,) = world.held_jobs()
    tables = {row["name"]: row["columns"] for row in world.rows(RELATIONS) if row["is_table"]}
    number = world.value("select number from tickwork.tenants")
    assert tables_of(job.tenant_id, number, tables, world) == {*tables} - NO_TENANTS

    world.connect("service_role").execute("delete from organizations where id = %s", [job.tenant_id])

    assert tables_of(job.tenant_id, number, tables, world) == set()
    with pytest.raises(LeaseLost) as lost:
        world.queue.complete_job(job)
    assert lost.value.sqlstate == "TWLSE"


def tables_of(tenant: UUID, number: int, tables: dict[str, list[str]], world: World) -> set[str]:
    """Those that hold a row of the tenant, under its id or its number."""
    parts = [
        f"select '{table}' as name from {table} as t where strpos(t::text, %(id)s) > 0"
        + (" or t.tenant_number = %(number)s" if "tenant_number" in columns else "")
        for table, columns in tables.items()
    ]
    return {row["name"] for row in world.admin.execute(" union ".join(parts), {"id": str(tenant), "number": number})}


def test_a_removed_member_is_refused_at_the_next_statement(world: World) -> None:
    job = world.job()
    member = world.member_of(job.tenant_id)
    assert member.execute("select list_jobs()").rowcount == 1

    world.run("delete from memberships")

    assert member.execute("select list_jobs()").rowcount == 0
    for statement, code in {
        f"select enqueue_job('{job.tenant_id}', '{job.type}')": "TWMEM",
        f"insert into jobs (tenant_id, type) values ('{job.tenant_id}', '{job.type}')": "TWMEM",
        f"select cancel_job('{job.id}')": "TWJOB",
    }.items():
        with pytest.raises(psycopg.Error) as refused:
            member.execute(statement)
        assert refused.value.sqlstate == code


def test_a_member_chooses_neither_the_id_of_a_job_nor_where_it_comes_from(scene: Scene) -> None:
    (member, *_) = scene.actors
    job, foreign = scene.alpha.jobs["done"], scene.beta.jobs["running"]

    with connect(scene, member, "claims") as connection, connection.transaction():
        connection.execute(member.introduction)
        for id in (job, foreign):
            request = "tickwork.new_job(%s, 'do_alpha', dedupe_key => %s, source => 'event', id => %s)"
            made = connection.execute(
                f"select * from tickwork.enqueue_job({request})", [scene.alpha.tenant, str(uuid4()), id]
            ).fetchone()
            assert made is not None
            assert (made["tenant_id"], made["source"], made["deduplicated"]) == (scene.alpha.tenant, "manual", False)


def hole(function: str, old: str, new: str) -> str:
    """A change to the body of a function."""
    before = f"pg_get_functiondef('tickwork.{function}'::regproc)"
    after = f"replace({before}, $old${old}$old$, $new${new}$new$)"
    return f"do $do$ begin assert {before} <> {after}; execute {after}; end $do$"


SEES = "alter policy members_reach_their_own on public.jobs using"
ALL_JOBS = "create view public.all_jobs as table public.jobs"
IS_OWN = "tenant_id in (select tickwork.caller_tenants())"
TELLTALE = "errcode = case when exists (select from public.jobs where id = job_id) then 'TWSTA' else 'TWJOB' end"
MUTANTS = {
    leaks: [
        f"{SEES} (true)",
        f"{SEES} (current_setting('request.jwt.claims', true) is null or {IS_OWN})",
        "alter table tickwork.attempts disable row level security",
        f"{ALL_JOBS}; grant select on public.all_jobs to authenticated",
        "create function public.peek() returns setof public.jobs security definer language sql as 'table public.jobs'",
        hole("check_caller", "if tickwork.caller_is_service()", "return; if true"),
        hole("caller_is_service", "RETURN pg_has_role", "RETURN session_user = 'authenticator' OR pg_has_role"),
        hole("change_job", "tickwork.may_act_for(jobs.tenant_id)", "true"),
        hole("explain_job", "tickwork.may_act_for(jobs.tenant_id)", "true"),
        hole("resolve_filter", "where tickwork.may_act_for(wanted.tenant_id)", ""),
        hole("raise_no_job", "errcode = 'TWJOB'", TELLTALE),
        hole("lock_endpoint_for_caller", "tickwork.may_act_for(webhook_endpoints.tenant_id)", "true"),
        hole("settle_done_job", "leases.token = settle_done_job.lease_token", "true"),
        hole("hold_lane_of_job", "leases.token = hold_lane_of_job.lease_token", "true"),
        "create policy p on tickwork.waiting for select to anon using (true); "
        "grant select on tickwork.waiting to anon; grant usage on schema tickwork to anon",
        hole("held_tenant", "and leases.token", "or leases.token"),
        hole("requests_from", "requests_from.tenant_id, request.tenant_id", "request.tenant_id"),
    ],
    open_policies: [
        f"{SEES} (true)",
        "alter policy members_reach_their_own on public.jobs with check (true)",
    ],
    sprung_traps: ["alter function tickwork.caller_memberships reset search_path"],
    shown_tokens: [
        "alter table public.jobs add lease_token uuid; "
        "update public.jobs set lease_token = token from tickwork.leases where job_id = id",
        "create policy p on tickwork.leases for select to authenticated using (true); "
        "grant select on tickwork.leases to authenticated",
        "alter table tickwork.attempts add worker text; "
        "update tickwork.attempts set worker = 'w:' || token from tickwork.leases l where l.job_id = attempts.job_id",
    ],
    unlisted_grants: [
        "grant update on public.jobs to authenticated",
        "grant truncate on public.jobs to authenticated",
        "grant insert (status) on public.jobs to authenticated",
        "grant execute on function public.enqueue_job to anon",
        "create function public.harmless() returns int language sql as 'select 1'",
    ],
    broken_rules: [
        f"{SEES} (current_setting('a.b', true) is null)",
        "alter table public.jobs no force row level security",
        ALL_JOBS,
        "alter function public.list_jobs security definer",
        "alter function public.list_jobs reset search_path",
        "create unique index on public.jobs (idempotency_key)",
        "alter role tickwork_worker bypassrls",
    ],
}


@pytest.mark.parametrize(("check", "change"), [(check, each) for check in MUTANTS for each in MUTANTS[check]])
def test_each_deliberate_hole_is_found(scene: Scene, check: Any, change: str) -> None:
    try:
        scene.admin.execute(change)

        assert next(iter(check(scene)), None) is not None
    finally:
        # Roles belong to the whole server.
        scene.run("alter role tickwork_worker nobypassrls")


@pytest.mark.parametrize(
    "new", ["table public.riddle (tenant_id uuid)", "procedure public.p(riddle money) begin atomic end"]
)
def test_an_object_that_the_matrix_cannot_try_fails_it(scene: Scene, new: str) -> None:
    scene.admin.execute(f"create {new}")

    with pytest.raises(AssertionError, match="riddle"):
        list(matrix(scene))
