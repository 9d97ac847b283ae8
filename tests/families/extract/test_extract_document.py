"""extract_document: from a file in the vault to chunks, an extraction and a type, all or nothing."""

import json
import threading
import unicodedata
from email.message import EmailMessage
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

from sample_paper import Paper
from tests.world import World
from tests.world.waiting import PATIENCE
from tickwork.cli.document_tables import note_of
from tickwork.families.extract import extract_document
from tickwork.families.extract.chunks import MAX_CHUNK_LENGTH, chunks_of
from tickwork.families.extract.elements import element
from tickwork.families.extract.extract_document import EXTRACT_DOCUMENT
from tickwork.jobs.handler import Tools
from tickwork.jobs.rows import Job
from tickwork.runtime.deadline import Deadline
from tickwork.runtime.work import work
from tickwork.tools.vault import Vault, derived_key, open_vault

HANDLERS = {"extract_document": EXTRACT_DOCUMENT}
LETTER = "# Kündigung\n\nHiermit kündige ich den Mietvertrag.\n\n- Schlüssel\n- Zählerstände\n"


class Office:
    """A tenant with a vault, whose documents can be extracted."""

    def __init__(self, world: World, folder: Path) -> None:
        self.world = world
        self.folder = folder
        self.tenant = world.tenant()
        self.documents = world.service.documents
        self.vault: Vault = open_vault(f"file:{folder / 'vault'}", self.tenant)

    def add(self, name: str, content: str | bytes) -> UUID:
        file = self.folder / name
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        id: UUID = self.documents.add(self.vault, self.tenant, file)["id"]
        return id

    def extract(self, document_id: UUID, **options: Any) -> Job:
        extraction = self.documents.request_extraction(document_id, **options)
        work(self.world.queue, "extract", HANDLERS, Deadline(60, 1))
        return self.job(extraction["job_id"])

    def job(self, id: UUID) -> Job:
        return Job(**self.world.row("select * from jobs where id = %s", id))

    def chunks(self, document_id: UUID) -> list[dict[str, Any]]:
        return self.world.rows("select * from document_chunks where document_id = %s order by chunk_index", document_id)


@pytest.fixture
def office(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Office:
    monkeypatch.setenv("TICKWORK_DATABASE_URL", world.worker_url)
    monkeypatch.setenv("TICKWORK_VAULT_URL", f"file:{tmp_path / 'vault'}")
    return Office(world, tmp_path)


def test_a_file_becomes_chunks_an_extraction_and_a_type(office: Office) -> None:
    id = office.add("Kündigung.md", LETTER)

    job = office.extract(id)

    chunks = office.chunks(id)
    result = {"page_count": 1, "element_count": 4, "chunk_count": 4, "doc_type": "termination"}
    result |= {"not_read": {"pages": [], "attachments": [], "characters": 0}}
    assert (job.status, job.result) == ("done", result)
    assert [(chunk["element_type"], chunk["text"]) for chunk in chunks] == [
        ("Title", "Kündigung"),
        ("NarrativeText", "Hiermit kündige ich den Mietvertrag."),
        ("ListItem", "Schlüssel"),
        ("ListItem", "Zählerstände"),
    ]
    assert {chunk["page_number"] for chunk in chunks} == {1}
    extraction = office.world.row("select * from extractions")
    assert (extraction["status"], extraction["actual_pages"], extraction["actual_cost_cents"]) == ("done", 1, 0)
    assert extraction["result_json"] == result
    assert {chunk["extraction_id"] for chunk in chunks} == {extraction["id"]}
    assert office.world.row("select page_count, doc_type, doc_type_source, node from documents") == {
        "page_count": 1,
        "doc_type": "termination",
        "doc_type_source": "classifier",
        "node": "tenancies/terminations",
    }
    assert office.world.value("select count(*) from jobs") == 1


def test_what_was_not_read_is_named_in_the_result_and_in_the_overview(office: Office) -> None:
    paper = Paper()
    for number in range(1, 6):
        paper.turn_page()
        if number in (1, 4):
            paper.paragraph("Die Miete ist monatlich im Voraus zu zahlen.")
    mail = EmailMessage()
    mail["Subject"] = "x" * 1_200
    mail.set_content("Anbei der Vertrag.")
    mail.add_attachment(paper.bytes(), maintype="application", subtype="pdf", filename="Vertrag.pdf")
    for number in range(52):
        mail.add_attachment(b"?", maintype="image", subtype="png", filename=f"{number}.png")

    scanned, sent = office.add("Vertrag.pdf", paper.bytes()), office.add("Vertrag.eml", mail.as_bytes())
    results = [office.extract(id).result for id in (scanned, sent)]

    blank = [number for number in range(1, 7) if number not in (2, 5)]
    names = [f"{number}.png" for number in range(50)]
    expected = [
        {"pages": blank, "attachments": [], "characters": 0},
        {"pages": [number + 1 for number in blank], "attachments": [*names, "and 2 more"], "characters": 200},
    ]
    assert [result and result["not_read"] for result in results] == expected
    rows = {row["id"]: row for row in office.documents.overview(office.tenant)}
    assert [rows[id]["not_read"] for id in (scanned, sent)] == expected
    assert note_of(rows[scanned]) == "no text on page 1, 3, 4, 6"
    assert note_of(rows[sent]) == (
        "no text on page 2, 4, 5, 7; not read: 0.png, 1.png, 2.png, 3.png, 4.png and 46 more; 200 characters cut"
    )


def test_the_elements_are_kept_in_the_vault(office: Office) -> None:
    id = office.add("letter.txt", "Dear tenant,\n\nthe rent is due.")

    office.extract(id)

    with office.vault.read(derived_key(office.tenant, id)) as stream:
        elements = json.loads(b"".join(stream))
    assert [each["text"] for each in elements] == [chunk["text"] for chunk in office.chunks(id)]


def test_a_second_run_replaces_the_text(office: Office) -> None:
    id = office.add("letter.md", LETTER)

    office.extract(id)
    before = office.chunks(id)
    office.extract(id)

    after = office.chunks(id)
    assert [chunk["text"] for chunk in after] == [chunk["text"] for chunk in before]
    assert {chunk["extraction_id"] for chunk in after}.isdisjoint(chunk["extraction_id"] for chunk in before)


def test_the_type_that_a_member_has_set_is_returned(office: Office) -> None:
    id = office.add("Kündigung.md", LETTER)
    office.documents.correct_document_type(id, "invoice")

    job = office.extract(id)

    assert job.result is not None
    assert job.result["doc_type"] == "invoice"
    assert office.world.value("select doc_type_source from documents") == "member"


def test_what_shall_follow_is_enqueued_with_the_document(office: Office) -> None:
    office.world.run("update job_types set follow_ups = '{classify_document}' where key = 'extract_document'")
    id = office.add("letter.md", LETTER)

    job = office.extract(id)

    follow_up = office.world.row("select type, payload, source_ref from jobs where type <> 'extract_document'")
    assert follow_up == {
        "type": "classify_document",
        "payload": {"document_id": str(id)},
        "source_ref": str(job.id),
    }


def test_a_follow_up_that_takes_no_jobs_costs_the_text_nothing(office: Office) -> None:
    office.world.run("update job_types set follow_ups = '{classify_document}' where key = 'extract_document'")
    office.world.run("update job_types set is_active = false where key = 'classify_document'")

    job = office.extract(office.add("letter.md", LETTER))

    assert job.status == "done"
    assert office.world.value("select count(*) from jobs") == 1


def test_two_extractions_of_one_document_at_once_are_both_done(office: Office) -> None:
    id = office.add("letter.md", LETTER)
    payload = {"document_id": str(id), "engine": "local"}
    jobs = [office.world.job("extract_document", office.tenant, payload=payload) for _ in range(2)]

    threads = [
        threading.Thread(target=work, args=(queue, "extract", HANDLERS, Deadline(60, 1)))
        for queue in (office.world.queue, office.world.other_queue)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [office.job(job.id).status for job in jobs] == ["done", "done"]
    assert len(office.chunks(id)) == 4


def test_a_tenant_with_many_files_leaves_workers_to_the_others(office: Office) -> None:
    other = office.world.tenant()
    for tenant in [office.tenant] * 5 + [other] * 5:
        office.world.job("extract_document", tenant, payload={"document_id": str(uuid4())})

    claimed = [job.tenant_id for _ in range(7) if (job := office.world.queue.claim_next_job("extract"))]

    assert (claimed.count(office.tenant), claimed.count(other)) == (3, 3)


@pytest.mark.parametrize("ending", ["cancelled", "dead", "failed"])
def test_an_extraction_ends_with_its_job_whoever_ended_it(office: Office, ending: str) -> None:
    id = office.add("letter.md", LETTER)
    job_id = office.documents.request_extraction(id)["job_id"]
    if ending == "cancelled":
        office.world.service.jobs.cancel_job(job_id)
    else:
        office.world.run("update jobs set max_attempts = 1")
        running = office.world.claim("extract")
        office.world.queue.fail_job(running, {"code": "X", "message": "Y"}, retryable=ending == "dead")

    extraction = office.world.row("select status, error_code, finished_at is not null as is_over from extractions")
    code = "X" if ending == "failed" else ending.upper()
    assert extraction == {"status": "failed", "error_code": code, "is_over": True}


def test_nothing_is_sent_to_an_engine_that_nobody_set_up(office: Office) -> None:
    job = office.extract(office.add("letter.md", LETTER), engine="unstructured_fast", consent=True)

    assert (job.status, job.error_code) == ("failed", "ENGINE_NOT_SET_UP")


def test_a_file_without_text_leaves_what_was_read_before(office: Office) -> None:
    id = office.add("letter.md", LETTER)
    office.extract(id)
    office.vault.write(office.world.value("select vault_path from documents"), [b" \n \n"], "text/markdown")
    office.world.run("update documents set sha256 = null")

    job = office.extract(id)

    assert job.error_code in ("NO_TEXT", "EMPTY_FILE")
    assert len(office.chunks(id)) == 4
    with office.vault.read(derived_key(office.tenant, id)) as stream:
        assert len(json.loads(b"".join(stream))) == 4


def test_decomposed_letters_and_ligatures_are_found(office: Office) -> None:
    office.extract(
        office.add("letter.txt", unicodedata.normalize("NFD", "Die Kündigung der Wohn\xadfläche ist Pﬂicht, 80 m²."))
    )

    for word in ("Kündigung", "Wohnfläche", "Pflicht", "m²"):
        assert office.documents.search_chunks(office.tenant, word), word


def test_without_consent_nothing_leaves_the_house(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TICKWORK_UNSTRUCTURED_URL", "http://127.0.0.1:1")
    id = office.add("letter.md", LETTER)
    # As somebody would who knows nothing of request_extraction.
    job = office.world.job(
        "extract_document", office.tenant, payload={"document_id": str(id), "engine": "unstructured_fast"}
    )

    work(office.world.queue, "extract", HANDLERS, Deadline(60, 1))

    assert (office.job(job.id).status, office.job(job.id).error_code) == ("failed", "CONSENT_MISSING")
    extraction = office.world.row("select status, error_code, job_id from extractions")
    assert extraction == {"status": "failed", "error_code": "CONSENT_MISSING", "job_id": job.id}


def test_a_consent_given_beforehand_counts(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    # Nobody listens there: with consent it is tried, and tried again later.
    monkeypatch.setenv("TICKWORK_UNSTRUCTURED_URL", "http://127.0.0.1:1")
    id = office.add("letter.md", LETTER)
    office.world.run(
        "insert into extractions (tenant_id, document_id, engine, consent_given_at) "
        "values (%s, %s, 'unstructured_fast', now())",
        office.tenant,
        id,
    )
    job = office.world.job(
        "extract_document", office.tenant, payload={"document_id": str(id), "engine": "unstructured_fast"}
    )

    work(office.world.queue, "extract", HANDLERS, Deadline(60, 1))

    assert (office.job(job.id).status, office.job(job.id).error_code) == ("queued", "ENGINE_UNAVAILABLE")
    assert office.world.row("select status, error_code from extractions") == {
        "status": "queued",
        "error_code": "ENGINE_UNAVAILABLE",
    }


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("empty.txt", b"", "EMPTY_FILE"),
        ("not.pdf", b"this is no PDF", "CORRUPT_FILE"),
        ("photo.xyz", b"\x00\x01", "UNSUPPORTED_TYPE"),
    ],
)
def test_what_will_never_work_fails_for_good_and_says_why(office: Office, name: str, content: bytes, code: str) -> None:
    id = office.add(name, content)

    job = office.extract(id)

    assert (job.status, job.error_code, job.attempts) == ("failed", code, 1)
    assert str(office.folder) not in (job.error_message or "")
    assert office.documents.overview(ids=[id])[0]["extraction_status"] == "failed"
    assert office.chunks(id) == []


def test_a_missing_document_and_a_missing_file_are_told_apart(office: Office) -> None:
    id = office.add("letter.md", LETTER)
    office.vault.delete(office.world.value("select vault_path from documents"))
    assert office.extract(id).error_code == "FILE_MISSING"

    job = office.world.job("extract_document", office.tenant, payload={"document_id": str(uuid4())})
    work(office.world.queue, "extract", HANDLERS, Deadline(60, 1))
    assert office.job(job.id).error_code == "DOCUMENT_MISSING"


def test_a_file_that_was_changed_behind_our_back_is_refused(office: Office) -> None:
    id = office.add("letter.md", LETTER)
    office.vault.write(office.world.value("select vault_path from documents"), [b"# other"], "text/markdown")

    assert office.extract(id).error_code == "FILE_CHANGED"


def test_a_document_of_another_tenant_is_not_there(office: Office) -> None:
    id = office.add("letter.md", LETTER)
    job = office.world.job("extract_document", office.world.tenant("other"), payload={"document_id": str(id)})

    work(office.world.queue, "extract", HANDLERS, Deadline(60, 1))

    assert (office.job(job.id).status, office.job(job.id).error_code) == ("failed", "DOCUMENT_MISSING")
    assert office.chunks(id) == []


def test_a_zombie_that_wakes_up_writes_nothing(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    """It stops in the middle, its lease runs out, another one does the job, and then it goes on to the end."""
    id = office.add("letter.md", LETTER)
    extraction = office.documents.request_extraction(id)
    is_in_the_middle, may_go_on = threading.Event(), threading.Event()
    save = extract_document.save_elements

    def stopped(*arguments: Any) -> None:
        if not is_in_the_middle.is_set():
            is_in_the_middle.set()
            assert may_go_on.wait(PATIENCE)
        save(*arguments)

    monkeypatch.setattr(extract_document, "save_elements", stopped)
    zombie = threading.Thread(target=work, args=(office.world.queue, "extract", HANDLERS, Deadline(60, 1)))
    zombie.start()
    assert is_in_the_middle.wait(PATIENCE)
    office.world.expire(office.job(extraction["job_id"]))
    office.world.service.maintenance.maintain()
    work(office.world.other_queue, "extract", HANDLERS, Deadline(60, 1))
    chunks = office.chunks(id)
    may_go_on.set()
    zombie.join()

    assert office.job(extraction["job_id"]).status == "done"
    assert (office.job(extraction["job_id"]).attempts, office.job(extraction["job_id"]).worker_id) == (2, "worker-2")
    assert office.chunks(id) == chunks != []
    assert office.world.rows("select status from extractions") == [{"status": "done"}]
    assert office.world.value("select count(*) from events where type = 'document.classified'") == 1


def test_ten_thousand_elements_are_stored_in_a_few_statements(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    id = office.add("long.txt", "\n\n".join(f"Paragraph number {number} says something." for number in range(10_000)))
    sent: list[str] = []
    store = extract_document.store

    def counted(*arguments: Any) -> None:
        connection = arguments[-1]

        class Counting:
            def execute(self, query: str, parameters: Any = None) -> Any:
                sent.append(query)
                return connection.execute(query, parameters)

        store(*[*arguments[:-1], Counting()])

    monkeypatch.setattr(extract_document, "store", counted)

    job = office.extract(id)

    assert job.result is not None
    assert job.result["chunk_count"] == len(office.chunks(id)) == 10_000
    assert len(sent) < 10


def test_a_very_long_element_is_cut_between_words() -> None:
    text = "word " * 5_000
    chunks = [chunk.text for chunk in chunks_of([element("NarrativeText", text, 0)])]

    assert max(map(len, chunks)) <= MAX_CHUNK_LENGTH
    assert " ".join(chunks).split() == text.split()
    assert [len(chunk.text) for chunk in chunks_of([element("NarrativeText", "x" * 20_000, 0)])] == [8000, 8000, 4000]


def test_a_second_attempt_stays_with_the_engine_of_the_first(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    id = office.add("letter.md", LETTER)
    job = office.world.job("extract_document", office.tenant, payload={"document_id": str(id)})
    running = office.world.claim("extract")
    office.world.run(
        "insert into extractions (tenant_id, document_id, job_id, engine, status) "
        "values (%s, %s, %s, 'local', 'running')",
        office.tenant,
        id,
        job.id,
    )
    office.world.queue.fail_job(running, {"code": "X"}, retry_after_seconds=0)
    monkeypatch.setenv("TICKWORK_UNSTRUCTURED_API_KEY", "a key that was not there before")

    work(office.world.queue, "extract", HANDLERS, Deadline(60, 1))

    assert office.job(job.id).status == "done"
    assert office.world.rows("select engine, status from extractions") == [{"engine": "local", "status": "done"}]


def test_progress_is_told(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[float] = []
    monkeypatch.setattr(Tools, "progress", lambda self, done, message=None: told.append(done))

    office.extract(office.add("letter.md", LETTER))

    assert len(told) >= 3
    assert told == sorted(told)
