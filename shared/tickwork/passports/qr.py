"""QR codes of a passport: its hashes as BPC-QR-1, and the link where a resolver shows it."""

import io
import re
from base64 import b32decode, b32encode
from dataclasses import dataclass
from typing import Self
from uuid import UUID

# 212 bytes need version 10 at level M, which has room for 213.
VERSION, LEVEL = 10, "m"
SCALE, QUIET_ZONE = 10, 4
UUID_TEXT = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
# 52 characters hold 260 bits; a hash has 256, so the last one is A or Q.
HASH_TEXT = "[A-Z2-7]{51}[AQ]"
TEXT = re.compile(rf"BPC1\|pv=({UUID_TEXT})\|ph=({HASH_TEXT})\|pr=({HASH_TEXT})\|rh=({HASH_TEXT})", re.ASCII)
HOST = re.compile(r"(?=.{1,200}\Z)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+", re.ASCII)
# Browsers would take one or two dots for a folder.
SERIAL = re.compile(r"(?!\.{1,2}\Z)[0-9A-Za-z._-]{1,20}", re.ASCII)


class QrRefused(ValueError):
    """The text is no QR code of a passport, or cannot be one."""


@dataclass(frozen=True)
class PassportQr:
    passport_version_id: UUID
    payload_hash: bytes
    proof_root_hash: bytes
    receipt_hash: bytes

    @property
    def text(self) -> str:
        hashes = (self.payload_hash, self.proof_root_hash, self.receipt_hash)
        if any(len(each) != 32 for each in hashes):
            raise QrRefused("a hash must have 32 bytes")
        payload, proof, receipt = map(base32, hashes)
        return f"BPC1|pv={self.passport_version_id}|ph={payload}|pr={proof}|rh={receipt}"

    @classmethod
    def read(cls, text: str) -> Self:
        """Each passport version has exactly one text: another order, case or spelling is refused."""
        found = TEXT.fullmatch(text)
        if found is None:
            raise QrRefused("it is not BPC1|pv=…|ph=…|pr=…|rh=… with a lower-case UUID and upper-case base32")
        return cls(UUID(found[1]), *(b32decode(each + "====") for each in found.groups()[1:]))

    def png(self) -> bytes:
        return png(self.text, VERSION)


def base32(data: bytes) -> str:
    return b32encode(data).decode().rstrip("=")


def link(resolver: str, gtin: str, serial: str) -> str:
    """The GS1 Digital Link of a battery at a resolver, which is the name of a host."""
    if not HOST.fullmatch(resolver):
        raise QrRefused(f"resolver: {resolver!r} must be the name of a host, such as id.example.com")
    if not is_gtin(gtin):
        raise QrRefused(f"gtin: {gtin!r} must be 14 digits, of which the last is the check digit")
    if not SERIAL.fullmatch(serial):
        raise QrRefused(f"serial: {serial!r} must be 1 to 20 letters, digits, dots, hyphens and underscores")
    return f"https://{resolver}/01/{gtin}/21/{serial}"


def is_gtin(text: str) -> bool:
    if not re.fullmatch("[0-9]{14}", text, re.ASCII):
        return False
    total = sum(int(digit) * (3 if place % 2 == 0 else 1) for place, digit in enumerate(text[:13]))
    return (total + int(text[13])) % 10 == 0


def png(text: str, version: int | None = None) -> bytes:
    """With the quiet zone that readers need."""
    # Loaded late: whoever verifies draws nothing.
    import segno

    try:
        code = segno.make_qr(text, version=version, error=LEVEL, boost_error=False)
    except segno.DataOverflowError:
        raise QrRefused(f"the text of {len(text)} characters does not fit the QR code") from None
    file = io.BytesIO()
    code.save(file, kind="png", scale=SCALE, border=QUIET_ZONE)
    return file.getvalue()
