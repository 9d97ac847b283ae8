"""compile_passport: one version for one request, whatever happens in between, and a name for every refusal."""

import json
from typing import LiteralString
from uuid import UUID, uuid4

import pytest
from psycopg.rows import DictRow

from tests.world import World
from tests.world.passports import FACTS, ISSUED_AT, Maker, attribute, material
from tickwork.families.passport import compile_passport as handler
from tickwork.jobs.rows import Job
from tickwork.passports.build import build_id
from tickwork.passports.fact import Fact


@pytest.fixture
def maker(world: World, monkeypatch: pytest.MonkeyPatch) -> Maker:
    return Maker(world, monkeypatch)


def version_of(maker: Maker, job: Job) -> DictRow:
    assert job.status == "done", job.error_message
    return maker.world.row("select * from passport_versions where id = %s", job.result["passport_version_id"])


def enqueue(maker: Maker, **changed: object) -> Job:
    """As a member can enqueue it, without request_compile and what that checks."""
    payload = {
        "passport_id": str(uuid4()),
        "snapshot_id": str(uuid4()),
        "rule_package_version_id": str(uuid4()),
        "issued_at": ISSUED_AT,
    }
    job = maker.world.job(
        "compile_passport", maker.tenant, payload=payload | {name: str(value) for name, value in changed.items()}
    )
    maker.work()
    return maker.world.reload(job)


def test_a_version_is_compiled_and_its_signature_follows(maker: Maker) -> None:
    passport, snapshot, rules = maker.passport(), maker.snapshot(), maker.rules()

    job = maker.compile(passport, snapshot, rules)

    version = version_of(maker, job)
    receipt = json.loads(version["receipt_canonical"])
    assert (version["status"], version["number"], version["compiler_build_id"]) == ("compiling", 1, build_id())
    assert receipt["passport_version_id"] == str(version["id"]) == job.result["passport_version_id"]
    assert receipt["rule_tests"] == {
        "run_id": str(maker.world.value("select id from rule_tests_runs where rule_package_version_id = %s", rules)),
        **{"seed": "4711", "passed": 500},
    }
    assert (receipt["issuer"], receipt["previous_receipt_hash"]) == (str(maker.tenant), None)
    assert json.loads(version["payload_canonical"])["attributes"]["materials.total_mass"] == {
        **{"value": 11.625, "unit": "KGM", "access": "public"}
    }
    sign = maker.world.row("select * from jobs where type = 'sign_passport'")
    assert sign["payload"] == {"passport_version_id": str(version["id"])}
    assert (sign["dedupe_key"], sign["correlation_id"]) == (f"sign_passport {version['id']}", job.correlation_id)
    event = maker.world.row("select * from events where type = 'passport.compiled'")
    assert event["payload"]["passport_version_id"] == str(version["id"])


def test_the_commit_of_the_compiler_is_named_if_it_is_set(maker: Maker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BPC_COMPILER_BUILD_ID", "c0ffee")

    version = version_of(maker, maker.compile(maker.passport(), maker.snapshot(), maker.rules()))

    assert version["compiler_build_id"] == f"{build_id()}.c0ffee"


def test_a_warning_does_not_stand_in_the_way(maker: Maker) -> None:
    facts = [attribute("performance.rated_capacity", 2000, "AMH"), FACTS[0]]

    job = maker.compile(maker.passport(), maker.snapshot(facts), maker.rules())

    assert [each["subject"] for each in job.result["warnings"]] == ["CAPACITY_IS_USUAL"]


@pytest.mark.parametrize("place", ["compiler.compile_passport", "store_version", "tell"])
def test_an_attempt_that_breaks_off_anywhere_and_is_repeated_gives_one_version(maker: Maker, place: str) -> None:
    """The version, its event and the job that signs it are there together or not at all."""
    passport, snapshot, rules = maker.passport(), maker.snapshot(), maker.rules()
    id = maker.request(passport, snapshot, rules)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(f"{handler.__name__}.{place}", broken_off)
        maker.work()
    assert maker.job(id).status == "queued"
    assert maker.world.value(COUNTS) == [0, 0, 0]
    salt_commitment = maker.world.value("select encode(salt_commitment, 'hex') from passports")
    maker.world.run("update jobs set run_at = clock_timestamp() where id = %s", id)
    maker.work()

    version = version_of(maker, maker.job(id))
    assert json.loads(version["receipt_canonical"])["salt_commitment"] == salt_commitment
    assert maker.world.value(COUNTS) == [1, 1, 1]


def broken_off(*_: object) -> None:
    raise ConnectionError("the worker was killed")


COUNTS = """
    select array[
      (select count(*) from passport_versions),
      (select count(*) from jobs where type = 'sign_passport'),
      (select count(*) from events where type = 'passport.compiled')
    ]
"""


def test_the_same_inputs_again_are_the_same_version(maker: Maker) -> None:
    passport, snapshot, rules = maker.passport(), maker.snapshot(), maker.rules()
    first = maker.compile(passport, snapshot, rules)

    again = enqueue(maker, passport_id=passport, snapshot_id=snapshot, rule_package_version_id=rules)

    assert {**again.result, "warnings": []} == {**first.result, "warnings": []}
    assert maker.world.value("select count(*) from passport_versions") == 1
    assert maker.world.value("select count(*) from jobs where type = 'sign_passport'") == 1


def test_a_version_that_is_signed_is_not_signed_again(maker: Maker) -> None:
    passport, snapshot, rules = maker.passport(), maker.snapshot(), maker.rules()
    first = maker.compile(passport, snapshot, rules)
    maker.sign(UUID(first.result["passport_version_id"]))
    maker.world.run("delete from jobs where type = 'sign_passport'")

    again = enqueue(maker, passport_id=passport, snapshot_id=snapshot, rule_package_version_id=rules)

    assert again.status == "done"
    assert maker.world.value("select count(*) from jobs where type = 'sign_passport'") == 0


def test_a_version_that_another_job_stores_first_is_found_by_the_next_attempt(maker: Maker) -> None:
    passport, snapshot, rules = maker.passport(), maker.snapshot(), maker.rules()
    first = maker.compile(passport, snapshot, rules)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(handler, "compiled_before", lambda *_: None)
        again = enqueue(maker, passport_id=passport, snapshot_id=snapshot, rule_package_version_id=rules)

    assert (again.status, again.error_code) == ("queued", "COMPILED_MEANWHILE")
    maker.world.run("update jobs set run_at = clock_timestamp() where id = %s", again.id)
    maker.work()
    assert maker.job(again.id).result["receipt_hash"] == first.result["receipt_hash"]


def test_a_later_version_names_the_receipt_of_the_active_one(maker: Maker) -> None:
    passport, snapshot, rules = maker.passport(), maker.snapshot(), maker.rules()
    first = maker.compile(passport, snapshot, rules)
    maker.sign(UUID(first.result["passport_version_id"]))
    maker.world.run("select activate_passport(%s)", first.result["passport_version_id"])

    second = version_of(maker, maker.compile(passport, snapshot, rules, "2027-02-19T00:00:00Z"))

    receipt = json.loads(second["receipt_canonical"])
    assert (second["number"], receipt["previous_receipt_hash"]) == (2, first.result["receipt_hash"])


def test_all_versions_of_a_passport_have_one_salt_key_which_is_sealed(maker: Maker) -> None:
    passport, snapshot, rules = maker.passport(), maker.snapshot(), maker.rules()
    versions = [
        version_of(maker, maker.compile(passport, snapshot, rules, f"2027-02-{day}T00:00:00Z")) for day in (18, 19)
    ]
    other = version_of(maker, maker.compile(maker.passport("ZW-0002"), snapshot, rules))

    commitments = [json.loads(each["receipt_canonical"])["salt_commitment"] for each in (*versions, other)]
    secret = maker.world.row("select * from tickwork.secrets where owner = %s", f"passport:{passport}")

    assert commitments[0] == commitments[1] != commitments[2]
    assert secret["sealed"].startswith("v1.")
    assert (
        maker.world.value("select encode(salt_commitment, 'hex') from passports where id = %s", passport)
        == commitments[0]
    )


@pytest.mark.parametrize("loss", ["lost", "replaced"])
def test_a_lost_salt_key_is_named(maker: Maker, loss: str) -> None:
    passport, snapshot, rules = maker.passport(), maker.snapshot(), maker.rules()
    maker.compile(passport, snapshot, rules)
    if loss == "lost":
        maker.world.run("delete from tickwork.secrets")
    else:
        maker.world.run("update passports set salt_commitment = sha256('another')")

    job = maker.compile(passport, snapshot, rules, "2027-02-19T00:00:00Z")

    assert (job.status, job.error_code) == ("failed", "SALT_KEY_LOST")


def test_nothing_is_compiled_without_a_place_for_the_salt_key(maker: Maker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TICKWORK_SECRET_KEY")

    job = maker.compile(maker.passport(), maker.snapshot(), maker.rules())

    assert job.status == "queued"
    assert maker.world.value("select count(*) from passport_versions") == 0


@pytest.mark.parametrize(
    ("missing", "code"),
    [
        ("passport_id", "PASSPORT_NOT_FOUND"),
        ("snapshot_id", "SNAPSHOT_NOT_FOUND"),
        ("rule_package_version_id", "RULE_PACKAGE_NOT_FOUND"),
    ],
)
def test_what_is_not_there_is_named(maker: Maker, missing: str, code: str) -> None:
    there = {
        "passport_id": maker.passport(),
        "snapshot_id": maker.snapshot(),
        "rule_package_version_id": maker.rules(),
    }

    job = enqueue(maker, **{name: id for name, id in there.items() if name != missing})

    assert (job.status, job.error_code) == ("failed", code)


def test_what_another_tenant_has_is_not_there(maker: Maker, monkeypatch: pytest.MonkeyPatch) -> None:
    other = Maker(maker.world, monkeypatch)
    theirs = {
        "passport_id": (other.passport(), "PASSPORT_NOT_FOUND"),
        "snapshot_id": (other.snapshot(), "SNAPSHOT_NOT_FOUND"),
        "rule_package_version_id": (other.rules(), "RULE_PACKAGE_NOT_FOUND"),
    }
    ours = {
        "passport_id": maker.passport(),
        "snapshot_id": maker.snapshot(),
        "rule_package_version_id": maker.rules(),
    }

    for name, (id, code) in theirs.items():
        assert enqueue(maker, **{**ours, name: id}).error_code == code


def test_only_sealed_snapshots_and_published_rules_are_compiled(maker: Maker) -> None:
    passport, sealed, published = maker.passport(), maker.snapshot(), maker.rules()
    ready = maker.snapshot(is_sealed=False)
    retired = maker.rules(status="retired")
    later = maker.rules()
    with maker.world.admin.transaction():
        # Otherwise the edit would make a draft of them.
        maker.world.run("set local session_replication_role = 'replica'")
        maker.world.run("update rule_package_versions set valid_from = '2027-02-19' where id = %s", later)

    jobs = [
        enqueue(maker, passport_id=passport, snapshot_id=snapshot, rule_package_version_id=rules)
        for snapshot, rules in ((ready, published), (sealed, retired), (sealed, later))
    ]

    assert [(job.error_code, job.error_message) for job in jobs] == [
        ("SNAPSHOT_NOT_SEALED", "The snapshot is building. Seal it first"),
        ("RULE_PKG_NOT_PUBLISHED", "The rules are retired. Publish them first"),
        ("RULE_PKG_NOT_PUBLISHED", "The rules are valid from 2027-02-19"),
    ]


@pytest.mark.parametrize("how", ["item taken out", "item of another tenant", "fact swapped"])
def test_a_snapshot_whose_facts_are_not_those_that_were_sealed_is_refused(maker: Maker, how: str) -> None:
    """Only whoever owns the tables can do that, past their triggers and policies."""
    snapshot = maker.snapshot()
    with maker.world.admin.transaction():
        maker.world.run("set local session_replication_role = 'replica'")
        match how:
            case "item taken out":
                maker.world.run("delete from snapshot_items where fact_id = (select min(id::text)::uuid from facts)")
            case "item of another tenant":
                theirs = maker.facts([material("gold", 1)], maker.world.tenant("other"))
                maker.world.run(
                    "update snapshot_items set fact_id = %s "
                    "where fact_id = (select id from facts where fact_key = 'cobalt')",
                    theirs[0],
                )
            case "fact swapped":
                maker.world.run(
                    "update facts set payload_canonical = %s, payload = %s where fact_key = 'cobalt'",
                    *(b'{"mass":1,"name":"cobalt"}', '{"mass":1,"name":"cobalt"}'),
                )

    job = maker.compile(maker.passport(), snapshot, maker.rules())

    assert (job.status, job.error_code) == ("failed", "SNAPSHOT_TAMPERED")


@pytest.mark.parametrize(
    ("swapped", "code"),
    [
        ("jsonb_set(dsl_source, '{attributes,3,access}', '\"public\"')", "RULES_TAMPERED"),
        ("jsonb_set(dsl_source, '{attributes}', '7')", "COMPILE_ERROR"),
    ],
)
def test_rules_that_were_swapped_after_their_publication_are_refused(
    maker: Maker, swapped: LiteralString, code: str
) -> None:
    rules = maker.rules()
    with maker.world.admin.transaction():
        maker.world.run("set local session_replication_role = 'replica'")
        maker.world.run(f"update rule_package_versions set dsl_source = {swapped} where id = %s", rules)

    job = maker.compile(maker.passport(), maker.snapshot(), rules)

    assert (job.status, job.error_code) == ("failed", code)


@pytest.mark.parametrize(
    ("facts", "finding"),
    [
        ([FACTS[1]], "MISSING_ATTRIBUTE product.manufacturer"),
        ([FACTS[0], attribute("performance.rated_capacity", -1, "AMH")], "CHECK_FAILED CAPACITY_IS_POSITIVE"),
        ([FACTS[0], attribute("performance.rated_capacity", 1, "KWH")], "UNIT_MISMATCH performance.rated_capacity"),
    ],
)
def test_what_the_rules_find_is_in_the_error(maker: Maker, facts: list[Fact], finding: str) -> None:
    job = maker.compile(maker.passport(), maker.snapshot(facts), maker.rules())

    assert (job.status, job.error_code) == ("failed", "COMPILE_ERROR")
    assert finding in str(job.error_message)


@pytest.mark.parametrize(
    ("limit", "code"),
    [
        ("MAX_PAYLOAD_SIZE", "PAYLOAD_TOO_LARGE"),
        ("MAX_PROOF_SIZE", "PROOF_TOO_LARGE"),
        ("MAX_RECEIPT_SIZE", "RECEIPT_TOO_LARGE"),
    ],
)
def test_what_is_too_large_is_named(maker: Maker, monkeypatch: pytest.MonkeyPatch, limit: str, code: str) -> None:
    monkeypatch.setattr(f"tickwork.passports.compiler.{limit}", 100)

    job = maker.compile(maker.passport(), maker.snapshot(), maker.rules())

    assert (job.status, job.error_code) == ("failed", code)


def test_a_passport_with_too_many_versions_gets_no_more(maker: Maker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handler, "MAX_VERSIONS", 0)

    job = maker.compile(maker.passport(), maker.snapshot(), maker.rules())

    assert (job.status, job.error_code) == ("failed", "TOO_MANY_VERSIONS")


def test_a_fraction_of_a_second_is_refused(maker: Maker) -> None:
    job = enqueue(maker, issued_at="2027-02-18T00:00:00.5Z")

    assert (job.status, job.error_code) == ("failed", "INVALID_PAYLOAD")
