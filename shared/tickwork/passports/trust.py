"""Which keys a verifier trusts: pinned by their ids, or listed in a key set with their status."""

from base64 import urlsafe_b64decode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from tickwork.passports.canonical import Json
from tickwork.passports.data_integrity import multikey
from tickwork.passports.signatures import base64url, is_sound_key, key_id

KeyStatus = Literal["active", "retired", "revoked"]


class KeysRefused(ValueError):
    """The key set cannot be trusted as it stands."""


@dataclass(frozen=True)
class TrustedKey:
    """Retired and revoked keys verify what was issued before `until`."""

    id: str
    public: bytes
    status: KeyStatus = "active"
    until: datetime | None = None
    name: str = ""

    def jwk(self) -> dict[str, Json]:
        more: dict[str, Json] = {"until": self.until.isoformat()} if self.until else {}
        return {
            "kty": "OKP",
            "crv": "Ed25519",
            "x": base64url(self.public),
            "kid": self.id,
            "alg": "EdDSA",
            "use": "sig",
            "status": self.status,
            **({"name": self.name} if self.name else {}),
            **more,
        }


@dataclass(frozen=True)
class Trust:
    """`pinned` are ids alone: an id is the hash of its key, so the key may come with the file."""

    keys: Mapping[str, TrustedKey] = field(default_factory=dict)
    pinned: frozenset[str] = frozenset()

    def key(self, id: str, claimed: bytes) -> TrustedKey | None:
        """The trusted key of this id. What the file claims counts only if its hash is pinned."""
        if known := self.keys.get(id):
            return known
        return TrustedKey(id, claimed) if id in self.pinned and key_id(claimed) == id else None


def jwks(keys: Iterable[TrustedKey]) -> dict[str, Json]:
    return {"keys": [each.jwk() for each in keys]}


def did_document(did: str, keys: Iterable[TrustedKey]) -> dict[str, Json]:
    """Of did:web: revoked keys are left out, retired ones no longer assert anything new."""
    listed = [each for each in keys if each.status != "revoked"]
    return {
        "@context": ["https://www.w3.org/ns/did/v1", "https://w3id.org/security/multikey/v1"],
        "id": did,
        "verificationMethod": [_method(did, each) for each in listed],
        "assertionMethod": [f"{did}#{each.id}" for each in listed if each.status == "active"],
    }


def _method(did: str, key: TrustedKey) -> dict[str, Json]:
    id = f"{did}#{key.id}"
    return {"id": id, "type": "Multikey", "controller": did, "publicKeyMultibase": multikey(key.public)}


def read_jwks(document: Json) -> dict[str, TrustedKey]:
    """Keys by their ids, each of which must be the thumbprint of its key."""
    keys = document.get("keys") if isinstance(document, Mapping) else None
    if not isinstance(keys, list):
        raise KeysRefused("it is no key set: a list `keys` is missing")
    return {key.id: key for key in map(_read_jwk, keys)}


def _read_jwk(jwk: Json) -> TrustedKey:
    if not isinstance(jwk, Mapping) or jwk.get("kty") != "OKP" or jwk.get("crv") != "Ed25519":
        raise KeysRefused("a key is not Ed25519")
    try:
        public = urlsafe_b64decode(str(jwk.get("x")) + "=")
        until = datetime.fromisoformat(str(jwk["until"])) if "until" in jwk else None
    except ValueError:
        raise KeysRefused("a key cannot be decoded") from None
    id, status = key_id(public), jwk.get("status", "active")
    if not is_sound_key(public):
        raise KeysRefused("a key is of small order or not canonical")
    if jwk.get("kid", id) != id:
        raise KeysRefused(f"kid {jwk['kid']} is not the thumbprint of its key, which is {id}")
    if status not in ("active", "retired", "revoked") or (status != "active" and (until is None or not until.tzinfo)):
        raise KeysRefused(f"key {id}: status must be active, or retired or revoked with `until`")
    return TrustedKey(id, public, status, until, str(jwk.get("name", "")))
