"""How many passports a minute two workers compile, sign and draw, through the queue."""

import os
import time
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any
from unittest.mock import patch

import psycopg

from tickwork.families.passport.compile_passport import COMPILE_PASSPORT
from tickwork.families.passport.generate_qr import GENERATE_QR
from tickwork.families.sign.sign_passport import SIGN_PASSPORT
from tickwork.jobs.handler import Handlers
from tickwork.passports.canonical import canonical
from tickwork.worker import Worker
from tickwork_bench.contenders.tickwork import as_worker, prepare, queue_at
from tickwork_bench.measure import Bench, Figure, Target
from tickwork_bench.passport_inputs import KEY, usual
from tickwork_bench.processes import Line, process

FAMILIES: Mapping[str, Handlers] = {
    "passport": {"compile_passport": COMPILE_PASSPORT, "generate_qr": GENERATE_QR},
    "sign": {"sign_passport": SIGN_PASSPORT},
}
PROCESSES, WARM_UP = 2, 10
LOOK_SECONDS, MAX_SECONDS = 0.05, 600
RATE, CPU = "from compile to QR, 2 workers", "CPU time of a passport, workers and server"


def through_the_queue(bench: Bench) -> tuple[list[Figure], list[Target]]:
    """On the clock, and in CPU time: two cores have 120 s of it in a minute."""
    passports = bench.size(500, 50)
    settings = {"TICKWORK_SECRET_KEY": in_base64(bytes(range(32))), "TICKWORK_SIGNING_KEY": in_base64(KEY.secret)}
    with bench.place.database() as url, patch.dict(os.environ, {**settings, "TICKWORK_DATABASE_URL": as_worker(url)}):
        bench.say("facts and passports")
        prepare(url)
        with psycopg.connect(url, autocommit=True) as connection, workers(url) as pids:
            snapshot = sealed_snapshot(connection)
            finish(connection, snapshot, "warm-up", WARM_UP)
            bench.say(f"{passports} passports through the queue")
            pids += [row[0] for row in connection.execute(SESSIONS).fetchall()]
            used, began = cpu_seconds(pids), time.monotonic()
            finish(connection, snapshot, "battery", passports)
            took, used = time.monotonic() - began, cpu_seconds(pids) - used
    return (
        [Figure(RATE, passports / took * 60, "passports/min"), Figure(CPU, used / passports * 1_000, "ms")],
        [Target(RATE, at_least=1_000), Target(CPU, at_most=120)],
    )


def in_base64(data: bytes) -> str:
    return b64encode(data).decode()


@contextmanager
def workers(url: str) -> Iterator[list[int]]:
    with ExitStack() as running:
        lines = [running.enter_context(process(partial(serve, url))) for _ in range(PROCESSES)]
        yield [line.recv() for line in lines]


def serve(url: str, line: Line) -> None:
    worker = Worker(queue_at(as_worker(url)), FAMILIES, as_worker(url), 0)
    line.send(os.getpid())
    worker.run()


def sealed_snapshot(connection: psycopg.Connection[Any]) -> str:
    """Of facts as parse_facts leaves them; its id."""
    connection.execute("select public.register_signing_key(%s, 'bench')", [in_base64(KEY.public)])
    version = connection.execute(ADD_DOCUMENT).fetchone()
    snapshot = connection.execute(f"select id from public.create_snapshot(({TENANT}), 'bench')").fetchone()
    assert version
    assert snapshot
    with connection.cursor() as cursor:
        rows = [
            (version[0], fact.fact_type, fact.fact_key, fact.schema_version, canonical(fact.payload))
            for fact in usual().facts
        ]
        cursor.executemany(ADD_FACT, rows)
    connection.execute("select public.add_snapshot_items(%s, (select array_agg(id) from public.facts))", [snapshot[0]])
    connection.execute("select public.seal_snapshot(%s)", [snapshot[0]])
    return str(snapshot[0])


def finish(connection: psycopg.Connection[Any], snapshot: str, name: str, passports: int) -> None:
    """Request so many passports, and wait until each has its QR code."""
    values = {"snapshot": snapshot, "name": name, "passports": passports, "issued_at": usual().on}
    connection.execute(REQUEST, values)
    deadline = time.monotonic() + MAX_SECONDS
    while connection.execute(DRAWN, [name]).fetchone() != (passports,):
        if time.monotonic() > deadline:
            raise TimeoutError(f"not all passports were done in {MAX_SECONDS} s")
        time.sleep(LOOK_SECONDS)


def cpu_seconds(pids: Sequence[int]) -> float:
    return sum(cpu_seconds_of(pid) for pid in pids)


def cpu_seconds_of(pid: int) -> float:
    """Of a process of this machine; none of a session on a server elsewhere."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
    except FileNotFoundError:
        return 0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


TENANT = "select id from public.organizations where name = 'tenant 1'"
SESSIONS = "select pid from pg_stat_activity where datname = current_database() and usename = 'tickwork_worker'"
ADD_DOCUMENT = f"""
    with file as (
      insert into public.documents (tenant_id, name, vault_path, mime_type, size)
      select id, 'facts.json', 'tenant/' || id || '/documents/' || gen_random_uuid() || '.json', 'application/json', 1
      from ({TENANT}) as tenant
      returning id
    ),
    document as (
      insert into public.passport_documents (tenant_id, name, kind)
      values (({TENANT}), 'facts', 'bom')
      returning id
    )
    insert into public.document_versions (tenant_id, passport_document_id, version, document_id, status, fact_count)
    select ({TENANT}), document.id, 1, file.id, 'validated', 1
    from document, file
    returning id
"""
ADD_FACT = f"""
    insert into public.facts (
      tenant_id, document_version_id, fact_type, fact_key, schema_version, payload_canonical, payload
    )
    select ({TENANT}), given.version, given.type, given.key, given.schema, given.canonical,
      convert_from(given.canonical, 'UTF8')::jsonb
    from (values (%s::uuid, %s, %s, %s, %s::bytea)) as given(version, type, key, schema, canonical)
"""
REQUEST = f"""
    select public.request_compile(passport.id, %(snapshot)s, rules.id, %(issued_at)s::date::timestamptz)
    from generate_series(1, %(passports)s) as n,
      lateral public.create_passport(({TENANT}), %(name)s || ' ' || n, 'ev', 'bench') as passport,
      public.rule_package_versions as rules
    where rules.tenant_id is null
      and rules.status = 'published'
"""
DRAWN = """
    select count(*)
    from public.passport_versions
    join public.passports on passports.id = passport_versions.passport_id
    where starts_with(passports.battery_identifier, %s)
      and passport_versions.qr_png is not null
"""
