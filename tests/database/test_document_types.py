"""Document types and corrections: who sees them, who sets them, and what a tenant has of its own."""

from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.world import World
from tickwork.database.connection import Connection
from tickwork.families.classify.evaluate import shipped_types
from tickwork.families.classify.model import classify
from tickwork.families.classify.stored import examples_of, remember_words, types_of
from tickwork.families.classify.words import words_of
from tickwork.shipped import MIGRATIONS

CORRECT = "select * from public.correct_document_type(%s, %s)"


def document(world: World, tenant: UUID, name: str = "scan.pdf") -> UUID:
    found: UUID = world.value(
        "insert into documents (tenant_id, name, vault_path, mime_type, size) values (%s, %s, %s, 'text/plain', 1) "
        "returning id",
        tenant,
        name,
        f"tenant/{tenant}/documents/{uuid4()}.txt",
    )
    return found


def own_type(world: World, tenant: UUID, key: str, node: str = "own/folder", **evidence: float) -> None:
    world.run(
        "insert into document_types (tenant_id, key, label, node, evidence) values (%s, %s, 'Own', %s, %s)",
        tenant,
        key,
        node,
        Jsonb(evidence),
    )


def correct(connection: Connection, document_id: UUID, doc_type: str | None) -> dict[str, Any]:
    row = connection.execute(CORRECT, [document_id, doc_type]).fetchone()
    assert row is not None
    return row


def worker_for(world: World, tenant: UUID) -> Connection:
    """A worker in the transaction of a job of the tenant."""
    world.job(tenant=tenant)
    job = world.claim()
    connection = world.connect_worker()
    connection.execute("begin")
    connection.execute("select public.hold_job(%s, %s)", [job.id, job.lease_token])
    return connection


def test_the_database_has_the_types_that_are_measured(world: World) -> None:
    rows = world.rows("select key, node, evidence from document_types where tenant_id is null")

    assert {row["key"]: (row["node"], row["evidence"]) for row in rows} == {
        type.key: (type.node, type.evidence) for type in shipped_types(MIGRATIONS)
    }
    assert len(rows) == 15


def test_a_member_corrects_the_type_of_a_document(world: World) -> None:
    tenant = world.tenant()
    document_id = document(world, tenant)

    corrected = correct(world.member_of(tenant), document_id, "invoice")

    assert corrected["doc_type"] == "invoice"
    assert corrected["doc_type_source"] == "member"
    assert corrected["doc_type_confidence"] == 1
    assert corrected["node"] == "accounting/invoices"
    correction = world.row("select * from document_corrections")
    assert (correction["document_id"], correction["tenant_id"]) == (document_id, tenant)
    assert correction["corrected_by"] is not None


def test_the_last_correction_stands(world: World) -> None:
    tenant = world.tenant()
    document_id = document(world, tenant)
    member = world.member_of(tenant)

    correct(member, document_id, "invoice")
    correct(member, document_id, "reminder")

    assert world.value("select doc_type from document_corrections") == "reminder"
    assert world.value("select doc_type from documents") == "reminder"


def test_the_service_corrects_for_anybody(world: World) -> None:
    corrected = correct(world.connect("service_role"), document(world, world.tenant()), "lease")

    assert corrected["doc_type"] == "lease"
    assert world.value("select corrected_by from document_corrections") is None


def test_a_foreign_document_is_as_good_as_missing(world: World) -> None:
    foreign, missing = document(world, world.tenant()), uuid4()
    stranger = world.member_of(world.tenant("other"))

    for document_id in (foreign, missing):
        with pytest.raises(psycopg.Error, match=f"document_id: there is no document {document_id}") as refusal:
            correct(stranger, document_id, "invoice")
        assert refusal.value.sqlstate == "TWDOC"

    assert world.value("select count(*) from document_corrections") == 0


def test_an_unknown_type_is_refused(world: World) -> None:
    tenant = world.tenant()
    own_type(world, world.tenant("other"), "theirs")
    document_id, member = document(world, tenant), world.member_of(tenant)

    for doc_type in ("no_such_type", "", None, "x" * 1000, "theirs"):
        with pytest.raises(psycopg.Error, match="doc_type: there is no document type") as refusal:
            correct(member, document_id, doc_type)
        assert refusal.value.sqlstate == "TWTYD"

    assert world.value("select doc_type from documents") is None


def test_nobody_else_corrects(world: World) -> None:
    document_id = document(world, world.tenant())

    for nobody in (world.connect("anon"), world.connect_worker()):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            correct(nobody, document_id, "invoice")


def test_a_tenants_own_type_goes_before_everybodys(world: World) -> None:
    tenant = world.tenant()
    own_type(world, tenant, "invoice", node="bills")
    own_type(world, tenant, "parking_permit", node="parking")
    member = world.member_of(tenant)

    assert correct(member, document(world, tenant), "invoice")["node"] == "bills"
    assert correct(member, document(world, tenant), "parking_permit")["node"] == "parking"


def test_a_tenants_own_type_is_classified_by_its_evidence(world: World) -> None:
    tenant, other = world.tenant(), world.tenant("other")
    own_type(world, tenant, "parking_permit", parkausweis=8)
    own_type(world, tenant, "invoice", node="bills", faktura=8)
    permit, bill = words_of("Parkausweis für Stellplatz 4", "a.pdf"), words_of("Faktura zum Vertrag", "b.pdf")

    own = types_of(worker_for(world, tenant), tenant)
    others = types_of(worker_for(world, other), other)

    assert classify(permit, own).doc_type == "parking_permit"
    assert classify(bill, own).suggested_node == "bills"
    assert "rechnungsnummer" in next(type.evidence for type in own if type.key == "invoice")
    assert {classify(permit, others).doc_type, classify(bill, others).doc_type} == {"other"}


def test_a_key_is_there_once_for_everybody_and_once_for_each_tenant(world: World) -> None:
    tenant = world.tenant()
    own_type(world, tenant, "invoice")

    with pytest.raises(psycopg.errors.UniqueViolation):
        own_type(world, tenant, "invoice")
    with pytest.raises(psycopg.errors.UniqueViolation):
        world.run("insert into document_types (key, label) values ('invoice', 'Again')")


def test_evidence_is_words_with_weights(world: World) -> None:
    for evidence in ("[]", "1", '{"a": "b"}', '{"a": 21}', '{"a": null}', '{"a": {"b": 1}}', f'{{"{"a" * 65536}": 1}}'):
        with pytest.raises(psycopg.errors.CheckViolation, match="evidence_is_weighed"):
            world.run("insert into document_types (key, label, evidence) values ('odd', 'Odd', %s::jsonb)", evidence)


def test_members_see_everybodys_types_and_their_own(world: World) -> None:
    tenant, other = world.tenant(), world.tenant("other")
    own_type(world, tenant, "ours")
    own_type(world, other, "theirs")

    rows = world.member_of(tenant).execute("select key from document_types").fetchall()

    keys = {row["key"] for row in rows}
    assert {"ours", "lease", "other"} <= keys
    assert "theirs" not in keys


def test_what_a_tenant_taught_is_its_own(world: World) -> None:
    tenant, other = world.tenant(), world.tenant("other")
    document_id = document(world, tenant)
    remember_words(world.admin, tenant, document_id, ["^faktura"])
    correct(world.connect("service_role"), document_id, "invoice")

    def count(connection: Connection) -> list[int]:
        counts = """
            select
              (select count(*) from public.document_words) as words,
              (select count(*) from public.document_corrections) as corrections
        """
        return list(connection.execute(counts).fetchall()[0].values())

    assert count(world.member_of(tenant)) == count(worker_for(world, tenant)) == [1, 1]
    assert count(world.member_of(other)) == count(worker_for(world, other)) == [0, 0]
    assert count(world.connect_worker()) == [0, 0]


def test_members_and_workers_change_nothing_by_hand(world: World) -> None:
    tenant = world.tenant()
    member, worker = world.member_of(tenant), world.connect_worker()

    for table in ("document_types", "document_words", "document_corrections"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            member.execute(f"insert into public.{table} (tenant_id) values (%s)", [tenant])
        for connection in (member, worker):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(f"delete from public.{table}")


def test_the_worker_remembers_words_for_its_tenant_only(world: World) -> None:
    tenant, other = world.tenant(), world.tenant("other")
    own, new, foreign = document(world, tenant), document(world, tenant), document(world, other)
    worker = worker_for(world, tenant)

    remember_words(worker, tenant, own, ["a"])
    remember_words(worker, tenant, own, ["a", "b"])
    worker.execute("savepoint kept")
    refused = psycopg.errors.InsufficientPrivilege, psycopg.errors.ForeignKeyViolation
    for tenant_id, document_id in [(other, foreign), (tenant, foreign), (other, own)]:
        with pytest.raises(refused):
            remember_words(worker, tenant_id, document_id, ["c"])
        worker.execute("rollback to kept")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        worker.execute("insert into document_words (document_id, tenant_id, words) values (%s, %s, '{}')", [new, other])
    worker.execute("rollback to kept")
    worker.execute("commit")

    assert [row["words"] for row in world.rows("select words from document_words")] == [["a", "b"]]


def test_corrections_teach_their_tenant_and_no_other(world: World) -> None:
    tenant, other = world.tenant(), world.tenant("other")
    words = words_of("Leistungsbericht Objektbetreuung Kranich, Kolonne B, Einzug wie vereinbart", "lv.pdf")
    document_id = document(world, tenant)
    remember_words(world.admin, tenant, document_id, words)
    correct(world.member_of(tenant), document_id, "invoice")

    def answer(tenant: UUID) -> str:
        worker = worker_for(world, tenant)
        return classify(words, types_of(worker, tenant), examples_of(worker, tenant)).doc_type

    assert answer(tenant) == "invoice"
    assert answer(other) == "other"


def test_the_newest_200_corrections_teach(world: World) -> None:
    tenant = world.tenant()
    world.run(
        """
        with added as (
          insert into documents (tenant_id, name, vault_path, mime_type, size)
          select %s, number::text, 'tenant/' || %s || '/documents/' || number, 'text/plain', 1
          from generate_series(1, 201) as number
          returning id, tenant_id, name
        ), seen as (
          insert into document_words (document_id, tenant_id, words) select id, tenant_id, array[name] from added
        )
        insert into document_corrections (document_id, tenant_id, doc_type, corrected_at)
        select id, tenant_id, 'invoice', clock_timestamp() + make_interval(secs => name::integer) from added
        """,
        tenant,
        str(tenant),
    )

    examples = examples_of(worker_for(world, tenant), tenant)

    assert [each.words for each in examples] == [[str(number)] for number in range(201, 1, -1)]
