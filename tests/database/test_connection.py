"""The connection of a process: what it prepares, and what it does when it was mistaken."""

import psycopg
import pytest

from tests.world import World
from tickwork.database.connection import STATEMENTS_BEFORE_PREPARING, Database, connect, is_direct
from tickwork.database.prepared import EXECUTIONS_BEFORE_PREPARING
from tickwork.errors import InvalidRequest

COUNT_PREPARED = "select count(*)::integer as prepared from pg_prepared_statements"


def used(database: Database) -> None:
    for _ in range(STATEMENTS_BEFORE_PREPARING + 1):
        database.rows("select %(number)s::integer as number", {"number": 1})


def test_a_connection_that_is_much_used_prepares_its_statements(world: World) -> None:
    database = Database(world.url)

    assert database.rows(COUNT_PREPARED, {}) == [{"prepared": 0}]
    used(database)
    # This one, which is prepared itself, and the other.
    assert database.rows(COUNT_PREPARED, {}) == [{"prepared": 2}]
    database.close()


def test_a_statement_that_the_session_does_not_know_is_sent_in_full(world: World) -> None:
    database = Database(world.url)
    used(database)

    # As after a pooler that looked like the server has handed the session to somebody else.
    drop_prepared(database)

    assert database.rows("select %(number)s::integer as number", {"number": 2}) == [{"number": 2}]
    assert database.rows(COUNT_PREPARED, {}) == [{"prepared": 0}]
    database.close()


def test_the_statement_of_a_worker_is_prepared_and_sent_in_full_where_the_session_does_not_know_it(
    world: World,
) -> None:
    database = Database(world.url)
    for _ in range(EXECUTIONS_BEFORE_PREPARING):
        count_prepared(database)

    assert count_prepared(database) == 1
    drop_prepared(database)
    assert count_prepared(database) == 0
    database.close()


def count_prepared(database: Database) -> int:
    ((count,),) = database.tuples(COUNT_PREPARED, [], repeatable=False)
    return int(count)


def test_what_a_worker_holds_stays_text(world: World) -> None:
    database = Database(world.url)
    query = "select array['a', null], '{\"a\": 1}'::jsonb, null::uuid, $1::integer"

    assert database.tuples(query, [b"5"], repeatable=False) == [("{a,NULL}", '{"a": 1}', None, 5)]
    database.close()


def drop_prepared(database: Database) -> None:
    connection = database._sessions[-1].connection
    assert connection is not None
    # Not through the cursor, which would notice.
    connection.pgconn.exec_(b"deallocate all")


def test_a_pooler_is_told_from_the_server(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    with connect(world.url, "test") as connection:
        assert is_direct(connection)

        # What pgbouncer names when it is connected to, and what the session behind it does.
        monkeypatch.setattr(psycopg.ConnectionInfo, "backend_pid", connection.info.backend_pid + 1)
        assert not is_direct(connection)


def test_a_text_that_is_not_unicode_is_refused(world: World) -> None:
    # What Python makes of such an argument of a command.
    with pytest.raises(InvalidRequest, match="a text is not valid Unicode"):
        world.service.jobs.list_jobs(lane=b"\xff".decode(errors="surrogateescape"))
