"""Routes for requests that are not wake-ups, by the beginning of their path."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from tickwork.database.connection import Database
from tickwork.settings import Settings

if TYPE_CHECKING:
    from flask import Request

Response = tuple[dict[str, Any] | str, int] | tuple[str, int, Mapping[str, str]]
# It authenticates requests itself.
Route = Callable[["Request", Database, Settings], Response]
Routes = Mapping[str, Route]

NO_ROUTES: Routes = MappingProxyType({})


def route_of(path: str, routes: Routes) -> Route | None:
    return next((route for prefix, route in routes.items() if path.startswith(prefix)), None)
