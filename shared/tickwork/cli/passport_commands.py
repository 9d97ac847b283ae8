"""The commands for passports themselves: create, compile, show, activate, revoke, export, disclose, explain."""

import json
from pathlib import Path
from typing import Annotated

import typer

from tickwork.cli import connect
from tickwork.cli.options import AsJson, DatabaseUrl, OfTenant, Tenant
from tickwork.cli.output import print_json, print_rows, printable
from tickwork.cli.passport_arguments import CATEGORIES, one_of, passport_of, rules_of, snapshot_of, version_of
from tickwork.cli.passport_waiting import finished_job, signed_version
from tickwork.cli.passports import group
from tickwork.client.way import Row
from tickwork.errors import InvalidRequest

Passport = Annotated[str, typer.Argument(help="Identifier of a battery, or id of its passport.", metavar="PASSPORT")]
Version = Annotated[
    str,
    typer.Argument(
        help="Id of a version, or identifier of a battery for the latest version of its passport.", metavar="VERSION"
    ),
]
Wait = Annotated[float, typer.Option(min=0, help="How many seconds to wait for it.")]
To = Annotated[Path | None, typer.Option("--to", help="The file to write.")]
Gtin = Annotated[str | None, typer.Option(help="Of the model, by GS1: 14 digits.")]
Serial = Annotated[str | None, typer.Option(help="Of the battery, by GS1; its link has GTIN and serial number.")]
Audience = Annotated[str, typer.Option(help="public, legitimate_interest or authorities.")]
# Of a version.
SHOWN = (
    *("battery_identifier", "id", "number", "status", "issued_at", "receipt_hash", "signing_key_id"),
    *("qr_payload", "link_qr_payload"),
)


@group.command("list")
def list_passports(
    tenant: Tenant = None,
    limit: Annotated[int, typer.Option(min=1, max=1000)] = 20,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """List passports with their latest versions, the newest first."""
    client = connect.client(database_url)
    rows = client.passports.list_passports(client.tenants.find(tenant) if tenant else None, max_rows=limit)
    columns = {
        "id": lambda row: str(row["id"]),
        "battery": lambda row: row["battery_identifier"],
        "category": lambda row: row["category"],
        "latest": lambda row: f"{row['latest_number']} {row['latest_status']}" if row["latest_number"] else "none",
        "active": lambda row: str(row["active_number"] or "none"),
    }
    print_rows(rows, as_json, columns, "No passports. `tickwork passport create` sets one up.")


@group.command("create")
def create_passport(
    battery: Annotated[str, typer.Argument(help="As it is printed on the battery.", metavar="BATTERY")],
    tenant: OfTenant,
    category: Annotated[str, typer.Option(help="ev, lmt, industrial or stationary.")],
    model: Annotated[str, typer.Option(help="Of the battery.")] = "",
    gtin: Gtin = None,
    serial: Serial = None,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Set up the passport of a battery."""
    client = connect.client(database_url)
    row = client.passports.create_passport(
        client.tenants.find(tenant), battery, one_of(category, CATEGORIES, "--category"), model, gtin, serial
    )
    if as_json:
        print_json(row)
    else:
        print(
            f"{row['id']} is the passport of {printable(battery)}. `tickwork passport compile` makes its first version."
        )


@group.command("compile")
def compile_passport(
    passport: Passport,
    snapshot: Annotated[str, typer.Option(help="Name or id of a sealed snapshot.")],
    rules: Annotated[
        str, typer.Option(help="Id of published rules, or the name of their package.")
    ] = "battery-passport",
    issued_at: Annotated[str | None, typer.Option(help="Such as 2027-02-18T00:00:00Z; now by default.")] = None,
    wait: Wait = 60,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Make a version of a passport from a sealed snapshot and published rules; sign it and make its QR code."""
    from tickwork.cli.verification import moment

    client = connect.client(database_url)
    row = passport_of(client, passport)
    rules_id, at = rules_of(client, rules, row["tenant_id"]), moment(issued_at, "--issued-at")
    job = client.passports.request_compile(row["id"], snapshot_of(client, snapshot), rules_id, at)
    done = finished_job(client, job["id"], wait)
    version = signed_version(client, row["id"], done.result["passport_version_id"], wait)
    if as_json:
        print_json({"version": version, "warnings": done.result["warnings"]})
        return
    for each in done.result["warnings"]:
        print(printable(f"warning {each['code']} {each['subject']}: {each['message']}"))
    print(f"{version['id']} is version {version['number']}, {version['status']}.")
    print("`tickwork passport activate` makes it the one that counts.")


@group.command("show")
def show_passport(
    version: Version,
    qr: Annotated[bool, typer.Option(help="With its QR codes, for a terminal of 66 columns.")] = True,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Show a version of a passport: its status, its hashes, what the public sees of it, and its QR codes."""
    client = connect.client(database_url)
    row = version_of(client, version)
    bundle = client.passports.disclose(row["id"]) if row["signing_key_id"] else None
    if as_json:
        print_json({**row, "public": bundle})
        return
    for name in SHOWN:
        if row[name] is not None:
            print(f"{name:<20} {printable(str(row[name]))}")
    for each in bundle["leaves"] if bundle else []:
        print_attribute(each["leaf"])
    for payload, caption in (("qr_payload", "Proof:"), ("link_qr_payload", "Link:")) if qr else ():
        if row[payload]:
            print(caption)
            print_qr(row[payload])


def print_attribute(leaf: Row) -> None:
    value = leaf["value"] if isinstance(leaf["value"], str) else json.dumps(leaf["value"], ensure_ascii=False)
    print(printable(f"{leaf['path']:<40} {value} {leaf['unit'] or ''}").rstrip())


def print_qr(text: str) -> None:
    """With the quiet zone that readers need."""
    import segno

    segno.make(text, error="m", micro=False, boost_error=False).terminal(border=4, compact=True)


@group.command("activate")
def activate_passport(version: Version, database_url: DatabaseUrl = None, as_json: AsJson = False) -> None:
    """Make a signed version the one that counts; it supersedes the one that was active."""
    client = connect.client(database_url)
    row = client.passports.activate_passport(version_of(client, version)["id"])
    if as_json:
        print_json(row)
    else:
        print(f"{row['id']} is version {row['number']}, {row['status']}.")


@group.command("revoke")
def revoke_passport(
    version: Version,
    reason: Annotated[str, typer.Option(help="Why, for whoever looks it up.")],
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Revoke a version for good; the signed list of revoked versions names it from then on."""
    client = connect.client(database_url)
    row = client.passports.revoke_passport(version_of(client, version)["id"], reason)
    if as_json:
        print_json(row)
    else:
        print(f"{row['id']} is version {row['number']}, {row['status']}.")
        print("`tickwork passport status-list` prints the signed list that names it, to be published.")


@group.command("export")
def export_passport(
    version: Version,
    format: Annotated[str, typer.Option(help="pdf, json_ld or xml.")] = "pdf",
    audience: Annotated[str, typer.Option(help="public, legitimate_interest, authorities or owner.")] = "public",
    template: Annotated[str, typer.Option(help="Of the PDF.")] = "standard",
    to: To = None,
    wait: Wait = 60,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Write a signed version as a file into the vault, and to a file here with --to."""
    client = connect.client(database_url)
    row = version_of(client, version)
    job = client.passports.request_export(row["id"], format, template, audience)
    result = finished_job(client, job["id"], wait).result
    if to:
        download(result, row, to)
    if as_json:
        print_json(result)
    else:
        print(to or result["vault_path"])


def download(result: Row, row: Row, to: Path) -> None:
    from tickwork.tools.artifacts import ArtifactRef, verified
    from tickwork.tools.vault import open_vault

    url, key = connect.chosen_vault()
    ref = ArtifactRef(id=row["id"], sha256=result["sha256"], size=result["size"])
    with open_vault(url, row["tenant_id"], key).read(result["vault_path"]) as chunks:
        content = b"".join(verified(chunks, ref))
    write(content, to)


def write(content: bytes, to: Path) -> None:
    try:
        to.write_bytes(content)
    except OSError as error:
        raise InvalidRequest(f"--to: {to} cannot be written ({error.strerror})") from None


@group.command("disclose")
def disclose(
    version: Version,
    audience: Audience = "public",
    path: Annotated[list[str] | None, typer.Option(help="Only this attribute; may be repeated.")] = None,
    to: To = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Print what an audience may see of a version, with the proof of each attribute."""
    client = connect.client(database_url)
    bundle = client.passports.disclose(version_of(client, version)["id"], audience, path or None)
    text = json.dumps(bundle, ensure_ascii=False)
    if to:
        write(text.encode(), to)
    print(to or text)


@group.command("explain")
def explain_passport(passport: Passport, database_url: DatabaseUrl = None) -> None:
    """Say what stands between a passport and its activation."""
    client = connect.client(database_url)
    print(printable(client.passports.explain_passport(passport_of(client, passport)["id"])))
