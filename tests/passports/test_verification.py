"""Verification: every attack is refused by the check that is named for it, by three implementations and by openssl."""

import io
import json
import re
import subprocess
import sys
from base64 import b64decode, b64encode
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from pypdf import PdfWriter

from tests.passports.attacks import BUNDLE, UNREADABLE, attacks
from tests.passports.sample import ATTRIBUTES, KEY, OTHER_KEY, PASSPORT, SECOND
from tests.world import node
from tickwork.passports import verifier
from tickwork.passports.packages import FileRefused, read_passport
from tickwork.passports.status_list import Listed, StatusList, signed_list
from tickwork.passports.trust import Trust, TrustedKey
from tickwork.passports.verification import Evidence, Verdict, verify, words_of

FOLDER = Path(verifier.__file__).parent
AS_OF = datetime(2027, 6, 1, tzinfo=UTC)
TRUST = Trust(pinned=frozenset({KEY.id}))
ATTACKS = list(attacks())
# JSON without the strict rules: what JavaScript reads in one way only is harmless there.
HARMLESS_IN_A_BROWSER = {"a byte order mark"}


def verified(data: bytes, **evidence: Any) -> Verdict:
    return verify(read_passport(data), Evidence(**{"trust": TRUST, "as_of": AS_OF, **evidence}))


def outcomes(verdict: Verdict) -> dict[str, str]:
    return {check.name: check.outcome for check in verdict.checks}


def test_a_package_is_valid_and_every_check_says_so_in_words() -> None:
    verdict = verified(PASSPORT.package, qr=PASSPORT.qr)

    assert verdict.is_valid
    assert outcomes(verdict) == {
        "receipt": "passed",
        "payload": "passed",
        "proof": "passed",
        "signature": "passed",
        "key": "passed",
        "status": "unknown",
        "qr": "passed",
    }
    assert words_of(verdict)[0] == (
        "passed   receipt: battery BAT-1, issued by Example Batteries at 2027-02-18T00:00:00Z"
    )
    assert words_of(verdict)[1] == "passed   payload: 6 attributes"
    assert words_of(verdict)[-1] == "The passport is valid, as of 2027-06-01 00:00:00Z."


def test_a_bundle_is_valid() -> None:
    verdict = verified(json.dumps(BUNDLE).encode())

    assert verdict.is_valid
    assert outcomes(verdict)["disclosed"] == "passed"


@pytest.mark.parametrize(("name", "check", "data"), ATTACKS, ids=[name for name, _, _ in ATTACKS])
def test_an_attack_fails_at_its_check(name: str, check: str, data: bytes) -> None:
    verdict = verified(data)

    assert not verdict.is_valid
    # Another key that signed is not wrong, but nobody vouches for it.
    assert outcomes(verdict)[check] == ("unknown" if check == "key" else "failed")


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_is_no_passport_is_refused(name: str) -> None:
    with pytest.raises(FileRefused):
        read_passport(UNREADABLE[name])


@pytest.mark.parametrize(("name", "check", "data"), ATTACKS, ids=[name for name, _, _ in ATTACKS])
def test_the_stand_alone_verifier_refuses_the_same(name: str, check: str, data: bytes) -> None:
    with pytest.raises((ValueError, KeyError, TypeError, AttributeError)):
        verifier.verify(data, KEY.id)


@pytest.mark.parametrize("name", UNREADABLE)
def test_the_stand_alone_verifier_refuses_what_is_no_passport(name: str) -> None:
    with pytest.raises((ValueError, TypeError, AttributeError, RecursionError)):
        verifier.verify(UNREADABLE[name], KEY.id)


def test_the_stand_alone_verifier_runs_without_tickwork(tmp_path: Path) -> None:
    script, file = tmp_path / "verifier.py", tmp_path / "passport.json"
    script.write_bytes((FOLDER / "verifier.py").read_bytes())
    file.write_bytes(PASSPORT.package)

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, script, file, *arguments], capture_output=True, text=True, check=False)

    valid, foreign = run(KEY.id, PASSPORT.qr.text), run(OTHER_KEY.id)

    assert valid.stdout == "VALID: battery BAT-1, issued by Example Batteries at 2027-02-18T00:00:00Z\n"
    assert (foreign.returncode, foreign.stderr.startswith("NOT VALID: it is signed by key")) == (1, True)
    assert "tickwork" not in re.sub(r'^""".*?"""', "", script.read_text(), flags=re.DOTALL)
    assert len(script.read_text().splitlines()) <= 150


def test_the_stand_alone_verifier_takes_bundles_and_compares_the_qr_code() -> None:
    assert verifier.verify(json.dumps(BUNDLE).encode(), KEY.id, PASSPORT.qr.text)["issuer"] == "Example Batteries"
    with pytest.raises(ValueError, match="another passport version"):
        verifier.verify(PASSPORT.package, KEY.id, SECOND.qr.text)


@pytest.mark.skipif(node.why_not() is not None, reason="needs Node")
def test_the_page_refuses_the_same_by_web_crypto(tmp_path: Path) -> None:
    files = {name: data for name, _, data in ATTACKS} | {
        name: data for name, data in UNREADABLE.items() if name not in HARMLESS_IN_A_BROWSER
    }
    valid = {"package": PASSPORT.package, "bundle": json.dumps(BUNDLE).encode()}
    cases = {name: b64encode(data).decode() for name, data in {**files, **valid}.items()}
    script = tmp_path / "page.mjs"
    script.write_text(f"{part('script')}\n{RUN_CASES % (json.dumps(KEY.id), json.dumps(PASSPORT.qr.text))}")

    ran = subprocess.run(
        ["node", script], input=json.dumps(cases), env=node.environment(), capture_output=True, text=True, check=True
    )
    found = json.loads(ran.stdout)

    assert {name for name, words in found.items() if words == "valid"} == valid.keys()
    assert found.keys() == cases.keys()


RUN_CASES = """
let text = "";
for await (const piece of process.stdin) text += piece;
const found = {};
for (const [name, data] of Object.entries(JSON.parse(text))) {
  try {
    const file = new TextDecoder("utf-8", { fatal: true }).decode(unbase64(data));
    await verify(file, %s, %s);
    found[name] = "valid";
  } catch (error) {
    found[name] = String(error);
  }
}
console.log(JSON.stringify(found));
"""


def part(tag: str) -> str:
    found = re.search(f"<{tag}>(.*?)</{tag}>", (FOLDER / "verifier.html").read_text(), re.DOTALL)
    assert found
    return found[1]


def test_the_page_allows_no_network_and_no_script_but_its_own() -> None:
    page = (FOLDER / "verifier.html").read_text()
    script, style = (b64encode(sha256(part(tag).encode()).digest()).decode() for tag in ("script", "style"))

    assert f"default-src 'none'; script-src 'sha256-{script}'; style-src 'sha256-{style}'" in page
    assert not re.search(r"innerHTML|eval\(|https?://|fetch\(|XMLHttp| on\w+=", page)


def test_openssl_verifies_what_we_sign(tmp_path: Path) -> None:
    package = json.loads(PASSPORT.package)
    key, signature, receipt = (tmp_path / name for name in ("key.der", "signature", "receipt.hash"))
    # An Ed25519 key in DER is this, and the key.
    key.write_bytes(bytes.fromhex("302a300506032b6570032100") + b64decode(package["signing_key_public"]))
    signature.write_bytes(b64decode(package["signature"]))
    receipt.write_bytes(PASSPORT.receipt_hash)
    verify: list[str | Path] = [
        "openssl",
        "pkeyutl",
        "-verify",
        "-pubin",
        "-keyform",
        "DER",
        "-inkey",
        key,
        "-rawin",
        "-in",
    ]

    right = subprocess.run([*verify, receipt, "-sigfile", signature], capture_output=True, text=True, check=False)
    receipt.write_bytes(SECOND.receipt_hash)
    wrong = subprocess.run([*verify, receipt, "-sigfile", signature], capture_output=True, text=True, check=False)

    assert (right.returncode, right.stdout.strip()) == (0, "Signature Verified Successfully")
    assert wrong.returncode != 0


def test_the_key_in_the_file_is_not_trusted_alone() -> None:
    verdict = verified(PASSPORT.package, trust=Trust())

    assert outcomes(verdict)["signature"] == "passed"
    assert outcomes(verdict)["key"] == "unknown"
    assert not verdict.is_valid


@pytest.mark.parametrize("status", ["retired", "revoked"])
@pytest.mark.parametrize(("after", "expected"), [(timedelta(0), "failed"), (timedelta(seconds=1), "passed")])
def test_a_key_verifies_only_what_was_issued_before_its_end(status: Any, after: timedelta, expected: str) -> None:
    until = datetime(2027, 2, 18, tzinfo=UTC) + after
    trust = Trust({KEY.id: TrustedKey(KEY.id, KEY.public, status, until)})

    assert outcomes(verified(PASSPORT.package, trust=trust))["key"] == expected


def test_a_list_of_keys_counts_more_than_a_pinned_id() -> None:
    revoked = TrustedKey(KEY.id, KEY.public, "revoked", datetime(2020, 1, 1, tzinfo=UTC))

    assert outcomes(verified(PASSPORT.package, trust=replace(TRUST, keys={KEY.id: revoked})))["key"] == "failed"


def test_a_passport_from_the_future_is_refused() -> None:
    assert outcomes(verified(PASSPORT.package, as_of=datetime(2027, 2, 17, tzinfo=UTC)))["key"] == "failed"


def test_the_qr_code_of_another_version_is_noticed() -> None:
    assert outcomes(verified(PASSPORT.package, qr=SECOND.qr))["qr"] == "failed"


def status_list(**given: Any) -> StatusList:
    listed = Listed("urn:tickwork:1", "2027-05-01T00:00:00Z", {"Example Batteries"}, [], set(), set())
    return StatusList.read(signed_list(replace(listed, **given), KEY))


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, "passed"),
        ({"revoked": {PASSPORT.receipt_hash.hex()}}, "failed"),
        ({"superseded": {PASSPORT.receipt_hash.hex()}}, "failed"),
        ({"revoked": {SECOND.receipt_hash.hex()}}, "passed"),
        ({"issuers": {"Someone else"}}, "unknown"),
        ({"as_of": "2027-01-01T00:00:00Z"}, "unknown"),
    ],
)
def test_what_was_revoked_or_superseded_is_refused_as_of_the_list(given: dict[str, Any], expected: str) -> None:
    verdict = verified(PASSPORT.package, status_list=status_list(**given))

    assert outcomes(verdict)["status"] == expected
    assert verdict.is_valid == (expected != "failed")


def test_a_status_list_of_an_unknown_key_or_that_was_changed_is_refused() -> None:
    honest = status_list(revoked={PASSPORT.receipt_hash.hex()})
    emptied = json.loads(json.dumps(honest.document))
    emptied["credentialSubject"]["revokedReceipts"] = []
    foreign = StatusList.read(
        signed_list(Listed("x", "2027-05-01T00:00:00Z", {"Example Batteries"}, [], set(), set()), OTHER_KEY)
    )

    for bad in (StatusList.read(emptied), foreign, replace(honest, document={**honest.document, "proof": None})):
        assert outcomes(verified(PASSPORT.package, status_list=bad))["status"] == "failed"


def pdf(*attached: bytes) -> bytes:
    writer = PdfWriter()
    writer.add_blank_page(100, 100)
    for number, content in enumerate(attached):
        writer.add_attachment(f"{number}.json", content)
    file = io.BytesIO()
    writer.write(file)
    return file.getvalue()


def test_a_pdf_verifies_by_what_is_attached_to_it() -> None:
    assert verified(pdf(PASSPORT.receipt.canonical(), PASSPORT.package)).is_valid
    assert not verified(pdf(PASSPORT.package.replace(b"94.5", b"95.5"))).is_valid


@pytest.mark.parametrize(
    "attached", [(), (b"{}",), (PASSPORT.package, SECOND.package), (pdf(PASSPORT.package),)], ids=["0", "1", "2", "pdf"]
)
def test_a_pdf_without_exactly_one_passport_is_refused(attached: tuple[bytes, ...]) -> None:
    with pytest.raises(FileRefused, match="passports attached instead of one"):
        read_passport(pdf(*attached))


@pytest.mark.parametrize("data", [b"%PDF-1.7", b"%PDF-1.7\n%%EOF", pdf(PASSPORT.package)[:500]])
def test_a_broken_pdf_is_refused(data: bytes) -> None:
    with pytest.raises(FileRefused):
        read_passport(data)


def test_leaves_that_contradict_the_payload_are_refused_although_both_are_signed() -> None:
    lie = replace(PASSPORT, leaf_attributes=(replace(ATTRIBUTES[0], value="Another model"), *ATTRIBUTES[1:]))

    assert outcomes(verified(lie.package))["proof"] == "failed"
    with pytest.raises(ValueError, match="something else"):
        verifier.verify(lie.package, KEY.id)
