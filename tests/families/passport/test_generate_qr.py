"""generate_qr: the code of a signed version, made once and read by foreign readers; and the link of its battery."""

from concurrent.futures import ThreadPoolExecutor
from uuid import UUID, uuid4

import cv2
import numpy as np
import pytest
import zxingcpp

from tests.passports.test_qr import GTIN, HOST, PRINTED, SERIAL, pixels
from tests.world import World
from tests.world.passports import FACTS, ISSUED_AT, RULES, attribute
from tests.world.signing import DRAWING, SIGNING, Signer
from tests.world.waiting import until
from tickwork.errors import InvalidRequest
from tickwork.jobs.rows import Job
from tickwork.passports import qr


@pytest.fixture
def signer(world: World, monkeypatch: pytest.MonkeyPatch) -> Signer:
    return Signer(world, monkeypatch)


def draw(signer: Signer, version: UUID) -> Job:
    job = signer.world.job("generate_qr", signer.tenant, payload={"passport_version_id": str(version)})
    signer.work("passport", DRAWING)
    return signer.world.reload(job)


def test_the_code_has_the_hashes_of_the_version_and_is_made_once(signer: Signer) -> None:
    version = signer.version()
    signer.finish()
    row = signer.row(version)

    again = draw(signer, version)

    image = cv2.imdecode(np.frombuffer(row["qr_png"], np.uint8), cv2.IMREAD_GRAYSCALE)
    assert image is not None
    text, _, _ = cv2.QRCodeDetector().detectAndDecode(image)
    assert text == row["qr_payload"] == again.result["qr_payload"]
    read = qr.PassportQr.read(text)
    assert (read.passport_version_id, read.receipt_hash) == (version, row["receipt_hash"])
    assert signer.row(version) == row


def test_only_what_was_signed_gets_a_code(signer: Signer) -> None:
    version = signer.version()

    assert draw(signer, version).error_code == "INVALID_PASSPORT_STATUS"
    assert draw(signer, uuid4()).error_code == "PASSPORT_NOT_FOUND"

    signer.finish()
    signer.world.run("select revoke_passport(%s, 'recall')", version)
    assert draw(signer, version).error_code == "INVALID_PASSPORT_STATUS"


def test_a_text_that_does_not_fit_is_refused_by_name(signer: Signer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(qr, "VERSION", 5)
    signer.version()
    signer.finish()

    (job,) = signer.jobs("generate_qr")

    assert (job.status, job.error_code) == ("failed", "QR_ENCODE_FAILED")


def linked(signer: Signer) -> UUID:
    """The passport of a battery with a GTIN, whose tenant has a resolver."""
    world = signer.world
    world.member_of(signer.tenant, role="admin").execute("select set_resolver(%s, %s)", [signer.tenant, HOST])
    id: UUID = world.value(
        "select id from create_passport(%s, 'ZW-1', 'ev', gtin => %s, serial => %s)", signer.tenant, GTIN, SERIAL
    )
    return id


def compiled(signer: Signer, passport: UUID) -> UUID:
    job = signer.compile(passport, signer.snapshot(), signer.rules())
    signer.finish()
    return UUID(job.result["passport_version_id"])


def scanned(png: bytes) -> str:
    """As it is printed."""
    (code,) = zxingcpp.read_barcodes(pixels(png, PRINTED))
    return code.text


def test_the_link_is_made_with_the_proof_and_again_for_another_resolver(signer: Signer) -> None:
    passport = linked(signer)
    version = compiled(signer, passport)
    proof, world = signer.row(version), signer.world
    codes = "select link_qr_payload, link_qr_png from passports"
    first = world.row(codes)

    admin = world.member_of(signer.tenant, role="admin")
    admin.execute("select set_resolver(%s, 'id.new.example')", [signer.tenant])
    meanwhile = world.row(codes)
    admin.execute("select request_link_qr(%s)", [passport])
    signer.work("passport", DRAWING)
    second = world.row(codes)

    assert scanned(proof["qr_png"]) == proof["qr_payload"]
    assert scanned(first["link_qr_png"]) == first["link_qr_payload"] == f"https://{HOST}/01/{GTIN}/21/{SERIAL}"
    assert meanwhile == {"link_qr_payload": None, "link_qr_png": None}
    assert scanned(second["link_qr_png"]) == f"https://id.new.example/01/{GTIN}/21/{SERIAL}"
    shown = world.row("select * from get_passport(%s)", passport)
    listed = world.row("select * from list_passport_versions(passport_id => %s)", passport)
    assert shown["link_qr_payload"] == listed["link_qr_payload"] == second["link_qr_payload"]
    assert signer.row(version) == proof


def test_no_payload_and_no_fact_leads_a_link_to_a_foreign_host(signer: Signer) -> None:
    """A resolver, a GTIN and a serial number that are facts or fields of a job are none."""
    said = {"resolver": "evil.example", "gtin": "04006381333931", "serial": "evil"}
    paths = [{"path": f"link.{name}", "access": "public", "schema": {"type": "string"}} for name in said]
    facts = [*FACTS, *(attribute(f"link.{name}", value) for name, value in said.items())]
    rules = signer.rules({**RULES, "attributes": [*RULES["attributes"], *paths]})
    job = signer.compile(linked(signer), signer.snapshot(facts), rules, ISSUED_AT)
    signer.finish()
    version = job.result["passport_version_id"]

    with pytest.raises(InvalidRequest, match="payload: unknown field"):
        signer.world.job("generate_qr", signer.tenant, payload={"passport_version_id": version, **said})

    assert b"evil.example" in signer.row(UUID(version))["payload_canonical"]
    assert signer.world.value("select link_qr_payload from passports") == f"https://{HOST}/01/{GTIN}/21/{SERIAL}"


def test_a_version_can_be_revoked_while_its_code_is_drawn(signer: Signer) -> None:
    """Whoever changes a version holds its passport first: in another order, two would wait for each other."""
    version, world = signer.version(), signer.world
    signer.work("sign", SIGNING)
    revoking = world.connect()

    with ThreadPoolExecutor() as pool, revoking.transaction():
        revoking.execute("select from passports for no key update")
        drawing = pool.submit(signer.work, "passport", DRAWING)
        until(lambda: world.value(WAITING))
        revoking.execute("select from passport_versions for no key update nowait")
        revoking.execute("select revoke_passport(%s, 'recall')", [version])

    drawing.result()
    assert signer.row(version)["status"] == "revoked"


WAITING = "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
