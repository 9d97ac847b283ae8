"""
Sessions that take turns exactly as a schedule says: the same schedule, the same run.

Each session runs its script in one go, and the script has gates: a gate is an advisory lock that the driver holds. To
let a session go on to its next gate the driver releases one, and then waits until every session stands at a gate, waits
for a lock of another session, or has finished. Who waits for another goes on by itself when that one is out of the way.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

import psycopg
from psycopg.pq import ExecStatus

from tests.world import World
from tests.world.waiting import until

MAX_GATES = 200
# Sessions take a millisecond or two from one gate to the next.
PAUSE = 0.0003
# Class of the advisory locks that are gates; the number of the session is added.
GATES = 909_000

MAKE_GATES = f"""
    create schema gates;
    grant usage on schema gates to public;
    create function gates.pass() returns boolean language plpgsql set search_path = '' as $$
    declare
      session constant integer := nullif(current_setting('gates.session', true), '');
      gate constant integer := current_setting('gates.gate', true);
    begin
      if session is not null then
        perform set_config('gates.gate', (gate + 1)::text, false);
        perform pg_advisory_lock_shared({GATES} + session, gate);
        perform pg_advisory_unlock_shared({GATES} + session, gate);
      end if;
      return true;
    end
    $$;
"""
STATES = f"""
    select
      count(*) filter (where locks.pid is null) as at_work,
      array_agg(distinct activity.pid) filter (where not locks.is_gate) as waiting
    from pg_stat_activity as activity
    left join (
      select pid, locktype = 'advisory' and classid::bigint between {GATES} and {GATES} + 99 as is_gate
      from pg_locks where not granted
    ) as locks on locks.pid = activity.pid
    where activity.pid = any (%s) and activity.state = 'active'
"""


class Outcome(NamedTuple):
    """What a script returned last, or the SQLSTATE that ended it, and whether it had to wait for another session."""

    sqlstate: str | None
    rows: list[list[str]]
    has_waited: bool


@dataclass
class Session:
    number: int
    connection: psycopg.Connection
    has_waited: bool = False
    closed: list[int] = field(default_factory=list)

    @property
    def pid(self) -> int:
        return self.connection.info.backend_pid

    def begin(self, script: str) -> None:
        self.connection.pgconn.exec_(f"set gates.session = {self.number}; set gates.gate = 0".encode())
        self.connection.pgconn.send_query(f"select gates.pass(); begin; {script}; select gates.pass(); commit".encode())
        self.has_waited = False

    def end(self) -> Outcome:
        """Only when it has finished: this waits."""
        sqlstate: str | None = None
        rows: list[list[str]] = []
        while result := self.connection.pgconn.get_result():
            if result.status == ExecStatus.FATAL_ERROR:
                field = result.error_field(psycopg.pq.DiagnosticField.SQLSTATE)
                sqlstate = (field or b"").decode()
            elif result.status == ExecStatus.TUPLES_OK and result.fname(0) != b"pass":
                rows = [
                    [(result.get_value(row, column) or b"").decode() for column in range(result.nfields)]
                    for row in range(result.ntuples)
                ]
        self.connection.pgconn.exec_(b"rollback")
        return Outcome(sqlstate, rows, self.has_waited)


class Driver:
    """As many sessions as a schedule needs, in one database."""

    def __init__(self, world: World, sessions: int) -> None:
        world.admin.execute(MAKE_GATES.encode())
        self._control = world.connect()
        self._sessions = [Session(number, psycopg.connect(world.url, autocommit=True)) for number in range(sessions)]

    def close(self) -> None:
        for session in self._sessions:
            session.connection.close()

    def gates_of(self, script: str) -> int:
        """How many it passes if nobody is in its way, without the one at its beginning."""
        self.run([script], [])
        (session, *_) = self._sessions
        row = session.connection.execute("select current_setting('gates.gate')::integer").fetchone()
        assert row is not None
        return int(row[0]) - 1

    def run(self, scripts: Sequence[str], turns: Sequence[int | tuple[int, int]]) -> list[Outcome]:
        """Let the sessions go on one gate at each of their turns, or up to a given gate; then let them finish."""
        sessions = self._sessions[: len(scripts)]
        stops = list(stops_of(turns))
        self._close_gates(sessions, stops)
        for session, script in zip(sessions, scripts, strict=True):
            session.begin(script)
        until(
            lambda: self._standing(sessions) == len(sessions), "a session has not come to its first gate", pause=PAUSE
        )
        for number, gate in stops:
            self._open(sessions[number], gate)
            self._settle(sessions)
        self._control.execute("select pg_advisory_unlock_all()")
        return [session.end() for session in sessions]

    def _close_gates(self, sessions: Sequence[Session], stops: Sequence[tuple[int, int]]) -> None:
        """Those that a session stops at: whoever looks at locks looks at all that are held."""
        for session in sessions:
            session.closed = sorted({0, *(gate for number, gate in stops if number == session.number)})
        gates = [(GATES + session.number, gate) for session in sessions for gate in session.closed]
        self._control.execute("select pg_advisory_unlock_all()")
        self._control.execute(
            "select count(pg_advisory_lock(class, gate)) "
            "from unnest(%s::integer[], %s::integer[]) as gates(class, gate)",
            [list(column) for column in zip(*gates, strict=True)],
        )

    def _standing(self, sessions: Sequence[Session]) -> int:
        """How many of them wait for a lock."""
        query = "select count(distinct pid) as pids from pg_locks where not granted and pid = any (%s)"
        row = self._control.execute(query, [[session.pid for session in sessions]]).fetchone()
        assert row is not None
        return int(row["pids"])

    def _open(self, session: Session, gate: int) -> None:
        """All gates before that one."""
        self._control.execute(
            "select count(pg_advisory_unlock(%s, gate)) from unnest(%s::integer[]) as gate",
            [GATES + session.number, [each for each in session.closed if each < gate]],
        )
        session.closed = [each for each in session.closed if each >= gate]

    def _settle(self, sessions: Sequence[Session]) -> None:
        pids = [session.pid for session in sessions]

        def is_settled() -> bool:
            row = self._control.execute(STATES, [pids]).fetchone()
            assert row is not None
            for session in sessions:
                session.has_waited |= session.pid in (row["waiting"] or ())
            return bool(row["at_work"] == 0)

        until(is_settled, "a session neither waits nor finishes", pause=PAUSE)


def stops_of(turns: Sequence[int | tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """At each turn, which session goes on, and up to which of its gates."""
    opened: dict[int, int] = {}
    for turn in turns:
        number, gate = turn if isinstance(turn, tuple) else (turn, opened.get(turn, 0) + 1)
        opened[number] = gate
        yield number, gate


@lru_cache
def interleavings(*steps: int) -> list[tuple[int, ...]]:
    """All orders in which sessions with so many steps each can take their turns."""
    if not any(steps):
        return [()]
    return [
        (number, *rest)
        for number, left in enumerate(steps)
        if left
        for rest in interleavings(*(each - (place == number) for place, each in enumerate(steps)))
    ]


def put_gates(world: World, functions: Sequence[str]) -> None:
    """Between the statements of functions: as they are written here, each ends a line with an indent of two spaces."""
    for name in functions:
        definition: str = world.value("select pg_get_functiondef(%s::regproc)", name)
        head, begin, body = definition.partition("\nbegin\n")
        # By an if, since a perform would set found.
        gated = re.sub(r"^(  \S.*;)$", r"\1 if gates.pass() then end if;", body, flags=re.MULTILINE)
        assert gated != body, f"{name} has no place for a gate"
        world.admin.execute((head + begin + gated).encode())
