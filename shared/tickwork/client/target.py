"""What a client is given: a URL, a connection, or another client."""

from typing import Any, Literal

from tickwork.errors import BadSetting, InvalidRequest

Target = Literal["database", "http", "rpc", "connection"]


def as_target(target: Any, credential: str | None) -> Target:
    """Raises BadSetting; its message shows neither a password nor a key."""
    if isinstance(target, str) and target.startswith(("http://", "https://")):
        if not credential:
            raise BadSetting("the HTTP API needs a key (key='tw_…') or the token of a user (token='…')")
        return "http"
    if credential:
        raise BadSetting("key and token are for the HTTP API: url='https://…/api/v1'")
    if isinstance(target, str):
        if not target.startswith(("postgresql://", "postgres://")):
            raise BadSetting("url: must begin with https:// or postgresql://")
        return "database"
    if hasattr(target, "rpc"):
        return "rpc"
    if hasattr(target, "execute") or hasattr(target, "rows"):
        return "connection"
    raise BadSetting("a client needs a URL, a connection of psycopg, or a supabase client")


def is_over_http(way: Any) -> bool:
    return hasattr(way, "with_options")


def over_http(way: Any) -> Any:
    if not is_over_http(way):
        hint = "Connect with url='https://…/api/v1'. With a database, write to the vault and set statement_timeout."
        raise InvalidRequest("uploads and options of requests are for the HTTP API", hint=hint)
    return way
