"""Battery passports: the list, one with its versions, files for audiences, and what members do."""

import json
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

from tests.console.conftest import Viewers
from tests.world.console import console_of, user_of
from tests.world.passports import FACTS, ISSUED_AT, attribute
from tests.world.signing import KEY, Signer
from tickwork.console.passports import ATTRIBUTES_SHOWN, PAGE_SIZE, VERSIONS_SHOWN
from tickwork.console.preferences import PREFERENCES
from tickwork.passports.canonical import canonical
from tickwork.passports.verifier import verify

HOSTILE = "<img src=x onerror=alert(1)>"
HASH = "ab" * 32
COPY_VERSION = """
    insert into passport_versions (
      id, tenant_id, passport_id, snapshot_id, rule_package_version_id, number, payload_canonical, payload_hash,
      proof_canonical, proof_root_hash, leaf_count, receipt_canonical, receipt_hash, compiler_build_id, issued_at
    )
    select
      gen_random_uuid(), tenant_id, %(passport)s, snapshot_id, rule_package_version_id, copy.number, %(payload)s,
      sha256(%(payload)s), proof_canonical, proof_root_hash, leaf_count, receipt_canonical, receipt_hash,
      compiler_build_id, issued_at + copy.number * interval '1 day'
    from passport_versions, generate_series(1, %(count)s) as copy(number)
    where id = %(version)s
"""


@dataclass(frozen=True)
class Made:
    """A passport with two signed versions, the second of them after the first was activated."""

    passport: UUID
    active: UUID
    newest: UUID


@pytest.fixture(scope="module")
def made(viewers: Viewers) -> Iterator[Made]:
    with pytest.MonkeyPatch.context() as monkeypatch:
        signer = Signer(viewers.world, monkeypatch)
        signer.tenant = viewers.acme
        facts = [attribute("product.manufacturer", HOSTILE), *FACTS[1:]]
        viewers.world.run("select set_resolver(%s, 'id.example.com')", viewers.acme)
        given = signer.passport(HOSTILE), signer.snapshot(facts), signer.rules()
        viewers.world.run("select set_gtin(%s, '09506000134352', 'S-1')", given[0])
        jobs = [signer.compile(*given, issued_at) for issued_at in (ISSUED_AT, "2027-02-19T00:00:00Z")]
        signer.finish()
        first, second = (UUID(job.result["passport_version_id"]) for job in jobs)
        viewers.world.run("select activate_passport(%s)", first)
        yield Made(given[0], first, second)


def exported(viewers: Viewers, made: Made, audience: str = "authorities") -> UUID:
    path = f"tenant/{viewers.acme}/derived/passports/{made.active}/{HASH}.pdf"
    id: UUID = viewers.world.value(
        "insert into passport_exports "
        "(tenant_id, passport_version_id, format, template, audience, vault_path, sha256, size) "
        "values (%s, %s, 'pdf', 'standard', %s, %s, %s, 2000) returning id",
        *(viewers.acme, made.active, audience, path, HASH),
    )
    return id


def status(viewers: Viewers, version: UUID) -> str:
    found: str = viewers.world.value("select status from passport_versions where id = %s", version)
    return found


def test_a_tenants_own_see_the_passport_and_nobody_else(viewers: Viewers, made: Made) -> None:
    for browser in (viewers.admin, viewers.member, viewers.operator):
        listed = browser.get("/passports", tenant=viewers.acme)
        shown = browser.get(f"/passports/{made.passport}")
        assert f"{HOSTILE} Z94 electric vehicle 1 2 signed" in listed.text
        assert HOSTILE in shown.text
        assert HOSTILE not in listed.html + shown.html
    assert HOSTILE not in viewers.stranger.get("/passports", tenant=viewers.acme).text
    assert viewers.stranger.get(f"/passports/{made.passport}").status == 404
    assert viewers.member.get(f"/passports/{uuid4()}").status == 404
    assert viewers.nobody.get("/passports").status == 303
    assert "Choose a tenant" in viewers.operator.get("/passports").text


def test_the_page_of_a_passport_says_what_there_is(viewers: Viewers, made: Made) -> None:
    seen = viewers.member.get(f"/passports/{made.passport}")

    version = viewers.world.row("select * from passport_versions where id = %s", made.newest)
    assert "Version 2 is signed and has its QR code: activate_passport makes it active." in seen.text
    assert "2 signed 2027-02-19 00:00:00 UTC Rules: rules" in seen.text
    assert "Snapshot: spring" in seen.text
    assert version["receipt_hash"].hex()[:12] in seen.text
    assert f'src="data:image/png;base64,{b64encode(version["qr_png"]).decode()}"' in seen.html
    (link,) = viewers.world.rows("select link_qr_png from passports where id = %s", made.passport)
    assert "GTIN 09506000134352 Serial number S-1 Link https://id.example.com/01/09506000134352/21/S-1" in seen.text
    assert f'src="data:image/png;base64,{b64encode(link["link_qr_png"]).decode()}"' in seen.html
    assert "data:" in seen.headers["Content-Security-Policy"].partition("img-src")[2].partition(";")[0]
    assert "performance.rated_capacity 94.5 AMH public" in seen.text
    assert "compliance.test_result 0.998 authorities" in seen.text


def test_the_page_is_german_and_read_only_if_the_viewer_wants_that(viewers: Viewers, made: Made) -> None:
    viewers.member.client.set_cookie(PREFERENCES, "de||read-only|")
    seen = viewers.member.get(f"/passports/{made.passport}")
    refused = viewers.member.post(f"/passports/versions/{made.newest}/activate")
    viewers.member.client.delete_cookie(PREFERENCES)

    assert "Kategorie Elektrofahrzeug" in seen.text
    assert "Änderungen" not in seen.text
    assert '<details class="change"' not in seen.html
    assert refused.status == 403


def test_passports_are_created_found_by_battery_and_saved(viewers: Viewers, made: Made) -> None:
    new: dict[str, Any] = {"battery_identifier": "ZW-7", "category": "lmt", "model": "=1+1"}
    new |= {"gtin": "09506000134352", "serial": "S-7"}

    created = viewers.member.post("/passports", **new)

    assert "The passport was created." in created.text
    assert "It was never compiled." in created.text
    assert "Serial number S-7" in created.text
    assert viewers.member.post("/passports", **new).status == 409
    assert viewers.member.post("/passports", **{**new, "category": "truck"}).status == 422
    assert viewers.stranger.post(f"/passports?tenant={viewers.acme}", **new).status == 403
    found = viewers.member.get("/passports", battery="ZW-7")
    assert "ZW-7" in found.text
    assert HOSTILE not in found.text
    saved = viewers.member.get("/passports", format="csv")
    assert "ZW-7,'=1+1,lmt" in saved.html
    assert len(json.loads(viewers.member.get("/passports", format="json", battery="ZW-7").html)) == 1


def test_a_long_list_has_pages(viewers: Viewers) -> None:
    viewers.world.run(
        "insert into passports (tenant_id, battery_identifier, category) "
        "select %s, 'many ' || number, 'ev' from generate_series(1, %s) as number",
        *(viewers.other, PAGE_SIZE + 1),
    )

    first = viewers.stranger.get("/passports")
    last = first.html.rpartition('<tr id="passport-')[2].partition('"')[0]
    second = viewers.stranger.get("/passports", after=last)

    assert first.html.count('<tr id="passport-') == PAGE_SIZE
    assert f"after={last}" in first.html
    assert second.html.count('<tr id="passport-') == 1
    assert "Next page" not in second.text


@pytest.mark.parametrize(
    ("audience", "paths"), [("public", 3), ("legitimate_interest", 5), ("authorities", 5), (None, 3)]
)
def test_a_bundle_for_an_audience_verifies(viewers: Viewers, made: Made, audience: str | None, paths: int) -> None:
    query = {"audience": audience} if audience else {}

    sent = viewers.member.get(f"/passports/versions/{made.newest}/bundle", **query)

    assert sent.headers["Content-Disposition"].startswith("attachment; ")
    assert len(json.loads(sent.html)["leaves"]) == paths
    assert verify(sent.html.encode(), KEY.id)["passport_id"] == str(made.passport)


def test_nobody_else_gets_a_bundle(viewers: Viewers, made: Made) -> None:
    link = f"/passports/versions/{made.newest}/bundle"

    assert viewers.stranger.get(link).status == 404
    assert viewers.member.get(link, audience="owner").status == 422
    assert viewers.member.get(f"/passports/versions/{uuid4()}/bundle").status == 404


def test_a_file_is_sent_to_whoever_may_see_it(viewers: Viewers, made: Made, tmp_path: Path) -> None:
    link = f"/passports/exports/{exported(viewers, made)}/file"
    file = tmp_path / f"tenant/{viewers.acme}/derived/passports/{made.active}/{HASH}.pdf"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"%PDF")
    with console_of(viewers.world, TICKWORK_VAULT_URL=f"file:{tmp_path}") as console:
        member, stranger = (console.sign_in(user_of(each)) for each in (viewers.member, viewers.stranger))

        seen, sent = member.get(f"/passports/{made.passport}"), member.get(link)

        assert "1 PDF authorities 2.0" in seen.text
        assert f"/console{link}" in seen.html
        assert sent.html == "%PDF"
        assert sent.headers["Content-Disposition"].endswith("%201%20authorities.pdf")
        assert stranger.get(link).status == 404
        assert member.get(f"/passports/exports/{uuid4()}/file").status == 404
    assert f"/console{link}" not in viewers.member.get(f"/passports/{made.passport}").html


def test_a_member_requests_an_export(viewers: Viewers, made: Made) -> None:
    path = f"/passports/{made.passport}/versions/{made.newest}/exports"
    jobs = "select payload ->> 'audience' as audience from jobs where type = 'export_passport'"

    assert viewers.stranger.post(path, format="pdf", audience="owner").status == 404
    assert viewers.member.post(path, format="json_ld", audience="owner").status == 422
    assert viewers.world.rows(jobs) == []
    assert "The export was requested" in viewers.member.post(path, format="pdf", audience="owner").text
    assert viewers.world.rows(jobs) == [{"audience": "owner"}]


def test_a_member_activates_and_revokes_a_version(viewers: Viewers, made: Made) -> None:
    path = f"/passports/versions/{made.newest}"
    before = viewers.member.get(f"/passports/{made.passport}")
    assert "Version 2 counts from now on. Version 1 is superseded" in before.text
    for change in ("activate", "revoke"):
        assert viewers.stranger.post(f"{path}/{change}", reason="theirs").status == 404

    activated = viewers.member.post(f"{path}/activate")
    assert "Version 2 is active." in activated.text
    assert "No version is active until another one is activated." in activated.text
    assert status(viewers, made.active) == "superseded"
    assert viewers.member.post(f"{path}/revoke", reason=" ").status == 422
    revoked = viewers.member.post(f"{path}/revoke", reason=HOSTILE)

    assert "Version 2 was revoked." in revoked.text
    assert f"2 revoked {HOSTILE}" in revoked.text
    assert HOSTILE not in revoked.html
    assert status(viewers, made.newest) == "revoked"
    assert viewers.member.post(f"{path}/activate").status == 409


def test_only_the_newest_versions_and_the_first_attributes_are_shown(viewers: Viewers, made: Made) -> None:
    passport = viewers.world.service.passports.create_passport(viewers.acme, "long", "ev")["id"]
    said = {"value": 7, "unit": None, "access": "restricted"}
    payload = canonical({"attributes": {f"a.b{number:03}": said for number in range(ATTRIBUTES_SHOWN + 1)}})
    copied = {"passport": passport, "payload": payload, "count": VERSIONS_SHOWN + 1, "version": made.active}
    viewers.world.admin.execute(COPY_VERSION, copied)

    seen = viewers.member.get(f"/passports/{passport}")

    assert "Only the newest 20 are shown." in seen.text
    assert "Only the first 500 are shown." in seen.text
    assert "a.b499 7 legitimate interest and authorities" in seen.text
    assert seen.html.count('<tr id="version-') == VERSIONS_SHOWN
    # They are not signed.
    for offered in ("<img", "/bundle", '<details class="change"'):
        assert offered not in seen.html


def test_a_database_without_passports_has_no_such_pages(viewers: Viewers) -> None:
    viewers.world.run("alter function list_passports rename to no_passports")
    try:
        seen, other = viewers.member.get("/passports"), viewers.member.get("/schedules")
    finally:
        viewers.world.run("alter function no_passports rename to list_passports")

    assert seen.status == 404
    assert 'href="/console/passports"' not in seen.html + other.html
