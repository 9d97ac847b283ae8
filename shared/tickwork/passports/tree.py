"""The Merkle tree of RFC 9162: one hash for all leaves, and a short proof that a leaf is one of them."""

import hashlib
from collections.abc import Sequence
from itertools import zip_longest

HASH_SIZE = 32


class ProofRefused(ValueError):
    """The proof cannot belong to a tree of this size."""


def root(leaves: Sequence[bytes]) -> bytes:
    return levels(leaves)[-1][0] if leaves else hashlib.sha256().digest()


def inclusion_proof(leaves: Sequence[bytes], index: int) -> list[bytes]:
    return proof_in(levels(leaves), index)


def levels(leaves: Sequence[bytes]) -> list[list[bytes]]:
    """The hashes of the leaves first, the root alone last."""
    found = [[leaf_hash(leaf) for leaf in leaves]]
    while len(found[-1]) > 1:
        found.append(level_above(found[-1]))
    return found


def level_above(level: list[bytes]) -> list[bytes]:
    """A last node without a neighbour moves up as it is: hashed with itself, two lists of leaves would share a root."""
    pairs = zip_longest(level[::2], level[1::2])
    return [node_hash(left, right) if right else left for left, right in pairs]


def proof_in(levels: list[list[bytes]], index: int) -> list[bytes]:
    """The neighbours on the way from the leaf to the root."""
    if not 0 <= index < len(levels[0]):
        raise IndexError(f"there is no leaf {index} among {len(levels[0])}")
    path = []
    for level in levels[:-1]:
        neighbour = index ^ 1
        if neighbour < len(level):
            path.append(level[neighbour])
        index >>= 1
    return path


def root_from_proof(leaf: bytes, index: int, size: int, path: Sequence[bytes]) -> bytes:
    """The root of a tree of this size with this leaf at this place. Raises ProofRefused for a proof of other length."""
    if not 0 <= index < size:
        raise ProofRefused(f"there is no leaf {index} in a tree of {size}")
    if any(len(each) != HASH_SIZE for each in path):
        raise ProofRefused(f"a hash in the proof is not {HASH_SIZE} bytes long")
    hash, rest, last = leaf_hash(leaf), list(path), size - 1
    while last:
        if index & 1:
            hash = node_hash(next_of(rest), hash)
        elif index < last:
            hash = node_hash(hash, next_of(rest))
        index, last = index >> 1, last >> 1
    if rest:
        raise ProofRefused("the proof is too long for a tree of this size")
    return hash


def next_of(path: list[bytes]) -> bytes:
    if not path:
        raise ProofRefused("the proof is too short for a tree of this size")
    return path.pop(0)


def leaf_hash(leaf: bytes) -> bytes:
    return hashlib.sha256(b"\x00" + leaf).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\x01" + left + right).digest()
