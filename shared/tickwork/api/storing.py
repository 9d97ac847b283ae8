"""Calls that need what the database does not have: the key that seals secrets, and the vault."""

import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import cached_property
from threading import BoundedSemaphore
from typing import TYPE_CHECKING, Any
from uuid import UUID

from tickwork.api.calling import Caller, Origin, call, for_transaction, lacks_tenant, with_dry_run
from tickwork.api.connections import Connections
from tickwork.api.problems import Problem
from tickwork.api.reading import Arguments
from tickwork.api.route import Route
from tickwork.database.connection import Connection
from tickwork.errors import JobError, Retryable
from tickwork.logs import log
from tickwork.settings import Settings
from tickwork.web.bodies import BodyRefused, blocks_of
from tickwork.web.starting import thread_count

if TYPE_CHECKING:
    from flask import Request

    from tickwork.tools.secrets import SecretStore

# The most that a function on Google Cloud accepts in one request is 32 MiB.
MAX_FILE_BYTES = 32_000_000
FILE_SECONDS = 45
# Half of the threads: the others serve those who send no files.
_uploads = BoundedSemaphore(max(thread_count() // 2, 1))


class Stores:
    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    @cached_property
    def _secrets(self) -> "SecretStore":
        from tickwork.tools.secrets import SecretStore

        return SecretStore(self._settings.secret_key)

    def sealed(
        self, connections: Connections, route: Route, arguments: Arguments, caller: Caller, origin: Origin
    ) -> str | None:
        """The same as `call`, for a function that stores a secret."""
        from tickwork.tools import sealed_verbs

        verb: Callable[..., Any] = getattr(sealed_verbs, route.function)

        def work(connection: Connection) -> Any:
            given = dict(arguments.values)
            if lacks_tenant(route, given):
                given["tenant_id"] = only_tenant(connection)
            return verb(connection, self._secrets, given)

        preamble = for_transaction(caller, origin, arguments)
        row = connections.within(preamble, work, is_kept=not arguments.is_dry_run)
        return None if row is None else with_dry_run(json.dumps(row, default=as_text), arguments)

    def uploaded(
        self,
        connections: Connections,
        route: Route,
        arguments: Arguments,
        caller: Caller,
        origin: Origin,
        request: "Request",
    ) -> str | None:
        """The new document. Raises Problem; the body is not read before the caller's rights are known."""
        from tickwork.tools.uploads import upload_document
        from tickwork.tools.vault import vault_of

        def add_document(document: Mapping[str, Any], is_kept: bool) -> str | None:
            given = Arguments(document, {}, None, is_dry_run=not is_kept)
            text = call(connections, route, given, caller, origin)
            if arguments.is_dry_run:
                raise Tried(text)
            return text

        if request.mimetype != "application/octet-stream":
            raise Problem(415, "The body must be the file itself, with Content-Type: application/octet-stream.")
        if self._settings.vault_url is None:
            told = "The API has no vault to put files into: TICKWORK_VAULT_URL is not set."
            raise Problem(422, told, hint="Ask the operator to set it for the api function.")
        given = arguments.values
        tenant: UUID = given.get("tenant_id") or connections.within(
            for_transaction(caller, origin, arguments), only_tenant, is_kept=True
        )
        try:
            return upload_document(
                vault_of(self._settings, tenant), tenant, given["name"], file_in(request), add_document
            )
        except Tried as tried:
            return tried.text
        except BodyRefused as refusal:
            told = f"The file was refused: at most {MAX_FILE_BYTES} bytes, sent within {FILE_SECONDS} seconds."
            raise Problem(refusal.status, told) from None
        except JobError as error:
            log("fail_upload", "ERROR", reason=str(error), code=error.code)
            raise Problem(503 if isinstance(error, Retryable) else 422, f"The vault: {error}.") from None


class Tried(Exception):
    """A dry run has come as far as it goes."""

    def __init__(self, text: str | None) -> None:
        super().__init__(text)
        self.text = text


def file_in(request: "Request") -> Iterable[bytes]:
    return blocks_of(request, MAX_FILE_BYTES, FILE_SECONDS, _uploads)


def only_tenant(connection: Connection) -> UUID:
    row = connection.execute("select tickwork.only_tenant() as id").fetchone()
    assert row is not None
    found: UUID = row["id"]
    return found


def as_text(value: Any) -> str:
    with suppress(AttributeError):
        return str(value.isoformat())
    return str(value)
