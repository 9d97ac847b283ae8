"""
Many deliveries to receivers that fail three times out of ten: none is lost, and repeats can be told.

`make test-deliveries` does it with ten thousand.
"""

import json
import os
import random
import socket
import struct
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import pytest

from tests.servers.hostile import Caller, hostile_server
from tests.world import World
from tests.world.crowd import let_time_pass, with_workers
from tests.world.receivers import HANDLERS, Sender, make_due
from tests.world.receivers import sender as sender  # a fixture
from tests.world.waiting import until
from tickwork.queue import Queue
from tickwork.runtime.deadline import Deadline
from tickwork.runtime.work import work
from tickwork.tools.signing import is_genuine

HOW_MANY = int(os.environ.get("TICKWORK_DELIVERIES", "300"))
TENANTS, ENDPOINTS, WORKERS = 5, 2, 6
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
# A receiver that hangs up without an answer may have taken the message, or not.
TROUBLES = ("reset", "reset after taking it", "500", "silence")


@dataclass
class Receivers:
    """Every endpoint, each at a path of its own, and what has arrived there."""

    secrets: dict[str, str] = field(default_factory=dict)
    tries: Counter[str] = field(default_factory=Counter)
    taken: Counter[str] = field(default_factory=Counter)
    ids: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    by_path: Counter[str] = field(default_factory=Counter)
    forged: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def reply(self, caller: Caller) -> None:
        seen = caller.seen
        with self.lock:
            delivery = seen.headers["x-bpc-delivery-id"]
            self.by_path[seen.target] += 1
            self.ids[delivery].add(seen.headers["webhook-id"])
            self.forged += not is_genuine(self.secrets[seen.target], seen.headers, seen.body, time.time())
            trouble = self.trouble(seen.target, json.loads(seen.body)["data"]["number"])
            self.taken[delivery] += trouble in (None, "reset after taking it")
        match trouble:
            case "reset" | "reset after taking it":
                caller.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            case "500":
                caller.send(b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n")
            case "silence":
                caller.stay_silent()
            case _:
                caller.send(OK)

    def trouble(self, path: str, number: int) -> str | None:
        self.tries[f"{path} {number}"] += 1
        chance = random.Random(f"{path} {number} {self.tries[f'{path} {number}']}")
        return chance.choice(TROUBLES) if chance.random() < 0.3 else None


def test_none_is_lost_and_none_arrives_after_its_endpoint_was_deleted(
    sender: Sender, capsys: pytest.CaptureFixture[str]
) -> None:
    world, receivers, began = sender.world, Receivers(), time.monotonic()
    # On a busy machine a delivery may meet more than its share of trouble.
    world.run("update job_types set max_attempts = 25 where key = 'deliver_webhook'")
    with hostile_server(receivers.reply) as server:
        tenants = [sender, *(Sender(world, world.tenant(f"tenant {number}")) for number in range(1, TENANTS))]
        paths: dict[str, UUID] = {}
        for number, tenant in enumerate(tenants):
            for endpoint in range(ENDPOINTS):
                path = f"/{number}/{endpoint}"
                paths[path], receivers.secrets[path] = tenant.add(server.url(path), timeout_seconds=0.5)
        for tenant in tenants:
            emit_many(world, tenant.tenant, HOW_MANY // TENANTS // ENDPOINTS)
        with capsys.disabled(), working(world):
            until(lambda: pending(world) < HOW_MANY / 2, "nothing moves", seconds=3000)
            doomed, at_deletion = delete_two(sender, paths, receivers)
            until(lambda: pending(world) == 0, "not all of them arrive", seconds=3000)
    statuses = {row["status"]: row["count"] for row in world.rows(
        "select status, count(*) from webhook_deliveries group by status"
    )}  # fmt: skip
    left = world.rows("select id::text from webhook_deliveries")
    late = {path: receivers.by_path[path] - count for path, count in at_deletion.items()}

    assert statuses == {"delivered": len(left)}
    assert [row["id"] for row in left if not receivers.taken[row["id"]]] == []
    assert {len(ids) for ids in receivers.ids.values()} == {1}
    assert (receivers.forged, late) == (0, dict.fromkeys(doomed, 0))
    with capsys.disabled():
        again = sum(count > 1 for count in receivers.taken.values())
        print(
            f"\ndelivered {len(left)}/{len(left)}, lost 0, taken more than once {again} (all under the same id), "
            f"requests {sum(receivers.by_path.values())}, not genuine 0, after deletion {sum(late.values())}, "
            f"{time.monotonic() - began:.0f} s"
        )


def emit_many(world: World, tenant: UUID, events: int) -> None:
    world.run(
        "select count(emit_event(%s, 'invoice.paid', null, jsonb_build_object('number', number))) "
        "from generate_series(1, %s) as number",
        tenant,
        events,
    )


@contextmanager
def working(world: World) -> Iterator[None]:
    """Functions that are woken again and again, while hours pass in moments."""
    is_over = threading.Event()

    def keep_working(queue: Queue) -> None:
        while not is_over.wait(0.05):
            work(queue, "webhook", HANDLERS, Deadline(60, 1000))

    thread = threading.Thread(target=with_workers, args=(world, WORKERS, keep_working))
    with open(os.devnull, "w") as nowhere, pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdout", nowhere)
        thread.start()
        try:
            yield
        finally:
            is_over.set()
            thread.join()


def pending(world: World) -> int:
    make_due(world)
    let_time_pass(world, 1000)
    world.run("update webhook_endpoints set probe_at = probe_at - interval '1000 seconds' where breaker = 'open'")
    world.service.maintenance.maintain()
    time.sleep(0.1)
    found: int = world.value("select count(*) from webhook_deliveries where status = 'pending'")
    return found


def delete_two(sender: Sender, paths: dict[str, UUID], receivers: Receivers) -> tuple[list[str], dict[str, int]]:
    """Two endpoints, and what had arrived there when the last attempt that was under way had ended."""
    doomed: list[Any] = list(paths)[1:3]
    for path in doomed:
        sender.client.webhooks.delete_webhook_endpoint(paths[path])
    running = "select count(*) from jobs where status = 'running' and lane = any (%s)"
    lanes = [f"endpoint:{paths[path]}" for path in doomed]
    until(lambda: sender.world.value(running, lanes) == 0)
    return doomed, {path: receivers.by_path[path] for path in doomed}
