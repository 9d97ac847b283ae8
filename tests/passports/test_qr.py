"""QR codes: two foreign readers read them at 2 cm and 300 dpi, and each passport version has exactly one text."""

from uuid import UUID

import cv2
import numpy as np
import pytest
import zxingcpp

from tickwork.passports.qr import PassportQr, QrRefused, link, png

QR = PassportQr(
    UUID("0b7e5a5e-7d2c-5f0e-9b1a-3c4d5e6f7a8b"), bytes(range(32)), bytes(range(50, 82)), b"\xff" * 31 + b"\xfe"
)
TEXT = QR.text
HASH = "AAAQEAYEAUDAOCAJBIFQYDIOB4IBCEQTCQKRMFYYDENBWHA5DYPQ"
HOST, GTIN, SERIAL = "id.example.com", "09506000134352", "BAT-2027_0001"
# What SQL accepts and refuses too: tests/database/test_passport_links.py.
HOSTS = [HOST, "a.b", "x" * 196 + ".com", "1-2.example"]
NO_HOSTS = [
    *("", "localhost", "ID.example.com", "id.example.com/evil", "id.example.com@evil.example", "id.example.com:443"),
    *("https://id.example.com", "id.example.com\n", "evil.example\nid.example.com", "id.example.com.", ".example.com"),
    *(
        "id..example",
        "-.example.com",
        "id-.example.com",
        "id example.com",
        "id.exämple.com",
        "id.example.com#",
        "id.ｅxample",
    ),
    *("evil.example\\.example.com", "x" * 197 + ".com", "a." * 120 + "com"),
]
GTINS = [GTIN, "00000000000000", "04006381333931", "10614141543219"]
NO_GTINS = [
    "",
    "09506000134353",
    "9506000134352",
    "009506000134352",
    "0950600013435X",
    "٠٩٥٠٦٠٠٠١٣٤٣٥٢",
    f"{GTIN}\n",
    f" {GTIN[1:]}",
]
SERIALS = [SERIAL, "1", "x" * 20, "...", ".1", "A.b_c-9"]
NO_SERIALS = ["", ".", "..", "x" * 21, "../x", "1/2", "a b", "a?b", "a#b", "1%2f", "é", "1\n", "１"]
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

    assert read_by_both(pixels(png(link(HOST, GTIN, SERIAL)), size)) == [wanted] * 2


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


def test_links_are_made_of_what_is_right() -> None:
    parts = [(host, GTIN, SERIAL) for host in HOSTS]
    parts += [(HOST, gtin, SERIAL) for gtin in GTINS] + [(HOST, GTIN, serial) for serial in SERIALS]

    assert [link(*each) for each in parts] == [f"https://{each[0]}/01/{each[1]}/21/{each[2]}" for each in parts]


@pytest.mark.parametrize(
    "parts",
    [
        *((host, GTIN, SERIAL) for host in NO_HOSTS),
        *((HOST, gtin, SERIAL) for gtin in NO_GTINS),
        *((HOST, GTIN, serial) for serial in NO_SERIALS),
    ],
)
def test_a_link_to_elsewhere_is_refused(parts: tuple[str, str, str]) -> None:
    with pytest.raises(QrRefused):
        link(*parts)


def test_hashes_of_other_length_and_texts_that_do_not_fit_are_refused() -> None:
    with pytest.raises(QrRefused, match="32 bytes"):
        PassportQr(QR.passport_version_id, b"", b"", b"").png()
    with pytest.raises(QrRefused, match="does not fit"):
        png("x" * 214, 10)
    assert png("x" * 213, 10)
