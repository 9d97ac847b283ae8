"""`make demo`: runs a few dozen jobs and some documents from start to finish, and checks them at the end."""

import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psycopg
from rich.text import Text

from tickwork.cli.output import job_table, plain_table, print_table
from tickwork.client import Tickwork
from tickwork.database.connection import Database
from tickwork.jobs.rows import Job, Receipt
from tickwork.shipped import FUNCTIONS, ROOT
from tickwork_local.api import console_link
from tickwork_local.demo_documents import add_samples, show_samples
from tickwork_local.demo_passport import show_passport
from tickwork_local.demo_webhooks import receiving, show_messages
from tickwork_local.functions import Function
from tickwork_local.launch import die_with_parent
from tickwork_local.live import watch
from tickwork_local.stack import Stack, own_secret_key, running_stack, stopped_by_signals

DEMO = ROOT / "infra/local/demo"
SAMPLES = ROOT / "infra/local/samples"
TENANTS = ("acme", "birch", "cedar")
PATIENCE_SECONDS = 180
NEXT_STEPS = """
Three next steps, with .venv/bin on the path:
1. Keep a stack running with `tickwork up`, and try it: `tickwork documents add FILE --tenant acme`.
2. Enqueue jobs from your application: docs/guide/enqueue-jobs.md
3. Write a family of your own: docs/guide/your-own-family.md
"""


@dataclass(frozen=True)
class Kind:
    type: str
    how_many: int
    story: str
    ends: str


KEEP_SECONDS = 60

KINDS = (
    Kind("demo_quick", 8, "quick", "done"),
    Kind("demo_slow", 2, "slow, with progress", "done"),
    Kind("demo_unlucky", 2, "fails twice, then works", "done"),
    Kind("demo_hopeless", 1, "fails for good", "failed"),
    Kind("demo_crash", 1, "kills its worker", "dead"),
)


def run_demo(home: Path, *, is_kept: bool) -> int:
    """Exit code 0 only if every job ended in the status it should. With `is_kept` one can look at it afterwards."""
    # A killed `make demo` leaves nothing behind.
    die_with_parent()
    functions = {
        "demo": Function(DEMO / "main.py", "demo"),
        "demo_crash": Function(DEMO / "main.py", "demo_crash"),
        "extract": Function(FUNCTIONS / "extract/main.py"),
        "classify": Function(FUNCTIONS / "classify/main.py"),
        **{family: Function(FUNCTIONS / family / "main.py") for family in ("webhook", "passport", "sign")},
    }
    with stopped_by_signals():
        print("Starting Postgres and the functions …", flush=True)
        api = Function(FUNCTIONS / "api/main.py")
        with running_stack(home, functions, api=api, tick_seconds=1, reset=True) as stack:
            client = Tickwork(Database(stack.database_url, "tickwork demo"), secret_key=own_secret_key(stack.home))
            with receiving(client) as messages:
                jobs = enqueue(client, stack)
                print(
                    f"Enqueued {len(jobs)} jobs of {len(TENANTS)} tenants. Crashes show after 10 s, when leases expire."
                )
                papers = add_samples(client, stack, SAMPLES)
                print(f"Put {len(papers)} documents into the vault, to be extracted and classified.\n")
                give_up_at = time.monotonic() + PATIENCE_SECONDS
                watch(client, lambda: not unfinished(client) or time.monotonic() > give_up_at, transient=True)
            ended = [job for job in client.jobs.list_jobs(max_jobs=1000) if job.type in {kind.type for kind in KINDS}]
            are_right = summarize(jobs, ended, home)
            are_read = show_samples(client, papers)
            is_valid = show_passport(client, stack, DEMO / "battery.csv")
            are_told = show_messages(messages, len(papers))
            show_console(stack, is_kept)
        if not (are_right and are_read and are_told and is_valid):
            return 1
        print(NEXT_STEPS, end="")
        return 0


def show_console(stack: Stack, is_kept: bool) -> None:
    if not is_kept:
        print("\n`tickwork demo --keep` leaves the console open for a minute, to look at all this in a browser.")
        return
    link = console_link(stack.api["api_url"], stack.database_url)
    print(f"\nLook at it in the console, for a minute or until Ctrl-C:\n{link}", flush=True)
    with suppress(KeyboardInterrupt):
        time.sleep(KEEP_SECONDS)


def enqueue(client: Tickwork, stack: Stack) -> list[Receipt]:
    with psycopg.connect(stack.database_url) as connection:
        connection.execute((DEMO / "types.sql").read_bytes())
        rows = connection.execute(
            "select id from public.organizations where name = any(%s)", [list(TENANTS)]
        ).fetchall()
    wanted = [(kind.type, number, row[0]) for kind in KINDS for number in range(kind.how_many) for row in rows]
    return client.jobs.enqueue_jobs(
        [{"tenant_id": str(tenant), "type": type, "payload": {"number": number}} for type, number, tenant in wanted]
    )


def unfinished(client: Tickwork) -> int:
    return sum(row["queued"] + row["running"] for row in client.jobs.queue_summary())


def summarize(enqueued: Sequence[Receipt], ended: Sequence[Job], home: Path) -> bool:
    table = plain_table("type", "jobs", "scenario", "expected", "actual", "attempts", "")
    for kind in KINDS:
        jobs = [job for job in ended if job.type == kind.type]
        statuses = Counter(job.status for job in jobs)
        attempts = ", ".join(map(str, sorted({job.attempts for job in jobs})))
        is_right = statuses == {kind.ends: kind.how_many * len(TENANTS)}
        said = ", ".join(f"{count} {status}" for status, count in statuses.items()) or "nothing"
        mark = Text("✓", "green") if is_right else Text("✗", "red")
        table.add_row(kind.type, str(len(jobs)), kind.story, kind.ends, said, attempts, mark)
    print()
    print_table(table)
    expected = {kind.type: kind.ends for kind in KINDS}
    wrong = [job for job in ended if job.status != expected.get(job.type)]
    if wrong or {job.id for job in enqueued} != {job.id for job in ended}:
        print(f"\nNot every job ended as it should. The logs are in {home / 'logs'}.")
        print_table(job_table(wrong))
        return False
    print("\nEvery job ended as it should.")
    return True
