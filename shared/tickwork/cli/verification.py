"""What `tickwork passport verify` does. Imports little: the command is to return at once."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from tickwork.errors import InvalidRequest
from tickwork.passports.packages import FileRefused, is_pdf, read_json, read_passport
from tickwork.passports.qr import PassportQr, QrRefused
from tickwork.passports.status_list import StatusList, StatusListRefused
from tickwork.passports.trust import KeysRefused, Trust, TrustedKey, read_jwks
from tickwork.passports.verification import Check, Evidence, Verdict, verify, words_of

QR = "BPC1|"
PAGES = Check("pages", "unknown", "only what is attached was verified: the pages may show something else")


def verify_given(
    given: list[str],
    trusted: list[str],
    keys: Path | None = None,
    status_list: Path | None = None,
    as_of: str | None = None,
    as_json: bool = False,
) -> int:
    """Prints what was found; returns the exit code, which is 0 only for a valid passport."""
    texts = [each for each in given if each.startswith(QR)]
    files = [each for each in given if not each.startswith(QR)]
    if len(texts) > 1 or len(files) > 1:
        raise InvalidRequest("FILE|QR: one file and one QR code at most")
    qr = read_qr(texts[0]) if texts else None
    evidence = Evidence(Trust(read_keys(keys), frozenset(trusted)), read_list(status_list), qr, moment(as_of))
    if qr and not files:
        print_qr_alone(qr, as_json)
        return 1
    data = content_of(Path(files[0]), "FILE|QR")
    try:
        verdict = verify(read_passport(data), evidence)
    except FileRefused as error:
        hint = "It must be a PDF of `tickwork passport export`, or what `tickwork passport disclose` writes."
        raise InvalidRequest(f"{files[0]}: {error}", hint=hint) from None
    if is_pdf(data):
        verdict = replace(verdict, checks=(*verdict.checks, PAGES))
    print_verdict(verdict, as_json)
    return 0 if verdict.is_valid else 1


def content_of(file: Path, name: str) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise InvalidRequest(f"{name}: {file} cannot be read ({error.strerror})") from None


def read_qr(text: str) -> PassportQr:
    try:
        return PassportQr.read(text)
    except QrRefused as error:
        raise InvalidRequest(f"QR: {error}") from None


def read_keys(file: Path | None) -> dict[str, TrustedKey]:
    try:
        return read_jwks(read_json(content_of(file, "--keys"))) if file else {}
    except (KeysRefused, FileRefused) as error:
        raise InvalidRequest(f"--keys: {error}") from None


def read_list(file: Path | None) -> StatusList | None:
    try:
        return StatusList.read(read_json(content_of(file, "--status-list"))) if file else None
    except (StatusListRefused, FileRefused) as error:
        raise InvalidRequest(f"--status-list: {error}") from None


def moment(text: str | None, name: str = "--as-of") -> datetime | None:
    try:
        found = datetime.fromisoformat(text) if text else None
    except ValueError:
        raise InvalidRequest(f"{name}: must be a time such as 2027-02-18T00:00:00Z") from None
    return found.replace(tzinfo=UTC) if found and not found.tzinfo else found


def print_qr_alone(qr: PassportQr, as_json: bool) -> None:
    """Anybody can print a QR code: it is compared with a file, and proves nothing alone."""
    id = str(qr.passport_version_id)
    words = f"It is the QR code of passport version {id}. Alone it proves nothing: pass the file as well."
    print(json.dumps({"is_valid": False, "passport_version_id": id}) if as_json else words)


def print_verdict(verdict: Verdict, as_json: bool) -> None:
    if as_json:
        checks = [vars(check) for check in verdict.checks]
        print(json.dumps({"is_valid": verdict.is_valid, "as_of": verdict.as_of.isoformat(), "checks": checks}))
        return
    for line in words_of(verdict):
        print("".join(letter if letter.isprintable() else "?" for letter in line))
