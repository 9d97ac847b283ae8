"""generate_qr: the code of a signed version, made once and read by foreign readers."""

from uuid import UUID, uuid4

import cv2
import numpy as np
import pytest

from tests.world import World
from tests.world.signing import DRAWING, Signer
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
