"""Documents and their extractions: who sees and asks for what, and what it may cost."""

from pathlib import Path
from typing import Any
from urllib.request import urlopen
from uuid import UUID, uuid4

import psycopg
import pytest

from tests.world import World
from tickwork.client.direct.documents import Documents
from tickwork.errors import InvalidRequest, NoSuchDocument
from tickwork.tools.vault import open_vault


def document(world: World, tenant: UUID, **columns: Any) -> UUID:
    values = {"name": "Mietvertrag.pdf", "mime_type": "application/pdf", "size": 120_000, "page_count": None, **columns}
    found: UUID = world.value(
        "insert into documents (tenant_id, name, vault_path, mime_type, size, page_count) "
        "values (%s, %s, %s, %s, %s, %s) returning id",
        tenant,
        values["name"],
        f"tenant/{tenant}/documents/{uuid4()}.pdf",
        values["mime_type"],
        values["size"],
        values["page_count"],
    )
    return found


@pytest.fixture
def documents(world: World) -> Documents:
    return world.service.documents


def test_an_extraction_is_asked_for_with_its_job_and_its_price(world: World, documents: Documents) -> None:
    id = document(world, world.tenant(), page_count=7)

    extraction = documents.request_extraction(id, "unstructured_fast", consent=True)

    job = world.row("select * from jobs where id = %s", extraction["job_id"])
    assert (job["type"], job["payload"]) == (
        "extract_document",
        {"document_id": str(id), "engine": "unstructured_fast"},
    )
    assert (extraction["estimated_pages"], extraction["estimated_cost_cents"]) == (7, 21)
    assert extraction["consent_given_at"] is not None


def test_no_consent_no_extraction_by_a_third_party(world: World, documents: Documents) -> None:
    id = document(world, world.tenant())

    with pytest.raises(InvalidRequest, match="sends the document to a third party") as refused:
        documents.request_extraction(id, "unstructured_hires")

    assert refused.value.sqlstate == "TWCON"
    assert world.rows("select from jobs union all select from extractions") == []


def test_who_agreed_is_recorded(world: World) -> None:
    tenant = world.tenant()
    id = document(world, tenant)
    member = world.member_of(tenant)
    user_id = world.value("select user_id from memberships")

    member.execute("select request_extraction(%s, 'unstructured_fast', true)", [id])

    assert world.value("select consent_given_by from extractions") == user_id


def test_a_second_request_answers_the_first_while_it_waits(world: World, documents: Documents) -> None:
    id = document(world, world.tenant())

    first, second = documents.request_extraction(id), documents.request_extraction(id)

    assert first == second
    assert world.value("select count(*) from jobs") == 1


@pytest.mark.parametrize(
    ("mime_type", "size", "page_count", "pages"),
    [
        ("application/pdf", 120_000, None, 3),
        ("application/pdf", 120_000, 40, 40),
        ("text/plain", 250_001, None, 3),
        ("text/plain", 0, None, 1),
    ],
)
def test_pages_are_estimated_from_what_is_known(
    world: World, documents: Documents, mime_type: str, size: int, page_count: int | None, pages: int
) -> None:
    id = document(world, world.tenant(), mime_type=mime_type, size=size, page_count=page_count)

    assert documents.estimate_extraction(id, "unstructured_fast") == {
        "pages": pages,
        "cost_cents": 3 * pages,
        "needs_consent": True,
        "is_exact": page_count is not None,
    }


def test_an_unknown_engine_or_document_is_named(world: World, documents: Documents) -> None:
    id = document(world, world.tenant())

    for ask in (documents.estimate_extraction, documents.request_extraction):
        with pytest.raises(InvalidRequest, match="there is no engine 'magic'"):
            ask(id, "magic")
        with pytest.raises(NoSuchDocument):
            ask(uuid4())


def test_a_foreign_document_is_as_good_as_none(world: World) -> None:
    id = document(world, world.tenant())
    stranger = world.member_of(world.tenant("other"))

    for question in ("estimate_extraction(%s)", "request_extraction(%s)"):
        with pytest.raises(psycopg.Error) as refused:
            stranger.execute(f"select * from {question}", [id])
        assert refused.value.sqlstate == "TWDOC"
    assert stranger.execute("select * from document_overview").fetchall() == []


def test_a_member_registers_what_lies_below_the_own_prefix_and_nothing_else(world: World) -> None:
    tenant, other = world.tenant(), world.tenant("other")
    member = world.member_of(tenant)
    register = (
        "insert into documents (tenant_id, name, vault_path, mime_type, size) values (%s, 'x', %s, 'text/plain', 1)"
    )

    member.execute(register, [tenant, f"tenant/{tenant}/documents/a.txt"])

    assert world.value("select created_by from documents") == world.value("select user_id from memberships")
    for path in (f"tenant/{other}/documents/a.txt", f"tenant/{tenant}/../{other}/a.txt", f"/tenant/{tenant}/a.txt"):
        with pytest.raises(psycopg.errors.CheckViolation):
            member.execute(register, [tenant, path])
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        member.execute(register, [other, f"tenant/{other}/documents/a.txt"])


def test_a_member_cannot_write_what_the_worker_writes(world: World) -> None:
    tenant = world.tenant()
    id = document(world, tenant)
    member = world.member_of(tenant)

    for statement in (
        "update documents set doc_type = 'lease', doc_type_source = 'member'",
        f"insert into extractions (tenant_id, document_id, engine) values ('{tenant}', '{id}', 'local')",
        f"insert into document_chunks (tenant_id, document_id, extraction_id, chunk_index, element_type, text) "
        f"values ('{tenant}', '{id}', '{id}', 0, 'Title', 'x')",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            member.execute(statement)


def test_the_overview_shows_the_latest_extraction_and_a_job_that_died(world: World, documents: Documents) -> None:
    tenant = world.tenant()
    id = document(world, tenant)
    world.run(
        "insert into extractions (tenant_id, document_id, engine, status, finished_at, result_json, created_at) "
        """values (%s, %s, 'local', 'done', now(), '{"chunk_count": 9}', now() - interval '1 day')""",
        tenant,
        id,
    )
    assert [(row["extraction_status"], row["chunk_count"]) for row in documents.overview(tenant)] == [("done", 9)]

    extraction = documents.request_extraction(id)
    assert documents.overview(tenant)[0]["extraction_status"] == "queued"
    world.service.jobs.cancel_job(extraction["job_id"])

    assert documents.overview(tenant)[0]["extraction_status"] == "failed"


def test_with_a_tenant_its_documents_and_their_text_are_gone(world: World, documents: Documents) -> None:
    tenant = world.tenant()
    documents.request_extraction(document(world, tenant))

    world.run("delete from organizations where id = %s", tenant)

    assert world.rows("select from documents union all select from extractions union all select from jobs") == []


def test_a_chunk_belongs_to_an_extraction_of_its_own_document(world: World) -> None:
    tenant, other = world.tenant(), world.tenant("other")
    mine, second, foreign = document(world, tenant), document(world, tenant), document(world, other)
    made = "insert into extractions (tenant_id, document_id, engine) values (%s, %s, 'local') returning id"
    extractions = {id: world.value(made, of, id) for of, id in ((tenant, mine), (tenant, second), (other, foreign))}
    insert = (
        "insert into document_chunks (tenant_id, document_id, extraction_id, chunk_index, element_type, text) "
        "values (%s, %s, %s, 0, 'Title', 'x') returning id, created_at"
    )

    for extraction in (extractions[second], extractions[foreign], uuid4()):
        with pytest.raises(psycopg.errors.ForeignKeyViolation):
            world.row(insert, tenant, mine, extraction)
    chunk = world.row(insert, tenant, mine, extractions[mine])

    assert chunk["created_at"] <= world.value("select clock_timestamp()")
    assert world.value("select document_id from document_chunks where id = %s", chunk["id"]) == mine
    world.run("delete from documents where id = %s", mine)
    assert world.rows("select from document_chunks") == []


SIGNED = "select tenant_id, vault_path from sign_document(%s, %s)"


def test_a_member_may_have_a_document_of_his_tenant_signed_and_no_other(world: World) -> None:
    tenant, other = world.tenant(), world.tenant("other")
    mine, foreign = document(world, tenant), document(world, other)
    member = world.member_of(tenant)

    (signed,) = member.execute(SIGNED, [mine, 86400]).fetchall()

    assert signed["tenant_id"] == tenant
    assert signed["vault_path"] == world.value("select vault_path from documents where id = %s", mine)
    for id in (foreign, uuid4(), None):
        with pytest.raises(psycopg.Error) as refused:
            member.execute(SIGNED, [id, 60])
        assert refused.value.sqlstate == "TWDOC"
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        world.connect("anon").execute(SIGNED, [mine, 60])


@pytest.mark.parametrize("seconds", [0, -1, 86401, None])
def test_a_url_is_not_signed_for_longer_than_a_day(world: World, documents: Documents, seconds: Any) -> None:
    id = document(world, world.tenant())

    with pytest.raises(InvalidRequest, match="it must be 1 to 86400"):
        documents.sign_document(("file:/nowhere", None), id, seconds)


def test_the_url_is_that_of_the_document_in_its_tenants_part_of_the_vault(
    world: World, documents: Documents, tmp_path: Path
) -> None:
    vault = f"file:{tmp_path}"
    tenant = world.tenant()
    (tmp_path / "letter.txt").write_text("Dear tenant")
    id = documents.add(open_vault(vault, tenant), tenant, tmp_path / "letter.txt")["id"]

    url = documents.sign_document((vault, None), id)

    with urlopen(url) as file:
        assert file.read() == b"Dear tenant"
