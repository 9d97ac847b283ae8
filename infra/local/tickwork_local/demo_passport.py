"""The passport of `make demo`: from a file to a signed passport, verified as a stranger does."""

from pathlib import Path
from uuid import UUID

from tickwork.cli.passport_commands import print_attribute, print_qr
from tickwork.cli.passport_waiting import finished_job, signed_version
from tickwork.client import Tickwork
from tickwork.passports.qr import PassportQr
from tickwork.passports.trust import Trust
from tickwork.passports.verification import Evidence, verify, words_of
from tickwork.tools.vault import open_vault
from tickwork_local.stack import Stack

TENANT, BATTERY, RULES = "acme", "ZS-120-0001", "battery-passport"
PATIENCE_SECONDS = 60


def show_passport(client: Tickwork, stack: Stack, file: Path) -> bool:
    """Shows the public part of the passport, its QR code and what a verifier says; returns whether it is valid."""
    version = compiled(client, stack, file)
    bundle = client.passports.disclose(version["id"])
    print(f"\nThe passport of battery {BATTERY}, as everybody may see it:\n")
    for each in bundle["leaves"]:
        print_attribute(each["leaf"])
    print()
    print_qr(version["qr_payload"])
    trust = Trust(pinned=frozenset({version["signing_key_id"]}))
    verdict = verify(bundle, Evidence(trust, qr=PassportQr.read(version["qr_payload"])))
    for line in words_of(verdict):
        print(line)
    return verdict.is_valid


def compiled(client: Tickwork, stack: Stack, file: Path) -> dict[str, str]:
    """The version, signed and with its QR code."""
    tenant = client.tenants.find(TENANT)
    snapshot = sealed_snapshot(client, stack, tenant, file)
    rules = next(row for row in client.rules.list_rules(package=RULES) if row["status"] == "published")
    passport = client.passports.create_passport(tenant, BATTERY, "ev", "ZS-120")
    job = client.passports.request_compile(passport["id"], snapshot, rules["id"])
    done = finished_job(client, job["id"], PATIENCE_SECONDS)
    return signed_version(client, passport["id"], done.result["passport_version_id"], PATIENCE_SECONDS)


def sealed_snapshot(client: Tickwork, stack: Stack, tenant: UUID, file: Path) -> UUID:
    stored = client.documents.add(open_vault(stack.vault_url, tenant), tenant, file)
    document = client.passport_documents.create_passport_document(tenant, file.name, "bom")
    version = client.passport_documents.add_document_version(document["id"], stored["id"])
    finished_job(client, version["job_id"], PATIENCE_SECONDS)
    snapshot: UUID = client.snapshots.create_snapshot(tenant, "demo")["id"]
    client.snapshots.add_snapshot_items(snapshot, document_version_id=version["id"])
    client.snapshots.seal_snapshot(snapshot)
    return snapshot
