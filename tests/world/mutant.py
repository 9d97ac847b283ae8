"""A broken variant of the SQL."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Mutant:
    """A defect and who notices it: `before` becomes `after` in the function, or `after` is run as it is."""

    defect: str
    function: str
    before: str
    after: str
    caught_by: Callable[..., None]
    arguments: Sequence[Any] = ()
