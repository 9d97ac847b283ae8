"""The commands for battery passports: verify them offline, hand verifiers to others, and register signing keys."""

import json
import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tickwork.cli.options import AsJson, DatabaseUrl
from tickwork.errors import BadSetting, InvalidRequest

if TYPE_CHECKING:
    from tickwork.passports.trust import Trust, TrustedKey
    from tickwork.passports.verification import Evidence, Verdict

commands = typer.Typer()
# Other files add commands to it: verify is loaded without them.
group = typer.Typer(help="Verify battery passports, or register the keys that sign them.", rich_markup_mode=None)
commands.add_typer(group, name="passport")


@group.callback()
def passport() -> None:
    pass


@group.command("verify")
def verify(
    given: Annotated[
        list[str],
        typer.Argument(
            help="A package, a bundle or a PDF file with one attached; the text of a QR code; or both.",
            metavar="FILE|QR",
        ),
    ],
    key: Annotated[list[str] | None, typer.Option(help="Id of a key to trust; may be repeated.")] = None,
    keys: Annotated[
        Path | None, typer.Option(help="Key set (JWKS) of the issuer, with the status of each key.")
    ] = None,
    status_list: Annotated[Path | None, typer.Option(help="Signed status list of the issuer.")] = None,
    as_of: Annotated[datetime | None, typer.Option(help="Verify as of this time (UTC) instead of now.")] = None,
    as_json: AsJson = False,
) -> None:
    """Verify a passport without a network: what it says, who signed it, and whether that key is trusted."""
    from tickwork.passports.packages import FileRefused, read_passport
    from tickwork.passports.qr import PassportQr, QrRefused
    from tickwork.passports.verification import verify as verify_document

    texts = [each for each in given if each.startswith("BPC1|")]
    files = [Path(each) for each in given if not each.startswith("BPC1|")]
    if len(texts) > 1 or len(files) > 1:
        raise InvalidRequest("FILE|QR: one file and one QR code at most")
    try:
        qr = PassportQr.read(texts[0]) if texts else None
        if not files:
            print_qr_alone(qr, as_json)
        evidence = evidence_of(trust_of(key or [], keys), status_list, qr, as_of)
        verdict = verify_document(read_passport(files[0].read_bytes()), evidence)
    except QrRefused as error:
        raise InvalidRequest(f"QR: {error}") from None
    except FileRefused as error:
        raise InvalidRequest(f"{files[0]}: {error}") from None
    print_verdict(verdict, as_json)
    raise typer.Exit(0 if verdict.is_valid else 1)


def print_qr_alone(qr: Any, as_json: bool) -> None:
    """Anybody can print a QR code: it is compared with a file, and proves nothing alone."""
    words = (
        f"It is the QR code of passport version {qr.passport_version_id}. Alone it proves nothing: give the file too."
    )
    print(json.dumps({"is_valid": False, "passport_version_id": str(qr.passport_version_id)}) if as_json else words)
    raise typer.Exit(1)


def trust_of(ids: list[str], keys: Path | None) -> "Trust":
    from tickwork.passports.packages import FileRefused, read_json
    from tickwork.passports.trust import KeysRefused, Trust, read_jwks

    try:
        listed = read_jwks(read_json(keys.read_bytes())) if keys else {}
    except (KeysRefused, FileRefused) as error:
        raise InvalidRequest(f"--keys: {error}") from None
    return Trust(listed, frozenset(ids))


def evidence_of(trust: "Trust", status_list: Path | None, qr: Any, as_of: datetime | None) -> "Evidence":
    from datetime import UTC

    from tickwork.passports.packages import FileRefused, read_json
    from tickwork.passports.status_list import StatusList, StatusListRefused
    from tickwork.passports.verification import Evidence

    try:
        listed = StatusList.read(read_json(status_list.read_bytes())) if status_list else None
    except (StatusListRefused, FileRefused) as error:
        raise InvalidRequest(f"--status-list: {error}") from None
    return Evidence(trust, listed, qr, as_of.replace(tzinfo=UTC) if as_of else None)


def print_verdict(verdict: "Verdict", as_json: bool) -> None:
    from tickwork.logs import printable
    from tickwork.passports.verification import words_of

    if as_json:
        checks = [vars(check) for check in verdict.checks]
        print(json.dumps({"is_valid": verdict.is_valid, "as_of": verdict.as_of.isoformat(), "checks": checks}))
        return
    for line in words_of(verdict):
        print(printable(line))


@group.command("verifier")
def verifier(
    page: Annotated[bool, typer.Option("--page", help="The page for browsers instead of the Python file.")] = False,
    to: Annotated[Path | None, typer.Option(help="The file to write; by default it is printed.")] = None,
) -> None:
    """Print a verifier that needs no tickwork: one Python file, or one page that works without a network."""
    from tickwork import passports

    content = (Path(passports.__file__).parent / f"verifier.{'html' if page else 'py'}").read_text()
    if to is None:
        sys.stdout.write(content)
        return
    to.write_text(content)
    print(f"{to} is written.")


@group.command("register-key")
def register_key(database_url: DatabaseUrl = None, as_json: AsJson = False) -> None:
    """Let sign_passport sign with the keys of TICKWORK_SIGNING_KEY; only their public halves are sent."""
    import os
    from base64 import b64encode

    from tickwork.cli import connect
    from tickwork.cli.output import print_json
    from tickwork.errors import Permanent
    from tickwork.passports.signatures import read_signing_keys

    environment = os.environ
    secret = environment.get("TICKWORK_SIGNING_KEY") or environment.get("BPC_SIGNING_ED25519_PRIVATE_KEY_BASE64")
    name = environment.get("TICKWORK_SIGNING_KEY_NAME") or environment.get("BPC_SIGNING_KEY_ID") or ""
    try:
        keys = read_signing_keys(secret)
    except Permanent as error:
        raise BadSetting(str(error)) from None
    client = connect.client(database_url)
    rows = [client.signing_keys.register_signing_key(b64encode(each.public).decode(), name) for each in keys]
    if as_json:
        print_json(rows)
        return
    for row in rows:
        print(f"Key {row['id']} is {row['status']}.")


@group.command("keys")
def keys_of_issuer(
    did: Annotated[str | None, typer.Option(help="Print the document of this did:web instead.")] = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Print the public keys as a key set (JWKS), to be published where verifiers find it."""
    from tickwork.cli import connect
    from tickwork.cli.output import print_json
    from tickwork.passports.trust import did_document, jwks

    found = [trusted_key(row) for row in connect.client(database_url).signing_keys.list_signing_keys()]
    print_json(did_document(did, found) if did else jwks(found))


def trusted_key(row: dict[str, Any]) -> "TrustedKey":
    from base64 import b64decode

    from tickwork.passports.trust import TrustedKey

    ends = [each for each in (row["retired_at"], row["revoked_at"]) if each]
    until = min(ends) if ends else None
    return TrustedKey(row["id"], b64decode(row["public_key"]), row["status"], until, row["name"])
