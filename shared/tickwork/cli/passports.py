"""The commands for battery passports: verify them offline, hand verifiers to others, and register signing keys."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tickwork.cli.options import AsJson, DatabaseUrl, OfTenant
from tickwork.errors import BadSetting

if TYPE_CHECKING:
    from tickwork.passports.trust import TrustedKey

commands = typer.Typer()
# Other files add commands to it: verify is loaded without them.
group = typer.Typer(help="Make, sign, export and verify battery passports.", rich_markup_mode=None)
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
    as_of: Annotated[str | None, typer.Option(help="Verify as of this time (UTC) instead of now.")] = None,
    as_json: AsJson = False,
) -> None:
    """Verify a passport without a network: what it says, who signed it, and whether that key is trusted."""
    from tickwork.cli.verification import verify_given

    raise typer.Exit(verify_given(given, key or [], keys, status_list, as_of, as_json))


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


@group.command("status-list")
def status_list_of_issuer(
    tenant: OfTenant,
    wait: Annotated[float, typer.Option(min=0, help="How many seconds to wait for one that is being signed.")] = 60,
    database_url: DatabaseUrl = None,
) -> None:
    """Print the signed list of a tenant's revoked and superseded versions, to be published where verifiers find it."""
    from tickwork.cli import connect
    from tickwork.cli.output import print_json
    from tickwork.cli.passport_waiting import signed_status_list

    client = connect.client(database_url)
    print_json(signed_status_list(client, client.tenants.find(tenant), wait)["document"])


def trusted_key(row: dict[str, Any]) -> "TrustedKey":
    from base64 import b64decode

    from tickwork.passports.trust import TrustedKey

    ends = [each for each in (row["retired_at"], row["revoked_at"]) if each]
    until = min(ends) if ends else None
    return TrustedKey(row["id"], b64decode(row["public_key"]), row["status"], until, row["name"])
