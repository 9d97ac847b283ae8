"""Into a database that an application has already: its tables of tenants and members, and names that are taken."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tickwork.database.connection import Connection
from tickwork.errors import InvalidRequest

GIVEN = re.compile(r"(?:(?P<schema>\w+)\.)?(?P<table>\w+)(?:\((?P<columns>[^()]*)\))?")
CREATES = re.compile(r"^create (table|view|type|function) public\.(\w+)", re.MULTILINE)

COLUMNS = """
    select attname as name, format_type(atttypid, null) as type, exists (
      select from pg_index where indrelid = attrelid and indisunique and indpred is null and indkey::text = attnum::text
    ) as is_unique
    from pg_attribute where attrelid = to_regclass(%s) and attnum > 0 and not attisdropped
"""
TAKEN = """
    select relname as name from pg_class where relnamespace = 'public'::regnamespace
    union select typname from pg_type where typnamespace = 'public'::regnamespace
    union select proname from pg_proc where pronamespace = 'public'::regnamespace
"""
ADVICE = (
    "Name your tables of tenants and members (--tenants 'public.companies(id, name)', --members), leave out the "
    "modules that need these names (--with queue), or rename yours."
)


@dataclass(frozen=True)
class Adopted:
    """A table of the application, and which of its columns are meant, in the order of the option."""

    option: str
    table: str
    columns: tuple[str, ...]


def tenants_in(given: str) -> Adopted:
    """From such as `public.companies(id, name)`."""
    return adopted("--tenants", given, ("id", "name"), least=1)


def members_in(given: str) -> Adopted:
    """From such as `public.company_users(company_id, user_id, role)`."""
    return adopted("--members", given, ("tenant_id", "user_id", "role"), least=2)


def adopted(option: str, given: str, names: tuple[str, ...], least: int) -> Adopted:
    match = GIVEN.fullmatch(given.replace(" ", ""))
    columns = names if not match or match["columns"] is None else tuple(match["columns"].split(","))
    if not match or not least <= len(columns) <= len(names) or not all(columns):
        hint = f"It looks like {option} 'public.table({', '.join(names)})'."
        raise InvalidRequest(f"{option}: {given!r} does not name a table and its columns", hint=hint)
    return Adopted(option, f"{match['schema'] or 'public'}.{match['table']}", columns)


def settings_of(tenants: Adopted | None, members: Adopted | None) -> dict[str, str]:
    """What the chapter on tenants and members reads."""
    if members and not tenants:
        raise InvalidRequest("--members: needs --tenants", hint="Name the table of the tenants too.")
    settings: dict[str, str] = {}
    if tenants:
        key, name = (*tenants.columns, tenants.columns[0])[:2]
        settings |= {"tenant_table": tenants.table, "tenant_key": key, "tenant_name": name}
    if members:
        tenant, user, role = (*members.columns, "")[:3]
        settings |= {"member_table": members.table, "member_tenant": tenant, "member_user": user, "member_role": role}
    return {f"tickwork.{name}": value for name, value in settings.items()}


def check_tables(connection: Connection, tenants: Adopted | None, members: Adopted | None) -> None:
    """Refuse tables that cannot serve, before anything is written."""
    if tenants:
        check_columns(connection, tenants)
        check_uuid(connection, tenants, tenants.columns[0])
        check_unique(connection, tenants, tenants.columns[0])
    if members:
        check_columns(connection, members)
        for column in members.columns[:2]:
            check_uuid(connection, members, column)


def check_columns(connection: Connection, given: Adopted) -> None:
    found = columns_of(connection, given)
    for column in given.columns:
        if column not in found:
            hint = f"It has {', '.join(found)}. Name those that are meant: {given.option} '{given.table}(…)'."
            raise InvalidRequest(f"{given.option}: {given.table} has no column {column}", hint=hint)


def check_uuid(connection: Connection, given: Adopted, column: str) -> None:
    type, _ = columns_of(connection, given)[column]
    if type != "uuid":
        hint = f"Give {given.table} a column with uuids and name it: {given.option} '{given.table}(…)'."
        raise InvalidRequest(f"{given.option}: {given.table}.{column} is {type}, but must be uuid", hint=hint)


def check_unique(connection: Connection, given: Adopted, column: str) -> None:
    _, is_unique = columns_of(connection, given)[column]
    if not is_unique:
        hint = f"alter table {given.table} add unique ({column});"
        raise InvalidRequest(f"{given.option}: {given.table}.{column} is not unique", hint=hint)


def columns_of(connection: Connection, given: Adopted) -> dict[str, tuple[str, bool]]:
    rows = connection.execute(COLUMNS, [given.table]).fetchall()
    if not rows:
        raise InvalidRequest(f"{given.option}: there is no table {given.table}", hint="Name it with its schema.")
    return {row["name"]: (row["type"], row["is_unique"]) for row in rows}


def check_names(connection: Connection, files: Iterable[Path]) -> None:
    """Refuse, before anything is written, to create what the application has under the same name."""
    taken = {row["name"] for row in connection.execute(TAKEN).fetchall()}
    clashes = [
        f"{kind} public.{name}"
        for file in files
        for kind, name in dict.fromkeys(CREATES.findall(file.read_text()))
        if name in taken
    ]
    if clashes:
        raise InvalidRequest(f"this database has its own {', '.join(clashes)}", hint=ADVICE)
