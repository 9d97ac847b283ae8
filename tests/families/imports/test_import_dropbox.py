"""import_dropbox: from a Dropbox to documents, each exactly once, whatever the server does."""

import json

import pytest

from tests.servers.cloud import Asked, Reply, Requests, saying, serve
from tests.servers.dropbox import Dropbox
from tests.world.office import Office


def test_a_folder_becomes_documents(office: Office, dropbox: Dropbox) -> None:
    dropbox.put("/Verträge/Mietvertrag.pdf", b"%PDF lease")
    dropbox.put("/Verträge/2025/Rechnung.txt", b"an invoice")
    dropbox.put("/elsewhere.txt", b"not wanted")
    connector = office.connect("dropbox")

    job = office.bring(connector, "/Verträge")

    assert job.status == "done", job.error_message
    documents = office.documents()
    assert {*documents} == {"Mietvertrag.pdf", "Rechnung.txt"}
    assert office.content(documents["Mietvertrag.pdf"]) == b"%PDF lease"
    assert documents["Mietvertrag.pdf"]["mime_type"] == "application/pdf"
    assert (job.result["imported_count"], job.result["imported_bytes"]) == (2, 20)
    assert {*job.result["document_ids"]} == {str(document["id"]) for document in documents.values()}


def test_each_new_document_is_an_event(office: Office, dropbox: Dropbox) -> None:
    for name in ("one", "two"):
        dropbox.put(f"/papers/{name}.txt", b"the same words")
    connector = office.connect("dropbox")

    office.bring(connector, "/papers")

    (event,) = office.world.rows("select * from events where type = 'document.imported'")
    document = office.world.row("select id, name from documents")
    assert event["aggregate"] == f"document:{document['id']}"
    assert (event["tenant_id"], event["payload"]["connector_id"]) == (office.tenant, str(connector))
    assert event["payload"]["name"] == document["name"]


def test_a_file_that_changes_after_it_was_listed_comes_as_it_was(office: Office, dropbox: Dropbox) -> None:
    dropbox.put("/papers/one.txt", b"first")
    connector = office.connect("dropbox")
    dropbox.troubled("/2/files/download", lambda requests, asked: changed_meanwhile(dropbox, requests, asked))

    first = office.bring(connector, "/papers")
    second = office.bring(connector, "/papers")

    assert (first.result["imported_count"], second.result["imported_count"]) == (1, 1)
    contents = [office.content(row) for row in office.world.rows("select * from documents order by created_at")]
    assert contents == [b"first", b"second"]


def changed_meanwhile(dropbox: Dropbox, requests: Requests, asked: Asked) -> None:
    dropbox.put("/papers/one.txt", b"second")
    dropbox.answer(requests, asked)


def test_a_cursor_that_was_reset_lists_anew_and_downloads_nothing_again(office: Office, dropbox: Dropbox) -> None:
    for number in range(5):
        dropbox.put(f"/papers/{number}.txt", f"{number}".encode())
    connector = office.connect("dropbox")
    office.bring(connector, "/papers")
    dropbox.reset_cursors()
    dropbox.put("/papers/new.txt", b"new")

    job = office.bring(connector, "/papers")

    assert (job.result["imported_count"], job.result["unchanged_count"]) == (1, 5)
    assert dropbox.downloads.total() == 6


def test_a_cursor_that_is_reset_while_it_is_read_does_no_harm(office: Office, dropbox: Dropbox) -> None:
    dropbox.page_size = 3
    for number in range(10):
        dropbox.put(f"/papers/{number}.txt", f"{number}".encode())
    dropbox.troubled("/2/files/list_folder/continue", saying(409, {"error_summary": "reset/.."}))
    connector = office.connect("dropbox")

    job = office.bring(connector, "/papers")

    assert (job.result["imported_count"], dropbox.downloads.total()) == (10, 10)


def test_the_cursor_is_saved_with_the_items_that_it_led_to(office: Office, dropbox: Dropbox) -> None:
    dropbox.page_size = 4
    for number in range(10):
        dropbox.put(f"/papers/{number}.txt", f"{number}".encode())
    dropbox.troubled("/2/files/list_folder/continue", serve, saying(500))
    connector = office.connect("dropbox")

    job = office.bring(connector, "/papers")

    assert (job.status, job.error_code) == ("queued", "PROVIDER_UNAVAILABLE")
    assert len(office.items()) == 8
    assert json.loads(office.world.value("select cursor from connector_folders"))[1] == 8
    office.world.service.jobs.reschedule_job(job.id, "now")
    office.work()
    assert len(dropbox.asked_for("/2/files/list_folder")) == 4
    assert len(office.documents()) == 10


def test_what_was_renamed_or_moved_is_not_fetched_again(office: Office, dropbox: Dropbox) -> None:
    file = dropbox.put("/papers/one.txt", b"one")
    connector = office.connect("dropbox")
    office.bring(connector)

    file.path, file.name, file.revision = "/archive/uno.txt", "uno.txt", 2
    dropbox.note(file)
    job = office.bring(connector)

    assert (job.result["imported_count"], dropbox.downloads.total()) == (0, 1)
    assert [item["path"] for item in office.items()] == ["/archive/uno.txt"]


def test_what_was_deleted_there_stays_here(office: Office, dropbox: Dropbox) -> None:
    for path in ("/papers/one.txt", "/papers/sub/two.txt"):
        dropbox.put(path, path.encode())
    connector = office.connect("dropbox")
    office.bring(connector)

    dropbox.files.clear()
    dropbox.feed.append({"deleted": "/Papers"})
    office.bring(connector)

    assert len(office.documents()) == 2
    assert {item["status"] for item in office.items()} == {"gone"}


def test_what_cannot_be_downloaded_is_named(office: Office, dropbox: Dropbox) -> None:
    dropbox.put("/papers/notes.paper", b"", is_downloadable=False, export_info={"export_as": "markdown"})
    dropbox.put("/papers/link.txt", b"x", symlink_info={"target": "/etc/passwd"})
    dropbox.feed.append({"folder": "/papers/sub"})
    dropbox.put("/papers/good.txt", b"good")

    job = office.bring(office.connect("dropbox"), "/papers")

    assert {(each["name"], each["reason"]) for each in job.result["skipped"]} == {
        ("/papers/notes.paper", "NOT_DOWNLOADABLE"),
        ("/papers/link.txt", "SHORTCUT"),
    }
    assert [*office.documents()] == ["good.txt"]


@pytest.mark.parametrize("reply", [saying(200, [1, 2]), saying(200, {"entries": 7}), saying(200, {"entries": [{}]})])
def test_an_answer_that_makes_no_sense_is_worth_a_retry(office: Office, dropbox: Dropbox, reply: Reply) -> None:
    dropbox.troubled("/2/files/list_folder", reply)

    job = office.bring(office.connect("dropbox"))

    assert job.status in ("queued", "done")
    assert job.error_code in ("PROVIDER_UNCLEAR", None)


def test_a_redirect_gets_no_token(office: Office, dropbox: Dropbox) -> None:
    dropbox.put("/papers/one.txt", b"one")
    elsewhere = f"{dropbox.downloads_url}/elsewhere"
    dropbox.troubled("/2/files/download", saying(307, Location=elsewhere))
    dropbox.troubled("/elsewhere", lambda requests, asked: requests.send_bytes(200, b"one"))

    job = office.bring(office.connect("dropbox"), "/papers")

    (asked,) = dropbox.asked_for("/elsewhere")
    assert job.result["imported_count"] == 1
    assert not any("canary" in value for value in asked.headers.values())


@pytest.mark.parametrize(
    "location", ["http://169.254.169.254/latest/meta-data", "http://10.0.0.1/", "ftp://x.example/"]
)
def test_a_redirect_into_our_own_network_is_refused(office: Office, dropbox: Dropbox, location: str) -> None:
    dropbox.put("/papers/one.txt", b"one")
    dropbox.troubled("/2/files/download", saying(302, Location=location))

    job = office.bring(office.connect("dropbox"), "/papers")

    assert [each["reason"] for each in job.result["failed"]] == ["ADDRESS_BLOCKED"]
