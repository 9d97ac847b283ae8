"""The textbook queue once more, with a NOTIFY for every insert and a loop that waits for it."""

import psycopg

from tickwork_bench.contenders import bare
from tickwork_bench.contenders.bare import sender as sender
from tickwork_bench.processes import Watch

NOTIFY = """
    create function announce_jobs()
    returns trigger
    language plpgsql
    as $$
    begin
      perform pg_notify('jobs', '');
      return null;
    end
    $$;
    create trigger announce_jobs
    after insert on jobs
    for each statement
    execute function announce_jobs();
"""


def prepare(url: str) -> None:
    bare.prepare(url)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(NOTIFY)


def listen(url: str, watch: Watch) -> None:
    with bare.connected(url) as connection:
        connection.execute("listen jobs")
        complete_and_claim = bare.completer(connection, 1)
        while True:
            while complete_and_claim():
                watch.tick()
            for _ in connection.notifies(timeout=5, stop_after=1):
                pass
