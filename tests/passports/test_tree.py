"""The tree of RFC 9162: public vectors, a second implementation, and proofs that must be refused."""

import hashlib
from collections.abc import Sequence

import pytest

from tickwork.passports.tree import (
    ProofRefused,
    inclusion_proof,
    leaf_hash,
    node_hash,
    root,
    root_from_proof,
)

# Of the reference implementation of Certificate Transparency.
LEAVES = [
    bytes.fromhex(each)
    for each in ("", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f")
]
ROOTS = [
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]
PATHS = {
    (0, 1): [],
    (0, 8): [
        "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
    ],
    (5, 8): [
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ],
    (2, 3): ["fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"],
    (1, 5): [
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
    ],
}
SIZES = [*range(1, 18), 31, 32, 33, 100]


def leaves_of(size: int) -> list[bytes]:
    return [f"leaf {number}".encode() for number in range(size)]


def hash_of(leaves: Sequence[bytes]) -> bytes:
    """As section 2.1.1 of the RFC defines it, by recursion."""
    if not leaves:
        return hashlib.sha256(b"").digest()
    if len(leaves) == 1:
        return hashlib.sha256(b"\x00" + leaves[0]).digest()
    split = 1 << (len(leaves) - 1).bit_length() - 1
    return hashlib.sha256(b"\x01" + hash_of(leaves[:split]) + hash_of(leaves[split:])).digest()


def path_of(index: int, leaves: Sequence[bytes]) -> list[bytes]:
    """As section 2.1.3.1 of the RFC defines it."""
    if len(leaves) == 1:
        return []
    split = 1 << (len(leaves) - 1).bit_length() - 1
    if index < split:
        return [*path_of(index, leaves[:split]), hash_of(leaves[split:])]
    return [*path_of(index - split, leaves[split:]), hash_of(leaves[:split])]


@pytest.mark.parametrize("size", range(len(ROOTS)))
def test_roots_are_those_of_the_public_vectors(size: int) -> None:
    assert root(LEAVES[:size]).hex() == ROOTS[size]


@pytest.mark.parametrize(("index", "size"), PATHS)
def test_proofs_are_those_of_the_public_vectors(index: int, size: int) -> None:
    path = inclusion_proof(LEAVES[:size], index)

    assert [each.hex() for each in path] == PATHS[index, size]
    assert root_from_proof(LEAVES[index], index, size, path).hex() == ROOTS[size]


@pytest.mark.parametrize("size", SIZES)
def test_roots_and_proofs_are_those_of_the_definition(size: int) -> None:
    leaves = leaves_of(size)

    assert root(leaves) == hash_of(leaves)
    for index, leaf in enumerate(leaves):
        path = inclusion_proof(leaves, index)
        assert path == path_of(index, leaves)
        assert root_from_proof(leaf, index, size, path) == root(leaves)


@pytest.mark.parametrize("size", [1, 2, 7, 8, 33])
def test_a_proof_that_is_too_long_or_too_short_is_refused(size: int) -> None:
    leaves = leaves_of(size)
    for index, leaf in enumerate(leaves):
        path = inclusion_proof(leaves, index)
        for wrong in ([*path, path[-1] if path else root(leaves)], *([path[:-1], path[1:]] if path else [])):
            with pytest.raises(ProofRefused, match=r"too long|too short"):
                root_from_proof(leaf, index, size, wrong)


@pytest.mark.parametrize("length", [0, 20, 31, 33, 64])
def test_a_hash_of_another_length_is_refused(length: int) -> None:
    with pytest.raises(ProofRefused, match="32 bytes"):
        root_from_proof(b"leaf", 0, 2, [bytes(length)])


@pytest.mark.parametrize(("index", "size"), [(-1, 4), (4, 4), (0, 0), (0, -1)])
def test_a_leaf_outside_the_tree_is_refused(index: int, size: int) -> None:
    with pytest.raises(ProofRefused, match="no leaf"):
        root_from_proof(b"leaf", index, size, [])


@pytest.mark.parametrize(
    ("index", "sizes"), [(0, [1, 2, 16, 32, 65, 1 << 40]), (31, [32, 65]), (32, [34, 35, 64, 65, 1 << 40])]
)
def test_a_lie_about_the_size_of_the_tree_is_refused(index: int, sizes: list[int]) -> None:
    leaves = leaves_of(33)
    path = inclusion_proof(leaves, index)

    for size in sizes:
        with pytest.raises(ProofRefused, match=r"too long|too short"):
            root_from_proof(leaves[index], index, size, path)


def test_a_leaf_at_another_place_does_not_lead_to_the_root() -> None:
    leaves = leaves_of(8)
    path = inclusion_proof(leaves, 3)

    assert all(root_from_proof(leaves[3], index, 8, path) != root(leaves) for index in range(8) if index != 3)


def test_a_node_cannot_stand_for_a_leaf() -> None:
    """Both are hashed with a byte of their own before them."""
    leaves = leaves_of(4)
    node = leaf_hash(leaves[0]) + leaf_hash(leaves[1])

    assert root([node, leaves[2] + leaves[3]]) != root(leaves)
    assert leaf_hash(node) != node_hash(leaf_hash(leaves[0]), leaf_hash(leaves[1]))
    assert root_from_proof(node, 0, 2, [node_hash(leaf_hash(leaves[2]), leaf_hash(leaves[3]))]) != root(leaves)


@pytest.mark.parametrize("size", [3, 5, 6, 7])
def test_leaves_that_are_repeated_give_another_root(size: int) -> None:
    """Unlike in the tree of Bitcoin, where the last leaf of an odd number is hashed with itself."""
    leaves = leaves_of(size)

    assert len({root(leaves), root([*leaves, leaves[-1]]), root([*leaves, *leaves[-2:]])}) == 3


def test_a_leaf_that_is_not_there_has_no_proof() -> None:
    with pytest.raises(IndexError, match="no leaf 4 among 4"):
        inclusion_proof(leaves_of(4), 4)
