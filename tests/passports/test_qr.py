"""QR codes: two foreign readers read them at 2 cm and 300 dpi, and each passport version has exactly one text."""

from uuid import UUID

import cv2
import numpy as np
import pytest
import zxingcpp

from tickwork.passports.qr import PassportQr, QrRefused, link, link_png, png

QR = PassportQr(
    UUID("0b7e5a5e-7d2c-5f0e-9b1a-3c4d5e6f7a8b"), bytes(range(32)), bytes(range(50, 82)), b"\xff" * 31 + b"\xfe"
)
TEXT = QR.text
HASH = "AAAQEAYEAUDAOCAJBIFQYDIOB4IBCEQTCQKRMFYYDENBWHA5DYPQ"
# 2 cm at 300 dpi.
PRINTED = 236


def pixels(file: bytes, size: int | None = None) -> np.ndarray:
    found = cv2.imdecode(np.frombuffer(file, np.uint8), cv2.IMREAD_GRAYSCALE)
    assert found is not None
    return cv2.resize(found, (size, size), interpolation=cv2.INTER_AREA) if size else found


def read_by_both(image: np.ndarray) -> list[str]:
    opencv, _, _ = cv2.QRCodeDetector().detectAndDecode(image)
    return [opencv, *(each.text for each in zxingcpp.read_barcodes(image))]


def test_the_text_is_that_of_the_source() -> None:
    assert TEXT.startswith(f"BPC1|pv=0b7e5a5e-7d2c-5f0e-9b1a-3c4d5e6f7a8b|ph={HASH}|pr=")
    assert len(TEXT) == 212
    assert PassportQr.read(TEXT) == QR


@pytest.mark.parametrize("size", [None, PRINTED])
def test_two_readers_read_the_code_back(size: int | None) -> None:
    assert read_by_both(pixels(QR.png(), size)) == [TEXT, TEXT]


def test_the_code_has_version_10_with_modules_of_10_pixels_and_a_quiet_zone() -> None:
    image = pixels(QR.png())

    assert image.shape == (650, 650)
    assert (image[:40] == 255).all()
    assert QR.png() == QR.png()


@pytest.mark.parametrize("size", [None, PRINTED])
def test_two_readers_read_the_link_back(size: int | None) -> None:
    wanted = "https://id.example.com/01/09506000134352/21/BAT-2027_0001"

    assert read_by_both(pixels(link_png("id.example.com", "09506000134352", "BAT-2027_0001"), size)) == [wanted] * 2


@pytest.mark.parametrize(
    "text",
    [
        "",
        TEXT + " ",
        TEXT + "\n",
        "\ufeff" + TEXT,
        TEXT.lower(),
        TEXT.replace("BPC1", "BPC2"),
        TEXT.replace("BPC1", "bpc1"),
        TEXT.replace("0b7e5a5e", "0B7E5A5E"),
        TEXT.replace(f"ph={HASH}", f"ph={HASH.lower()}"),
        TEXT.replace(f"ph={HASH}", f"ph={HASH[:-1]}R"),
        TEXT.replace(f"ph={HASH}", f"ph={HASH}===="),
        TEXT.replace(f"ph={HASH}", f"ph={HASH[:-1]}"),
        TEXT.replace(f"ph={HASH}", f"ph={HASH[:-2]}1Q"),
        TEXT.replace("|ph=", "|pr=", 1),
        "|".join([*TEXT.split("|")[:2], *reversed(TEXT.split("|")[2:])]),
        TEXT + "|x=1",
        TEXT + "|" + TEXT,
        TEXT.replace("|", "\uff5c"),
        TEXT.replace("|", "\u2223"),
        TEXT.replace("0b7e", "\u0660b7e"),
        "https://id.example.com/01/09506000134352/21/1?" + TEXT,
    ],
)
def test_any_other_spelling_is_refused(text: str) -> None:
    with pytest.raises(QrRefused):
        PassportQr.read(text)


@pytest.mark.parametrize("last", "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
def test_unused_bits_must_be_zero(last: str) -> None:
    text = TEXT[:-1] + last
    if last in "AQ":
        assert PassportQr.read(text).text == text
    else:
        with pytest.raises(QrRefused):
            PassportQr.read(text)


@pytest.mark.parametrize(
    ("resolver", "gtin", "serial"),
    [
        ("id.example.com/evil", "09506000134352", "1"),
        ("id.example.com@evil.example", "09506000134352", "1"),
        ("localhost", "09506000134352", "1"),
        ("ID.example.com", "09506000134352", "1"),
        ("id.example.com\n", "09506000134352", "1"),
        ("-.example.com", "09506000134352", "1"),
        ("a." * 120 + "com", "09506000134352", "1"),
        ("id.example.com", "09506000134353", "1"),
        ("id.example.com", "9506000134352", "1"),
        ("id.example.com", "٠٩٥٠٦٠٠٠١٣٤٣٥٢", "1"),
        ("id.example.com", "09506000134352", ""),
        ("id.example.com", "09506000134352", "../x"),
        ("id.example.com", "09506000134352", "1" * 21),
    ],
)
def test_a_link_to_elsewhere_is_refused(resolver: str, gtin: str, serial: str) -> None:
    with pytest.raises(QrRefused):
        link(resolver, gtin, serial)


def test_hashes_of_other_length_and_texts_that_do_not_fit_are_refused() -> None:
    with pytest.raises(QrRefused, match="32 bytes"):
        PassportQr(QR.passport_version_id, b"", b"", b"").png()
    with pytest.raises(QrRefused, match="does not fit"):
        png("x" * 214, 10)
    assert png("x" * 213, 10)
