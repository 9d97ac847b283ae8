"""The providers' own hashes of a file, computed while it is streamed."""

import hashlib
from base64 import b64encode
from typing import Protocol

DROPBOX_BLOCK = 4 << 20

QUICK_XOR_BITS = 160
QUICK_XOR_SHIFT = 11
# After this many bytes the shifts of quickXorHash repeat: bytes this far apart fall on the same bits.
PERIOD = 160
# Folded in one go, by halves: a power of two of periods.
FOLDED = PERIOD << 10


class Hash(Protocol):
    def update(self, data: bytes, /) -> None: ...
    def hexdigest(self) -> str: ...


class DropboxHash:
    """The SHA-256 of the SHA-256s of blocks of 4 MiB."""

    def __init__(self) -> None:
        self._whole = hashlib.sha256()
        self._block = hashlib.sha256()
        self._room = DROPBOX_BLOCK

    def update(self, data: bytes, /) -> None:
        rest = memoryview(data)
        while rest:
            piece, rest = rest[: self._room], rest[self._room :]
            self._block.update(piece)
            self._room -= len(piece)
            if not self._room:
                self._end_block()

    def _end_block(self) -> None:
        self._whole.update(self._block.digest())
        self._block, self._room = hashlib.sha256(), DROPBOX_BLOCK

    def hexdigest(self) -> str:
        whole = self._whole.copy()
        if self._room < DROPBOX_BLOCK:
            whole.update(self._block.digest())
        return whole.hexdigest()


class QuickXorHash:
    """Microsoft's: every byte is XORed into 160 bits, each 11 bits further, and the length at the end.

    Byte by byte, a gigabyte would take minutes. So bytes that fall on the same bits are XORed first, in large numbers.
    """

    def __init__(self) -> None:
        self._length = 0
        self._rest = b""
        self._folded = 0

    def update(self, data: bytes, /) -> None:
        self._length += len(data)
        data = self._rest + data
        whole = len(data) - len(data) % FOLDED
        for start in range(0, whole, FOLDED):
            self._folded ^= folded(data[start : start + FOLDED])
        self._rest = data[whole:]

    def base64digest(self) -> str:
        every = (self._folded ^ folded(self._rest.ljust(FOLDED, b"\0"))).to_bytes(PERIOD, "little")
        bits = 0
        for place, byte in enumerate(every):
            bits ^= byte << place * QUICK_XOR_SHIFT % QUICK_XOR_BITS
        # Bits beyond the end wrap around to the beginning.
        bits = (bits ^ bits >> QUICK_XOR_BITS) & (1 << QUICK_XOR_BITS) - 1
        bits ^= self._length << QUICK_XOR_BITS - 64
        return b64encode(bits.to_bytes(QUICK_XOR_BITS // 8, "little")).decode()

    # Named like the method of other hashes, although the documented form is base64.
    hexdigest = base64digest


def folded(data: bytes) -> int:
    """All periods of a block, XORed with each other."""
    number, half = int.from_bytes(data, "little"), len(data) // 2
    while half >= PERIOD:
        number = (number >> 8 * half) ^ (number & (1 << 8 * half) - 1)
        half //= 2
    return number


def hash_of_kind(kind: str) -> Hash:
    """The hash for the prefix before the colon in an item's hash."""
    match kind:
        case "dropbox":
            return DropboxHash()
        case "quickxor":
            return QuickXorHash()
        case "md5":
            return hashlib.md5(usedforsecurity=False)
        case "sha256":
            return hashlib.sha256()
        case "sha1":
            return hashlib.sha1(usedforsecurity=False)
        case _:
            raise ValueError(f"no provider here has the hash {kind!r}")
