"""Proofs of JSON-LD documents by the cryptosuite eddsa-jcs-2022 of the W3C: the second signature of a passport."""

from collections.abc import Mapping, Sequence

from tickwork.passports.canonical import Json, hash_of
from tickwork.passports.signatures import SigningKey, verifies

Document = Mapping[str, Json]

BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
ED25519_PUBLIC = bytes.fromhex("ed01")


def eddsa_jcs_signature(document: Document, proof_options: Document, key: SigningKey) -> bytes:
    """The 64 bytes that sign a document without a proof, under the options of the proof."""
    return key.sign_pair(_hash_pair(document, proof_options))


def add_proof(document: Document, proof_options: Document, key: SigningKey) -> dict[str, Json]:
    """The proof of a document, as its member `proof`."""
    options = _with_context(document, proof_options)
    return {**options, "proofValue": multibase(eddsa_jcs_signature(document, options, key))}


def proof_verifies(document: Document, public_key: bytes) -> bool:
    """Whether the member `proof` of the document signs the rest of it with the key."""
    proof = document.get("proof")
    if not isinstance(proof, Mapping):
        return False
    rest = {name: value for name, value in document.items() if name != "proof"}
    options = {name: value for name, value in proof.items() if name != "proofValue"}
    is_known = options.get("type") == "DataIntegrityProof" and options.get("cryptosuite") == "eddsa-jcs-2022"
    signature = from_multibase(proof.get("proofValue"))
    if not is_known or signature is None or not _is_start(options.get("@context"), rest.get("@context")):
        return False
    return verifies(public_key, _hash_pair(rest, options), signature)


def multikey(public_key: bytes) -> str:
    """The public key as did:key and did:web name it."""
    return multibase(ED25519_PUBLIC + public_key)


def multibase(data: bytes) -> str:
    """In base58 as of Bitcoin, after the letter that says so."""
    number, digits = int.from_bytes(data, "big"), ""
    while number:
        number, digit = divmod(number, 58)
        digits = BASE58[digit] + digits
    return "z" + BASE58[0] * (len(data) - len(data.lstrip(b"\0"))) + digits


def from_multibase(text: Json) -> bytes | None:
    if not isinstance(text, str) or not text.startswith("z") or len(text) > 200:
        return None
    digits, number = text[1:], 0
    for letter in digits:
        digit = BASE58.find(letter)
        if digit < 0:
            return None
        number = number * 58 + digit
    zeros = len(digits) - len(digits.lstrip(BASE58[0]))
    return bytes(zeros) + number.to_bytes((number.bit_length() + 7) // 8, "big")


def _hash_pair(document: Document, proof_options: Document) -> bytes:
    return hash_of(proof_options) + hash_of(document)


def _with_context(document: Document, options: Document) -> Document:
    return {**options, "@context": document["@context"]} if "@context" in document else options


def _is_start(context: Json, whole: Json) -> bool:
    """Whether the context of a proof is the beginning of that of its document, as the W3C requires."""
    if context is None:
        return True
    part, rest = _listed(context), _listed(whole)
    return part == rest[: len(part)]


def _listed(value: Json) -> Sequence[Json]:
    return list(value) if isinstance(value, list | tuple) else [value]
