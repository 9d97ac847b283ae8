"""compile_passport: makes a version of a passport from a sealed snapshot and published rules, ready to be signed."""

from functools import partial
from uuid import UUID

from pydantic import AwareDatetime, BaseModel, ConfigDict

from tickwork.errors import InvalidPayload, Permanent, Retryable
from tickwork.families.passport.compile_inputs import (
    active_receipt_hash,
    facts_of,
    hold_passport,
    published_rules,
    sealed_snapshot,
    tests_of,
)
from tickwork.families.passport.salt_key import salt_key_of
from tickwork.jobs.connection import Connection
from tickwork.jobs.handler import Handler, Tools
from tickwork.jobs.outcomes import Done
from tickwork.jobs.rows import FollowUp
from tickwork.passports import compiler
from tickwork.passports.build import build_id
from tickwork.passports.compiler import Compiled, CompileRefused, Inputs
from tickwork.settings import load_settings
from tickwork.tools.events import emit_held_event
from tickwork.tools.secrets import SecretStore

MAX_VERSIONS = 10_000
MAX_WARNINGS = 100


class Payload(BaseModel):
    """`issued_at` is in the request, in whole seconds: taken by the handler, every retry would make another version."""

    model_config = ConfigDict(extra="forbid")

    passport_id: UUID
    snapshot_id: UUID
    rule_package_version_id: UUID
    issued_at: AwareDatetime


class Warned(BaseModel):
    """What a check of the rules found that does not stand in the way of a passport."""

    code: str
    subject: str
    message: str


class Result(BaseModel):
    """Hashes in hex."""

    passport_version_id: UUID
    payload_hash: str
    proof_root_hash: str
    receipt_hash: str
    leaf_count: int
    warnings: list[Warned] = []


def compile_passport(payload: Payload, tools: Tools) -> Done:
    if payload.issued_at.microsecond:
        raise InvalidPayload("issued_at: must be in whole seconds")
    settings = load_settings()
    build, store = build_id(settings.compiler_build_id), SecretStore(settings.secret_key)
    found = tools.under_lease(partial(compiled_before, payload, build))
    if found is not None:
        return found
    inputs = tools.under_lease(partial(read_inputs, payload, build, store, tools.tenant_id))
    tools.progress(0.2, "compiling")
    try:
        compiled = compiler.compile_passport(inputs)
    except CompileRefused as refusal:
        raise Permanent(str(refusal), code=refusal.code) from None
    return Done(
        result_of(compiled),
        writes=[partial(store_version, payload, compiled, tools.tenant_id), partial(tell, payload, compiled)],
        follow_ups=[sign(compiled.passport_version_id)],
    )


def compiled_before(payload: Payload, build: str, connection: Connection) -> Done | None:
    """If an attempt before this one, or another job, has compiled the same."""
    row = connection.execute(FIND_VERSION, {**payload.model_dump(), "build": build}).fetchone()
    if row is None:
        return None
    is_unsigned = row.pop("status") == "compiling"
    return Done(Result(**row), follow_ups=[sign(row["passport_version_id"])] if is_unsigned else [])


FIND_VERSION = """
    select
      id as passport_version_id, encode(payload_hash, 'hex') as payload_hash,
      encode(proof_root_hash, 'hex') as proof_root_hash, encode(receipt_hash, 'hex') as receipt_hash, leaf_count,
      status
    from public.passport_versions
    where passport_id = %(passport_id)s
      and snapshot_id = %(snapshot_id)s
      and rule_package_version_id = %(rule_package_version_id)s
      and compiler_build_id = %(build)s
      and issued_at = %(issued_at)s
"""


def read_inputs(payload: Payload, build: str, store: SecretStore, tenant_id: UUID, connection: Connection) -> Inputs:
    passport = hold_passport(connection, payload.passport_id)
    snapshot = sealed_snapshot(connection, payload.snapshot_id)
    row, rules = published_rules(connection, payload.rule_package_version_id, payload.issued_at)
    return Inputs(
        passport_id=payload.passport_id,
        battery_identifier=passport["battery_identifier"],
        model=passport["model"],
        category=passport["category"],
        issuer=str(tenant_id),
        issued_at=payload.issued_at,
        snapshot_id=payload.snapshot_id,
        facts=facts_of(connection, payload.snapshot_id, snapshot["snapshot_hash"]),
        rule_package=row["package"],
        rule_package_version=row["version"],
        rules=rules,
        rule_tests=tests_of(connection, row),
        salt_key=salt_key_of(connection, store, tenant_id, payload.passport_id, passport["salt_commitment"]),
        previous_receipt_hash=active_receipt_hash(connection, payload.passport_id),
        compiler_build_id=build,
    )


def store_version(payload: Payload, compiled: Compiled, tenant_id: UUID, connection: Connection) -> None:
    hold_passport(connection, payload.passport_id)
    row = connection.execute(NEXT_NUMBER, [payload.passport_id]).fetchone()
    number = row["number"] if row else 1
    if number > MAX_VERSIONS:
        raise Permanent(f"The passport has {MAX_VERSIONS} versions, which is the limit", code="TOO_MANY_VERSIONS")
    stored = connection.execute(
        INSERT_VERSION, {**payload.model_dump(), **vars(compiled), "tenant_id": tenant_id, "number": number}
    )
    if not stored.rowcount:
        # The next attempt finds it.
        raise Retryable("Another job has just compiled the same version", code="COMPILED_MEANWHILE")


NEXT_NUMBER = "select coalesce(max(number), 0) + 1 as number from public.passport_versions where passport_id = %s"
INSERT_VERSION = """
    insert into public.passport_versions (
      id, tenant_id, passport_id, snapshot_id, rule_package_version_id, number, payload_canonical, payload_hash,
      proof_canonical, proof_root_hash, leaf_count, receipt_canonical, receipt_hash, compiler_build_id, issued_at
    )
    values (
      %(passport_version_id)s, %(tenant_id)s, %(passport_id)s, %(snapshot_id)s, %(rule_package_version_id)s,
      %(number)s, %(payload)s, %(payload_hash)s, %(proof)s, %(proof_root_hash)s, %(leaf_count)s, %(receipt)s,
      %(receipt_hash)s, %(compiler_build_id)s, %(issued_at)s
    )
    on conflict do nothing
"""


def tell(payload: Payload, compiled: Compiled, connection: Connection) -> None:
    emit_held_event(
        connection,
        "passport.compiled",
        f"passport:{payload.passport_id}",
        {
            "passport_id": str(payload.passport_id),
            "passport_version_id": str(compiled.passport_version_id),
            "receipt_hash": compiled.receipt_hash.hex(),
        },
    )


def sign(passport_version_id: UUID) -> FollowUp:
    """With the correlation id of this job, as every follow-up has it."""
    return FollowUp(
        type="sign_passport",
        payload={"passport_version_id": str(passport_version_id)},
        dedupe_key=f"sign_passport {passport_version_id}",
    )


def result_of(compiled: Compiled) -> Result:
    return Result(
        passport_version_id=compiled.passport_version_id,
        payload_hash=compiled.payload_hash.hex(),
        proof_root_hash=compiled.proof_root_hash.hex(),
        receipt_hash=compiled.receipt_hash.hex(),
        leaf_count=compiled.leaf_count,
        warnings=[
            Warned(code=each.code, subject=each.subject, message=each.message)
            for each in compiled.warnings[:MAX_WARNINGS]
        ],
    )


COMPILE_PASSPORT: Handler[Payload] = Handler(Payload, compile_passport, Result)
