"""Passports in SQL: requests, the chart of versions, bytes that never change, bundles, and what stands in the way."""

import hashlib
import json
import random
from typing import Any, LiteralString
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg import errors

from tests.world import World
from tests.world.passports import FACTS, ISSUED_AT, Maker, attribute, number
from tickwork.passports import tree
from tickwork.passports.canonical import canonical, read_canonical

AUDIENCES = {
    "public": {"public"},
    "legitimate_interest": {"public", "restricted", "legitimate_interest"},
    "authorities": {"public", "restricted", "authorities"},
}


@pytest.fixture
def maker(world: World, monkeypatch: pytest.MonkeyPatch) -> Maker:
    return Maker(world, monkeypatch)


def disclosed(maker: Maker, version: UUID, audience: str, paths: list[str] | None = None) -> dict[str, Any]:
    bundle: dict[str, Any] = maker.world.value("select disclose(%s, %s, %s)", version, audience, paths)
    return bundle


def signed(maker: Maker, issued_at: str = ISSUED_AT, passport: UUID | None = None) -> UUID:
    job = maker.compile(passport or maker.passport(), maker.snapshot(), maker.rules(), issued_at)
    version = UUID(job.result["passport_version_id"])
    maker.sign(version)
    return version


def refused(code: str) -> Any:
    return pytest.raises(psycopg.Error, check=lambda error: error.sqlstate == code)


def test_a_battery_has_one_passport(maker: Maker) -> None:
    maker.passport("ZW-0001")

    with refused("TWDUP"):
        maker.passport("ZW-0001")


@pytest.mark.parametrize(
    ("battery", "category"), [("", "ev"), ("x" * 201, "ev"), ("ZW-1", "truck"), ("e\u0301", "ev"), (None, "ev")]
)
def test_a_passport_that_breaks_a_rule_is_refused(maker: Maker, battery: str, category: str) -> None:
    with refused("TWARG"):
        maker.passport(battery, category)


def test_a_request_is_for_whole_seconds_and_the_same_again_is_the_same_job(maker: Maker) -> None:
    passport, snapshot, rules = maker.passport(), maker.snapshot(), maker.rules()

    first = maker.request(passport, snapshot, rules, "2027-02-18T01:00:00.75+01:00")
    again = maker.request(passport, snapshot, rules, "2027-02-18T00:00:00Z")
    other = maker.request(passport, snapshot, rules, "2027-02-18T00:00:01Z")

    job = maker.job(first)
    assert first == again != other
    assert job.payload["issued_at"] == "2027-02-18T00:00:00Z"
    assert (job.idempotency_key, job.priority, job.max_attempts) == (job.correlation_id, 20, 5)
    assert maker.world.value("select compile_job_id from passports") == other


def test_a_request_without_a_time_is_for_now(maker: Maker) -> None:
    job = maker.world.row(
        "select payload, created_at from request_compile(%s, %s, %s)",
        *(maker.passport(), maker.snapshot(), maker.rules()),
    )

    assert maker.world.value(
        "select %s::timestamptz between %s - interval '2 seconds' and %s",
        *(job["payload"]["issued_at"], job["created_at"], job["created_at"]),
    )


def test_a_request_for_what_cannot_be_compiled_is_refused(maker: Maker, monkeypatch: pytest.MonkeyPatch) -> None:
    passport, snapshot, rules = maker.passport(), maker.snapshot(), maker.rules()
    other = Maker(maker.world, monkeypatch)
    wrong: list[tuple[str, UUID, UUID, UUID]] = [
        ("TWPAS", uuid4(), snapshot, rules),
        ("TWSNP", passport, uuid4(), rules),
        ("TWSNP", passport, other.snapshot(), rules),
        ("TWSTA", passport, maker.snapshot(is_sealed=False), rules),
        ("TWRUL", passport, snapshot, uuid4()),
        ("TWRUL", passport, snapshot, other.rules()),
        ("TWSTA", passport, snapshot, maker.rules(status="validated")),
    ]

    for code, *given in wrong:
        with refused(code):
            maker.request(given[0], given[1], given[2])


def test_an_activated_version_supersedes_the_one_before(maker: Maker) -> None:
    passport, world = maker.passport(), maker.world
    first, second = signed(maker, ISSUED_AT, passport), signed(maker, "2027-02-19T00:00:00Z", passport)

    assert world.row("select * from activate_passport(%s)", first)["status"] == "active"
    activated = world.row("select * from activate_passport(%s)", second)

    assert (activated["id"], activated["status"]) == (second, "active")
    assert {row["id"]: row["status"] for row in world.rows("select id, status from passport_versions")} == {
        first: "superseded",
        second: "active",
    }
    events = world.rows(
        "select type, payload from events where type ~ 'activated|superseded' order by occurred_at, type"
    )
    assert [(each["type"], each["payload"]["passport_version_id"]) for each in events] == [
        ("passport.activated", str(first)),
        ("passport.activated", str(second)),
        ("passport.superseded", str(first)),
    ]
    assert events[1]["payload"]["supersedes"] == events[2]["payload"]["passport_version_id"]


def test_two_versions_that_are_activated_at_once_take_turns(maker: Maker) -> None:
    passport = maker.passport()
    first, second = signed(maker, ISSUED_AT, passport), signed(maker, "2027-02-19T00:00:00Z", passport)
    one, other = maker.world.connect(), maker.world.connect()

    with one.transaction():
        one.execute("select activate_passport(%s)", [first])
        other.execute("set lock_timeout = '50ms'")
        with pytest.raises(errors.LockNotAvailable):
            other.execute("select activate_passport(%s)", [second])
    other.execute("set lock_timeout = 0")
    other.execute("select activate_passport(%s)", [second])

    assert maker.world.value("select count(*) from passport_versions where status = 'active'") == 1


def test_only_a_signed_version_with_a_qr_code_becomes_active(maker: Maker) -> None:
    world, passport = maker.world, maker.passport()
    compiling = UUID(maker.compile(passport, maker.snapshot(), maker.rules()).result["passport_version_id"])
    with refused("TWSTA"):
        world.run("select activate_passport(%s)", compiling)
    maker.sign(compiling, with_qr=False)
    with refused("TWSTA"):
        world.run("select activate_passport(%s)", compiling)

    later = signed(maker, "2027-02-19T00:00:00Z", passport)
    world.run("select activate_passport(%s)", later)

    world.run("update passport_versions set qr_payload = 'BPC1', qr_png = 'png' where id = %s", compiling)
    with refused("TWSTA"):
        world.run("select activate_passport(%s)", compiling)
    with refused("TWSTA"):
        world.run("select activate_passport(%s)", later)
    with refused("TWPAS"):
        world.run("select activate_passport(%s)", uuid4())


CHANGES: list[LiteralString] = [
    "payload_canonical = 'x', payload_hash = sha256('x')",
    "proof_canonical = 'x'",
    "proof_root_hash = sha256('x')",
    "receipt_canonical = 'x', receipt_hash = sha256('x')",
    "issued_at = issued_at + interval '1 day'",
    "number = 7",
    "passport_id = gen_random_uuid()",
    "snapshot_id = gen_random_uuid()",
    "rule_package_version_id = gen_random_uuid()",
    "compiler_build_id = 'x'",
    "signature = sha512('x')",
    "signature = null, signing_key_id = null, signing_key_public = null",
    "signing_key_public = sha256('x')",
    "signing_key_id = 'x'",
    "qr_png = 'x'",
    "qr_payload = 'x'",
    "status = 'compiling'",
    "status = 'superseded', superseded_at = now(), activated_at = now()",
]


def test_what_was_compiled_and_signed_never_changes(maker: Maker) -> None:
    version = signed(maker)

    for change in CHANGES:
        with refused("TWSTA"):
            maker.world.run(f"update passport_versions set {change} where id = %s", version)


def test_a_tenant_is_deleted_with_its_passports(maker: Maker) -> None:
    signed(maker)

    maker.world.run("delete from organizations where id = %s", maker.tenant)

    assert maker.world.value("select count(*) from passport_versions") == 0
    assert maker.world.value("select count(*) from tickwork.secrets") == 0


@pytest.mark.parametrize("audience", AUDIENCES)
def test_a_bundle_holds_what_its_audience_may_see_and_proves_it(maker: Maker, audience: str) -> None:
    version = signed(maker)

    bundle = disclosed(maker, version, audience)

    receipt = bundle["receipt"]
    row = maker.world.row("select receipt_hash, proof_root_hash from passport_versions where id = %s", version)
    assert hashlib.sha256(canonical(receipt)).digest() == row["receipt_hash"]
    assert {each["leaf"]["access"] for each in bundle["leaves"]} == AUDIENCES[audience]
    assert {each["leaf"]["kind"] for each in bundle["leaves"]} == {"attribute"}
    for each in bundle["leaves"]:
        path = [bytes.fromhex(hash) for hash in each["path"]]
        root = tree.root_from_proof(canonical(each["leaf"]), each["index"], receipt["leaf_count"], path)
        assert root == row["proof_root_hash"] == bytes.fromhex(receipt["proof_root_hash"])


def test_single_attributes_are_disclosed_alone(maker: Maker) -> None:
    version = signed(maker)

    bundle = disclosed(maker, version, "legitimate_interest", ["performance.state_of_charge"])

    assert [(each["leaf"]["path"], each["leaf"]["value"]) for each in bundle["leaves"]] == [
        ("performance.state_of_charge", 87)
    ]
    assert disclosed(maker, version, "public", [])["leaves"] == []
    for audience, path in (
        ("public", "performance.state_of_charge"),
        ("authorities", "performance.state_of_charge"),
        ("legitimate_interest", "compliance.test_result"),
        ("public", "no.such"),
        ("public", "cobalt"),
    ):
        with refused("TWARG"):
            disclosed(maker, version, audience, [path])
    with refused("TWARG"):
        disclosed(maker, version, "everybody")


def test_only_what_is_signed_is_disclosed_and_only_by_members(maker: Maker) -> None:
    version = maker.version()
    stranger = maker.world.member_of(maker.world.tenant("other"))
    with refused("TWSTA"):
        disclosed(maker, version, "public")
    maker.sign(version)

    assert maker.world.member_of(maker.tenant).execute("select disclose(%s)", [version]).fetchone()
    with refused("TWPAS"):
        stranger.execute("select disclose(%s)", [version])


def hidden_values() -> tuple[dict[str, Any], list[Any]]:
    """Rules for 60 attributes of all classes, and facts with values that are nowhere else."""
    chosen = random.Random(9162)
    access = ["public", "restricted", "authorities", "legitimate_interest"]
    attributes, facts = [], []
    for place in range(60):
        path = f"part.attribute_{place}"
        if place % 3:
            value: Any = f"{chosen.choice(['', 'Ω ', '🔋'])}value {chosen.getrandbits(80):x}"
            attributes.append({"path": path, "access": access[place % 4], "schema": {"type": "string"}})
        else:
            value = chosen.getrandbits(50) / 1000
            attributes.append(number(path, access[place % 4]))
        facts.append(attribute(path, value))
    return {"attributes": attributes}, facts


def test_no_byte_of_a_restricted_value_is_in_a_bundle_for_a_lesser_audience(maker: Maker) -> None:
    rules, facts = hidden_values()
    job = maker.compile(maker.passport(), maker.snapshot(facts), maker.rules(rules))
    version = UUID(job.result["passport_version_id"])
    maker.sign(version)
    proof = maker.world.value("select proof_canonical from passport_versions where id = %s", version)
    leaves = [leaf for leaf in json.loads(proof)["leaves"] if leaf["kind"] == "attribute"]

    for audience, sees in AUDIENCES.items():
        text = maker.world.value("select disclose(%s, %s)::text", version, audience)
        for leaf in leaves:
            parts = [leaf["path"] + '"', leaf["salt"], json.dumps(leaf["value"], ensure_ascii=False).strip('"')]
            assert [part in text for part in parts] == [leaf["access"] in sees] * 3
        for fact in facts:
            assert fact.payload_hash.hex() not in text


def test_a_restricted_value_cannot_be_guessed_from_a_bundle(maker: Maker) -> None:
    """State of charge is one of a hundred numbers: whoever knows all but the salt still finds none of the hashes."""
    version = signed(maker)
    proof = maker.world.value("select proof_canonical from passport_versions where id = %s", version)
    hidden = next(leaf for leaf in json.loads(proof)["leaves"] if leaf.get("path") == "performance.state_of_charge")
    bundle = disclosed(maker, version, "public")
    hashes = {hash for each in bundle["leaves"] for hash in each["path"]}
    known_salts = ["", "00" * 16, *(each["leaf"]["salt"] for each in bundle["leaves"])]

    guesses = {
        tree.leaf_hash(canonical({**hidden, "value": value, "salt": salt})).hex()
        for value in range(101)
        for salt in known_salts
    }

    assert tree.leaf_hash(canonical(hidden)).hex() in hashes, "the hash is there to be guessed"
    assert not guesses & hashes


@pytest.mark.parametrize("size", [1, 2, 3, 7, 8, 9, 33, 100])
def test_the_tree_of_sql_is_that_of_python(world: World, size: int) -> None:
    leaves = [f"leaf {place}".encode() for place in range(size)]
    levels = world.value("select tickwork.tree_levels(%s)", b"".join(map(tree.leaf_hash, leaves)))

    assert levels == [b"".join(level) for level in tree.levels(leaves)]
    for index in {0, size // 2, size - 1}:
        proof = world.value("select tickwork.inclusion_proof(%s, %s)", levels, index)
        assert proof == [each.hex() for each in tree.inclusion_proof(leaves, index)]


def test_hostile_text_and_numbers_are_proved_by_bundles_too(maker: Maker) -> None:
    values: dict[str, Any] = {
        "a.text": '\x01\b\t\n\f\r"\\/\x7f\u2028</script>🔋',
        "a.large": 1e20,
        "a.larger": 1e21,
        "a.small": 1e-7,
        "a.list": [{"€": 1, "\r": 2, "😀": 3, "דּ": 4}],
    }
    types = {"a.text": "string", "a.list": "array"}
    rules = {
        "attributes": [
            {"path": path, "access": "public", "schema": {"type": types.get(path, "number")}} for path in values
        ]
    }
    facts = [attribute(path, value) for path, value in values.items()]
    job = maker.compile(maker.passport(), maker.snapshot(facts), maker.rules(rules))
    version = UUID(job.result["passport_version_id"])
    maker.sign(version)

    text = maker.world.value("select disclose(%s)::text", version)

    bundle: Any = read_canonical(text.encode())
    assert {each["leaf"]["path"]: each["leaf"]["value"] for each in bundle["leaves"]} == values
    for each in bundle["leaves"]:
        path = [bytes.fromhex(hash) for hash in each["path"]]
        root = tree.root_from_proof(canonical(each["leaf"]), each["index"], bundle["receipt"]["leaf_count"], path)
        assert root.hex() == bundle["receipt"]["proof_root_hash"]


def test_members_see_the_passports_of_their_tenant(maker: Maker, monkeypatch: pytest.MonkeyPatch) -> None:
    version = signed(maker)
    Maker(maker.world, monkeypatch).passport()
    member = maker.world.member_of(maker.tenant)

    (passport,) = member.execute("select * from list_passports()").fetchall()
    (listed,) = member.execute("select * from list_passport_versions(passport_id => %s)", [passport["id"]]).fetchall()

    assert (passport["battery_identifier"], passport["latest_version_id"]) == ("ZW-0001", version)
    assert (passport["latest_status"], passport["active_version_id"], passport["compile_status"]) == (
        "signed",
        None,
        "done",
    )
    assert (listed["id"], listed["number"], len(listed["receipt_hash"])) == (version, 1, 64)
    assert member.execute("select * from get_passport(%s)", [passport["id"]]).fetchone() == passport
    assert member.execute("select * from get_passport_version(%s)", [version]).fetchone() == listed
    after = "select * from list_passport_versions(after_passport_version_id => %s)"
    assert member.execute(after, [version]).fetchall() == []
    assert member.execute("select * from list_passports(battery_identifier => 'ZW-2')").fetchall() == []
    assert member.execute("select * from list_passports(after_passport_id => %s)", [passport["id"]]).fetchall() == []
    with refused("TWPAS"):
        member.execute("select get_passport(%s)", [uuid4()])
    with refused("TWPAS"):
        member.execute("select get_passport_version(%s)", [uuid4()])
    with pytest.raises(errors.InsufficientPrivilege):
        member.execute("select * from tickwork.secrets")


def test_what_stands_in_the_way_of_a_passport_is_said_in_words(maker: Maker) -> None:
    world, passport = maker.world, maker.passport()

    def words() -> str:
        text: str = world.value("select explain_passport(%s)", passport)
        return text

    world.run("update rule_package_versions set status = 'retired'")
    assert "There is no sealed snapshot yet" in words()
    snapshot = maker.snapshot()
    assert "There are no published rules yet" in words()
    rules = maker.rules()
    assert "request_compile compiles it" in words()
    faulty = maker.snapshot([FACTS[1]])
    maker.compile(passport, faulty, rules)
    assert "Its last compilation failed (COMPILE_ERROR): MISSING_ATTRIBUTE product.manufacturer" in words()
    id = maker.request(passport, snapshot, rules)
    assert "Its last compilation: It has been due since" in words()
    maker.work()
    assert "Version 1 is compiled, but not signed. The job sign_passport: It has been due" in words()
    version = UUID(maker.job(id).result["passport_version_id"])
    maker.sign(version, with_qr=False)
    assert "Version 1 is signed, but has no QR code. The job generate_qr: there is none" in words()
    world.run("update passport_versions set qr_payload = 'BPC1', qr_png = 'png'")
    assert (
        words() == "No version is active. Version 1 is signed and has its QR code: activate_passport makes it active."
    )
    world.run("select activate_passport(%s)", version)
    assert words().startswith("Version 1 has been active since ")
    world.run("update passport_versions set status = 'revoked', revoked_at = now(), revocation_reason = 'recalled'")
    assert words().endswith(": recalled.")
    with refused("TWPAS"):
        world.run("select explain_passport(%s)", uuid4())


def test_rules_that_every_tenant_has_are_used_for_any(maker: Maker) -> None:
    rules = maker.rules()
    maker.world.run("update rule_tests_runs set tenant_id = null")
    maker.world.run("update rule_package_versions set tenant_id = null")
    maker.world.run("update rule_packages set tenant_id = null")

    job = maker.compile(maker.passport(), maker.snapshot(), rules)

    assert job.status == "done", job.error_message
    receipt = maker.world.value("select convert_from(receipt_canonical, 'UTF8')::jsonb from passport_versions")
    assert receipt["rule_tests"]["passed"] == 500
