"""Search: which chunks a query finds, in which order, how they are shown, and to whom."""

import json
from collections.abc import Iterator
from random import Random
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest

from tests.world import World
from tickwork.errors import InvalidRequest
from tickwork.testing.database import TEMPLATE, cloned
from tickwork_local.postgres import Server

LEASE = [
    "# Mietvertrag Hauptstraße 5",
    "Der Mieter kündigt mit einer Frist von drei Monaten zum Ende des Jahres.",
    "Die Nebenkostenabrechnung 2024 wird bis März verschickt.",
    "Für die Abrechnung fällt eine Gebühr an.",
    "Your invoices were paid by three companies.",
    "Stromrechnung/Wasserrechnung vom 12.03.2024, Nr.17",
    "Drei Monate lang war die Frist offen.",
]


def store(world: World, tenant: UUID, texts: list[str], doc_type: str | None = None) -> UUID:
    """A document of these chunks. What begins with # is a title."""
    document: UUID = world.value(
        """
        insert into documents (tenant_id, name, vault_path, mime_type, size, doc_type, doc_type_source)
        values (%s, 'Vertrag.pdf', %s, 'application/pdf', 1, %s, case when %s::text is not null then 'member' end)
        returning id
        """,
        tenant,
        f"tenant/{tenant}/documents/{uuid4()}.pdf",
        doc_type,
        doc_type,
    )
    world.run(
        """
        with extraction as (
          insert into extractions (tenant_id, document_id, engine) values (%s, %s, 'local') returning *
        )
        insert into document_chunks
          (document_id, tenant_id, extraction_id, chunk_index, page_number, element_type, text)
        select document_id, tenant_id, extraction.id, number - 1, number,
          case when text like '# %%' then 'Title' else 'NarrativeText' end, ltrim(text, '# ')
        from extraction, unnest(%s::text[]) with ordinality as chunk(text, number)
        """,
        tenant,
        document,
        texts,
    )
    return document


def found(world: World, tenant: UUID, query: str, **arguments: Any) -> list[int]:
    return [hit["chunk_index"] for hit in search(world, tenant, query, **arguments)]


def search(world: World, tenant: UUID, query: str, **arguments: Any) -> list[dict[str, Any]]:
    return world.service.documents.search_chunks(tenant, query, **arguments)


@pytest.fixture(scope="module")
def world(server: Server) -> Iterator[World]:
    """One for all: each test has a tenant of its own, and whatever others store is nothing to it."""
    with cloned(server, TEMPLATE) as name:
        worker_url = server.url(name, "tickwork_worker")
        with World(server.url(name), worker_url) as world:
            yield world


@pytest.fixture
def tenant(world: World) -> UUID:
    return world.tenant()


@pytest.fixture
def lease(world: World, tenant: UUID) -> UUID:
    return store(world, tenant, LEASE)


@pytest.mark.usefixtures("lease")
@pytest.mark.parametrize(
    ("query", "hits"),
    [
        ("Mietverträge", [0]),
        ("MIETVERTRÄGE", [0]),
        ("mietvertraege", [0]),
        ("Hauptstrasse", [0]),
        ("hauptstraßen", [0]),
        ("Gebuehren", [3]),
        ("gebühr", [3]),
        ("invoice", [4]),
        ("company", [4]),
        ("17", [5]),
        ("12.03.2024", [5]),
        ("03.12.2024", []),
        ("nothing-like-it", []),
    ],
)
def test_a_word_is_found_in_its_other_forms(world: World, tenant: UUID, query: str, hits: list[int]) -> None:
    assert found(world, tenant, query) == hits


@pytest.mark.parametrize(("written", "sought"), [("Gebuehr", "Gebühren"), ("Strasse", "Straße"), ("Haeuser", "Haus")])
def test_the_text_may_be_the_one_without_umlauts(world: World, tenant: UUID, written: str, sought: str) -> None:
    store(world, tenant, [f"Die {written} ist bekannt."])

    assert found(world, tenant, sought) == [0]


@pytest.mark.usefixtures("lease")
@pytest.mark.parametrize(
    ("query", "hits"),
    [
        ("Vertrag", [0]),
        ("Verträge", [0]),
        ("Kostenabrechnung", [2]),
        ("Nebenkosten", [2]),
        ("Rechnung", [5, 3, 2]),
        ("Strasse", [0]),
        ("Wasser", [5]),
        ("rag", []),
    ],
)
def test_a_word_is_found_at_either_end_of_another(world: World, tenant: UUID, query: str, hits: list[int]) -> None:
    assert found(world, tenant, query) == hits


@pytest.mark.usefixtures("lease")
def test_whole_words_rank_above_parts(world: World, tenant: UUID) -> None:
    assert found(world, tenant, "Abrechnung") == [3, 2]


def test_whole_words_rank_above_parts_even_in_titles(world: World, tenant: UUID) -> None:
    store(world, tenant, ["# Mietvertrag, Kaltmiete", "Hier steht sonst einiges, und dann auch noch etwas zur Miete."])

    assert found(world, tenant, "miete") == [1, 0]


def test_titles_rank_above_text_and_near_words_above_distant_ones(world: World, tenant: UUID) -> None:
    far = "Kaution " + "und sonst vieles andere " * 10 + "Zahlung"
    store(world, tenant, [far, "Die Kaution ist eine Zahlung. Die Kaution, die Zahlung!", "# Zahlung der Kaution"])

    assert found(world, tenant, "kaution zahlung") == [2, 1, 0]


def test_a_word_counts_more_where_there_are_few(world: World, tenant: UUID) -> None:
    store(world, tenant, ["Die Kaution, und sonst noch Miete, Heizung, Wasser, Strom.", "Die Kaution"])

    assert found(world, tenant, "kaution") == [1, 0]


@pytest.mark.usefixtures("lease")
@pytest.mark.parametrize(
    ("query", "hits"),
    [
        ('"Frist von drei Monaten"', [1]),
        ('"Fristen von drei Monat"', [1]),
        ('"drei Frist"', []),
        ("frist monat", [6, 1]),
        ("frist -mieter", []),
        ("frist -mietern", []),
        ('frist -"drei Monaten zum Ende"', []),
        ('frist -"drei Ende"', [6, 1]),
        ("frist -kaution", [6, 1]),
        ("frist -vertrag", [6, 1]),
        ("invoice or gebühr", [4, 3]),
        ("invoice oder frist mieter", [1, 4]),
        ("invoice or -frist", []),
        ("invoice or kaution -frist", []),
        ("kaution frist or invoice gebühr -zahlung", [3, 4]),
        ('"vertrag"', []),
        ("abrechnung -rechnung", [3, 2]),
        ("the frist of drei", [6, 1]),
    ],
)
def test_phrases_alternatives_and_exclusions_are_understood(
    world: World, tenant: UUID, query: str, hits: list[int]
) -> None:
    assert sorted(found(world, tenant, query)) == sorted(hits)


@pytest.mark.usefixtures("lease")
@pytest.mark.parametrize("query", ["", "  ", "die und der", "the of", "-frist", '"', '""', "((&|!", "<->", ":*", "or"])
def test_a_query_without_a_word_to_search_for_finds_nothing(world: World, tenant: UUID, query: str) -> None:
    assert search(world, tenant, query) == []


@pytest.mark.usefixtures("lease")
@pytest.mark.parametrize(
    "query",
    [
        '"Frist von drei',
        "frist & | ! ( <-> :* ) '",
        "frist''",
        "frist\\",
        "frist:A*",
        "!frist",
        "<frist>",
        '-"" frist',
        "frist or or or",
        "\u202efrist\u00ad",
        "frist " * 160,
        "frist%_",
        "FRIST\t\n\x01",
    ],
)
def test_operators_of_the_server_are_no_more_than_separators(world: World, tenant: UUID, query: str) -> None:
    assert 1 in found(world, tenant, query)


def test_no_query_and_no_text_breaks_the_search(world: World, tenant: UUID) -> None:
    dice = Random(7)
    pieces = [
        *"'\\\"-:*&|!()<>%_@./#~+^,;{}[]=?$\t\n",
        "or",
        "frist",
        "ü",
        "ß",
        "12",
        "1e5",
        "+5e-3",
        "&amp;",
        "a@b.de",
    ]
    pieces += ["http://x.de/a?b='c'", "\u00a0", "\u202e", "𝔉𝔯𝔦𝔰𝔱", "مرحبا", "e\u0301", "\ufffd", "x" * 250, " ", " "]
    texts = ["".join(dice.choices(pieces, k=dice.randint(1, 30))) for _ in range(150)]

    store(world, tenant, texts)

    for text in texts:
        search(world, tenant, text[:1000])
    assert len(found(world, tenant, "frist", max_hits=100)) > 20


def test_a_nul_is_refused_before_it_gets_anywhere(world: World, tenant: UUID) -> None:
    with pytest.raises((psycopg.DataError, InvalidRequest)):
        search(world, tenant, "frist\0")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"tenant_id": None}, "tenant_id: must be given"),
        ({"query": None}, "query: must be a text of at most 1000 characters, not null"),
        ({"query": "x" * 1001}, "query: must be a text of at most 1000 characters, not of 1001"),
        ({"max_hits": 0}, "max_hits: 0 is out of range, it must be 1 to 100"),
        ({"max_hits": 101}, "max_hits: 101 is out of range"),
        ({"max_hits": None}, "max_hits: null is out of range"),
        ({"skip": -1}, "skip: must be 0 or more, not -1"),
        ({"skip": None}, "skip: must be 0 or more, not null"),
    ],
)
def test_bad_input_is_refused_with_a_hint(world: World, arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidRequest, match=said) as refused:
        world.service.documents.search_chunks(**{"tenant_id": uuid4(), "query": "x", **arguments})

    assert refused.value.sqlstate == "TWARG"
    assert refused.value.hint


def test_pages_show_every_hit_once(world: World, tenant: UUID) -> None:
    for _ in range(3):
        store(world, tenant, ["Eine Zahlung an die Verwaltung."] * 9)

    pages = [search(world, tenant, "zahlung", max_hits=10, skip=skip) for skip in (0, 10, 20, 30)]

    hits = [(hit["document_id"], hit["chunk_index"]) for page in pages for hit in page]
    assert [len(page) for page in pages] == [10, 10, 7, 0]
    assert hits == sorted(set(hits))
    assert {hit["total"] for page in pages for hit in page} == {27}


def test_a_search_can_be_narrowed_to_a_document_or_a_type(world: World, tenant: UUID) -> None:
    first = store(world, tenant, ["Die Zahlung"], doc_type="lease")
    second = store(world, tenant, ["Die Zahlung"])

    assert [hit["document_id"] for hit in search(world, tenant, "zahlung", document_id=second)] == [second]
    assert [hit["document_id"] for hit in search(world, tenant, "zahlung", doc_type="lease")] == [first]
    assert search(world, tenant, "zahlung", document_id=second, doc_type="lease") == []


def test_a_hit_says_where_it_is(world: World, tenant: UUID) -> None:
    document = store(world, tenant, ["Vorwort", "# Die Zahlung"], doc_type="invoice")

    (hit,) = search(world, tenant, "zahlung")

    assert hit.pop("rank") > 0
    assert hit == {
        "document_id": document,
        "name": "Vertrag.pdf",
        "doc_type": "invoice",
        "chunk_index": 1,
        "page_number": 2,
        "element_type": "Title",
        "snippet": "Die «Zahlung»",
        "total": 1,
    }


@pytest.mark.parametrize(
    ("text", "query", "snippet"),
    [
        ("Die  Nebenkosten-\nabrechnung.", "nebenkosten", "Die «Nebenkosten»- abrechnung."),
        ("Stromrechnung/Wasser vom 12.03.", "rechnung", "«Stromrechnung»/Wasser vom 12.03."),
        ("Your companies & <b>Gebühr</b>!", "company gebuehr", "Your «companies» & <b>«Gebühr»</b>!"),
        ("<script>alert('Zahlung')</script>", "zahlung", "<script>alert('«Zahlung»')</script>"),
        ("Die «Zahlung» ist «fällig»", "fällig", "Die ‹Zahlung› ist ‹«fällig»›"),
        ("Die Frist ist keine Zahlung", "frist or mieter -kaution", "Die «Frist» ist keine Zahlung"),
    ],
)
def test_hits_are_marked_in_plain_text(world: World, tenant: UUID, text: str, query: str, snippet: str) -> None:
    store(world, tenant, [text])

    assert [hit["snippet"] for hit in search(world, tenant, query)] == [snippet]


def test_a_long_text_is_shown_around_its_hits(world: World, tenant: UUID) -> None:
    store(world, tenant, ["Vorher steht viel. " * 100 + "Die Kaution wird bezahlt. " + "Nachher auch. " * 100])

    (hit,) = search(world, tenant, "kaution")

    assert "Die «Kaution» wird bezahlt" in hit["snippet"]
    assert len(hit["snippet"]) < 300


def test_a_member_searches_his_own_tenants_only(world: World, tenant: UUID) -> None:
    foreign = world.tenant("foreign")
    for each in (tenant, foreign):
        store(world, each, ["Die Zahlung"])
    member = world.member_of(tenant)
    query = "select * from search_chunks(%s, 'zahlung')"

    assert len(member.execute(query, [tenant]).fetchall()) == 1
    assert member.execute(query, [foreign]).fetchall() == []
    assert member.execute(query, [uuid4()]).fetchall() == []
    assert len(world.connect("service_role").execute(query, [foreign]).fetchall()) == 1
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        world.connect("anon").execute(query, [tenant])


def test_tenants_whose_ids_end_alike_do_not_see_each_other(world: World) -> None:
    twins = [UUID(int=number << 64) for number in (1, 2)]
    for twin in twins:
        world.run("insert into organizations (id, name) values (%s, 'twin')", twin)
    store(world, twins[0], ["# Die Zahlung", "Die Zahlung"])

    assert [len(search(world, twin, "zahlung")) for twin in twins] == [2, 0]


def test_a_text_too_long_for_a_vector_is_stored_and_found_by_its_beginning(world: World, tenant: UUID) -> None:
    words = " ".join(f"straßenverkehrsbüro{number}" for number in range(45_000))
    assert len(words) > 1_000_000

    store(world, tenant, [f"Zahlung {words} Kaution", f"# Zahlung {words}", "Zahlung" + "x" * 1_000_000])
    # As long as a lexeme may be: no room is left for what is put before it.
    store(world, tenant, ["# Zahlung " + "x" * 2046])

    assert sorted(found(world, tenant, "zahlung")) == [0, 0, 1]
    assert found(world, tenant, "kaution") == []


def test_the_whole_word_is_found_among_more_parts_than_are_ranked(world: World, tenant: UUID) -> None:
    store(world, tenant, ["Der Mietvertrag"] * 2_500 + ["Ein Vertrag", "# Vertrag"])

    hits = search(world, tenant, "vertrag")

    assert [hit["chunk_index"] for hit in hits[:2]] == [2_501, 2_500]
    assert hits[0]["total"] == 2_001


def test_a_search_reads_its_own_tenants_part_of_the_index(world: World) -> None:
    tenants = [world.tenant(str(number)) for number in range(20)]
    for each in tenants:
        store(world, each, ["Die Zahlung der Miete"] * 999 + ["Die Kaution"])
        store(world, each, ["Die Miete am Ahornweg", "Frei"] + ["Das Ende"] * 500)

    for member in (world.connect("service_role"), world.member_of(tenants[7])):
        for query, hits in (
            ("kaution", 1),
            # Looked for in one chunk, then word by word to find which is rarer: 999 and 1,000, and Postgres 15 rounds.
            ("zahlung miete", 2 * 1_000),
            # It reads the one chunk to leave out its document, then the others: those of that document in vain.
            ("miete -kaution", 1_000),
            # The chunks with the words by their index, and those of one document by theirs.
            ("frei ahornweg", 502),
        ):
            nodes = [node for plan in explained(world, member, tenants[7], query) for node in nodes_of(plan)]
            scans = [node for node in nodes if node.get("Relation Name") == "document_chunks"]
            assert {node["Node Type"] for node in scans} <= {"Bitmap Heap Scan", "Index Scan"}
            assert max(rows_read(node) for node in scans) <= hits, query
            indexes = {node["Index Name"] for node in nodes if "Index Name" in node and "chunk" in node["Index Name"]}
            assert indexes <= {"chunks_by_word", "chunk_index_is_unique_in_its_document"}
            assert "chunks_by_word" in indexes


def test_an_excluded_word_is_looked_for_in_so_many_chunks_and_in_the_documents_found(
    world: World, tenant: UUID
) -> None:
    # The statistics know the other tenants' chunks and none of these.
    store(world, world.tenant("other"), ["Die Kündigung"] * 1_000)
    world.run("analyze document_chunks")
    for _ in range(25):
        store(world, tenant, ["Die Kündigung"] * 1_000)
    store(world, tenant, ["# Mietvertrag", "Die Wohnung"])

    plans = explained(world, world.connect("service_role"), tenant, "mietvertrag -kündigung")

    scans = [node for plan in plans for node in nodes_of(plan) if node.get("Relation Name") == "document_chunks"]
    assert max(rows_read(node) for node in scans) == 20_000
    assert sorted(rows_read(node) for node in scans)[-2] <= 2
    assert {node["Node Type"] for node in scans} <= {"Bitmap Heap Scan", "Index Scan"}


def explained(world: World, member: psycopg.Connection[Any], tenant: UUID, query: str) -> list[dict[str, Any]]:
    """The plans of the statements that read chunks, in functions of the owner's."""
    plans: list[dict[str, Any]] = []

    def note(notice: psycopg.errors.Diagnostic) -> None:
        text = str(notice.message_primary).partition("plan:\n")[2]
        plans.extend([json.loads(text)] if "document_chunks" in text else [])

    role = member.execute("select current_user").fetchone()["current_user"]  # type: ignore[index]
    member.execute("reset role")
    for setting in ("log_min_duration = 0", "log_analyze = on", "log_nested_statements = on", "log_format = json"):
        member.execute(f"load 'auto_explain'; set auto_explain.{setting}")
    member.execute(f"set client_min_messages = log; set role {role}")
    member.add_notice_handler(note)
    assert member.execute("select from search_chunks(%s, %s)", [tenant, query]).fetchall()
    member.remove_notice_handler(note)
    return [plan["Plan"] for plan in plans]


def nodes_of(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("Plans", []):
        yield from nodes_of(child)


def rows_read(node: dict[str, Any]) -> float:
    return float((node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"])


def test_what_the_worker_and_the_service_store_is_found(world: World, tenant: UUID, lease: UUID) -> None:
    insert = """
        insert into document_chunks (document_id, tenant_id, extraction_id, chunk_index, element_type, text)
        select document_id, tenant_id, id, %s, 'Title', 'Kaution' from extractions where document_id = %s
    """
    job = world.running_job(tenant=tenant)

    with world.connect_worker().transaction() as transaction:
        transaction.connection.execute("select hold_job(%s, %s)", [job.id, job.lease_token])
        transaction.connection.execute(insert, [100, lease])
    world.connect("service_role").execute(insert, [101, lease])

    assert found(world, tenant, "kaution") == [100, 101]


def test_a_new_text_replaces_the_old_one_when_it_is_committed(world: World, tenant: UUID, lease: UUID) -> None:
    with world.connect().transaction() as transaction:
        change = "update document_chunks set text = 'Eine Kaution' where document_id = %s and chunk_index = 3"
        transaction.connection.execute(change, [lease])
        before = found(world, tenant, "gebühr"), found(world, tenant, "kaution")

    after = found(world, tenant, "gebühr"), found(world, tenant, "kaution")

    assert (before, after) == (([3], []), ([], [3]))


def test_a_document_with_an_excluded_word_is_not_shown_wherever_the_word_is(world: World, tenant: UUID) -> None:
    kept = store(world, tenant, ["# Mietvertrag", "Die Wohnung liegt am Ahornweg."])
    store(
        world, tenant, ["# Mietvertrag", "Die Wohnung liegt am Ahornweg.", "# Anhang", "Kündigungen sind schriftlich."]
    )

    for query in ("mietvertrag -kündigung", "mietvertrag ahornweg -kündigung", "parkplatz or mietvertrag -kündigung"):
        assert {hit["document_id"] for hit in search(world, tenant, query)} == {kept}, query


def test_a_document_with_an_excluded_word_is_not_shown_however_frequent_the_word_is(world: World, tenant: UUID) -> None:
    """More chunks have it than are read to leave out their documents."""
    for _ in range(3):
        store(world, tenant, ["Die Kündigung"] * 10_000)
    kept = store(world, tenant, ["# Mietvertrag", "Die Wohnung"])
    late = store(world, tenant, ["# Mietvertrag", "Die Wohnung", "Die Kündigung"])
    assert {hit["document_id"] for hit in search(world, tenant, "mietvertrag")} == {kept, late}

    for query in ("mietvertrag -kündigung", "mietvertrag wohnung -kündigung"):
        assert {hit["document_id"] for hit in search(world, tenant, query)} == {kept}, query


def test_a_document_has_all_words_in_one_chunk_or_another(world: World, tenant: UUID) -> None:
    near = store(world, tenant, ["Der Mietvertrag der Hauptstraße", "Mietvertrag", "Ende"])
    far = store(world, tenant, ["# Mietvertrag", "Die Wohnung liegt in der Hauptstraße.", "Haustiere sind erlaubt."])
    store(world, tenant, ["# Mietvertrag", "Das Haus steht am Ahornweg."])

    hits = search(world, tenant, "mietvertrag hauptstraße")

    assert [(hit["document_id"], hit["chunk_index"], hit["total"]) for hit in hits] == [
        (near, 0, 3),
        (far, 0, 3),
        (far, 1, 3),
    ]
    assert found(world, tenant, "mietvertrag hauptstraße", skip=2) == [1]
    assert found(world, tenant, "mietvertrag hauptstraße", document_id=far) == [0, 1]
    assert found(world, tenant, "mietvertrag parkplatz") == []
    assert sorted(found(world, tenant, "haustiere hauptstraße or nichts")) == [1, 2]


def test_all_words_are_found_in_a_document_though_others_fill_the_limits(world: World, tenant: UUID) -> None:
    store(world, tenant, ["Der Mietvertrag"] * 3_500)
    late = store(world, tenant, ["Der Mietvertrag", "Die Hauptstraße"])

    assert {hit["document_id"] for hit in search(world, tenant, "mietvertrag hauptstraße")} == {late}


def test_hits_of_one_document_are_together(world: World, tenant: UUID) -> None:
    long = store(world, tenant, ["# Zahlung", "Hier steht sonst noch einiges, und dann etwas zur Zahlung."])
    short = store(world, tenant, ["Eine Zahlung.", "Die Zahlung ist da."])

    hits = [(hit["document_id"], hit["chunk_index"]) for hit in search(world, tenant, "zahlung")]

    assert hits == [(long, 0), (long, 1), (short, 0), (short, 1)]


def test_the_page_after_the_last_hit_is_empty_and_not_a_wider_search(world: World, tenant: UUID) -> None:
    store(world, tenant, ["Mietvertrag Hauptstraße", "Mietvertrag", "Hauptstraße"])

    assert found(world, tenant, "mietvertrag hauptstraße") == [0]
    assert found(world, tenant, "mietvertrag hauptstraße", skip=1) == []
