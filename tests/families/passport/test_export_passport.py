"""export_passport: a file in the vault for each request, the same bytes each time, and only of signed versions."""

import io
import json
from base64 import b64decode
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4
from xml.etree import ElementTree

import psycopg
import pypdf
import pytest
from psycopg.types.json import Jsonb

from tests.passports.exports.sample import KEY, SECRET, sample
from tests.passports.exports.test_pdf import LINK, codes_of
from tests.world import World
from tickwork.families.passport import export_passport as module
from tickwork.families.passport.export_passport import EXPORT_PASSPORT
from tickwork.jobs.rows import Job, JobFields
from tickwork.passports import tree
from tickwork.passports.canonical import canonical
from tickwork.passports.data_integrity import proof_verifies
from tickwork.passports.exports.typesetting import TooDemanding
from tickwork.passports.signatures import verifies
from tickwork.runtime.deadline import Deadline
from tickwork.runtime.work import work
from tickwork.tools.vault import open_vault

HANDLERS = {"export_passport": EXPORT_PASSPORT}
ADD_VERSION = """
    insert into passport_versions (
      id, tenant_id, passport_id, snapshot_id, rule_package_version_id, number, payload_canonical, payload_hash,
      proof_canonical, proof_root_hash, leaf_count, receipt_canonical, receipt_hash, compiler_build_id, issued_at,
      status, signature, signing_key_id, signing_key_public, credential_proof
    )
    values (
      %(passport_version_id)s, %(tenant)s, %(passport)s, %(snapshot)s, %(rules)s, 1, %(payload)s, %(payload_hash)s,
      %(proof)s, %(proof_root_hash)s, %(leaf_count)s, %(receipt)s, %(receipt_hash)s, %(compiler_build_id)s,
      %(issued_at)s, 'signed', %(signature)s, %(key_id)s, %(key_public)s, %(credential_proof)s
    )
"""


class Maker:
    """A tenant with a vault and a signed version of a passport."""

    def __init__(self, world: World, folder: Path) -> None:
        self.world = world
        self.vault_url = f"file:{folder / 'vault'}"
        self.tenant = world.tenant()
        self.version = self._add_version()

    def _add_version(self) -> UUID:
        value, tenant, made = self.world.value, self.tenant, sample()
        passport = value(
            "insert into passports (tenant_id, battery_identifier, category) values (%s, 'B-1', 'ev') returning id",
            tenant,
        )
        snapshot = value(
            "insert into snapshots (tenant_id, name, status, snapshot_canonical, sealed_at) "
            "values (%s, 'S', 'sealed', '{}', now()) returning id",
            tenant,
        )
        package = value("insert into rule_packages (tenant_id, name) values (%s, 'R') returning id", tenant)
        rules = value(
            "insert into rule_package_versions (tenant_id, rule_package_id, version, status, dsl_source, rules_hash) "
            "values (%s, %s, '1', 'published', '{}', sha256('')) returning id",
            *(tenant, package),
        )
        key = {"signature": made.signature, "key_id": KEY.id, "key_public": KEY.public}
        given = {"tenant": tenant, "passport": passport, "snapshot": snapshot, "rules": rules, **key}
        self.world.admin.execute(
            ADD_VERSION, {**vars(made.compiled), **given, "credential_proof": Jsonb(made.credential_proof)}
        )
        return made.compiled.passport_version_id

    def export(self, format: str, **more: Any) -> Job:
        payload = {"passport_version_id": str(self.version), "format": format, **more}
        job = self.world.job("export_passport", self.tenant, payload=payload)
        return self.done(job)

    def done(self, job: JobFields) -> Job:
        work(self.world.queue, "passport", HANDLERS, Deadline(60, 1))
        return self.world.reload(job)

    def file(self, job: Job) -> bytes:
        assert job.status == "done", job.error_message
        with open_vault(self.vault_url, self.tenant).read(job.result["vault_path"]) as chunks:
            return b"".join(chunks)

    def rows(self) -> list[dict[str, Any]]:
        return self.world.admin.execute("select * from list_exports(%s)", [self.tenant]).fetchall()


@pytest.fixture
def maker(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Maker:
    made = Maker(world, tmp_path)
    monkeypatch.setenv("TICKWORK_DATABASE_URL", world.worker_url)
    monkeypatch.setenv("TICKWORK_VAULT_URL", made.vault_url)
    return made


def assert_proved(bundle: dict[str, Any]) -> None:
    """By the receipt, which is signed."""
    receipt = canonical(bundle["receipt"])
    root = bytes.fromhex(bundle["receipt"]["proof_root_hash"])
    assert verifies(KEY.public, sha256(receipt).digest(), b64decode(bundle["signature"]))
    for each in bundle["leaves"]:
        path = [bytes.fromhex(hash) for hash in each["path"]]
        size = bundle["receipt"]["leaf_count"]
        assert tree.root_from_proof(canonical(each["leaf"]), each["index"], size, path) == root


def test_a_public_pdf_proves_what_it_shows(maker: Maker) -> None:
    content = maker.file(maker.export("pdf"))

    attached = pypdf.PdfReader(io.BytesIO(content)).attachments
    bundle = json.loads(attached["passport.json"][0])
    assert set(attached) == {"passport.json", "receipt.json", "signature.bin"}
    assert_proved(bundle)
    assert {each["leaf"]["access"] for each in bundle["leaves"]} == {"public"}
    assert verifies(KEY.public, sha256(attached["receipt.json"][0]).digest(), attached["signature.bin"][0])


def test_the_pdf_of_the_owner_has_the_payload_and_the_link_of_the_battery(maker: Maker) -> None:
    maker.world.run("update passports set link_qr_payload = %s, link_qr_png = 'png'", LINK)

    content = maker.file(maker.export("pdf", audience="owner"))

    attached = pypdf.PdfReader(io.BytesIO(content)).attachments
    assert attached["payload.json"] == [sample().payload]
    assert json.loads(attached["passport.json"][0])["type"] == "BPC-PACKAGE-1"
    assert codes_of(content)[1:] == [LINK]


def test_json_ld_is_a_signed_credential(maker: Maker) -> None:
    document = json.loads(maker.file(maker.export("json_ld")))

    assert proof_verifies(document, KEY.public)


@pytest.mark.parametrize(
    ("audience", "access"), [("public", {"public"}), ("authorities", {"public", "restricted", "authorities"})]
)
def test_xml_has_a_bundle_for_its_audience(maker: Maker, audience: str, access: set[str]) -> None:
    content = maker.file(maker.export("xml", audience=audience))

    evidence = ElementTree.fromstring(content).findtext("{urn:bpc:passport:1}evidence")
    bundle = json.loads(b64decode(evidence or ""))
    assert_proved(bundle)
    assert {each["leaf"]["access"] for each in bundle["leaves"]} == access
    assert (SECRET.encode() in content + canonical(bundle)) == (audience != "public")


def test_a_bundle_is_the_one_that_disclose_makes(maker: Maker) -> None:
    content = maker.file(maker.export("xml", audience="legitimate_interest"))

    evidence = ElementTree.fromstring(content).findtext("{urn:bpc:passport:1}evidence")
    disclosed = maker.world.value("select disclose(%s, 'legitimate_interest')", maker.version)
    assert b64decode(evidence or "") == canonical(disclosed)


@pytest.mark.parametrize("format", ["pdf", "json_ld", "xml"])
def test_the_same_request_twice_gives_the_same_file_and_one_row(maker: Maker, format: str) -> None:
    first = maker.export(format)
    content = maker.file(first)

    second = maker.export(format)

    assert maker.file(second) == content
    assert second.result == first.result
    (row,) = maker.rows()
    path = f"tenant/{maker.tenant}/derived/passports/{maker.version}/{row['sha256']}."
    assert row["vault_path"].startswith(path)
    assert (row["size"], row["job_id"], row["audience"]) == (len(content), second.id, "public")


def test_the_owner_hears_of_it(maker: Maker) -> None:
    job = maker.export("xml")

    events = maker.world.admin.execute("select type, payload from events where type like 'passport.%'").fetchall()
    assert [each["type"] for each in events] == ["passport.exported"]
    assert events[0]["payload"]["sha256"] == job.result["sha256"]


@pytest.mark.parametrize("status", ["compiling", "revoked"])
def test_only_signed_versions_are_exported(maker: Maker, status: str) -> None:
    change = {
        "compiling": "signature = null, signing_key_id = null, signing_key_public = null",
        "revoked": "revoked_at = now()",
    }
    maker.world.admin.execute("set session_replication_role = replica")
    maker.world.admin.execute(f"update passport_versions set status = '{status}', {change[status]}")

    job = maker.export("xml")

    assert (job.status, job.error_code) == ("failed", "INVALID_PASSPORT_STATUS")
    assert maker.rows() == []


def test_a_version_that_is_revoked_meanwhile_is_not_exported(maker: Maker, monkeypatch: pytest.MonkeyPatch) -> None:
    def revoke_first(*given: Any) -> bytes:
        maker.world.run("update passport_versions set status = 'revoked', revoked_at = now()")
        return b"content"

    monkeypatch.setattr(module, "export", revoke_first)

    job = maker.export("xml")

    assert (job.status, job.error_code) == ("failed", "INVALID_PASSPORT_STATUS")
    assert maker.rows() == []


def test_a_version_without_a_credential_has_no_json_ld(maker: Maker) -> None:
    maker.world.admin.execute("set session_replication_role = replica")
    maker.world.run("update passport_versions set credential_proof = null")

    assert maker.export("json_ld").error_code == "INVALID_PASSPORT_STATUS"
    assert maker.export("xml").status == "done"


@pytest.mark.parametrize("format", ["pdf", "json_ld", "xml"])
def test_an_unknown_template_is_missing(maker: Maker, format: str) -> None:
    assert maker.export(format, template="other").error_code == "TEMPLATE_MISSING"


def test_files_that_are_too_large_are_refused(maker: Maker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_SIZE", 100)

    assert maker.export("xml").error_code == "EXPORT_TOO_LARGE"


def test_what_typst_cannot_do_within_its_limits_is_too_large(maker: Maker, monkeypatch: pytest.MonkeyPatch) -> None:
    def give_up(*given: Any) -> bytes:
        raise TooDemanding("It took more than 30 seconds")

    monkeypatch.setattr(module, "export", give_up)

    assert maker.export("pdf").error_code == "EXPORT_TOO_LARGE"


def test_json_ld_is_for_the_public_only(maker: Maker) -> None:
    assert maker.export("json_ld", audience="owner").error_code == "INVALID_PAYLOAD"


def test_a_foreign_version_is_not_found(maker: Maker) -> None:
    stranger = maker.world.tenant("other")
    payload = {"passport_version_id": str(maker.version), "format": "xml"}

    job = maker.done(maker.world.job("export_passport", stranger, payload=payload))

    assert job.error_code == "PASSPORT_VERSION_NOT_FOUND"


def test_a_member_requests_an_export_once(maker: Maker) -> None:
    member = maker.world.member_of(maker.tenant)
    request = "select id, deduplicated from request_export(%s, 'xml')"

    first, second = (member.execute(request, [maker.version]).fetchone() for _ in range(2))

    assert first
    assert second
    assert (second["id"], second["deduplicated"]) == (first["id"], True)
    work(maker.world.queue, "passport", HANDLERS, Deadline(60, 1))
    (row,) = member.execute("select * from list_exports()").fetchall()
    assert row["job_id"] == first["id"]


@pytest.mark.parametrize(
    ("given", "code"),
    [
        (["docx", "standard", "public"], "TWARG"),
        (["pdf", "../standard", "public"], "TWARG"),
        (["pdf", "standard", "everybody"], "TWARG"),
        (["json_ld", "standard", "owner"], "TWARG"),
        ([None, "standard", "public"], "TWARG"),
        (["pdf", None, "public"], "TWARG"),
    ],
)
def test_a_wrong_request_is_refused_at_once(maker: Maker, given: list[str | None], code: str) -> None:
    with pytest.raises(psycopg.Error) as refused:
        maker.world.run("select request_export(%s, %s, %s, %s)", maker.version, *given)

    assert refused.value.sqlstate == code


def test_an_export_cannot_be_requested_of_what_is_not_there_or_not_signed(maker: Maker) -> None:
    stranger = maker.world.member_of(maker.world.tenant("other"))
    request = "select request_export(%s, 'pdf')"

    for connection, version in ((stranger, maker.version), (maker.world.admin, uuid4())):
        with pytest.raises(psycopg.Error) as refused:
            connection.execute(request, [version])
        assert refused.value.sqlstate == "TWPAS"

    maker.world.run("update passport_versions set status = 'revoked', revoked_at = now()")
    with pytest.raises(psycopg.Error) as refused:
        maker.world.run(request, maker.version)
    assert refused.value.sqlstate == "TWSTA"
