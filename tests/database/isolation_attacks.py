"""What is tried on a tenant in test_isolation.py, and what comes of it."""

import json
import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any, NamedTuple
from uuid import UUID, uuid4

import psycopg
from psycopg.rows import DictRow, dict_row
from psycopg.sql import Literal

from tests.database.isolation_arguments import BY_TYPE, Target, arguments_for
from tests.database.isolation_catalogue import A_TIME, AN_ID, ARGUMENTS_OF, ONE_SCOPE, SCOPES
from tests.database.isolation_scene import Actor, Row, Scene
from tests.database.test_privileges import CLIENT_COLUMNS, DOCUMENT_COLUMNS
from tickwork.database.connection import Connection

BROKEN = {"malformed": '{"sub": ', "sql": '{"sub": "x\' or true --"}'}
# The tables that a transaction has written to: to each it holds a lock that readers do not need.
WRITTEN = """
    reset session authorization;
    set local search_path = pg_catalog;
    select case when pg_current_xact_id_if_assigned() is not null then array(
      select relation::regclass::text from pg_locks
      where pid = pg_backend_pid() and locktype = 'relation' and mode not in ('AccessShareLock', 'RowShareLock')
    ) end as tables
"""


class Attack(NamedTuple):
    object: str
    verb: str
    statement: str
    parameters: dict[str, str | None]

    @property
    def form(self) -> tuple[str, ...]:
        """What is left of it without its values."""
        return (self.statement, *(name for name, value in self.parameters.items() if value is None))

    @property
    def deed(self) -> str:
        """Such as `insert public.jobs`, or the name of a function in whichever schema."""
        return self.object.partition("(")[0].rpartition(".")[2] if self.verb == "rpc" else f"{self.verb} {self.object}"


class Answer(NamedTuple):
    code: str | None
    text: str
    row_count: int = 0
    # Rows that are new, gone or written again.
    changed: frozenset[Row] = frozenset()

    @property
    def touched(self) -> list[Row]:
        """Those of others; how often whichever worker has renewed its leases is nobody's."""
        return [row for row in self.changed if row.is_foreign and row.table != "tickwork.early_renewals"]

    @property
    def gist(self) -> str:
        """Without what differs each time."""
        return re.sub(f"{AN_ID}|{A_TIME}", "<>", f"{self.code} {self.text}")

    def is_yes_to(self, attack: Attack) -> bool:
        if ".settle_and_claim" in attack.object:
            # Where all that is settled is done, and nothing is claimed, there is nothing to say.
            return bool(self.changed)
        return self.row_count > 0 or (
            ".raise_" in attack.object and self.code in ("TWLSE", "TWSTA", "TWDLV", "TWJOB", "TWCAL")
        )


def attacks(scene: Scene, target: Target, is_aimed: bool, is_known: bool = True) -> Iterator[Attack]:
    """Of somebody without valid claims one call of each function is enough: no argument tells who he is."""
    for relation in scene.relations:
        yield from attacks_on_rows(scene, relation, target, is_aimed)
    for function in scene.functions:
        *some, last = calls(scene, function, target)
        yield from (*some, last) if is_known else [last]


def attacks_on_rows(scene: Scene, relation: dict[str, Any], target: Target, is_aimed: bool) -> Iterator[Attack]:
    name, columns = relation["name"], relation["columns"]
    tenant = scene.tenant_of[name]
    where = f" where {tenant} = '{target.tenant}'" if tenant else ""
    if (name, target.word) not in scene.first_rows:
        found = scene.rows(f"select to_jsonb(t) as row from {name} as t{where} limit 1")
        assert found, f"{name} has no row of {target.word}: the matrix would prove nothing"
        scene.first_rows[name, target.word] = found[0]["row"]
    aim = where if is_aimed else ""
    yield Attack(name, "select", f"select t::text as row from {name} as t{aim}", {})
    if not columns:
        return
    keys = {"user_id": str(uuid4()), "key": "a_key", "number": 99, "chunk_index": 99, "owner": "an_owner"}
    keys |= {"remote_path": "a_path", "item_id": "another id", "job_id": str(uuid4()), "label": "a label"}
    keys |= {
        "nominal_at": "2031-01-01",
        "secret_hash": "0" * 64,
        "worker_id": "another worker",
        "code_hash": "another hash",
    }
    keys |= {"version": "2", **({"name": "a name"} if name == "public.rule_packages" else {})}
    keys |= {"family": "a_family", "lane": "a_lane", "scope": "a_scope", "idempotency_key": None, "dedupe_key": "new"}
    if lacking := {"tickwork.tenants": "without a number", "public.tenant_settings": "without settings"}.get(name):
        keys["tenant_id"] = str(scene.value("select id from public.organizations where name = %s", lacking))
    row = {**scene.first_rows[name, target.word], **keys}
    row["id"] = 1_000_000 if isinstance(row.get("id"), int) else str(uuid4())
    # A chunk belongs to the document of its extraction.
    of = target.document if name == "public.document_chunks" else target.spare
    row |= {"document_id": str(of), "event_id": str(target.event)}
    row |= {"fact_key": "a key", "version": 99, "fact_id": str(target.spare_fact)}
    row |= {"vault_path": f"tenant/{target.tenant}/{uuid4()}"}
    row |= {"battery_identifier": "another", "serial": "another"}
    if name == "public.passport_versions":
        row |= {"number": 99, "compiler_build_id": "another", "status": "signed"}
    if name == "public.snapshot_overview":
        row |= {"status": "building", "sealed_at": None}
    if name == "public.passport_exports":
        row |= {"template": "another", "vault_path": scene.first_rows[name, target.word]["vault_path"]}
    names = {"public.jobs": CLIENT_COLUMNS, "public.documents": DOCUMENT_COLUMNS}.get(name, ", ".join(columns))
    copy = f"select {names} from jsonb_populate_record(null::{name}, %(row)s)"
    yield Attack(
        name, "insert", f"insert into {name} ({names}) overriding system value {copy}", {"row": json.dumps(row)}
    )
    # One that the worker may set, where it may not set them all.
    settable = {"public.passports": "salt_commitment", "public.passport_versions": "status"}
    column = {**settable, "public.passport_exports": "sha256"}.get(name, columns[-1])
    # A sealed snapshot is never changed.
    only = (
        f"{' and' if aim else ' where'} status <> 'sealed'"
        if name in ("public.snapshots", "public.snapshot_overview")
        else ""
    )
    yield Attack(name, "update", f"update {name} set {column} = {column}{aim}{only}", {})
    yield Attack(name, "delete", f"delete from {name}{aim}", {})


def calls(scene: Scene, function: dict[str, Any], target: Target) -> Iterator[Attack]:
    """A call with every argument, one with those it needs, and one for each that may be left out."""
    signature, parameters = function["signature"], {each["name"]: each for each in function["parameters"]}
    name, rival = signature.partition("(")[0], scene.alpha if target.word == "beta" else scene.beta
    is_leased = parameters.keys() & {"lease_token", "lease_tokens", "tokens", "heartbeats", "outcomes", "outcome"}
    job = target.jobs["running" if is_leased else "dead" if "retry" in name else "queued"]
    argument = Arguments(scene, target, job, rival)
    if parameters.keys() & {"outcomes", "lease_tokens"} and ".worker_" not in name:
        # Where it settles and claims, it finds nothing to claim: a claim may touch every tenant.
        argument.values["family"] = "none"
    argument.values |= ARGUMENTS_OF.get(name.rpartition(".")[2], {})
    if name.endswith(("request_compile", "check_compilable", "retire_rules")):
        argument.values["snapshot_id"] = str(target.sealed)
        argument.values["rule_package_version_id"] = str(target.published)
    if name.endswith("cancel_jobs"):
        argument.values["status"] = "queued"
    if name.endswith(("change_jobs", "change_matching")):
        argument.values["verb"] = "retried"
    # Of a trigger's two kinds, the one that an event starts.
    needed = {"event_name"} if name.endswith("create_job_trigger") else set()
    required = [each for each in parameters if each in needed or not parameters[each]["is_optional"]]
    optional = [each for each in parameters if each not in (*required, *({"cron_expr", "timezone"} if needed else ()))]
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
        key = (target.word, target.token, job)
        if key not in scene.kept_arguments:
            scene.kept_arguments[key] = arguments_for(target, job, rival.tenant)
        self.values = {**scene.kept_arguments[key]}

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
            f"select to_jsonb(t) from {name} as t where {where} "
            # Of events one that nothing has come of.
            f"order by strpos(t::text, '{self.job}') = 0, strpos(t::text, '{self.target.event}') = 0 limit 1"
        )
        # A second one of the same name, or with the same file, would be refused.
        return {**found, "label": "a label", "vault_path": f"tenant/{self.target.tenant}/new"}


@contextmanager
def connect(scene: Scene, actor: Actor, context: str) -> Iterator[Connection]:
    # It binds on our side, so that all of a cell goes to the server in one string.
    connection = psycopg.connect(scene.url, autocommit=True, row_factory=dict_row, cursor_factory=psycopg.ClientCursor)
    with closing(connection):
        if actor.role != "postgres":
            login, role = (actor.role, "none") if actor.role == "tickwork_worker" else ("authenticator", actor.role)
            connection.execute(f"set session authorization {login}; set role {role}")
        if context in ("warm", "claims", "other tenant"):
            # What was set for one transaction reads '' ever after, and no longer null.
            with connection.transaction():
                connection.execute(actor.introduction)
        yield connection


def attempt(scene: Scene, connection: Connection, actor: Actor, context: str, attack: Attack) -> Answer:
    """What comes of it, told by the operator before it is rolled back."""
    home = actor.home_in(context)
    introduction = actor.introduction if context in ("claims", "other tenant") else ""
    if context in BROKEN:
        setting = "tickwork.job_id" if actor.role == "tickwork_worker" else "request.jwt.claims"
        introduction = f"select set_config('{setting}', {Literal(BROKEN[context]).as_string()}, true)"
    steps = ["rollback", "begin", introduction, attack.statement, WRITTEN]
    try:
        cursor = connection.execute("; ".join(filter(None, steps)), attack.parameters)
    except psycopg.Error as error:
        return Answer(error.sqlstate, str(error))
    *_, (rows, row_count), _, _, ((written,), _) = results_of(cursor)
    changed = scene.changed(home, written["tables"] or (), connection)
    connection.rollback()
    return Answer(None, " ".join(str(row["row"]) for row in rows), row_count, changed)


def results_of(cursor: psycopg.Cursor[DictRow]) -> Iterator[tuple[list[DictRow], int]]:
    """The rows of each statement, and how many there were."""
    yield cursor.fetchall() if cursor.description else [], cursor.rowcount
    while cursor.nextset():
        yield cursor.fetchall() if cursor.description else [], cursor.rowcount
