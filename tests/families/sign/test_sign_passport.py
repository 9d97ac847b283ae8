"""sign_passport: signs what was compiled and nothing else, once, with a key that is registered."""

import json
import subprocess
import sys
from base64 import b64encode
from typing import Any
from uuid import UUID, uuid4

import pytest

from tests.world import World
from tests.world.passports import ISSUED_AT
from tests.world.signing import KEY, NEXT_KEY, SIGNING, TRUST, Signer
from tickwork.families.sign import sign_passport as handler
from tickwork.passports import verifier
from tickwork.passports.data_integrity import proof_verifies
from tickwork.passports.exports.json_ld import json_ld
from tickwork.passports.packages import read_json, read_passport
from tickwork.passports.qr import PassportQr
from tickwork.passports.signatures import SigningKey
from tickwork.passports.status_list import StatusList
from tickwork.passports.verification import Evidence, verify


@pytest.fixture
def signer(world: World, monkeypatch: pytest.MonkeyPatch) -> Signer:
    return Signer(world, monkeypatch)


def test_a_compiled_version_is_signed_and_drawn_in_one_chain_that_verifies(signer: Signer) -> None:
    version = signer.version()

    signer.finish()

    row = signer.row(version)
    assert (row["status"], row["signing_key_id"], row["signing_key_public"]) == ("signed", KEY.id, KEY.public)
    assert row["signature"] == KEY.sign(row["receipt_hash"])
    assert {
        job.correlation_id for type in ("compile_passport", "sign_passport", "generate_qr") for job in signer.jobs(type)
    } == {signer.jobs("compile_passport")[0].correlation_id}
    evidence = Evidence(TRUST, qr=PassportQr.read(row["qr_payload"]), as_of=row["issued_at"])
    verdict = verify(read_passport(signer.package(version)), evidence)
    assert verdict.is_valid, verdict.checks


def test_the_public_view_has_a_proof_of_its_own(signer: Signer) -> None:
    version = signer.version()
    signer.finish()
    row = signer.row(version)

    document: Any = read_json(json_ld(row["payload_canonical"], row["receipt_canonical"], row["credential_proof"]))

    assert proof_verifies(document, KEY.public)
    assert (document["proof"]["created"], document["validFrom"]) == (ISSUED_AT, ISSUED_AT)


def test_both_names_of_the_event_are_told(signer: Signer) -> None:
    version = signer.version()
    signer.finish()

    events = signer.world.rows("select type, aggregate, payload from events where type ilike '%%signed'")

    assert {each["type"] for each in events} == {"passport.signed", "PASSPORT_SIGNED"}
    assert {each["payload"]["passport_version_id"] for each in events} == {str(version)}


def test_signing_twice_gives_the_same_bytes_even_with_another_key(signer: Signer) -> None:
    version = signer.version()
    signer.finish()
    before = signer.row(version)
    signer.configure(NEXT_KEY)
    signer.register(NEXT_KEY)

    job = signer.sign_job(version)

    assert (job.status, job.result["signature"]) == ("done", before["signature"].hex())
    assert signer.row(version) == before


def test_a_version_that_another_job_signs_first_is_found_by_the_next_attempt(signer: Signer) -> None:
    version = signer.version()
    read_before = signer.row(version)
    signer.finish()
    signature = signer.row(version)["signature"]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(handler, "read_version", lambda *_: read_before)
        job = signer.sign_job(version)
    assert (job.status, job.error_code) == ("queued", "SIGNED_MEANWHILE")
    signer.world.run("update jobs set run_at = clock_timestamp() where id = %s", job.id)
    signer.work("sign", SIGNING)

    assert signer.world.reload(job).result["signature"] == signature.hex() == signer.row(version)["signature"].hex()


def test_a_new_key_signs_as_soon_as_it_is_registered(signer: Signer) -> None:
    signer.configure(NEXT_KEY, KEY)
    first = signer.version("ZW-1")
    signer.finish()

    signer.register(NEXT_KEY)
    second = signer.version("ZW-2")
    signer.finish()

    assert [signer.row(version)["signing_key_id"] for version in (first, second)] == [KEY.id, NEXT_KEY.id]


@pytest.mark.parametrize(
    ("setting", "code"),
    [
        ("", "SIGNING_KEY_MISSING"),
        ("c2hvcnQ=", "INVALID_SIGNING_KEY"),
        (b64encode(bytes(32)).decode(), "INVALID_SIGNING_KEY"),
    ],
)
def test_without_a_key_that_is_registered_nothing_is_signed(signer: Signer, setting: str, code: str) -> None:
    version = signer.version()
    signer.monkeypatch.setenv("TICKWORK_SIGNING_KEY", setting)

    job = signer.sign_job(version)

    assert (job.status, job.error_code) == ("failed", code)
    assert not setting or setting not in (job.error_message or "")
    assert signer.row(version)["status"] == "compiling"


@pytest.mark.parametrize("verb", ["retire_signing_key", "revoke_signing_key"])
def test_a_retired_or_revoked_key_signs_nothing(signer: Signer, verb: str) -> None:
    version = signer.version()
    signer.world.run(f"select {verb}(%s)", KEY.id)

    assert signer.sign_job(version).error_code == "INVALID_SIGNING_KEY"


def test_what_does_not_exist_or_has_ended_is_not_signed(signer: Signer) -> None:
    version = signer.version()
    signer.finish()
    signer.world.run("select revoke_passport(%s, 'broken')", version)

    assert signer.sign_job(version).error_code == "INVALID_PASSPORT_STATUS"
    assert signer.sign_job(uuid4()).error_code == "PASSPORT_NOT_FOUND"


def test_a_version_of_another_tenant_is_not_signed(signer: Signer) -> None:
    version = signer.version()
    signer.tenant = signer.world.tenant("other")

    assert signer.sign_job(version).error_code == "PASSPORT_NOT_FOUND"


@pytest.mark.parametrize(
    "change",
    [
        "receipt_canonical = '{}', receipt_hash = sha256('{}')",
        "receipt_canonical = replace(convert_from(receipt_canonical, 'UTF8'), 'RFC9162', 'none')::bytea, "
        "receipt_hash = sha256(replace(convert_from(receipt_canonical, 'UTF8'), 'RFC9162', 'none')::bytea)",
        "payload_canonical = '{}', payload_hash = sha256('{}')",
        "proof_root_hash = sha256('')",
        "receipt_hash = sha256('')",
    ],
)
def test_a_receipt_that_was_changed_is_not_signed(signer: Signer, change: str) -> None:
    version = signer.version()
    world = signer.world
    world.run("alter table passport_versions disable trigger user")
    world.run("alter table passport_versions drop constraint receipt_is_hashed")
    world.run(f"update passport_versions set {change}")

    job = signer.sign_job(version)

    assert (job.status, job.error_code) == ("failed", "RECEIPT_TAMPERED")


def test_the_receipt_of_another_passport_is_not_signed(signer: Signer) -> None:
    first, second = signer.version("ZW-1"), signer.version("ZW-2")
    signer.world.run("alter table passport_versions disable trigger user")
    signer.world.run(
        "update passport_versions set receipt_canonical = other.receipt_canonical, receipt_hash = other.receipt_hash "
        "from passport_versions as other where passport_versions.id = %s and other.id = %s",
        *(first, second),
    )

    assert signer.sign_job(first).error_code == "RECEIPT_TAMPERED"


@pytest.mark.parametrize("which", ["sign", "sign_pair"])
def test_a_signature_that_does_not_verify_is_not_written(
    signer: Signer, monkeypatch: pytest.MonkeyPatch, which: str
) -> None:
    version = signer.version()
    monkeypatch.setattr(SigningKey, which, lambda *_: bytes(64))

    job = signer.sign_job(version)

    assert (job.status, job.error_code) == ("failed", "INVALID_SIGNING_KEY")
    assert signer.row(version)["signature"] is None


def test_every_version_has_its_place_in_the_list(signer: Signer) -> None:
    versions = [signer.version(f"ZW-{number}") for number in range(3)]
    signer.finish()

    assert sorted(signer.row(each)["status_index"] for each in versions) == [0, 1, 2]


def test_what_was_revoked_is_in_the_signed_list(signer: Signer) -> None:
    revoked, kept = signer.version("ZW-1"), signer.version("ZW-2")
    signer.finish()
    signer.world.run("select activate_passport(%s)", kept)

    signer.world.run("select revoke_passport(%s, 'a cell burns')", revoked)
    signer.finish()

    row, other = signer.row(revoked), signer.row(kept)
    assert (row["status"], row["revocation_reason"]) == ("revoked", "a cell burns")
    stored = signer.world.row("select * from passport_status_list(%s)", signer.tenant)
    found = StatusList.read(stored["document"])
    assert found.is_signed_by(TRUST)
    assert (found.status_of(row["receipt_hash"]), found.status_of(other["receipt_hash"])) == ("revoked", "valid")
    assert (found.is_set(row["status_index"]), found.is_set(other["status_index"])) == (True, False)
    assert found.issuers == {str(signer.tenant)}
    assert [event["type"] for event in signer.world.rows("select type from events where type = 'passport.revoked'")]


def test_a_superseded_version_cannot_be_replayed_against_the_list(signer: Signer) -> None:
    first = signer.version()
    signer.finish()
    signer.world.run("select activate_passport(%s)", first)
    passport = signer.row(first)["passport_id"]
    job = signer.compile(passport, signer.snapshot(), signer.rules(), "2027-03-01T00:00:00Z")
    signer.finish()

    signer.world.run("select activate_passport(%s)", UUID(job.result["passport_version_id"]))
    signer.finish()

    stored = signer.world.row("select * from passport_status_list(%s)", signer.tenant)
    assert StatusList.read(stored["document"]).status_of(signer.row(first)["receipt_hash"]) == "superseded"


def test_one_queued_job_signs_the_list_for_many_changes(signer: Signer) -> None:
    versions = [signer.version(f"ZW-{number}") for number in range(3)]
    signer.finish()

    for version in versions:
        signer.world.run("select revoke_passport(%s, 'recall')", version)
    assert len(signer.jobs("sign_status_list")) == 1
    signer.finish()

    assert signer.jobs("sign_status_list")[0].result["revoked"] == 3


def test_the_list_never_goes_back_in_time(signer: Signer) -> None:
    version = signer.version()
    signer.finish()
    signer.world.run("select revoke_passport(%s, 'recall')", version)
    signer.finish()
    signer.world.run("update passport_status_lists set as_of = '2099-01-01Z'")

    signer.world.job("sign_status_list", signer.tenant)
    signer.finish()

    assert signer.world.value("select extract(year from as_of)::int from passport_status_lists") == 2099


def test_the_function_that_signs_needs_neither_rules_nor_typesetting() -> None:
    code = (
        "import sys; import tickwork.families.sign.sign_passport, tickwork.families.sign.sign_status_list; "
        "print({'cel', 'cel_expr_python', 'typst', 'segno', 'python_calamine'} & {*sys.modules})"
    )

    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    assert found == "set()\n"


@pytest.mark.parametrize("audience", ["public", "legitimate_interest", "authorities"])
def test_what_sql_discloses_verifies(signer: Signer, audience: str) -> None:
    version = signer.version()
    signer.finish()

    bundle = signer.world.value("select disclose(%s, %s)", version, audience)
    file = json.dumps(bundle).encode()

    assert verify(read_passport(file), Evidence(TRUST, as_of=signer.row(version)["issued_at"])).is_valid
    assert verifier.verify(file, KEY.id, signer.row(version)["qr_payload"])["passport_version_id"] == str(version)
