"""The migrations of a project: applied in order after tickwork's, noted, and never applied twice."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.world import World
from tickwork.database.migrate import installed_modules, migrate, pending
from tickwork.errors import InvalidRequest
from tickwork.testing.database import cloned
from tickwork_local.postgres import Server


@pytest.fixture
def empty(server: Server) -> Iterator[World]:
    with cloned(server, "template0") as name, World(server.url(name), server.url(name, "tickwork_worker")) as world:
        yield world


def test_they_come_after_tickworks_in_order_and_once(empty: World, tmp_path: Path) -> None:
    (tmp_path / "20270102000000_second.sql").write_text("alter table invoices add column paid boolean;")
    (tmp_path / "20270101000000_first.sql").write_text(
        "create table invoices (tenant_id uuid references organizations);"
    )
    (tmp_path / "20270103000000_blank.sql").write_text("\n")

    assert pending(empty.url, None, tmp_path) == ["tickwork's schema"]
    applied = migrate(empty.url, own=tmp_path)

    assert applied[-2:] == ["20270101000000_first", "20270102000000_second"]
    assert migrate(empty.url, own=tmp_path) == pending(empty.url, None, tmp_path) == []
    assert installed_modules(empty.url) == ["documents", "imports", "passports", "queue", "reports", "webhooks"]


def test_one_that_fails_leaves_nothing_behind_and_says_where(empty: World, tmp_path: Path) -> None:
    (tmp_path / "20270101000000_first.sql").write_text("create table invoices ();\n\ncreate tabel other ();")

    with pytest.raises(InvalidRequest, match=r'first.sql, line 3: syntax error at or near "tabel"'):
        migrate(empty.url, own=tmp_path)

    assert empty.value("select to_regnamespace('tickwork')::text") is None
    assert installed_modules(empty.url) == []


def test_one_that_was_edited_is_refused(world: World, tmp_path: Path) -> None:
    file = tmp_path / "20270101000000_first.sql"
    file.write_text("create table invoices ();")
    migrate(world.url, own=tmp_path)
    file.write_text("create table invoices (paid boolean);")

    with pytest.raises(InvalidRequest, match="has been edited since it was applied") as refusal:
        migrate(world.url, own=tmp_path)

    assert "tickwork up --reset" in str(refusal.value.hint)


def test_one_that_the_supabase_cli_applied_is_left_alone(world: World, tmp_path: Path) -> None:
    (tmp_path / "20270101000000_first.sql").write_text("create table a ();\ncreate table b ();\n")
    (tmp_path / "20270102000000_second.sql").write_text("create table c ();\n")
    note = "insert into supabase_migrations.schema_migrations (version, name, statements) values (%s, %s, %s)"
    world.run(note, "20270101000000", "first", ["create table a ()", "create table b ()"])
    world.run(note, "20270102000000", "second", ["create table c ()"])

    assert migrate(world.url, own=tmp_path) == []


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["invoices.sql"], "its name must be such as"),
        (["20261116000100_invoices.sql"], "has the same number as 20261116000100_roles.sql"),
        (["20270101000000_a.sql", "20270101000000_b.sql"], "has the same number as 20270101000000_a.sql"),
    ],
)
def test_a_name_that_gives_no_order_is_refused(world: World, tmp_path: Path, names: list[str], words: str) -> None:
    for name in names:
        (tmp_path / name).write_text("select 1;")

    with pytest.raises(InvalidRequest, match=words):
        migrate(world.url, own=tmp_path)
