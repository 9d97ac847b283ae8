"""Documents in the console: listed, searched, corrected, extracted, downloaded."""

from collections.abc import Mapping
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from werkzeug.test import TestResponse

from tests.console.conftest import Viewers
from tests.database.test_search import store
from tests.world.console import OWN_PAGE, Browser, console_of, user_of

HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def document(viewers: Viewers) -> UUID:
    texts = ["# Mietvertrag", f"Die Kaution steht auf dem {HOSTILE} Konto."]
    found = store(viewers.world, viewers.acme, texts, doc_type="lease")
    viewers.world.run("update documents set name = %s, doc_type_confidence = 0.875 where id = %s", HOSTILE, found)
    return found


def test_a_tenants_own_see_the_document_and_nobody_else(viewers: Viewers, document: UUID) -> None:
    for browser in (viewers.admin, viewers.member, viewers.operator):
        listed, shown = browser.get("/documents", tenant=viewers.acme), browser.get(f"/documents/{document}")
        assert HOSTILE in listed.text
        assert "88 %" in listed.text
        assert "Lease" in shown.text
        assert HOSTILE not in listed.html + shown.html
    assert HOSTILE not in viewers.stranger.get("/documents").text
    assert viewers.stranger.get(f"/documents/{document}").status == 404
    assert viewers.admin.get(f"/documents/{uuid4()}").status == 404
    assert HOSTILE in viewers.member.get("/documents", type="lease").text
    assert HOSTILE not in viewers.member.get("/documents", type="invoice").text


def test_hits_are_highlighted_with_their_page(viewers: Viewers, document: UUID) -> None:
    seen = viewers.member.get("/documents/search", q="kaution")

    assert "<mark>Kaution</mark>" in seen.html
    assert "Hits: 1" in seen.text
    assert HOSTILE in seen.text
    assert HOSTILE not in seen.html
    assert f"/documents/{document}" in seen.html
    assert "Nothing found." in viewers.stranger.get("/documents/search", q="kaution", tenant=viewers.acme).text
    assert "Choose a tenant" in viewers.operator.get("/documents/search", q="kaution").text
    assert viewers.member.get("/documents/search", q="kaution", skip="x").status == 400


def test_a_member_corrects_the_type(viewers: Viewers, document: UUID) -> None:
    kind = "select doc_type from documents where id = %s"

    assert viewers.stranger.post(f"/documents/{document}/type", doc_type="invoice").status == 404
    assert viewers.member.post(f"/documents/{document}/type", doc_type="novel").status == 422
    assert viewers.world.value(kind, document) == "lease"
    assert "(corrected)" in viewers.member.post(f"/documents/{document}/type", doc_type="invoice").text
    assert viewers.world.value(kind, document) == "invoice"
    viewers.member.post(f"/documents/{document}/type", doc_type="lease")


def test_a_member_requests_an_extraction(viewers: Viewers) -> None:
    document = store(viewers.world, viewers.acme, ["Text"])
    jobs = "select count(*) from jobs where payload ->> 'document_id' = %s"
    engine = viewers.world.value("select key from extraction_engines where needs_consent order by key limit 1")

    assert viewers.stranger.post(f"/documents/{document}/extractions", engine="local").status == 404
    assert "third party" in viewers.member.post(f"/documents/{document}/extractions", engine=engine).text
    assert viewers.world.value(jobs, str(document)) == 0

    assert (
        "The extraction was requested."
        in viewers.member.post(f"/documents/{document}/extractions", engine="local").text
    )
    assert viewers.world.value(jobs, str(document)) == 1
    assert "queued" in viewers.member.get(f"/documents/{document}").text


def test_costs_are_shown_to_the_tenant(viewers: Viewers, document: UUID) -> None:
    viewers.world.run(
        "insert into extractions "
        "(tenant_id, document_id, engine, status, finished_at, actual_pages, actual_cost_cents) "
        "values (%s, %s, 'local', 'done', '2026-03-05', 12, 345)",
        viewers.acme,
        document,
    )

    assert "2026-03 local 1 12 345" in viewers.member.get("/documents/usage").text
    assert "345" not in viewers.stranger.get("/documents/usage", tenant=viewers.acme).text


def test_a_download_is_a_signed_address_or_none(
    viewers: Viewers, document: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    member = viewers.member.client.get_cookie("tickwork-session")
    assert member is not None

    assert "Download" not in viewers.member.get(f"/documents/{document}").text
    assert viewers.member.get(f"/documents/{document}/file").status == 404
    vault = "s3://vault?endpoint=https://storage.example.com&region=eu-central-1"
    with console_of(viewers.world, TICKWORK_VAULT_URL=vault) as browser:
        browser.client.set_cookie("tickwork-session", member.value)
        assert f"/documents/{document}/file" in browser.get(f"/documents/{document}").html
        response = browser.client.get(f"/console/documents/{document}/file")
        assert response.status_code == 303
        assert "Signature=" in response.headers["Location"]
        assert browser.get(f"/documents/{uuid4()}/file").status == 404


def test_a_file_of_a_folder_is_sent_to_whoever_may_see_it(viewers: Viewers, tmp_path: Path) -> None:
    name = 'Vertrag "für" <b>\r\nX: y.html'
    texts = "insert into documents (tenant_id, name, mime_type, size, vault_path) values (%s, %s, 'text/html', 9, %s)"
    path = f"tenant/{viewers.acme}/documents/{uuid4()}.html"
    document = viewers.world.value(f"{texts} returning id", viewers.acme, name, path)
    with console_of(viewers.world, TICKWORK_VAULT_URL=f"file:{tmp_path}") as console:
        member, stranger = (console.sign_in(user_of(each)) for each in (viewers.member, viewers.stranger))
        assert member.get(f"/documents/{document}/file").status == 404
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).write_bytes(b"\x00<script>")

        # More often than there may be at once: each is given back when it ends.
        for _ in range(20):
            assert member.get(f"/documents/{document}/file").html == "\x00<script>"
            with member.client.head(f"/console/documents/{document}/file") as asked:
                assert asked.status_code == 200
        sent = member.get(f"/documents/{document}/file")

        assert sent.headers["Content-Type"] == "application/octet-stream"
        assert sent.headers["Content-Disposition"].startswith("attachment; ")
        assert sent.headers["Content-Disposition"].endswith("Vertrag%20%22f%C3%BCr%22%20%3Cb%3E%0D%0AX%3A%20y.html")
        assert sent.headers["X-Content-Type-Options"] == "nosniff"
        assert "Download" in member.get(f"/documents/{document}").text
        assert stranger.get(f"/documents/{document}/file").status == 404


def test_an_artifact_of_a_job_is_sent_to_whoever_may_see_it(viewers: Viewers, tmp_path: Path) -> None:
    job = viewers.world.job(tenant=viewers.acme)
    added = viewers.world.service.artifacts.add_artifact(viewers.acme, 4, "0" * 64, "report.csv", "text/csv")
    viewers.world.run("update artifacts set job_id = %s where id = %s", job.id, added["id"])
    with console_of(viewers.world, TICKWORK_VAULT_URL=f"file:{tmp_path}") as console:
        member, stranger = (console.sign_in(user_of(each)) for each in (viewers.member, viewers.stranger))
        path = tmp_path / f"tenant/{viewers.acme}/artifacts/{added['id']}-report.csv"
        path.parent.mkdir(parents=True)
        path.write_text("a;b\n")

        link = f"/artifacts/{added['id']}/file"
        assert f"/console{link}" in member.get(f"/jobs/{job.id}").html
        sent = member.get(link)
        assert sent.html == "a;b\n"
        assert sent.headers["Content-Disposition"].endswith("''report.csv")
        assert stranger.get(link).status == 404
        assert member.get(f"/artifacts/{uuid4()}/file").status == 404


def test_a_file_is_uploaded_by_whoever_may_add_documents(viewers: Viewers, tmp_path: Path) -> None:
    with console_of(viewers.world, TICKWORK_VAULT_URL=f"file:{tmp_path}") as console:
        member, stranger = (console.sign_in(user_of(each)) for each in (viewers.member, viewers.stranger))
        name = "<b>Vertrag</b>.txt"
        sent = sent_file(member, viewers.acme, name, b"Die Miete")
        refused = [
            sent_file(stranger, viewers.acme, name, b"x"),
            sent_file(member, viewers.acme, name, b"x" * 32_000_001),
            sent_file(member, viewers.acme, "", b"x"),
            sent_file(member, viewers.acme, name, b"x", headers={"Sec-Fetch-Site": "cross-site"}),
            sent_file(console, viewers.acme, name, b"x"),
        ]
        member.post("/preferences", access="read-only", language="en", theme="auto", zone="UTC")
        refused.append(sent_file(member, viewers.acme, name, b"x"))
        seen = member.get(sent.headers["Location"].removeprefix("/console"))

    assert name in seen.text
    assert name not in seen.html
    assert [each.status_code for each in refused] == [403, 413, 422, 403, 303, 403]
    assert [file.read_bytes() for file in tmp_path.rglob("*.txt")] == [b"Die Miete"]


def test_without_a_vault_nothing_is_uploaded(viewers: Viewers) -> None:
    assert sent_file(viewers.member, viewers.acme, "a.txt", b"x").status_code == 422
    assert "Upload" not in viewers.member.get("/documents").text


def test_a_page_of_hits_that_is_no_number_is_refused(viewers: Viewers) -> None:
    assert viewers.member.get("/documents/search", q="kaution", skip="x").status == 400


def sent_file(
    browser: Browser, tenant: UUID, name: str, content: bytes, headers: Mapping[str, str] = OWN_PAGE
) -> TestResponse:
    query = {"tenant": str(tenant), "name": name}
    return browser.client.post(
        "/console/documents/files",
        query_string=query,
        data=content,
        headers=dict(headers),
        content_type="application/octet-stream",
    )
