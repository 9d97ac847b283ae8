"""What a page works with: the viewer's own transaction, the request, and how addresses and words are written."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode
from uuid import UUID

import psycopg
from psycopg.rows import DictRow

from tickwork.api.calling import Caller, Origin, introduction
from tickwork.api.connections import Connections
from tickwork.console.page import Refused, Shown
from tickwork.console.rendering import rendered
from tickwork.console.session import said_before
from tickwork.console.words import Words
from tickwork.database.connection import Connection, translated
from tickwork.settings import Settings

if TYPE_CHECKING:
    from flask import Request

    from tickwork.console.preferences import Preferences
    from tickwork.tools.secrets import SecretStore

# A verb of each part of the schema that a database may be without.
VERBS_OF_MODULES = {
    "documents": "list_documents",
    "webhooks": "list_events",
    "imports": "list_connectors",
    "reports": "list_artifacts",
}
INSTALLED = """
    select verb.name
    from unnest(%(verbs)s::text[]) as verb(name)
    where to_regproc('public.' || verb.name) is not null
"""
NAMES = "select * from tickwork.find_tenants(null, 1000, %(ids)s::uuid[])"
# More rows than that cannot be looked through: those who see every tenant choose one.
MAX_SHOWN = 500
# What a page may take of the database's time.
LIMITS = "set local statement_timeout = '5s'; set local lock_timeout = '2s'"


class View:
    def __init__(
        self, request: "Request", connections: Connections, settings: Settings, preferences: "Preferences"
    ) -> None:
        self.request = request
        self.connections = connections
        self.settings = settings
        self.preferences = preferences
        self.say = Words(preferences.language)
        self.method = request.method
        self.path = request.path.removeprefix(settings.console_path) or "/"
        self.query: Mapping[str, str] = {name: value for name, value in request.args.items() if value}
        self.form: Mapping[str, str] = {}
        # The ids of the rows that are marked in a list.
        self.marked: Sequence[str] = ()
        self.said = said_before(request)
        self.me: DictRow | None = None
        self.modules: Sequence[str] = ()
        self.tenant_name = ""
        # Who sends a file, and how: there is no transaction of theirs yet.
        self.caller: Caller | None = None
        self.origin: Origin | None = None
        self._connection: Connection | None = None

    @contextmanager
    def opened(self, caller: Caller, origin: Origin, *, is_written: bool) -> Iterator[None]:
        """The viewer's transaction. Reading pages and read-only viewers get one that cannot write."""
        if is_written:
            self.check_writable()
        mode = "" if is_written else "set transaction read only; "
        with self.connections.opened(f"{mode}{LIMITS}; {introduction(caller, origin)}") as connection:
            self._connection = connection
            self.me = self.row("who_am_i")
            installed = [row["name"] for row in self.select(INSTALLED, {"verbs": list(VERBS_OF_MODULES.values())})]
            self.modules = [name for name, verb in VERBS_OF_MODULES.items() if verb in installed]
            self.tenant_name = self.name_of_tenant()
            yield

    @contextmanager
    def asking_as(self, caller: Caller) -> Iterator[None]:
        """For a caller who is not signed in yet. Raises UnknownCaller."""
        with self.opened(caller, Origin(self.method, self.path, {}), is_written=False):
            yield

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """What fails inside of it is undone, and the rest goes on. Raises QueueError."""
        assert self._connection is not None
        try:
            with self._connection.transaction():
                yield
        except psycopg.Error as error:
            raise translated(error) from error

    def show(self, template: str, status: int = 200, **values: Any) -> Shown:
        return Shown(rendered(self, template, **values), status)

    def check_writable(self) -> None:
        if self.is_read_only:
            raise Refused(403, self.say("The console is read-only."), self.say("Switch that off under Preferences."))

    @property
    def is_read_only(self) -> bool:
        return self.settings.console_read_only or self.preferences.is_read_only

    def rows(self, function: str, also: str = "", **arguments: Any) -> list[DictRow]:
        """The rows of a SQL function, for the arguments that are not None; `also` is SQL for further columns."""
        given = {name: value for name, value in arguments.items() if value is not None}
        passed = ", ".join(f"{name} => %({name})s" for name in given)
        return self.select(f"select *{also} from public.{function}({passed})", given)

    def all_rows(self, function: str) -> dict[str, Any]:
        """For lists without pages, of the chosen tenant: the first rows, and whether there are more."""
        found = self.rows(function, tenant_id=self.tenant_id)
        return {"rows": found[:MAX_SHOWN], "is_cut": len(found) > MAX_SHOWN}

    def row(self, function: str, also: str = "", **arguments: Any) -> DictRow:
        (found,) = self.rows(function, also, **arguments)
        return found

    def value(self, function: str, **arguments: Any) -> Any:
        return self.row(function, **arguments)[function]

    def select(self, query: str, arguments: Mapping[str, Any]) -> list[DictRow]:
        assert self._connection is not None
        return self._connection.execute(query, arguments).fetchall()

    def sealed(self, verb: "Callable[[Connection, SecretStore, Mapping[str, Any]], DictRow]", **given: Any) -> DictRow:
        """The row of a verb of sealed_verbs, whose secret the database does not see."""
        from tickwork.tools.secrets import SecretStore

        assert self._connection is not None
        return verb(self._connection, SecretStore(self.settings.secret_key), given)

    @property
    def tenants(self) -> list[dict[str, Any]]:
        return list(self.me["tenants"]) if self.me else []

    @property
    def is_platform_admin(self) -> bool:
        return bool(self.me and self.me["is_platform_admin"])

    def history(self, tenant_id: UUID, target: str) -> list[DictRow]:
        """The last changes of one thing, for the page history.html."""
        texts = ", before::text as before_text, after::text as after_text"
        return self.rows("list_audit", texts, tenant_id=tenant_id, target=target, max_rows=100)

    def manages(self, tenant_id: UUID | str) -> bool:
        """Whether changes for admins are worth showing. Who may make them, SQL decides."""
        roles = {tenant["tenant_id"]: tenant["role"] for tenant in self.tenants}
        return self.is_platform_admin or roles.get(str(tenant_id)) != "member"

    @property
    def tenant_id(self) -> UUID | None:
        """The one that was chosen, or the only one there is; None means all that the viewer may see."""
        if chosen := self.query.get("tenant"):
            return self.id_of(chosen)
        if len(self.tenants) == 1 and not self.is_platform_admin:
            return UUID(self.tenants[0]["tenant_id"])
        return None

    @property
    def is_of_one_scope(self) -> bool:
        """Figures are those of one tenant or of all, never of some."""
        return bool(self.tenant_id or self.is_platform_admin or (self.me and self.me["kind"] != "user"))

    def name_of_tenant(self) -> str:
        """That of the chosen one, or what was chosen if it is none."""
        chosen = self.query.get("tenant", "")
        if not chosen:
            return ""
        found = self.rows("find_tenants", words=chosen, max_tenants=1) if self.is_platform_admin else self.tenants
        return next((each["name"] for each in found if str(each["tenant_id"]) == chosen), chosen)

    def names_of(self, rows: Iterable[Mapping[str, Any]]) -> dict[str, str]:
        """The names of the tenants of these rows, as far as the viewer may see them."""
        if not self.is_platform_admin:
            return {tenant["tenant_id"]: tenant["name"] for tenant in self.tenants}
        ids = list({str(row["tenant_id"]) for row in rows})
        return {str(row["tenant_id"]): row["name"] for row in self.select(NAMES, {"ids": ids})} if ids else {}

    def id_of(self, text: str) -> UUID:
        try:
            return UUID(text)
        except ValueError:
            raise Refused(404, self.say("There is nothing with this id.")) from None

    def typed(self, name: str, otherwise: str | None = None) -> Any:
        """The text that was typed in a field, or the other one if it was left empty."""
        return self.form.get(name, "").strip() or otherwise

    def typed_time(self, name: str) -> datetime | None:
        """What was chosen in a field for a date and time, which is in the viewer's zone."""
        text = self.form.get(name, "")
        try:
            return datetime.fromisoformat(text).replace(tzinfo=self.preferences.zone) if text else None
        except ValueError:
            raise Refused(400, self.say("There is no such time: {}", text[:40])) from None

    def whole_number_in(self, field: str) -> int | None:
        text = self.form.get(field, "")
        if text and not (text.isascii() and text.isdigit() and len(text) < 10):
            raise Refused(400, self.say("{}: must be a whole number.", field))
        return int(text) if text else None

    def url(self, path: str = "/", **query: Any) -> str:
        """An address of the console; the chosen tenant stays."""
        kept = {"tenant": self.query["tenant"]} if "tenant" in self.query else {}
        given = {name: str(value) for name, value in {**kept, **query}.items() if value not in (None, "")}
        address = self.settings.console_path + quote(path)
        return f"{address}?{urlencode(given)}" if given else address

    def here(self, **changed: Any) -> str:
        """The address of this page with some of its query changed; None takes a part away."""
        return self.url(self.path, **{**self.query, **changed})

    @property
    def address(self) -> str:
        return self.here() if self.method == "GET" else self.url()
