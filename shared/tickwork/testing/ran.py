"""What `run_due` did."""

from collections import Counter
from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True)
class Failure:
    """An attempt that failed. `exception` is what the operator reads of it, `error` the exception itself."""

    job_id: UUID
    type: str
    attempt: int
    code: str
    message: str
    exception: str | None
    error: BaseException | None

    def __str__(self) -> str:
        # The last line of an exception says what it is; the tenant's message does not.
        lines = (self.exception or "").splitlines() if self.code == "UNEXPECTED" else []
        return f"attempt {self.attempt} of {self.type}: {lines[-1] if lines else f'{self.code}: {self.message}'}"


class Ran(Counter[str]):
    """How many attempts ended in which way: `done`, `failed`, `dead`, `retried`, `released` or `cancelled`.

    It equals a dict: `assert tickwork.run_due() == {"done": 1}`. `failures` has the attempts that failed, `left` the
    jobs that are due and were not claimed, each with the reason.
    """

    def __init__(self) -> None:
        super().__init__()
        self.failures: list[Failure] = []
        self.left: dict[UUID, str] = {}

    def unexpected(self) -> list[Failure]:
        """Those that were ended by something other than the errors that a handler raises on purpose."""
        return [failure for failure in self.failures if failure.code == "UNEXPECTED"]

    def told(self) -> list[str]:
        """A line for each attempt that failed, and for each job that is left: pytest shows only a few."""
        return [*map(str, self.failures), *(f"{id} was not claimed: {reason}" for id, reason in self.left.items())]
