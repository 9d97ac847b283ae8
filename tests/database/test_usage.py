"""What extractions have cost, by tenant and month."""

from uuid import UUID

from tests.database.test_figures import roll_up
from tests.database.test_metrics import read, total
from tests.world import World


def extraction(world: World, tenant: UUID, pages: int, cents: int, at: str) -> UUID:
    document: UUID = world.value(
        "insert into documents (tenant_id, name, vault_path, mime_type, size, sha256) "
        "values (%s, 'a.pdf', 'tenant/' || %s || '/' || gen_random_uuid(), 'application/pdf', 1, repeat('0', 64)) "
        "returning id",
        tenant,
        str(tenant),
    )
    world.run(
        "insert into extractions (tenant_id, document_id, engine) values (%s, %s, 'unstructured_fast')",
        tenant,
        document,
    )
    world.run(
        "update extractions set status = 'done', actual_pages = %s, actual_cost_cents = %s, finished_at = %s "
        "where document_id = %s",
        pages,
        cents,
        at,
        document,
    )
    return document


def test_pages_and_cents_of_each_month_stay_when_documents_go(world: World) -> None:
    own, foreign = world.tenant("own"), world.tenant("foreign")
    gone = extraction(world, own, 3, 9, "2026-10-31 23:59Z")
    extraction(world, own, 2, 6, "2026-11-01 00:00Z")
    extraction(world, own, 1, 3, "2026-11-30 00:00Z")
    extraction(world, foreign, 7, 21, "2026-11-30 00:00Z")
    expected = [("2026-10-01", 1, 3, 9), ("2026-11-01", 2, 3, 9)]

    def usage() -> list[tuple[str, int, int, int]]:
        query = "select month, extractions, pages, cents from usage order by month"
        rows = world.member_of(own).execute(query).fetchall()
        return [(str(row["month"]), row["extractions"], row["pages"], row["cents"]) for row in rows]

    assert usage() == expected
    world.run("delete from documents where id = %s", gone)
    roll_up(world)
    assert usage() == expected
    assert world.value("select count(*) from tickwork.early_usage") == 0
    samples = read(world)
    assert total(samples, "tickwork_extraction_pages_total", engine="unstructured_fast") == 13
    assert total(samples, "tickwork_extraction_cents_total") == 39
