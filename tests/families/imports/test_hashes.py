"""The providers' own hashes, against their documentation's words and published examples."""

import random
from base64 import b64decode

import pytest

from tests.servers.cloud import Bytes
from tests.servers.dropbox import content_hash
from tests.servers.graph import quick_xor_hash
from tickwork.families.imports.hashes import DROPBOX_BLOCK, FOLDED, DropboxHash, QuickXorHash, hash_of_kind

# Widely published examples of Microsoft's algorithm.
PUBLISHED = {
    "": "AAAAAAAAAAAAAAAAAAAAAAAAAAA=",
    "Sg==": "SgAAAAAAAAAAAAAAAQAAAAAAAAA=",
    "tbQ=": "taAFAAAAAAAAAAAAAgAAAAAAAAA=",
    "0pZP": "0rDEEwAAAAAAAAAAAwAAAAAAAAA=",
    "eAV52qE=": "eChAHrQRCgAAAAAABQAAAAAAAAA=",
    "/aNzzCFPS/A=": "/RjFHJgRgicsAR4ACAAAAAAAAAA=",
}


@pytest.mark.parametrize("data", PUBLISHED)
def test_quick_xor_hash_agrees_with_published_examples(data: str) -> None:
    ours = QuickXorHash()
    ours.update(b64decode(data))

    assert ours.hexdigest() == PUBLISHED[data]


@pytest.mark.parametrize("size", [1, 159, 160, 161, FOLDED - 1, FOLDED, FOLDED + 1, 3 * FOLDED + 77])
@pytest.mark.parametrize("step", [1 << 16, 7001, 1 << 30])
def test_quick_xor_hash_agrees_with_the_plain_algorithm_however_it_is_cut(size: int, step: int) -> None:
    data = random.Random(size).randbytes(size)
    ours = QuickXorHash()
    for begin in range(0, size, step):
        ours.update(data[begin : begin + step])

    assert ours.hexdigest() == quick_xor_hash(Bytes(data))


@pytest.mark.parametrize("size", [0, 1, DROPBOX_BLOCK - 1, DROPBOX_BLOCK, DROPBOX_BLOCK + 1, 2 * DROPBOX_BLOCK + 5])
def test_the_hash_of_dropbox_agrees_with_its_description(size: int) -> None:
    data = random.Random(size).randbytes(size)
    ours = DropboxHash()
    for begin in range(0, size, 65_537):
        ours.update(data[begin : begin + 65_537])

    assert ours.hexdigest() == content_hash(Bytes(data))


def test_a_hash_that_no_provider_has_is_refused() -> None:
    with pytest.raises(ValueError, match="crc32"):
        hash_of_kind("crc32")
