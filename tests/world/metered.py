"""Claims that say how much they read: pages of tables and indexes, the same on a fast machine and on a slow one."""

import json

from psycopg.errors import Diagnostic

from tests.world import World
from tests.world.crowd import enqueue
from tickwork.jobs.rows import ClaimedJob

# A claim of a quiet queue reads some 30 to 80. One of an attacked queue may move a bounded number of rows first, up
# to 200 of ten pages each, and may read the catalog on a way that it goes for the first time.
MAX_PAGES = 3_000

SETTINGS = (
    "load 'auto_explain'",
    "set auto_explain.log_min_duration = 0",
    "set auto_explain.log_analyze = on",
    "set auto_explain.log_buffers = on",
    "set auto_explain.log_timing = off",
    "set auto_explain.log_format = json",
    "set client_min_messages = log",
)


class MeteredWorker:
    """Claims jobs of the family `test` one by one; `pages` is what each claim has read."""

    def __init__(self, world: World) -> None:
        self.pages: list[int] = []
        self._connection = world.connect()
        self._warm_up(world)
        for setting in SETTINGS:
            self._connection.execute(setting)
        self._connection.add_notice_handler(self._read_plan)

    def claim(self) -> ClaimedJob | None:
        row = self._connection.execute("select * from claim_next_job('test', 'metered')").fetchone()
        return ClaimedJob(**row) if row else None

    def _warm_up(self, world: World) -> None:
        # The first claims of a connection read the catalog, thousands of pages that nobody can attack.
        tenant, type = world.tenant("warm up"), world.type("warm_up")
        for lane in (None, "lane 1", "lane 2"):
            for priority in (0, 100):
                enqueue(world, tenant, 2, type, priority=priority, lane=lane)
        while self.claim():
            pass

    def _read_plan(self, notice: Diagnostic) -> None:
        _, is_plan, text = str(notice.message_primary).partition("plan:\n")
        if is_plan:
            # Of the statement that was sent, with all that the functions in it have read.
            plan = json.loads(text)["Plan"]
            self.pages.append(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"])
