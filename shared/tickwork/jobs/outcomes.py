"""How an attempt at a job can end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic import BaseModel

    from tickwork.jobs.connection import Connection
    from tickwork.jobs.rows import FollowUp

Json = Mapping[str, Any]
# A write is a function of a connection: it runs in the transaction that completes the job.
Write = Callable[["Connection"], object]


@dataclass(frozen=True)
class Done:
    """The handler finished, with a result and whatever is to be committed with it."""

    result: BaseModel | None = None
    writes: Sequence[Write] = ()
    follow_ups: Sequence[FollowUp] = ()


@dataclass(frozen=True)
class Failed:
    code: str
    message: str
    retryable: bool = True
    delay: float | None = None
    # What only the operator may read.
    exception: str | None = None


@dataclass(frozen=True)
class Released:
    delay: float = 0.0


@dataclass(frozen=True)
class Lost:
    """Another worker has the job, or soon will."""


@dataclass(frozen=True)
class Output:
    """What a program left behind, kept with the attempt however that ends."""

    pid: int | None
    exit_code: int | None
    stdout_tail: str
    stderr_tail: str


Outcome = Done | Failed | Released | Lost


@dataclass
class Report:
    """What one invocation did."""

    family: str
    claimed: int = 0
    ended: dict[str, int] = field(default_factory=dict)

    def add(self, ending: str, count: int = 1) -> None:
        self.claimed += count
        self.ended[ending] = self.ended.get(ending, 0) + count

    def include(self, other: Report) -> None:
        for ending, count in other.ended.items():
            self.add(ending, count)

    def as_json(self) -> dict[str, Any]:
        return {"family": self.family, "claimed": self.claimed, **self.ended}
