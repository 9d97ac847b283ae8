"""What it costs to store the text of a document so that it is found, against storing it alone."""

import json
from collections.abc import Callable, Iterator
from functools import partial
from random import Random
from uuid import UUID

import psycopg

from tickwork.database.migrate import migrate
from tickwork.families.extract.chunks import INSERT_CHUNKS
from tickwork_bench.measure import Bench, Measurement, Result, Target, interleaved, median_figure, seconds_of

HEADS = "miet neben heiz betriebs wohnungs haus grund kauf versicherungs energie eigentümer steuer bank strom wasser"
TAILS = (
    "vertrag kosten abrechnung gebühr frist konto nummer betrag verwaltung protokoll ausweis bescheid schlüssel raum"
)
OTHERS = """
    der die das und in den von zu mit auf für ist im dem nicht ein eine als auch an werden aus nach wird bei oder
    vermieter mieter wohnung miete zahlung monat jahr euro vereinbart gemäß schriftlich zahlen kündigen spätestens
    the of and to is that for lease tenant landlord invoice payment agreement parties notice property owner
"""
DOCUMENT = """
    insert into public.documents (tenant_id, name, vault_path, mime_type, size)
    select tenant_id, 'Vertrag', 'tenant/' || tenant_id || '/documents/' || gen_random_uuid(), 'text/plain', 1
    from unnest(%s::uuid[]) as tenant_id
    returning id
"""
# With the id of its document, which is as good as any.
EXTRACTION = "insert into public.extractions (id, tenant_id, document_id, engine) values (%(d)s, %(t)s, %(d)s, 'local')"
COLUMNS = "document_id, tenant_id, extraction_id, chunk_index, page_number, element_type, text, metadata"
BARE, PLAIN = "bare COPY", "COPY with a German vector"
TABLES = """
    create schema bare;
    create schema plain;
    create table bare.chunks (like public.document_chunks including defaults);
    alter table bare.chunks drop column search, add primary key (document_id, chunk_index);
    create table plain.chunks (like bare.chunks including all);
    alter table plain.chunks add column search tsvector generated always as (to_tsvector('german', text)) stored;
    create index on plain.chunks using gin (search);
"""


def run(bench: Bench) -> Result:
    """Documents of a thousand chunks in turn, each in a transaction of its own."""
    with bench.place.database() as url:
        migrate(url)
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(TABLES)
            tenant = connection.execute("insert into public.organizations (name) values ('a') returning id").fetchone()
            assert tenant is not None
            texts = list(sentences(bench.size(1_000, 200)))
            runs: dict[str, Callable[[], float]] = {
                "tickwork": partial(microseconds_of, by_handler, connection, tenant[0], texts),
                BARE: partial(microseconds_of, partial(by_copy, "bare.chunks"), connection, tenant[0], texts),
                PLAIN: partial(microseconds_of, partial(by_copy, "plain.chunks"), connection, tenant[0], texts),
            }
            samples = interleaved(bench, runs, bench.size(15, 5))
    return Result(
        [median_figure(f"{name}, a chunk", each, "µs", f"{BARE}, a chunk") for name, each in samples.items()],
        [Target("tickwork, a chunk", [f"{PLAIN}, a chunk"], at_most=5)],
    )


def sentences(number: int) -> Iterator[str]:
    """Texts as long as paragraphs are, a third of their words compounds, and always the same."""
    dice = Random(1)
    compounds = [head + tail for head in HEADS.split() for tail in TAILS.split()]
    for _ in range(number):
        words = [dice.choice(compounds if dice.random() < 0.33 else OTHERS.split()) for _ in range(dice.randint(4, 70))]
        yield " ".join(words).capitalize() + "."


Store = Callable[[psycopg.Connection, UUID, UUID, list[str]], None]


def microseconds_of(store: Store, connection: psycopg.Connection, tenant: UUID, texts: list[str]) -> float:
    document = connection.execute(DOCUMENT, [[tenant]]).fetchone()
    assert document is not None
    connection.execute(EXTRACTION, {"t": tenant, "d": document[0]})

    def write() -> None:
        with connection.transaction():
            store(connection, tenant, document[0], texts)

    return seconds_of(write) / len(texts) * 1_000_000


def by_handler(connection: psycopg.Connection, tenant: UUID, document: UUID, texts: list[str]) -> None:
    connection.execute(
        INSERT_CHUNKS,
        {
            "document_id": document,
            "tenant_id": tenant,
            "extraction_id": document,
            "first": 0,
            "pages": [1 + number // 20 for number in range(len(texts))],
            "types": ["NarrativeText"] * len(texts),
            "texts": texts,
            "metadata": [json.dumps({"page_number": 1 + number // 20}) for number in range(len(texts))],
        },
    )


def by_copy(table: str, connection: psycopg.Connection, tenant: UUID, document: UUID, texts: list[str]) -> None:
    with connection.cursor().copy(f"copy {table} ({COLUMNS}) from stdin") as copy:
        for number, text in enumerate(texts):
            page = 1 + number // 20
            metadata = json.dumps({"page_number": page})
            copy.write_row((document, tenant, document, number, page, "NarrativeText", text, metadata))


CHUNKS = Measurement("chunks", "storing the chunks of a document with everything that the search needs", run)
