"""The pictures of the console in the README, from a stack with the jobs of the demo. Needs Chromium."""

import shutil
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from tickwork.client import Tickwork
from tickwork.database.connection import Database
from tickwork.shipped import FUNCTIONS, ROOT
from tickwork_local.api import console_link
from tickwork_local.demo import DEMO, SAMPLES, enqueue, unfinished
from tickwork_local.demo_documents import add_samples
from tickwork_local.functions import Function
from tickwork_local.stack import own_secret_key, running_stack

FOLDER = ROOT / "docs" / "images"
SECONDS = 90


def main() -> None:
    chromium = shutil.which("chromium") or sys.exit("Chromium is not installed: apt-get install chromium")
    functions = {
        "demo": Function(DEMO / "main.py", "demo"),
        "demo_crash": Function(DEMO / "main.py", "demo_crash"),
        "extract": Function(FUNCTIONS / "extract/main.py"),
    }
    api = Function(FUNCTIONS / "api/main.py")
    with (
        tempfile.TemporaryDirectory() as home,
        running_stack(Path(home) / "home", functions, api=api, tick_seconds=1) as stack,
        sync_playwright() as playwright,
    ):
        client = Tickwork(Database(stack.database_url, "screenshots"), secret_key=own_secret_key(stack.home))
        enqueue(client, stack)
        add_samples(client, stack, SAMPLES)
        give_up_at = time.monotonic() + SECONDS
        while unfinished(client) and time.monotonic() < give_up_at:
            time.sleep(1)
        waiting = client.jobs.enqueue_job(
            tenant(client), "http_request", {"method": "GET", "url": "https://example.com"}
        )
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1280, "height": 760}, color_scheme="light")
        page.goto(console_link(stack.api["api_url"], stack.database_url))
        page.click("main button")
        for name, path in (("overview", "/"), ("jobs", "/jobs"), ("job", f"/jobs/{waiting.id}")):
            take(page, name, f"{stack.api['api_url'].rstrip('/')}/console{path}")
        browser.close()


def tenant(client: Tickwork) -> str:
    return str(client.tenants.find("acme"))


def take(page: Page, name: str, address: str) -> None:
    page.goto(address)
    page.screenshot(path=FOLDER / f"console-{name}.png")
    print(f"wrote docs/images/console-{name}.png")


if __name__ == "__main__":
    main()
