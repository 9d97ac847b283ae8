"""import_gdrive: what is special about Google Drive."""

from typing import Any

import pytest

from tests.servers.cloud import Asked, Bytes, Generated, Requests, cut_after, saying, serve
from tests.servers.drive import MAX_EXPORT_BYTES, Drive, refusal
from tests.world import World
from tests.world.office import Office

NATIVE = "application/vnd.google-apps."


def test_googles_own_documents_are_exported(office: Office, drive: Drive) -> None:
    for kind in ("document", "spreadsheet", "presentation"):
        drive.put(f"/papers/{kind}", b"", mimeType=NATIVE + kind, export=kind.encode())
    connector = office.connect("gdrive")

    job = office.bring(connector, "/papers")
    again = office.bring(connector, "/papers")

    documents = office.documents()
    assert {*documents} == {"document.docx", "spreadsheet.xlsx", "presentation.pdf"}
    assert office.content(documents["document.docx"]) == b"document"
    assert documents["presentation.pdf"]["mime_type"] == "application/pdf"
    assert (job.result["imported_count"], again.result["imported_count"]) == (3, 0)


def test_an_export_over_the_cap_goes_another_way(office: Office, drive: Drive) -> None:
    content = b"long " * (MAX_EXPORT_BYTES // 5 + 1)
    drive.put("/papers/long", b"", mimeType=f"{NATIVE}document", export=content)
    drive.troubled("/exported/", lambda requests, asked: requests.send_bytes(200, content))

    job = office.bring(office.connect("gdrive"), "/papers")

    assert job.result["imported_count"] == 1
    assert office.documents()["long.docx"]["size"] == len(content)
    (asked,) = drive.asked_for("/exported/")
    assert not any("canary" in value for value in asked.headers.values())


def test_an_export_for_which_there_is_no_other_way_fails_alone(office: Office, drive: Drive) -> None:
    drive.put("/papers/long", b"", mimeType=f"{NATIVE}document", export=b"x" * (MAX_EXPORT_BYTES + 1))
    drive.put("/papers/good.txt", b"good")
    drive.troubled("/drive/v3/files/item000001", *[exports_of_nobody] * 2)

    job = office.bring(office.connect("gdrive"), "/papers")

    assert [each["reason"] for each in job.result["failed"]] == ["EXPORT_TOO_LARGE"]
    assert [*office.documents()] == ["good.txt"]


def exports_of_nobody(requests: Requests, asked: Asked) -> None:
    """The cap first, then a file without links."""
    is_export = asked.path.endswith("/export")
    requests.send_json(*((403, refusal("exportSizeLimitExceeded")) if is_export else (200, {"id": "item000001"})))


def test_an_export_that_breaks_off_is_not_pieced_together(office: Office, drive: Drive) -> None:
    file = drive.put("/papers/one", b"", mimeType=f"{NATIVE}document", export=b"1" * 500_000)

    def cut_and_export_anew(requests: Requests, asked: Asked) -> None:
        cut_after(100_000)(requests, asked)
        file.extra["export"] = b"2" * 500_000

    drive.troubled("/drive/v3/files/item", cut_and_export_anew)

    job = office.bring(office.connect("gdrive"), "/papers")

    assert job.result["imported_count"] == 1
    assert office.content(office.documents()["one.docx"]) == b"2" * 500_000


def test_shortcuts_forms_and_what_may_not_be_downloaded_are_named(office: Office, drive: Drive) -> None:
    drive.put("/papers/link", b"", mimeType=f"{NATIVE}shortcut", shortcutDetails={"targetId": "x"})
    drive.put("/papers/form", b"", mimeType=f"{NATIVE}form")
    drive.put("/papers/secret.pdf", b"secret", capabilities={"canDownload": False})

    job = office.bring(office.connect("gdrive"), "/papers")

    assert {(each["name"], each["reason"]) for each in job.result["skipped"]} == {
        ("/papers/link", "SHORTCUT"),
        ("/papers/form", "NOT_DOWNLOADABLE"),
        ("/papers/secret.pdf", "NOT_DOWNLOADABLE"),
    }
    assert office.documents() == {}


def test_two_files_of_one_name_are_two_documents_and_one_path_is_not_enough(office: Office, drive: Drive) -> None:
    drive.put("/papers/one.txt", b"one")
    drive.put("/papers/other.txt", b"other").name = "one.txt"
    connector = office.connect("gdrive")

    named = office.bring(connector, None, ["/papers/one.txt", "id:item000001"])
    office.bring(connector, "/papers")

    assert [each["reason"] for each in named.result["failed"]] == ["AMBIGUOUS_PATH"]
    assert named.result["imported_count"] == 1
    assert len(office.world.rows("select * from documents where name = 'one.txt'")) == 2


@pytest.mark.parametrize("name", ["O'Reilly.txt", "back\\slash.txt", "a' or name contains 'b.txt"])
def test_quotes_in_a_path_are_no_part_of_the_query(office: Office, drive: Drive, name: str) -> None:
    drive.put(f"/papers/{name}", b"one")

    job = office.bring(office.connect("gdrive"), None, [f"/papers/{name}"])

    assert job.result["imported_count"] == 1


def test_a_folder_that_moves_in_brings_its_files(office: Office, drive: Drive) -> None:
    drive.put("/papers/one.txt", b"one")
    drive.put("/elsewhere/lot/two.txt", b"two")
    drive.put("/elsewhere/lot/deep/three.txt", b"three")
    connector = office.connect("gdrive")
    office.bring(connector, "/papers")

    drive.move_folder("/elsewhere/lot/deep", "/papers/deep")
    drive.move_folder("/elsewhere/lot", "/papers/lot")
    office.bring(connector, "/papers")

    assert {*office.documents()} == {"one.txt", "two.txt", "three.txt"}
    assert drive.downloads.total() == 3


def test_what_changes_during_the_walk_is_not_missed(office: Office, drive: Drive) -> None:
    drive.put("/papers/one.txt", b"one")

    def add_meanwhile(requests: Requests, asked: Asked) -> None:
        drive.answer(requests, asked)
        drive.put("/papers/two.txt", b"two")

    connector = office.connect("gdrive")
    office.bring(connector, "/papers", ["/papers/one.txt"])
    drive.troubled("/drive/v3/changes/startPageToken", add_meanwhile)

    office.bring(connector, "/papers")

    assert {*office.documents()} == {"one.txt", "two.txt"}


def test_a_folder_that_is_gone_before_its_turn_keeps_nothing_else_away(
    world: World, office: Office, drive: Drive
) -> None:
    drive.put("/papers/one.txt", b"one")
    connector = office.connect("gdrive")
    office.bring(connector, "/papers")
    world.run(
        "update connector_folders set cursor = jsonb_set(cursor::jsonb, '{1}', %s)::text", '[["deleted-since", null]]'
    )
    drive.put("/papers/two.txt", b"two")

    job = office.bring(connector, "/papers")

    assert (job.status, {*office.documents()}) == ("done", {"one.txt", "two.txt"})


def test_a_token_that_google_has_forgotten_begins_anew(office: Office, drive: Drive) -> None:
    drive.put("/papers/one.txt", b"one")
    drive.put("/papers/text", b"", mimeType=f"{NATIVE}document", export=b"text")
    connector = office.connect("gdrive")
    office.bring(connector, "/papers")
    drive.put("/papers/two.txt", b"two")
    drive.forgotten_before = len(drive.feed)

    job = office.bring(connector, "/papers")

    assert (job.status, job.result["imported_count"], job.result["unchanged_count"]) == ("done", 1, 2)
    assert drive.downloads == {"/papers/one.txt": 1, "/papers/text": 1, "/papers/two.txt": 1}


def test_bytes_that_google_says_we_have_are_not_even_fetched(office: Office, drive: Drive) -> None:
    drive.put("/papers/one.bin", Generated(100_000))
    drive.put("/papers/two.bin", Generated(100_000))

    job = office.bring(office.connect("gdrive"), "/papers")

    assert (job.result["imported_count"], job.result["known_count"], drive.downloads.total()) == (1, 1, 1)


def test_md5_is_checked_where_there_is_no_sha256(office: Office, drive: Drive) -> None:
    drive.has_sha256 = False
    drive.put("/papers/bad.txt", b"12345").served = Bytes(b"12354")
    drive.put("/papers/good.txt", b"good")

    job = office.bring(office.connect("gdrive"), "/papers")

    assert [each["reason"] for each in job.result["failed"]] == ["FILE_CHANGED"]
    assert [*office.documents()] == ["good.txt"]


@pytest.mark.parametrize(
    ("reason", "status", "code"),
    [
        ("rateLimitExceeded", "queued", None),
        ("dailyLimitExceeded", "queued", None),
        ("insufficientPermissions", "failed", "ACCESS_DENIED"),
    ],
)
def test_a_403_is_what_its_reason_says(
    office: Office, drive: Drive, reason: str, status: str, code: str | None
) -> None:
    drive.troubled("/drive/v3/files", saying(403, refusal(reason)))

    job = office.bring(office.connect("gdrive"))

    assert (job.status, job.error_code) == (status, code)
    assert job.attempts == (0 if status == "queued" else 1)


@pytest.mark.parametrize(
    ("status", "body"),
    [(403, {"error": {"errors": 5}}), (200, {"files": {"a": 1}}), (200, {"files": 5})],
)
def test_an_answer_of_another_shape_is_unclear(office: Office, drive: Drive, status: int, body: Any) -> None:
    drive.put("/papers/one.txt", b"one")
    drive.troubled("/drive/v3/files", serve, saying(status, body))

    job = office.bring(office.connect("gdrive"), "/papers")

    assert job.error_code == "PROVIDER_UNCLEAR"
