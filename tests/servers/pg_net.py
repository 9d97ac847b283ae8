"""
A stand-in for pg_net, which no package carries: its schema and functions in SQL, its worker as a thread.

As documented: a call is a row in an unlogged queue, visible and sent only after the commit; the worker takes up to 200
rows, deletes them and sends them all at once in one transaction, so that answers show when the slowest one is there;
nothing is sent twice and nothing is tried again; a NULL header is left out; what is queued is lost in a crash.
"""

import json
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg.rows import dict_row

from tests.world.waiting import PATIENCE
from tickwork.database.connection import Connection

BATCH = 200

SQL = """
    create schema net;
    create unlogged table net.http_request_queue (
      id bigserial, method text not null, url text not null, headers jsonb, body bytea,
      timeout_milliseconds integer not null
    );
    create unlogged table net._http_response (
      id bigint, status_code integer, content_type text, headers jsonb, content text, timed_out boolean,
      error_msg text, created timestamptz not null default now()
    );
    create function net.http_post(
      url text, body jsonb default '{}', params jsonb default '{}',
      headers jsonb default '{"Content-Type": "application/json"}', timeout_milliseconds integer default 5000
    ) returns bigint language plpgsql security definer as $$
    declare
      request_id bigint;
    begin
      if headers ->> 'Content-Type' is distinct from 'application/json' then
        raise exception 'Content-Type header must be "application/json"';
      end if;
      insert into net.http_request_queue (method, url, headers, body, timeout_milliseconds)
      values ('POST', http_post.url, jsonb_strip_nulls(headers), convert_to(body::text, 'utf8'), timeout_milliseconds)
      returning id into request_id;
      perform pg_notify('net_wake', '');
      return request_id;
    end
    $$;
"""
# Hosted, only Supabase's own roles may use it, and cannot pass that on.
HOSTED = """
    revoke execute on all functions in schema net from public;
    grant usage on schema net to anon, authenticated, service_role;
    grant execute on all functions in schema net to anon, authenticated, service_role;
"""


class Requests:
    """What the worker has sent, in the order of their ids."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []


@contextmanager
def running_pg_net(url: str) -> Iterator[Requests]:
    """Send what is queued until the block ends."""
    requests = Requests()
    stopped = threading.Event()
    ready = threading.Event()
    worker = threading.Thread(target=work, args=(url, requests, ready, stopped), daemon=True)
    worker.start()
    assert ready.wait(PATIENCE)
    try:
        yield requests
    finally:
        stopped.set()
        worker.join(PATIENCE)


def work(url: str, requests: Requests, ready: threading.Event, stopped: threading.Event) -> None:
    with psycopg.connect(url, autocommit=True, row_factory=dict_row) as connection:
        connection.execute("listen net_wake")
        ready.set()
        while not stopped.is_set():
            while send_batch(connection, requests):
                pass
            for _ in connection.notifies(timeout=0.1, stop_after=1):
                pass


def send_batch(connection: Connection, requests: Requests) -> int:
    with connection.transaction():
        batch = connection.execute(
            "delete from net.http_request_queue where id in "
            "(select id from net.http_request_queue order by id limit %s) returning *",
            [BATCH],
        ).fetchall()
        batch.sort(key=lambda row: row["id"])
        if not batch:
            return 0
        requests.sent += batch
        with ThreadPoolExecutor(16) as threads:
            for row, answer in zip(batch, threads.map(send, batch), strict=True):
                connection.execute(
                    "insert into net._http_response (id, status_code, content, timed_out, error_msg) "
                    "values (%s, %s, %s, %s, %s)",
                    [row["id"], *answer],
                )
    return len(batch)


def send(row: dict[str, Any]) -> tuple[int | None, str | None, bool, str | None]:
    request = urllib.request.Request(row["url"], row["body"], row["headers"], method=row["method"])
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=row["timeout_milliseconds"] / 1000) as answer:
            return answer.status, answer.read().decode(), False, None
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode(), False, None
    except TimeoutError:
        return None, None, True, f"Timeout of {row['timeout_milliseconds']} ms reached"
    except OSError as error:
        return None, None, False, json.dumps(str(error))
