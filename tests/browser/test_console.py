"""Every page in a real browser, as everybody, with hostile text, without scripts, by keyboard, and from other sites."""

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib import resources
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest

import tickwork.console
from tests.browser.conftest import Site
from tests.world.waiting import until
from tickwork.console.page import all_pages

axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="make test-console")
HOSTILE = """<script>document.title='owned'</script><img src=x onerror="alert(1)">'"]]></style>${7*7}{{7*7}}=1+1"""
# Pages without an id in their path.
LISTS = sorted({page.path for page in all_pages() if page.method == "GET" and "{" not in page.path})
ROLES = ("member", "admin", "operator", "stranger")


def furnish(site: Site) -> UUID:
    """Some jobs of both tenants, one of them in each status; the id of a failed one."""
    world = site.world
    if world.value("select count(*) from job_types where key = 'greet_person'") == 0:
        world.type("greet_person", payload_schema=None)
    for tenant in (site.acme, site.other):
        for ending in ("done", "failed", "dead"):
            world.job("greet_person", tenant=tenant, payload={"name": HOSTILE}, correlation_id="c")
            claimed = world.claim()
            if ending == "done":
                world.queue.complete_job(claimed, {"said": HOSTILE})
            else:
                world.queue.fail_job(claimed, {"code": "BROKEN", "message": HOSTILE}, retryable=False)
        world.job("greet_person", tenant=tenant)
    found: UUID = world.value("select id from jobs where status = 'failed' and tenant_id = %s limit 1", site.acme)
    return found


@pytest.fixture(scope="module")
def job_id(site: Site) -> UUID:
    return furnish(site)


@pytest.mark.parametrize("role", ROLES)
def test_every_page_is_shown_to_everybody_who_may_see_it(site: Site, job_id: UUID, role: str) -> None:
    page = site.signed_in(getattr(site.roles, role))

    for path in LISTS:
        answer = page.goto(f"/console{path}")
        assert answer.status in (200, 400, 403, 404), (path, page.inner_text("main"))
        if role == "operator":
            assert answer.status in (200, 400), (path, page.inner_text("main"))
        assert page.title() != "owned"
    assert page.goto(f"/console/jobs/{job_id}").status == (404 if role == "stranger" else 200)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_serious(site: Site, job_id: UUID, theme: str) -> None:
    page = site.signed_in(site.roles.operator, color_scheme=theme)
    # A refresh would change the page while axe reads it.
    page.add_init_script("window.setInterval = () => 0")

    for path in [*LISTS, f"/jobs/{job_id}"]:
        page.goto(f"/console{path}")
        # Some are only parts of pages.
        if not page.query_selector("main"):
            continue
        # Through the debugger: a page would not load a script of somebody else.
        page.evaluate(axe_source())
        found = page.evaluate("axe.run({resultTypes: ['violations']})")["violations"]
        serious = [
            (each["id"], [node["html"][:200] for node in each["nodes"]])
            for each in found
            if each["impact"] in ("serious", "critical")
        ]
        assert serious == [], path


def test_hostile_text_in_every_column_stays_text(site: Site, job_id: UUID) -> None:
    spoil(site)
    page = site.signed_in(site.roles.operator)

    for path in [*LISTS, f"/jobs/{job_id}", "/jobs?q=" + "%3Cimg%20src%3Dx%3E", "/sign-in?next=%22%3E%3Cscript%3E"]:
        page.goto(f"/console{path}")
        assert page.title() != "owned", path
        assert page.evaluate("document.querySelectorAll('img, main script, style').length") == 0, path


def test_without_scripts_one_can_still_read_and_act(site: Site, job_id: UUID) -> None:
    page = site.signed_in(site.roles.admin, java_script_enabled=False)

    for path in LISTS:
        assert page.goto(f"/console{path}").status in (200, 400, 403, 404), path
    page.goto(f"/console/jobs/{job_id}")
    page.click("summary:has-text('Retry')")
    page.click("button:has-text('Retry the job')")

    assert "queued again" in page.inner_text("main")


def test_the_keyboard_suffices_for_triage(site: Site, job_id: UUID) -> None:
    job = site.world.job("greet_person", tenant=site.acme, payload={"for": "keys"})
    page = site.signed_in(site.roles.admin)
    page.goto("/console/jobs")

    page.keyboard.press("/")
    page.keyboard.type("payload.for:keys")
    page.keyboard.press("Enter")
    page.wait_for_url("**payload.for*")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/jobs/{job.id}")
    page.focus("summary:has-text('Cancel')")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_selector(".said")
    page.keyboard.press("g")
    page.keyboard.press("e")
    page.wait_for_url("**/errors")
    page.keyboard.press("?")

    assert page.is_visible("#keys")
    assert site.world.reload(job).status == "cancelled"


@pytest.mark.parametrize("locale", ["en-US", "de-DE"])
def test_the_navigation_is_one_row_and_its_menus_open_by_keyboard(site: Site, locale: str) -> None:
    page = site.signed_in(site.roles.operator, locale=locale, viewport={"width": 1280, "height": 720})
    page.goto("/console/alerts")

    assert page.evaluate("document.querySelector('header nav > ul').offsetHeight < 40")
    page.focus("header .menu .current")
    page.keyboard.press("Enter")
    assert page.is_visible("header a[href$='/types']")
    page.keyboard.press("Escape")
    assert not page.is_visible("header a[href$='/types']")
    page.keyboard.press("Enter")
    page.click("main h1", position={"x": 5, "y": 5})
    assert not page.is_visible("header a[href$='/types']")


def test_a_refresh_shows_what_changed_and_leaves_what_is_typed(site: Site, job_id: UUID) -> None:
    job = site.world.job("greet_person", tenant=site.acme, payload={"for": "refresh"})
    page = site.signed_in(site.roles.admin)
    page.goto("/console/jobs?q=payload.for:refresh")
    site.world.service.jobs.cancel_job(job.id)

    page.wait_for_selector(f"#job-{job.id} .cancelled")
    page.fill("main input[type=search]", "half a wo")
    page.keyboard.press("Escape")
    page.focus("main input[type=search]")
    site.world.service.jobs.retry_job(job.id)
    page.wait_for_timeout(2500)

    assert page.is_visible(f"#job-{job.id} .cancelled")
    assert site.world.reload(job).status == "queued"


def test_files_are_uploaded_one_after_the_other(site: Site) -> None:
    page = site.signed_in(site.roles.member)
    page.goto("/console/documents")
    files = [{"name": f"{number}.txt", "mimeType": "text/plain", "buffer": b"Die Miete"} for number in (1, 2)]

    with page.expect_navigation():
        page.set_input_files("main input[type=file]", files)

    assert page.inner_text("tbody").count(".txt") == 2
    page.click("tbody a >> nth=0")
    with page.expect_download() as download:
        page.click("main a.button")
    assert Path(download.value.path()).read_bytes() == b"Die Miete"
    assert download.value.suggested_filename.endswith(".txt")


def test_other_sites_can_neither_frame_it_nor_send_its_forms(site: Site, job_id: UUID) -> None:
    job = site.world.job("greet_person", tenant=site.acme)
    hostile = f"""<!doctype html><title>evil</title><iframe src="{site.url}/console/jobs"></iframe>
        <form id="f" method="post" action="{site.url}/console/jobs/{job.id}/cancel"><button>go</button></form>"""
    page = site.signed_in(site.roles.admin)

    with other_site(hostile) as url:
        page.goto(url)
        framed = page.frames[1]
        # The browser is heard only while it is asked something.
        until(lambda: page.wait_for_timeout(20) or framed.url != "about:blank")
        assert "Jobs" not in framed.content()
        with page.expect_navigation():
            page.click("button")

    assert page.url.startswith(site.url)
    assert "another site" in page.inner_text("main") or page.url.endswith("/sign-in")
    assert site.world.reload(job).status == "queued"
    site.complaints = [each for each in site.complaints if "frame-ancestors" not in each and "X-Frame" not in each]


def test_signing_in_and_out_in_german(site: Site) -> None:
    code = site.world.value("select create_sign_in_link(%s)", site.roles.member)
    page = site.signed_in(None, locale="de-DE", timezone_id="Europe/Berlin")

    page.goto(f"/console/sign-in?code={code}")
    page.click("main button")
    page.goto("/console/jobs")
    assert page.get_attribute("html", "lang") == "de"
    page.click("button:has-text('Abmelden')")
    page.wait_for_url("**/sign-in")
    page.goto("/console/jobs")

    assert "/sign-in?next=" in page.url


def axe_source() -> str:
    return resources.files("axe_playwright_python").joinpath("axe.min.js").read_text()


def spoil(site: Site) -> None:
    """Hostile text in every text column that takes it."""
    columns = site.world.rows(
        """
        select table_schema || '.' || table_name as relation, column_name
        from information_schema.columns
        join information_schema.tables using (table_schema, table_name)
        where table_schema in ('public', 'tickwork') and table_type = 'BASE TABLE' and data_type = 'text'
          and column_name not in ('secret_hash', 'code_hash') and is_generated = 'NEVER'
        """
    )
    taken = 0
    with psycopg.connect(site.world.url, autocommit=True) as connection:
        for row in columns:
            relation, column = row["relation"], row["column_name"]
            try:
                connection.execute(f'update {relation} set "{column}" = %s', [HOSTILE])
                taken += 1
            except psycopg.Error:
                pass
    assert taken > 20


@contextmanager
def other_site(html: str) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(html.encode())

        def log_message(self, *_: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        # Another host for the browser, and the same machine.
        yield f"http://localhost:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()


def test_the_rule_that_templates_escape_everything() -> None:
    folder = Path(tickwork.console.__file__).parent
    text = "\n".join(path.read_text() for path in folder.rglob("*") if path.suffix in (".py", ".html"))
    assert not re.search(r"\|\s*safe\b|Markup|autoescape\s+false|style=|onclick|hx-on|javascript:", text)
