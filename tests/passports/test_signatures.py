"""Ed25519 as the standards have it, and stricter: what could stand for another key or signature is refused."""

from base64 import b64encode

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from tests.passports.public_vectors import read_vectors
from tickwork.errors import Permanent
from tickwork.passports.signatures import (
    ORDER,
    PRIME,
    SMALL_ORDER,
    SigningKey,
    is_sound_key,
    is_sound_signature,
    key_id,
    read_signing_keys,
    verifies,
)

KEY = SigningKey(bytes(range(32)))
HASH = bytes(range(100, 132))


@pytest.mark.parametrize("vector", read_vectors("rfc8032"))
def test_the_vectors_of_rfc_8032_are_signed_and_verified(vector: dict[str, str]) -> None:
    secret, public, message, signature = (
        bytes.fromhex(vector[each]) for each in ("secret_key", "public_key", "message", "signature")
    )

    assert SigningKey(secret).public == public
    assert SigningKey(secret)._private.sign(message) == signature
    assert verifies(public, message, signature)
    assert not verifies(public, message + b".", signature)


@pytest.mark.parametrize("number", range(12))
def test_the_edge_cases_of_speccheck_are_taken_as_libsodium_takes_them(number: int) -> None:
    vector = read_vectors("speccheck")[number]
    public, message, signature = (bytes.fromhex(vector[each]) for each in ("public_key", "message", "signature"))

    # Number 3 has a key with a part of small order, and passes both equations.
    assert verifies(public, message, signature) == (number == 3)


def test_the_vectors_of_wycheproof_are_taken_and_refused_as_they_say() -> None:
    """88 valid signatures, and 62 that are not."""
    wrong = [
        vector
        for vector in read_vectors("wycheproof")
        if vector["is_valid"]
        != verifies(*(bytes.fromhex(vector[each]) for each in ("public_key", "message", "signature")))
    ]

    assert wrong == []


def test_openssl_alone_would_accept_a_key_of_small_order() -> None:
    vector = read_vectors("speccheck")[0]
    public, message, signature = (bytes.fromhex(vector[each]) for each in ("public_key", "message", "signature"))

    Ed25519PublicKey.from_public_bytes(public).verify(signature, message)

    assert not is_sound_key(public)


@pytest.mark.parametrize("y", [*sorted(SMALL_ORDER), PRIME, PRIME + 1, 2**255 - 1])
@pytest.mark.parametrize("sign", [0, 2**255])
def test_keys_of_small_order_and_second_encodings_are_refused(y: int, sign: int) -> None:
    assert not is_sound_key((y + sign).to_bytes(32, "little"))


def test_a_signature_has_one_encoding() -> None:
    signature = KEY.sign(HASH)
    scalar = int.from_bytes(signature[32:], "little")

    assert verifies(KEY.public, HASH, signature)
    assert not verifies(KEY.public, HASH, signature[:32] + (scalar + ORDER).to_bytes(32, "little"))
    # OpenSSL refuses it too, which we do not rely on.
    assert not is_sound_signature(signature[:32] + (scalar + ORDER).to_bytes(32, "little"))
    assert is_sound_signature(signature)
    assert not verifies(KEY.public, HASH, signature + b"\0")
    assert not verifies(KEY.public, HASH, signature[:-1])
    assert not verifies(KEY.public[:-1], HASH, signature)
    assert not verifies(SigningKey(bytes(32)).public, HASH, signature)


def test_every_flipped_bit_of_a_signature_is_noticed() -> None:
    signature = KEY.sign(HASH)

    for bit in range(0, 512, 7):
        flipped = bytearray(signature)
        flipped[bit // 8] ^= 1 << bit % 8
        assert not verifies(KEY.public, HASH, bytes(flipped))


def test_only_a_hash_of_32_bytes_is_signed_as_a_receipt_and_only_64_bytes_as_a_pair() -> None:
    with pytest.raises(ValueError, match="32 bytes, not 64"):
        KEY.sign(HASH + HASH)
    with pytest.raises(ValueError, match="64 bytes, not 32"):
        KEY.sign_pair(HASH)
    assert KEY.sign(HASH) == KEY.sign(HASH)


def test_the_id_of_a_key_is_its_thumbprint_as_in_rfc_8037() -> None:
    public = bytes.fromhex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")

    assert key_id(public) == "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"


def test_one_or_two_keys_are_read_in_their_order() -> None:
    first, second = (b64encode(bytes([each]) * 32).decode() for each in (1, 2))

    assert [key.secret[0] for key in read_signing_keys(first)] == [1]
    assert [key.secret[0] for key in read_signing_keys(f"{first}, {second}")] == [1, 2]


@pytest.mark.parametrize(
    ("setting", "code"),
    [
        (None, "SIGNING_KEY_MISSING"),
        ("", "SIGNING_KEY_MISSING"),
        ("secret", "INVALID_SIGNING_KEY"),
        (b64encode(bytes(31)).decode(), "INVALID_SIGNING_KEY"),
        (b64encode(bytes(64)).decode(), "INVALID_SIGNING_KEY"),
        (b64encode(bytes(32)).decode() + ",", "INVALID_SIGNING_KEY"),
        (",".join([b64encode(bytes(32)).decode()] * 2), "INVALID_SIGNING_KEY"),
        (",".join(b64encode(bytes([each]) * 32).decode() for each in (1, 2, 3)), "INVALID_SIGNING_KEY"),
    ],
)
def test_what_is_no_key_is_refused_by_name_and_not_shown(setting: str | None, code: str) -> None:
    with pytest.raises(Permanent) as refused:
        read_signing_keys(setting)

    assert refused.value.code == code
    assert not setting or setting not in str(refused.value)


def test_a_key_does_not_show_its_secret() -> None:
    assert "secret" not in repr(KEY)
    assert str(KEY.secret) not in repr(KEY)
