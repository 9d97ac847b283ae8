"""Verifies a battery passport with nothing but Python and `cryptography`.

    python verifier.py PASSPORT.json KEY_ID [QR_TEXT]

KEY_ID is the id of a key that you trust, from whoever issued the passport: not from the file itself. The file is a
BPC-PACKAGE-1 or a BPC-BUNDLE-1. Whether the passport has been revoked since is not in it: ask for the status list.
"""

import base64
import hashlib
import json
import sys
from decimal import Decimal
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

PRIME, ORDER = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493
ORDER_8 = 0x05FC536D880238B13933C6D305ACDFD5F098EFF289F4C345B027B2C28F95E826
MORE = {"public": "", "legitimate_interest": "restricted legitimate_interest", "authorities": "restricted authorities"}
METHODS = {"type": "BPC-RECEIPT-1", "canonicalization": "RFC8785", "hash": "SHA-256", "merkle": "RFC9162"}
SIGNED = {"type", "receipt", "signature", "signing_key_id", "signing_key_public"}
SHARED = ("passport_id", "battery_identifier", "model", "category", "issued_at")
OWN = {"BPC-PACKAGE-1": {"payload", "proof"}, "BPC-BUNDLE-1": {"audience", "leaves"}}


def verify(data: bytes, trusted_key_id: str, qr: str | None = None) -> dict[str, Any]:
    """The receipt, if everything fits; raises ValueError that says what does not."""
    file = json.loads(data.decode(), object_pairs_hook=unique, parse_constant=int, parse_int=float)
    need(isinstance(file, dict) and file.get("type") in OWN, "it is neither a package nor a bundle")
    need(set(file) == SIGNED | OWN[file["type"]], "members are missing or unknown")
    receipt: dict[str, Any] = file["receipt"]
    need(all(receipt.get(name) == value for name, value in METHODS.items()), "the receipt is of another kind")
    if file["type"] == "BPC-PACKAGE-1":
        check_package(file["payload"], file["proof"], receipt)
    else:
        check_bundle(file["leaves"], {"public", *MORE[file["audience"]].split()}, receipt)
    receipt_hash = hashlib.sha256(canonical(receipt)).digest()
    check_signature(file, receipt_hash, trusted_key_id)
    hashes = [bytes.fromhex(receipt["payload_hash"]), bytes.fromhex(receipt["proof_root_hash"]), receipt_hash]
    payload, proof, rest = (base64.b32encode(each).decode().rstrip("=") for each in hashes)
    wanted = f"BPC1|pv={receipt['passport_version_id']}|ph={payload}|pr={proof}|rh={rest}"
    need(qr in (None, wanted), "the QR code is that of another passport version")
    return receipt


def check_package(payload: dict[str, Any], proof: dict[str, Any], receipt: dict[str, Any]) -> None:
    need(payload["type"] == "BPC-PAYLOAD-1" and proof["type"] == "BPC-PROOF-1", "a part is of another type")
    need(hashlib.sha256(canonical(payload)).hexdigest() == receipt["payload_hash"], "the payload was changed")
    need(all(payload[name] == receipt[name] for name in SHARED), "the payload is of another one")
    leaves = proof["leaves"]
    hashes = [hashlib.sha256(b"\x00" + canonical(leaf)).digest() for leaf in leaves]
    need(len(leaves) == receipt["leaf_count"] > 0, "leaves are missing")
    need(root(hashes).hex() == receipt["proof_root_hash"], "the leaves were changed")
    attributes = [leaf for leaf in leaves if leaf["kind"] == "attribute"]
    shown = {leaf["path"]: {name: leaf[name] for name in ("value", "unit", "access")} for leaf in attributes}
    need(canonical(shown) == canonical(payload["attributes"]), "the leaves say something else than the payload")


def check_bundle(leaves: list[dict[str, Any]], seen: set[str], receipt: dict[str, Any]) -> None:
    need(len({entry["index"] for entry in leaves}) == len(leaves), "a leaf occurs twice")
    for entry in leaves:
        leaf, last = entry["leaf"], int(receipt["leaf_count"]) - 1
        need(leaf["type"] == "BPC-LEAF-1" and leaf["kind"] == "attribute", "a leaf is of another type")
        need(type(entry["index"]) is float and entry["index"] in range(last + 1), "a leaf has a wrong number")
        index = int(entry["index"])
        path = [bytes.fromhex(each) for each in entry["path"]]
        found = hashlib.sha256(b"\x00" + canonical(leaf)).digest()
        while last:
            if index % 2 or index < last:
                need(path and len(path[0]) == 32, "a path is too short")
                other = path.pop(0)
                found = node(other, found) if index % 2 else node(found, other)
            index, last = index // 2, last // 2
        need(not path, "a path is too long")
        need(found.hex() == receipt["proof_root_hash"], "a leaf was changed")
        need(leaf["access"] in seen, "a leaf is not for this audience")


def check_signature(file: dict[str, Any], receipt_hash: bytes, trusted_key_id: str) -> None:
    public, signature = (base64.b64decode(file[each], validate=True) for each in ("signing_key_public", "signature"))
    x = base64.urlsafe_b64encode(public).decode().rstrip("=")
    thumbprint = hashlib.sha256(f'{{"crv":"Ed25519","kty":"OKP","x":"{x}"}}'.encode()).digest()
    key_id = base64.urlsafe_b64encode(thumbprint).decode().rstrip("=")
    need(file["signing_key_id"] == key_id, "the id is not that of the key in the file")
    need(key_id == trusted_key_id, f"it is signed by key {key_id}, which you did not name as trusted")
    need(len(public) == 32 and len(signature) == 64, "key or signature have another length")
    for point in (public, signature[:32]):
        y = int.from_bytes(point, "little") % 2**255
        need(y < PRIME and y not in (0, 1, PRIME - 1, ORDER_8, PRIME - ORDER_8), "key or signature are malformed")
    need(int.from_bytes(signature[32:], "little") < ORDER, "the signature is malformed")
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, receipt_hash)
    except InvalidSignature:
        raise ValueError("the signature is not that of the key over the receipt") from None


def root(hashes: list[bytes]) -> bytes:
    while len(hashes) > 1:
        pairs = [node(*hashes[at : at + 2]) for at in range(0, len(hashes) - 1, 2)]
        hashes = pairs + hashes[len(pairs) * 2 :]
    return hashes[0]


def node(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\x01" + left + right).digest()


def canonical(value: Any) -> bytes:
    """As RFC 8785 writes it."""
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        return b"{" + b",".join(canonical(name) + b":" + canonical(value[name]) for name in names) + b"}"
    if isinstance(value, list):
        return b"[" + b",".join(map(canonical, value)) + b"]"
    return float_text(value).encode() if isinstance(value, float) else json.dumps(value, ensure_ascii=False).encode()


def float_text(value: float) -> str:
    """As ECMAScript writes numbers; their shortest digits are those of Python."""
    sign, parts, exponent = Decimal(repr(value)).normalize().as_tuple()
    digits, point, minus = "".join(map(str, parts)), len(parts) + int(exponent), "-" * sign
    if not value:
        return "0"
    if 0 < point <= 21:
        return f"{minus}{digits[:point].ljust(point, '0')}{'.' * (len(digits) > point)}{digits[point:]}"
    if -6 < point <= 0:
        return f"{minus}0.{'0' * -point}{digits}"
    return f"{minus}{digits[0]}{'.' * (len(digits) > 1)}{digits[1:]}e{point - 1:+}"


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    need(len(dict(pairs)) == len(pairs), "a name occurs twice in an object")
    return dict(pairs)


def need(is_so: object, words: str) -> None:
    if not is_so:
        raise ValueError(words)


if __name__ == "__main__":
    try:
        with open(sys.argv[1], "rb") as file:
            found = verify(file.read(), *sys.argv[2:4])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, IndexError) as error:
        sys.exit(f"NOT VALID: {error}")
    print(f"VALID: battery {found['battery_identifier']}, issued by {found['issuer']} at {found['issued_at']}")
