"""The console in a real Chromium. Whatever the browser complains about fails the test."""

import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

from tests.serve.test_wake_up import running_function
from tests.world import World
from tests.world.api import ISSUER, SECRET, member_of
from tests.world.console import CONSOLE_SECRET
from tickwork.console.session import SESSION, session_cookie
from tickwork.settings import load_settings
from tickwork.testing.database import TEMPLATE, cloned
from tickwork_local.postgres import Server

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: make test-console")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
MAIN = Path(__file__).parents[2] / "functions/api/main.py"
QUIET = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update")
# What a page that is refused says by its status: the browser notes it as an error of the network.
REFUSED = "Failed to load resource"


@dataclass(frozen=True)
class Roles:
    member: UUID
    admin: UUID
    operator: UUID
    stranger: UUID


@dataclass
class Site:
    """The console of a database, and who may sign in to it."""

    world: World
    url: str
    browser: Any
    roles: Roles
    acme: UUID
    other: UUID
    complaints: list[str] = field(default_factory=list)

    def signed_in(self, user: UUID | None, **options: Any) -> Any:
        """A page of a new browser profile in which this user is signed in."""
        context = self.browser.new_context(base_url=self.url, **options)
        context.set_default_timeout(60_000)
        if user:
            own = {"TICKWORK_DATABASE_URL": self.world.url, "TICKWORK_CONSOLE_SECRET": CONSOLE_SECRET}
            settings = load_settings(own)
            value = session_cookie(str(user), settings).value
            context.add_cookies([{"name": SESSION, "value": value, "url": self.url, "httpOnly": True}])
        page = context.new_page()
        page.on("pageerror", lambda error: self.complaints.append(f"{page.url}: {error}"))
        page.on("dialog", lambda dialog: self.complaints.append(f"{page.url}: dialog {dialog.message}"))
        page.on("console", lambda message: self._note(page, message))
        return page

    def _note(self, page: Any, message: Any) -> None:
        if message.type in ("error", "warning") and not message.text.startswith(REFUSED):
            self.complaints.append(f"{page.url}: {message.text}")


# For one file at a time: while it runs, no other test of this process can have an event loop.
@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    if not CHROMIUM:
        pytest.skip("Chromium is not installed: make test-console installs it")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=[*QUIET, "--disable-sync"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def site(server: Server, worker_port: int, chromium: Any, tmp_path_factory: Any) -> Iterator[Site]:
    with ExitStack() as stack:
        name = stack.enter_context(cloned(server, TEMPLATE))
        worker_url = f"postgresql://tickwork_worker@127.0.0.1:{worker_port}/{name}"
        world = stack.enter_context(World(server.url(name), worker_url))
        settings = {
            "TICKWORK_DATABASE_URL": world.url.replace("postgres@", "tickwork_api@"),
            "TICKWORK_JWT_SECRET": SECRET,
            "TICKWORK_JWT_ISSUER": ISSUER,
            "TICKWORK_CONSOLE_SECRET": CONSOLE_SECRET,
            "TICKWORK_VAULT_URL": f"file:{tmp_path_factory.mktemp('vault')}",
        }
        served = stack.enter_context(running_function(MAIN, tmp_path_factory.mktemp("console"), **settings))
        acme, other, operator = world.tenant("acme"), world.tenant("other"), uuid4()
        world.run("insert into tickwork.platform_admins (user_id) values (%s)", operator)
        member, admin = member_of(world, acme), member_of(world, acme, role="admin")
        roles = Roles(member, admin, operator, member_of(world, other, role="owner"))
        yield Site(world, f"http://127.0.0.1:{served.port}", chromium, roles, acme, other)


@pytest.fixture(autouse=True)
def no_complaints(request: pytest.FixtureRequest) -> Iterator[None]:
    yield
    if "site" in request.fixturenames:
        site: Site = request.getfixturevalue("site")
        found, site.complaints = site.complaints, []
        assert found == []
