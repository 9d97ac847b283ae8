"""A route: a method and a path, and the SQL function that is called."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from tickwork.api.fields import Request

# One row is an object, rows are {"items", "next_cursor"}, a value is {"value"}, nothing is 204.
Returns = Literal["row", "rows", "value", "nothing"]


@dataclass(frozen=True)
class Route:
    """Its path is below /api/v1. The fields of the request in the path are taken from there, the others from the query
    or, unless the method is GET or DELETE, from the body."""

    method: str
    path: str
    function: str
    request: "type[Request]"
    returns: Returns = "row"
    # Of the next page: the column whose last value is the cursor, and the field that says how many rows a page has.
    cursor: str | None = None
    page_size: str | None = None
    # Columns that are added to each row, by the names of the source documents.
    also: str = ""
    # Fields of the request that are not parameters of the function.
    own_fields: frozenset[str] = field(default=frozenset())
    # The code that means that what the path names does not exist, where it usually means a refused value.
    not_found: str | None = None
    # Parameters that nobody sends: those of a secret, which this function seals, or of a file, which it measures.
    filled: frozenset[str] = field(default=frozenset())
    # Whether it stores a secret, by the function of the same name in tickwork.tools.sealed_verbs.
    seals: bool = False
    # Whether the body is a file; all fields are in the query then.
    takes_file: bool = False
    # Under another operation id, where two routes call the same function.
    operation_id: str | None = None

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        return re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", self.path))

    @cached_property
    def in_path(self) -> frozenset[str]:
        return frozenset(re.findall(r"\{(\w+)\}", self.path))

    @property
    def has_body(self) -> bool:
        """Of JSON."""
        return self.method not in ("GET", "DELETE") and not self.takes_file

    def values_in(self, path: str) -> Mapping[str, str] | None:
        match = self.pattern.fullmatch(path)
        return match.groupdict() if match else None
