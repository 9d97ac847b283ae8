"""Signatures of passports: Ed25519 over the hash of a receipt, by keys that are named by their RFC 7638 thumbprint.

Verification is as strict as that of libsodium: OpenSSL alone accepts keys of small order, under which one signature
fits several messages.
"""

import hashlib
from base64 import b64decode, urlsafe_b64encode
from binascii import Error as NotBase64
from dataclasses import dataclass
from functools import cached_property

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from tickwork.errors import Permanent

PRIME = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
SIGN_BIT = 2**255
# The y of all points of small order; those of order 8 have no shorter form.
ORDER_8 = 0x05FC536D880238B13933C6D305ACDFD5F098EFF289F4C345B027B2C28F95E826
SMALL_ORDER = frozenset({0, 1, PRIME - 1, ORDER_8, PRIME - ORDER_8})
HASH_SIZE, KEY_SIZE, SIGNATURE_SIZE = 32, 32, 64


@dataclass(frozen=True, repr=False)
class SigningKey:
    secret: bytes

    @cached_property
    def public(self) -> bytes:
        return self._private.public_key().public_bytes_raw()

    @cached_property
    def id(self) -> str:
        return key_id(self.public)

    def sign(self, receipt_hash: bytes) -> bytes:
        """The signature over a hash of 32 bytes, the same each time."""
        if len(receipt_hash) != HASH_SIZE:
            raise ValueError(f"a receipt hash has {HASH_SIZE} bytes, not {len(receipt_hash)}")
        return self._private.sign(receipt_hash)

    def sign_pair(self, hashes: bytes) -> bytes:
        """The signature over two hashes, which can never be taken for one over a single hash."""
        if len(hashes) != 2 * HASH_SIZE:
            raise ValueError(f"a pair of hashes has {2 * HASH_SIZE} bytes, not {len(hashes)}")
        return self._private.sign(hashes)

    @cached_property
    def _private(self) -> Ed25519PrivateKey:
        return Ed25519PrivateKey.from_private_bytes(self.secret)


def key_id(public_key: bytes) -> str:
    """The RFC 7638 thumbprint of the key as a JWK."""
    jwk = f'{{"crv":"Ed25519","kty":"OKP","x":"{base64url(public_key)}"}}'
    return base64url(hashlib.sha256(jwk.encode()).digest())


def base64url(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def read_signing_keys(setting: str | None) -> tuple[SigningKey, ...]:
    """The keys of TICKWORK_SIGNING_KEY, the one to sign with first."""
    if not setting:
        raise Permanent(
            "There is no key to sign with: set TICKWORK_SIGNING_KEY, then retry the job", code="SIGNING_KEY_MISSING"
        )
    try:
        secrets = [b64decode(each.strip(), validate=True) for each in setting.split(",")]
    except (NotBase64, ValueError):
        secrets = []
    if not 1 <= len(secrets) <= 2 or any(len(each) != KEY_SIZE for each in secrets) or len(set(secrets)) < len(secrets):
        # Without its context, which has the key.
        raise Permanent(
            f"TICKWORK_SIGNING_KEY: must be {KEY_SIZE} random bytes in base64, such as `openssl rand -base64 32` "
            "prints; while one replaces another, separate the two by a comma, the new one first",
            code="INVALID_SIGNING_KEY",
        ) from None
    return tuple(map(SigningKey, secrets))


def verifies(public_key: bytes, message: bytes, signature: bytes) -> bool:
    """Whether the signature is that of the key over the message, and neither could stand for another one."""
    if not is_sound_key(public_key) or not is_sound_signature(signature):
        return False
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, message)
    except InvalidSignature:
        return False
    return True


def is_sound_key(public_key: bytes) -> bool:
    """Whether it is the one encoding of a point that is not of small order."""
    return len(public_key) == KEY_SIZE and _is_sound_point(public_key)


def is_sound_signature(signature: bytes) -> bool:
    return (
        len(signature) == SIGNATURE_SIZE
        and _is_sound_point(signature[:32])
        and int.from_bytes(signature[32:], "little") < ORDER
    )


def _is_sound_point(encoded: bytes) -> bool:
    y = int.from_bytes(encoded, "little") % SIGN_BIT
    return y < PRIME and y not in SMALL_ORDER
