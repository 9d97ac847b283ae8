"""Queries of any text: found or not, never an error of SQL, and never a chunk of somebody else."""

from contextlib import suppress
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.database.test_search import LEASE, search, store
from tests.fuzz import bounded, quick
from tests.world import World
from tickwork.errors import InvalidRequest

WORDS = ["Mietvertrag", "kündigt", "Frist", "invoices", "Abrechnung", "2024", "12.03.2024", "Gebühr", "drei", "der"]
PIECES = ["-", '"', " ", "or", "OR", "oder", "and", "(", ")", "&", "|", "!", ":*", ":A", "<->", "<2>", "'", "\\", "''"]
ODD = [
    "%",
    "_",
    "*",
    "/",
    "a@b.c",
    "http://x.y/z?q='1",
    "<b>",
    "&amp;",
    "ß",
    "ﬁ",
    "²",
    "\u00ad",
    "\u202e",
    "\ufeff",
    "𝄞",
]
QUERIES = (
    st.lists(st.sampled_from([*WORDS, *PIECES, *ODD]), max_size=20).map(" ".join)
    | st.lists(st.sampled_from([*WORDS, *PIECES, *ODD]), max_size=20).map("".join)
    | st.text(max_size=40)
    | st.text(st.sampled_from("-\"' \\():|&!<>*or"), max_size=40)
    | st.sampled_from(
        ["x" * 1000, "x" * 1001, "ab " * 333, '"' * 1000, "-a " * 300, "a or " * 200, "\ufdfa" * 50, "\0", "\udcff"]
    )
)


@pytest.fixture(scope="module")
def tenants(world: World) -> tuple[UUID, UUID]:
    """Two with the same texts, whose lexemes have the same key."""
    mine, other = (UUID(f"{uuid4().hex[:-6]}abcdef") for _ in range(2))
    for tenant in (mine, other):
        world.run("insert into organizations (id, name) values (%s, 'acme')", tenant)
        store(world, tenant, LEASE)
        store(world, tenant, ["# Rechnung", *LEASE[3:5]])
    return mine, other


@quick
@given(QUERIES)
def test_a_query_finds_own_chunks_or_nothing(world: World, tenants: tuple[UUID, UUID], query: str) -> None:
    own = {row["id"] for row in world.rows("select id from documents where tenant_id = %s", tenants[0])}

    with suppress(InvalidRequest):
        hits = search(world, tenants[0], query, max_hits=100)
        assert {hit["document_id"] for hit in hits} <= own
        assert all(hit["total"] == len(hits) and hit["rank"] > 0 for hit in hits)
        pages = [hit for skip in range(len(hits)) for hit in search(world, tenants[0], query, max_hits=1, skip=skip)]
        assert pages == hits


@bounded
@given(QUERIES.filter(lambda query: len(query) < 900 and '"' not in query), st.sampled_from(WORDS[:-1]))
def test_what_is_excluded_is_not_found(world: World, tenants: tuple[UUID, UUID], query: str, word: str) -> None:
    with suppress(InvalidRequest):
        without = {hit["document_id"] for hit in search(world, tenants[0], f"{query} -{word}", max_hits=100)}
        assert not without & {hit["document_id"] for hit in search(world, tenants[0], f'"{word}"', max_hits=100)}
        assert without <= {hit["document_id"] for hit in search(world, tenants[0], query, max_hits=100)}


@bounded
@given(st.text(max_size=200))
def test_any_text_can_be_stored_and_none_is_searched_with_an_error(
    world: World, tenants: tuple[UUID, UUID], text: str
) -> None:
    storable = text.replace("\0", "").encode(errors="replace").decode()
    with world.admin.transaction(force_rollback=True):
        document = store(world, tenants[0], [f"{storable} Kennwort"])
        query = "select chunk_index from search_chunks(%s, %s, document_id => %s)"
        assert [row["chunk_index"] for row in world.rows(query, tenants[0], "Kennwort", document)] == [0]
        world.rows(query, tenants[0], storable, document)
