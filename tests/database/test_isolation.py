"""Nobody sees or changes what is another tenant's: every object, by every actor, in every context."""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property
from typing import Any, NamedTuple, Self
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg.rows import dict_row

from tests.conftest import TEMPLATE, cloned
from tests.database.test_privileges import CLIENT_COLUMNS, DOCUMENT_COLUMNS, OURS, broken_rules, unlisted_grants
from tests.receivers import emit, endpoint
from tests.world import World
from tickwork.database import Connection
from tickwork.errors import LeaseLost
from tickwork_local.postgres import Server

INSIDER, COLLEAGUE, REMOVED, STRANGER = (UUID(int=number) for number in range(1, 5))
CONTEXTS = ("claims", "other tenant", "cold", "warm", "malformed", "sql")
BROKEN = {"malformed": '{"sub": ', "sql": '{"sub": "x\' or true --"}'}
# A row's tenant is in its tenant_id, but for these. None: it is no tenant's, and no client's to change.
TENANT_OF = {
    "public.organizations": "id",
    "public.job_types": None,
    "public.extraction_engines": None,
    "tickwork.platform_admins": None,
    "tickwork.served_types": None,
    "tickwork.functions": None,
    "tickwork.call_tokens": None,
    "tickwork.ticks": None,
    "tickwork.call_secrets": None,
    "tickwork.schema_versions": None,
    "tickwork.lines": "(select tenant_id from tickwork.turns where turns.id = turn_id)",
    "tickwork.holds": "substring(scope from '^tenant ([0-9a-f-]+)')::uuid",
    "tickwork.buckets": "substring(scope from '^tenant ([0-9a-f-]+)')::uuid",
}
NO_TENANTS = {table for table, tenant in TENANT_OF.items() if tenant is None}
READ_BY_ALL = (
    ("public.job_types", "select"),
    ("public.extraction_engines", "select"),
    ("tickwork.schema_versions", "select"),
)
# They read nothing: the answer to another id is another number.
HASHES = ("tickwork.turn_id", "tickwork.line_id", "tickwork.search_key", "tickwork.search_vector")
AN_ID = "[0-9a-f]{8}-[0-9a-f-]{27}"
# What to give for a parameter of this name, whatever the function. Nothing stands for null.
ARGUMENTS = """
    tenant_id={tenant} job_id={job} after_id={job} lease_token={token} family={word} type=do_{word} status=
    jobs=[{{"tenant_id":"{tenant}","type":"do_{word}"}}] requests={{"({new},{tenant},do_{word},{{}},0,,,,,,,,)"}}
    follow_ups=[{{"tenant_id":"{rival}","type":"do_{word}"}}] heartbeats=[{{"job_id":"{job}","lease_token":"{token}"}}]
    outcomes:jsonb=[{{"job_id":"{job}","lease_token":"{token}","status":"done"}}]
    outcomes={{"({job},{token},done,,,,,,)"}} outcome:jsonb={{}} outcome=({job},{token},failed,,,,t,0,)
    ids={{"{job}"}} tokens={{"{token}"}} results={{null}} logs:text[]={{none}}
    tenant_ids={{"{tenant}"}} line_ids={{{line}}} rooms={{100}} timeout_seconds=60
    place=({word},do_{word},0,{tenant},{word},now,1) rule=(lane,scope,5,100) barren={{}}
    places={{"({word},do_{word},0,{tenant},{word},now,1)"}}
    state=running lease_expires_at=now finished_at= endings={{"({job},{token},released,,,,t,0,)"}}
    spot=({word},do_{word},0,{tenant},{word},{turn},{line},0,1,60,,t,t,f,f) turn_id={turn} line_id={line}
    job_type=(do_{word},{word},,,300,4,[60],60,,,,{{}},t,,) statuses:jsonb={{"{job}":"done"}} statuses=no jobs:integer=1
    only_type=do_{word} only_tenant_id={tenant} kind=lane scope=scope gate=gate until=now wake_at=now held_until=now
    max_running=5 starts_per_minute=100 starts=1 wanted=1 may_wait=true highest_priority=100 reason=why
    rounds=1 due_by=2030-01-01
    ending=done is_retryable=true is_cancelled=false attempts=1
    idempotency_key=key dedupe_key=key lane={word} correlation_id=trace run_at=now payload={{}} schema= priority=0
    max_attempts=3 source=manual source_ref= worker_id=intruder max_jobs=100 lease_seconds=60 progress=0.5 message=half
    logs=none result={{}} error={{}} retryable=true retry_after_seconds=1 delay_seconds=1 seconds=1 older_than=0s
    batch_size=100 most=100 backoff=[60] attempt=1 field=field value=value job= verb=moved
    target=({word},https://{word}.example,4,5000) jitter_seconds=0 url=https://{word}.example headers={{}}
    timeout_milliseconds=1000
    objects=[] names={{}} document_id={document} doc_type=own_{word} engine=local consent=true evidence={{}}
    owner=tenant name=a_name new_name=another_name value=secret is_sealed=true expires_at=2030-01-01
    query=secret max_hits=10 skip=0 text=secret element_type=Title key=abcdef word=secret stem=secret search=
    marks={{"secret"}} job_ids={{"{job}"}} sought=(,,,,"{{""'{search_key}:secret'""}}",)
    webhook_endpoint_id={endpoint} webhook_delivery_id={delivery} delivery_ids={{"{delivery}"}} since=2020-01-01
    only_failed=false verdict=refused http_status=404 response_headers={{}} response_body=no latency_ms=1
    error_code=no error_message=no aggregate=word event_type=job.done event_types={{"job.*"}}
    endpoint=({endpoint},{tenant},https://a.example/,,{{}},X-A-,active,,closed,0,,0,,0,t,2030-01-01,2030-01-01)
    connector_id={connector} remote_path= files=["/a.txt"] provider=dropbox account_ids={{"{word}"}}
    connector_ids={{"{connector}"}} connector=({connector},{tenant},dropbox,x,active,{{}},,,,,,,,2030-01-01,2030-01-01)
    document=({document},{tenant},x,tenant/{tenant}/x,text/plain,1,,,,,,,,2030-01-01,2030-01-01)
    path=payload depth=1 keyword=type pattern=a properties=[] value_type=string types="integer" list=[]
    value:jsonb={{}} value:numeric=1
"""
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
# Trigger functions are left out: nobody can call them.
FUNCTIONS = f"""
    select pg_proc.oid::regprocedure::text as signature, coalesce(
      jsonb_agg(jsonb_build_object('name', proargnames[place], 'type', format_type(type, null),
        'is_optional', place > pronargs - pronargdefaults) order by place) filter (where place is not null), '[]'
    ) as parameters
    from pg_proc left join unnest(proargtypes) with ordinality as parameter(type, place) on true
    where pronamespace {OURS} and prorettype <> 'trigger'::regtype group by pg_proc.oid order by signature
"""
POLICIES = """
    select policyname, client, concat_ws('.', schemaname, tablename) as relation, expression
    from pg_policies, unnest(array[qual, with_check]) as expression,
      unnest(array['anon', 'authenticated', 'tickwork_worker']) as client
    where expression is not null and array['public', client]::name[] && roles
      and policyname !~ '^(everybody_signed_in|the_queue)_reads_'
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


class Target(NamedTuple):
    """A tenant, and what one has to know in order to touch it."""

    word: str
    tenant: UUID
    jobs: dict[str, UUID]
    token: UUID
    turn: int
    line: int
    document: UUID
    spare: UUID
    endpoint: UUID
    delivery: UUID
    event: UUID
    connector: UUID


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
        return self.row_count > 0 or (".raise_" in attack.object and self.code in ("TWLSE", "TWSTA", "TWDLV"))


class Scene(World):
    """A database with two tenants, each with jobs in every status, attempts and a member."""

    def __enter__(self) -> Self:
        super().__enter__().run("set search_path = ''")
        self.alpha, self.beta = self.target("alpha"), self.target("beta")
        return self

    @cached_property
    def relations(self) -> list[dict[str, Any]]:
        return self.rows(RELATIONS)

    @cached_property
    def functions(self) -> list[dict[str, Any]]:
        return self.rows(FUNCTIONS)

    def target(self, word: str) -> Target:
        jobs = self.rows("select * from public.jobs where family = %s order by lease_token", word)
        line = self.row("select id, turn_id from tickwork.lines where lane = %s", word)
        ids = {job["status"]: job["id"] for job in jobs}
        tenant = jobs[0]["tenant_id"]
        documents = self.rows("select id from public.documents where tenant_id = %s order by name", tenant)
        connector = self.value("select id from public.connectors where tenant_id = %s", tenant)
        line_ids = line["turn_id"], line["id"]
        delivery = self.row("select * from public.webhook_deliveries where tenant_id = %s", tenant)
        spare = self.value("select id from public.events where tenant_id = %s and type = 'spare'", tenant)
        others = [
            *(each["id"] for each in documents),
            delivery["webhook_endpoint_id"],
            delivery["id"],
            spare,
            connector,
        ]
        return Target(word, tenant, ids, jobs[0]["lease_token"], *line_ids, *others)

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
            tenant = TENANT_OF.get(table, "tenant_id")
            where = f"where ({tenant} = %(home)s) is not true" if tenant else ""
            parts.append(f"select concat(t.xmin, ' ', t) as row from {table} as t {where}")
        rows = connection.execute(" union all ".join(parts), {"home": home and home.tenant})
        return frozenset(row["row"] for row in rows)


@pytest.fixture(scope="module")
def populated(server: Server) -> Iterator[str]:
    with cloned(server, TEMPLATE) as name:
        with World(server.url(name), server.url(name, "tickwork_worker")) as world:
            populate_tenant(world, "alpha", INSIDER, REMOVED)
            populate_tenant(world, "beta", COLLEAGUE, idempotency_key="key", dedupe_key="key")
            world.run("delete from memberships where user_id = %s", REMOVED)
            # What is everybody's is nobody's secret.
            world.run("delete from document_types where tenant_id is null")
            world.run("insert into tickwork.platform_admins values (%s)", uuid4())
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
    tenant, type = world.tenant(word), world.type(f"do_{word}", family=word)
    world.service.limit_lane(word, tenant, word, max_running=5, starts_per_minute=100)
    world.service.hold_lane(word, tenant, "held", "infinity")
    world.job(type, tenant, payload={"secret": word}, lane=word)
    world.claim(word, lease_seconds=3600)
    for status in ("done", "failed", "dead", "cancelled"):
        job = world.job(type, tenant)
        world.run("update jobs set status = %s, finished_at = now() where id = %s", status, job.id)
    world.job(type, tenant, **keys)
    populate_documents(world, tenant, word)
    populate_secrets(world, tenant, word)
    populate_webhooks(world, tenant, word)
    populate_connectors(world, tenant, word)
    attempt = "select id, 7, tenant_id, family, now(), now(), 'failed' from jobs where tenant_id = %s"
    world.run(f"insert into tickwork.attempts {attempt}", tenant)
    for user in users:
        world.run("insert into memberships (tenant_id, user_id) values (%s, %s)", tenant, user)


def populate_secrets(world: World, tenant: UUID, word: str) -> None:
    world.run("select tickwork.store_secret(%s, 'tenant', 'a_name', %s, true)", tenant, f"secret {word}")


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
        "values (%s, %s, %s, 0, 'Title', %s)",
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
    tenant = TENANT_OF.get(name, "tenant_id")
    where = f" where {tenant} = '{target.tenant}'" if tenant else ""
    found = scene.rows(f"select to_jsonb(t) as row from {name} as t{where} limit 1")
    assert found, f"{name} has no row of {target.word}: the matrix would prove nothing"
    aim = where if is_aimed else ""
    yield Attack(name, "select", f"select t::text as row from {name} as t{aim}", {})
    if not columns:
        return
    keys = {"user_id": str(uuid4()), "key": "a_key", "number": 99, "chunk_index": 99, "owner": "an_owner"}
    keys |= {"remote_path": "a_path", "item_id": "another id"}
    keys |= {"family": "a_family", "lane": "a_lane", "scope": "a_scope", "idempotency_key": None, "dedupe_key": None}
    row = {**found[0]["row"], **keys}
    row["id"] = 99 if isinstance(row.get("id"), int) else str(uuid4())
    row |= {"document_id": str(target.spare), "event_id": str(target.event)}
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
    search_key = str(target.tenant)[-6:]
    filled = ARGUMENTS.format(**target._asdict(), job=job, rival=rival.tenant, new=uuid4(), search_key=search_key)
    values = dict(pair.split("=", 1) for pair in filled.split())
    missing = parameters.keys() - values.keys()
    assert not missing, f"{signature}: the matrix has no argument for {missing}"
    if "outcomes" in parameters:
        # Where it settles and claims, it finds nothing to claim: a claim may touch every tenant.
        values["family"] = "none"
    required = [each for each in parameters if not parameters[each]["is_optional"]]
    optional = [each for each in parameters if parameters[each]["is_optional"]]
    is_of_one_scope = name.rpartition(".")[2] in ONE_SCOPE
    for extra in [[], *([each] for each in optional), optional] if optional and not is_of_one_scope else [optional]:
        for scope in SCOPES if is_of_one_scope else [None]:
            given = [*required, *extra]
            listed = ", ".join(f"{each} => %({each})s::{parameters[each]['type']}" for each in given)
            chosen = {each: values.get(f"{each}:{parameters[each]['type']}", values[each]) or None for each in given}
            chosen |= dict.fromkeys(SCOPES - {scope}) if scope else {}
            yield Attack(signature, "rpc", f"select answer::text as row from {name}({listed}) as answer", chosen)


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
        is_noticed = breach(scene, operator, None, attack, answer) or attack.verb == "rpc" or attack[:2] in READ_BY_ALL
        if not (answer.is_yes_to(attack) and is_noticed):
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


def test_deleting_a_tenant_leaves_nothing_of_it_and_its_worker_hears_so(world: World) -> None:
    tenant = world.tenant()
    world.member_of(tenant)
    world.service.limit_lane("test", tenant, str(tenant), starts_per_minute=100)
    first = world.running_job(tenant=tenant, lane=str(tenant))
    world.service.fail_job(first, {"code": "ONCE"}, retry_after_seconds=0)
    job = world.claim()
    world.job(tenant=tenant, priority=1)
    world.service.pause_jobs(tenant_id=tenant)
    populate_documents(world, tenant, "acme")
    populate_secrets(world, tenant, "acme")
    populate_webhooks(world, tenant, "acme")
    populate_connectors(world, tenant, "acme")
    tables = [row["name"] for row in world.rows(RELATIONS) if row["is_table"]]
    assert tables_that_name(tenant, tables, world) == {*tables} - NO_TENANTS

    world.connect("service_role").execute("delete from organizations where id = %s", [tenant])

    assert tables_that_name(tenant, tables, world) == set()
    with pytest.raises(LeaseLost) as lost:
        world.queue.complete_job(job)
    assert lost.value.sqlstate == "TWLSE"


def tables_that_name(tenant: UUID, tables: list[str], world: World) -> set[str]:
    parts = [f"select '{table}' as name from {table} as t where strpos(t::text, %(id)s) > 0" for table in tables]
    return {row["name"] for row in world.admin.execute(" union ".join(parts), {"id": str(tenant)})}


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


def hole(function: str, old: str, new: str) -> str:
    """A change to the body of a function."""
    before = f"pg_get_functiondef('tickwork.{function}'::regproc)"
    after = f"replace({before}, $old${old}$old$, $new${new}$new$)"
    return f"do $do$ begin assert {before} <> {after}; execute {after}; end $do$"


SEES = "alter policy members_see_their_jobs on public.jobs using"
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
        hole("lock_job_for_caller", "tickwork.caller_is_service()", "true"),
        hole("lock_job_for_caller", "errcode = 'TWJOB'", TELLTALE),
        hole("lock_endpoint_for_caller", "tickwork.may_act_for(webhook_endpoints.tenant_id)", "true"),
        hole("settle_undone", "jobs.lease_token = outcome.lease_token", "true"),
        hole("hold_lane_of_job", "jobs.lease_token = hold_lane_of_job.lease_token", "true"),
        "create policy p on tickwork.lines for select to anon using (true); grant select on tickwork.lines to anon; "
        "grant usage on schema tickwork to anon",
        hole("held_tenant", "and jobs.lease_token", "or jobs.lease_token"),
        hole("requests_from", "requests_from.tenant_id, request.tenant_id", "request.tenant_id"),
    ],
    open_policies: [
        f"{SEES} (true)",
        "alter policy members_insert_for_their_tenants on public.jobs with check (true)",
    ],
    sprung_traps: ["alter function tickwork.caller_tenants reset search_path"],
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
    "new", ["table public.riddle (tenant_id uuid)", "procedure public.p(riddle int) begin atomic end"]
)
def test_an_object_that_the_matrix_cannot_try_fails_it(scene: Scene, new: str) -> None:
    scene.admin.execute(f"create {new}")

    with pytest.raises(AssertionError, match="riddle"):
        list(matrix(scene))
