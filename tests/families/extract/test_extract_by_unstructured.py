"""extract_document with an engine of Unstructured, from the request to the chunks, against a server that answers."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.families.extract.test_extract_document import Office
from tests.families.extract.test_extract_document import office as office  # a fixture
from tests.families.extract.test_unstructured import pdf
from tests.servers.unstructured import UnstructuredServer, running_unstructured, status

KEY = "key-of-the-operator"


@pytest.fixture(autouse=True)
def unstructured(monkeypatch: pytest.MonkeyPatch) -> Iterator[UnstructuredServer]:
    # The client takes these from the environment.
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"):
        monkeypatch.delenv(name, raising=False)
    with running_unstructured() as server:
        server.key = KEY
        monkeypatch.setenv("TICKWORK_UNSTRUCTURED_URL", server.url)
        monkeypatch.setenv("TICKWORK_UNSTRUCTURED_API_KEY", KEY)
        yield server


@pytest.mark.parametrize(("engine", "strategy"), [("unstructured_fast", "fast"), ("unstructured_hires", "hi_res")])
def test_a_document_is_read_by_the_strategy_of_its_engine_and_paid_by_the_page(
    office: Office, unstructured: UnstructuredServer, engine: str, strategy: str
) -> None:
    id = office.add("lease.pdf", pdf(3))

    job = office.extract(id, engine=engine, consent=True)

    assert {each for post in unstructured.posts for each in post.fields["strategy"]} == {strategy}
    assert (job.status, job.error_message) == ("done", None)
    assert job.result is not None
    assert (job.result["page_count"], job.result["chunk_count"]) == (3, 6)
    chunks = [(chunk["page_number"], chunk["element_type"], chunk["text"]) for chunk in office.chunks(id)]
    assert chunks[:2] == [(1, "Title", "Title 1"), (1, "NarrativeText", "Body 1")]
    assert {page for page, _, _ in chunks} == {1, 2, 3}
    extraction = office.world.row("select * from extractions")
    assert (extraction["engine"], extraction["status"], extraction["actual_pages"]) == (engine, "done", 3)
    # Three cents a page.
    assert extraction["actual_cost_cents"] == 9
    assert extraction["estimated_cost_cents"] > 0


def test_what_the_engine_found_is_kept_at_the_path_of_the_source_documents(office: Office, tmp_path: Path) -> None:
    id = office.add("lease.txt", "Mietvertrag\n\nDie Miete ist hoch.")

    office.extract(id, engine="unstructured_fast", consent=True)

    found = tmp_path / "vault" / f"tenant/{office.tenant}/derived/{id}/unstructured.json"
    assert [each["text"] for each in json.loads(found.read_text())] == ["Mietvertrag", "Die Miete ist hoch."]


def test_a_server_that_is_down_is_asked_again_later_and_costs_nothing(
    office: Office, unstructured: UnstructuredServer
) -> None:
    unstructured.will(*[status(503)] * 20)

    job = office.extract(office.add("lease.txt", "Mietvertrag"), engine="unstructured_fast", consent=True)

    assert (job.status, job.attempts) == ("queued", 1)
    assert office.world.value("select actual_cost_cents from extractions") is None
