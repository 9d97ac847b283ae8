"""run_rule_tests: tests a version of rules, which makes a draft validated, and published where that was asked for."""

from functools import partial
from typing import Annotated, Any, Literal
from uuid import UUID

from psycopg.types.json import Jsonb
from pydantic import BaseModel, ConfigDict, Field

from tickwork.errors import Permanent
from tickwork.jobs.connection import Connection
from tickwork.jobs.handler import Handler, Tools
from tickwork.jobs.outcomes import Done
from tickwork.passports.build import build_id
from tickwork.passports.rules.cases import UnreadableTests
from tickwork.passports.rules.rules import Rules, RulesRefused, read_rules
from tickwork.passports.rules.runner import Run, TooFewCases, run_tests

# Canonical JSON has no larger integers, and a receipt names the seed.
MAX_SEED = 2**53 - 1
Row = dict[str, Any]


class Payload(BaseModel):
    model_config = ConfigDict(extra="forbid")

    rule_package_version_id: UUID
    seed: Annotated[int, Field(ge=-MAX_SEED, le=MAX_SEED)]


class Result(BaseModel):
    status: Literal["passed", "failed"]
    total_cases: int
    passed_count: int
    failed_count: int
    mutants: int
    mutants_caught: int


def run_rule_tests(payload: Payload, tools: Tools) -> Done:
    version = tools.under_lease(partial(read, payload.rule_package_version_id))
    rules = rules_of(version)
    try:
        run = run_tests(rules, version["tests_source"], payload.seed)
    except UnreadableTests as error:
        raise Permanent(f"The tests cannot be read: {error}", code="TEST_PARSE_FAILED") from None
    except TooFewCases as error:
        raise Permanent(f"{error}. Give the values bounds, or add examples", code="TOO_FEW_CASES") from None
    tools.log("test rules", status=run.status, cases=run.total_cases, failed=run.failed_count)
    return Done(
        Result(
            status=run.status,
            total_cases=run.total_cases,
            passed_count=run.passed_count,
            failed_count=run.failed_count,
            mutants=run.mutants,
            mutants_caught=run.mutants_caught,
        ),
        writes=[partial(store, version, rules, run, payload.seed, tools.job_id), partial(settle, version, rules, run)],
    )


def read(rule_package_version_id: UUID, connection: Connection) -> Row:
    query = "select * from public.rule_package_versions where id = %s and tenant_id is not null"
    version: Row | None = connection.execute(query, [rule_package_version_id]).fetchone()
    if version is None:
        raise Permanent("There is no such version of rules", code="RULE_PACKAGE_NOT_FOUND")
    return version


def rules_of(version: Row) -> Rules:
    try:
        return read_rules(version["dsl_source"])
    except RulesRefused as error:
        codes = {finding.code for finding in error.findings}
        raise Permanent(f"The rules cannot be read: {error}"[:2000], code=max(codes)) from None


def store(version: Row, rules: Rules, run: Run, seed: int, job_id: UUID, connection: Connection) -> None:
    connection.execute(
        INSERT_RUN,
        {
            **version,
            "rules_hash": rules.hash,
            "seed": seed,
            "job_id": job_id,
            "run_status": run.status,
            "total_cases": run.total_cases,
            "passed_count": run.passed_count,
            "failed_count": run.failed_count,
            "first_failure": None if run.first_failure is None else Jsonb(run.first_failure),
            "mutants": run.mutants,
            "mutants_caught": run.mutants_caught,
            "compiler_build_id": build_id(),
        },
    )


INSERT_RUN = """
    insert into public.rule_tests_runs (
      tenant_id, rule_package_version_id, revision, rules_hash, seed, status, total_cases, passed_count, failed_count,
      first_failure, mutants, mutants_caught, compiler_build_id, job_id
    )
    values (
      %(tenant_id)s, %(id)s, %(revision)s, %(rules_hash)s, %(seed)s, %(run_status)s, %(total_cases)s, %(passed_count)s,
      %(failed_count)s, %(first_failure)s, %(mutants)s, %(mutants_caught)s,
      %(compiler_build_id)s, %(job_id)s
    )
"""


def settle(version: Row, rules: Rules, run: Run, connection: Connection) -> None:
    """Rules that were edited meanwhile stay as they are: these tests say nothing about them."""
    found = {**version, "rules_hash": rules.hash}
    if run.status == "passed":
        connection.execute(VALIDATE, found)
        connection.execute(PUBLISH, found)
    else:
        connection.execute(GIVE_UP, found)


VALIDATE = """
    update public.rule_package_versions
    set status = 'validated', rules_hash = %(rules_hash)s
    where id = %(id)s and revision = %(revision)s and status = 'draft'
"""
PUBLISH = """
    update public.rule_package_versions
    set status = 'published', published_at = clock_timestamp()
    where id = %(id)s and revision = %(revision)s and status = 'validated' and publish_when_validated
"""
GIVE_UP = """
    update public.rule_package_versions
    set publish_when_validated = false, published_by = null
    where id = %(id)s and revision = %(revision)s and status = 'draft' and publish_when_validated
"""

RUN_RULE_TESTS: Handler[Payload] = Handler(Payload, run_rule_tests, Result)
