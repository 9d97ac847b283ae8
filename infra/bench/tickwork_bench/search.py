"""How long a search takes among a million chunks of many tenants, next to a textbook search."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from uuid import UUID

import psycopg

from tickwork.database.migrate import migrate
from tickwork_bench.chunks import DOCUMENT, sentences
from tickwork_bench.measure import Bench, Measurement, Result, Target, interleaved, median_figure, seconds_of

CHUNKS_OF_A_DOCUMENT = 100
QUERIES = {
    "rare word": "Kündigungsklausel",
    "frequent word": "Mieter",
    "two words": "Mietvertrag Zahlung",
    "end of words": "Abrechnung",
    "phrase": '"Mieter zahlen"',
}
# Of the tenants the first one owns a quarter. One chunk in ten is a title, one in fifty holds a rare word.
FILL = """
    with extractions as (
      insert into public.extractions (tenant_id, document_id, engine)
      select documents.tenant_id, documents.id, 'local' from public.documents where documents.id = any (%(documents)s)
      returning *
    )
    insert into public.document_chunks
      (document_id, tenant_id, extraction_id, chunk_index, page_number, element_type, text)
    select
      extractions.document_id,
      extractions.tenant_id,
      extractions.id,
      chunk.number,
      1 + chunk.number / 20,
      case chunk.number %% 10 when 0 then 'Title' else 'NarrativeText' end,
      case chunk.number %% 10
        when 0 then left(texts.text, 40)
        else texts.text || case chunk.number when 51 then ' Kündigungsklausel' else '' end
      end
    from extractions
    cross join generate_series(0, %(chunks)s - 1) as chunk(number)
    join bench_texts as texts on texts.number = abs(hashtext(extractions.id::text || chunk.number)) %% %(texts)s
"""
PLAIN_COPY = """
    create schema plain;
    create table plain.chunks as
    select document_id, chunk_index, tenant_id, text, to_tsvector('german', text) as search
    from public.document_chunks;
    create index on plain.chunks using gin (search);
    create index on plain.chunks (tenant_id);
"""
SEARCH = "select * from public.search_chunks(%(tenant)s, %(query)s)"
PLAIN_SEARCH = """
    select hits.*, ts_headline('german', text, websearch_to_tsquery('german', %(query)s))
    from (
      select *, ts_rank(search, websearch_to_tsquery('german', %(query)s)) as rank
      from plain.chunks
      where tenant_id = %(tenant)s
        and search @@ websearch_to_tsquery('german', %(query)s)
      order by rank desc
      limit 20
    ) as hits
"""
SEARCHES = {"tickwork": SEARCH, "textbook": PLAIN_SEARCH}


def run(bench: Bench) -> Result:
    chunks, tenants = bench.size(1_000_000, 20_000), bench.size(500, 20)
    with bench.place.database() as url, ExitStack() as running:
        bench.say(f"storing {chunks} chunks of {tenants} tenants")
        large, *_, small = filled(url, chunks, tenants)
        connection = running.enter_context(psycopg.connect(url, autocommit=True))
        runs: dict[str, Callable[[], float]] = {}
        for size, tenant in {"small": small, "large": large}.items():
            for kind, query in QUERIES.items():
                for name, search in SEARCHES.items():
                    values = {"tenant": tenant, "query": query}
                    runs[named(name, kind, size)] = partial(milliseconds_of, connection, search, values)
        samples = interleaved(bench, runs, bench.size(15, 5))
    figures = [
        median_figure(named(name, kind, size), samples[named(name, kind, size)], "ms", named("textbook", kind, size))
        for size in ("small", "large")
        for kind in QUERIES
        for name in SEARCHES
    ]
    # A small table says nothing about a large one.
    frequent, textbook = (named(name, "frequent word", "large") for name in SEARCHES)
    return Result(figures, [] if bench.is_quick else [Target(frequent, [textbook], at_most=1)])


def named(name: str, kind: str, size: str) -> str:
    return f"{name}, {kind}, {size} tenant"


def filled(url: str, chunks: int, tenants: int) -> list[UUID]:
    """The tenants, the largest first. By two at once, and the index last: else it would take an hour."""
    migrate(url)
    texts = list(sentences(5_000))
    with psycopg.connect(url, autocommit=True) as connection:
        made = "insert into public.organizations (name) select n::text from generate_series(1, %s) as n returning id"
        ids: list[UUID] = [row[0] for row in connection.execute(made, [tenants]).fetchall()]
        count = chunks // CHUNKS_OF_A_DOCUMENT
        owners = [ids[0] if number % 4 == 0 else ids[1 + number % (tenants - 1)] for number in range(count)]
        documents: list[UUID] = [row[0] for row in connection.execute(DOCUMENT, [owners]).fetchall()]
        connection.execute(
            "create table bench_texts as select n - 1 as number, t as text "
            "from unnest(%s::text[]) with ordinality as x(t, n)",
            [texts],
        )
        index = connection.execute("select pg_get_indexdef('public.chunks_by_word'::regclass)").fetchone()
        assert index is not None
        connection.execute("drop index public.chunks_by_word")
        with ThreadPoolExecutor(2) as two:
            list(two.map(partial(fill, url, len(texts)), (documents[::2], documents[1::2])))
        connection.execute("set maintenance_work_mem = '512MB'")
        connection.execute(index[0])
        connection.execute(PLAIN_COPY)
        connection.execute("vacuum analyze")
    return ids


def fill(url: str, texts: int, documents: list[UUID]) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(FILL, {"documents": documents, "texts": texts, "chunks": CHUNKS_OF_A_DOCUMENT})


def milliseconds_of(connection: psycopg.Connection, search: str, values: dict[str, object]) -> float:
    return seconds_of(lambda: connection.execute(search, values).fetchall()) * 1_000


SEARCH_TIME = Measurement("search", "a search among a million chunks of 500 tenants, against a textbook one", run)
