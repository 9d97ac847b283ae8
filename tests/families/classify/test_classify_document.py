"""classify_document: from the text of a document to its type, and what a member's correction changes."""

from pathlib import Path
from uuid import UUID, uuid4

import pytest

from tests.families.extract.test_extract_document import Office
from tests.families.extract.test_extract_document import office as office  # a fixture
from tickwork.cli.document_tables import confidence_of
from tickwork.families.classify.classify_document import CLASSIFY_DOCUMENT
from tickwork.jobs.rows import Job
from tickwork.runtime.deadline import Deadline
from tickwork.runtime.work import work

HANDLERS = {"classify_document": CLASSIFY_DOCUMENT}
LEASE = (Path(__file__).parent / "classify_document_lease.md").read_text()


def classified(office: Office, name: str, text: str) -> UUID:
    id = office.add(name, text)
    assert office.extract(id).status == "done"
    classify_again(office, id)
    return id


def classify_again(office: Office, id: UUID) -> None:
    office.world.job("classify_document", office.tenant, payload={"document_id": str(id)})
    work(office.world.queue, "classify", HANDLERS, Deadline(60, 10))


def latest_job(office: Office) -> Job:
    return Job(
        **office.world.row("select * from jobs where type = 'classify_document' order by created_at desc limit 1")
    )


def test_a_lease_is_taken_for_a_lease_and_put_where_leases_are(office: Office) -> None:
    id = classified(office, "Mietvertrag.md", LEASE)

    job = latest_job(office)
    document = office.world.row("select * from documents where id = %s", id)
    assert (job.status, job.result and job.result["doc_type"]) == ("done", "lease")
    assert (document["doc_type"], document["doc_type_source"]) == ("lease", "classifier")
    assert job.result is not None
    assert document["node"] == job.result["suggested_node"] is not None
    assert document["doc_type_confidence"] == job.result["confidence"] > 0.5
    runner_up = document["doc_type_runner_up"], document["doc_type_runner_up_confidence"]
    assert runner_up == (job.result["runner_up"], job.result["runner_up_confidence"])
    assert runner_up[0] not in (None, "lease")
    assert confidence_of(document).endswith(f"% ({runner_up[0]} {runner_up[1]:.0%})")


def test_a_type_that_a_member_has_set_has_no_runner_up(office: Office) -> None:
    id = classified(office, "Mietvertrag.md", LEASE)

    corrected = office.documents.correct_document_type(id, "invoice")

    assert (corrected["doc_type_runner_up"], corrected["doc_type_runner_up_confidence"]) == (None, None)
    assert confidence_of(corrected) == "100%"


def test_what_says_nothing_is_other(office: Office) -> None:
    id = classified(office, "note.txt", "zzz yyy xxx")

    assert office.world.value("select doc_type from documents where id = %s", id) == "other"


def test_a_members_word_stands_and_teaches(office: Office) -> None:
    parking = "Stellplatz Tiefgarage Ebene 2 Dauerparker Chipkarte Zufahrt Garagentor Nummer {}\n" * 4
    first = classified(office, "a.txt", parking.format(*range(4)))
    assert office.world.value("select doc_type from documents where id = %s", first) != "handover_protocol"
    for number in range(3):
        id = classified(office, f"b{number}.txt", parking.format(*range(number, number + 4)))
        office.documents.correct_document_type(id, "handover_protocol")

    later = classified(office, "c.txt", parking.format(*range(9, 13)))

    rows = office.world.rows("select doc_type, doc_type_source from documents where id = %s", later)
    assert rows == [{"doc_type": "handover_protocol", "doc_type_source": "classifier"}]


def test_the_very_same_file_gets_the_type_that_a_member_gave_it(office: Office) -> None:
    office.documents.correct_document_type(classified(office, "Mietvertrag.md", LEASE), "invoice")

    again = classified(office, "Mietvertrag (2).md", LEASE)

    assert office.world.row("select doc_type, doc_type_source from documents where id = %s", again) == {
        "doc_type": "invoice",
        "doc_type_source": "classifier",
    }


def test_a_second_classification_does_not_overrule_a_member(office: Office) -> None:
    id = classified(office, "Mietvertrag.md", LEASE)
    office.documents.correct_document_type(id, "invoice")

    office.extract(id)
    classify_again(office, id)

    assert latest_job(office).result is not None
    assert office.world.row("select doc_type, doc_type_source from documents") == {
        "doc_type": "invoice",
        "doc_type_source": "member",
    }


def test_where_somebody_has_put_it_a_document_stays(office: Office) -> None:
    id = classified(office, "Mietvertrag.md", LEASE)
    office.world.run("update documents set node = 'my/folder'")

    office.extract(id)
    classify_again(office, id)

    assert office.world.value("select node from documents") == "my/folder"


def test_what_was_not_read_cannot_be_classified(office: Office) -> None:
    id = office.add("letter.md", "# Hello")
    for document in (id, uuid4()):
        office.world.job("classify_document", office.tenant, payload={"document_id": str(document)})

    work(office.world.queue, "classify", HANDLERS, Deadline(60, 10))

    codes = office.world.rows("select status, error_code from jobs order by created_at")
    assert codes == [
        {"status": "failed", "error_code": "NOT_EXTRACTED"},
        {"status": "failed", "error_code": "DOCUMENT_MISSING"},
    ]


@pytest.mark.parametrize("size", [1, 3000])
def test_only_the_beginning_is_looked_at(office: Office, size: int) -> None:
    """A thousand pages take no longer, and what stands at their end does not count."""
    id = classified(office, "long.md", LEASE + "\n\nRechnung Rechnungsnummer Zahlbetrag\n" * size)

    assert office.world.value("select doc_type from documents where id = %s", id) == "lease"


def test_reading_and_classifying_are_events(office: Office) -> None:
    id = classified(office, "Mietvertrag.md", LEASE)

    events = office.world.rows("select * from events order by occurred_at")
    assert [event["type"] for event in events] == ["document.extracted"] + ["document.classified"] * 2
    assert {event["aggregate"] for event in events} == {f"document:{id}"}
    assert events[0]["payload"].items() >= {"document_id": str(id), "name": "Mietvertrag.md", "engine": "local"}.items()
    assert [event["payload"]["doc_type"] for event in events] == ["lease"] * 3
    assert events[1]["payload"] == events[2]["payload"]


def test_an_attempt_that_is_not_completed_is_no_event(office: Office) -> None:
    id = office.add("empty.txt", "")

    assert office.extract(id).status == "failed"
    assert office.world.rows("select from events") == []
