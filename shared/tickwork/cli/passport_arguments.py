"""What people call passports, versions, snapshots and rules, read into rows and ids."""

from collections.abc import Sequence
from uuid import UUID

from tickwork.cli import arguments
from tickwork.client import Tickwork
from tickwork.client.way import Row
from tickwork.errors import InvalidRequest

CATEGORIES = ("ev", "lmt", "industrial", "stationary")


def one_of(given: str, known: Sequence[str], name: str) -> str:
    if given not in known:
        raise InvalidRequest(f"{name}: must be {', '.join(known[:-1])} or {known[-1]}, not {given!r}")
    return given


def passport_of(client: Tickwork, given: str) -> Row:
    """By the identifier of the battery, or by its id."""
    found = client.passports.list_passports(battery_identifier=given, max_rows=2)
    if len(found) > 1:
        hint = "Give the id of the passport: `tickwork passport list` shows it."
        raise InvalidRequest(f"PASSPORT: several tenants have a battery {given!r}", hint=hint)
    if found:
        return found[0]
    return client.passports.get_passport(id_of(client, given, "PASSPORT", "passport"))


def version_of(client: Tickwork, given: str) -> Row:
    """By its id, or the latest one of the passport of a battery."""
    passports = client.passports.list_passports(battery_identifier=given, max_rows=2)
    if len(passports) == 1:
        versions = client.passports.list_passport_versions(passport_id=passports[0]["id"], max_rows=1)
        if not versions:
            hint = f"`tickwork passport explain {given}` says what it waits for."
            raise InvalidRequest(f"VERSION: the passport of {given!r} has no version yet", hint=hint)
        return versions[0]
    return client.passports.get_passport_version(id_of(client, given, "VERSION", "passport version"))


def snapshot_of(client: Tickwork, given: str, name: str = "--snapshot") -> UUID:
    """By its name, or by its id."""
    found = only_one(client.snapshots.list_snapshots(name=given, max_rows=2), given, name)
    return found or id_of(client, given, name, "snapshot")


def document_version_of(client: Tickwork, given: str) -> UUID:
    """The latest version of the document of this name, or a version by its id."""
    documents = client.passport_documents.list_passport_documents(name=given, max_rows=2)
    if document := only_one(documents, given, "--document"):
        versions = client.passport_documents.list_document_versions(passport_document_id=document, max_rows=1)
        if not versions:
            hint = "`tickwork passport documents add` adds one."
            raise InvalidRequest(f"--document: {given!r} has no version yet", hint=hint)
        return UUID(str(versions[0]["id"]))
    return id_of(client, given, "--document", "document version")


def only_one(found: list[Row], given: str, name: str) -> UUID | None:
    if len(found) > 1:
        raise InvalidRequest(f"{name}: several are called {given!r}", hint="Give the id of the one you mean.")
    return UUID(str(found[0]["id"])) if found else None


def rules_of(client: Tickwork, given: str, tenant_id: UUID | str | None = None) -> UUID:
    """By their id, or the newest published ones of a package."""
    found = client.rules.list_rules(tenant_id, given)
    published = [row for row in found if row["status"] == "published"]
    if published:
        return UUID(str(published[0]["id"]))
    if found:
        hint = "`tickwork passport rules publish` publishes them."
        raise InvalidRequest(f"rules: no version of {given!r} is published", hint=hint)
    return id_of(client, given, "rules", "rules")


def newest_rules_of(client: Tickwork, given: str) -> UUID:
    """By their id, or the newest ones of a package, published or not."""
    found = client.rules.list_rules(None, given)
    if len({row["tenant_id"] for row in found}) > 1:
        hint = "Give an id that `tickwork passport rules list` shows."
        raise InvalidRequest(f"RULES: several tenants have a package {given!r}", hint=hint)
    return UUID(str(found[0]["id"])) if found else id_of(client, given, "RULES", "rules")


def id_of(client: Tickwork, given: str, name: str, kind: str) -> UUID:
    return arguments.whole_id(client, TABLES[kind], given, name, kind)


TABLES = {
    "passport": "public.passports",
    "passport version": "public.passport_versions",
    "passport document": "public.passport_documents",
    "document version": "public.document_versions",
    "snapshot": "public.snapshots",
    "rules": "public.rule_package_versions",
}
