"""make core-size: every function of the migrations is read, and calls are followed by name."""

import re

from count_core import MIGRATIONS, Function, chapter_of, closure_of, functions_in

CLAIM = """
create function public.claim(family text)
returns text
language sql
volatile
return tickwork.pick(family);

create function tickwork.pick(family text default 'none')
returns text
language plpgsql
as $$
begin
  -- Unlike tickwork.unused(family).
  insert into tickwork.leases (family)
  values (pick.family);
  return tickwork.token(tickwork.pick('again'));
end
$$;
"""
TOKEN = """
create function tickwork.token(text)
returns text
language sql
begin atomic
  select 'token';
end;

create function tickwork.unused(text)
returns text
language sql
return 'unused';

create function tickwork.leases(text)
returns text
language sql
return 'a function with the name of a table';
"""


def test_a_closure_has_what_is_called_by_name_and_nothing_else() -> None:
    functions = list(functions_in({"1_claim.sql": CLAIM, "2_token.sql": TOKEN}))

    reached = closure_of("public.claim", functions)

    assert [(each.name, each.file, each.lines) for each in reached] == [
        ("public.claim", "1_claim.sql", 5),
        ("tickwork.pick", "1_claim.sql", 11),
        ("tickwork.token", "2_token.sql", 6),
    ]


def test_a_function_that_is_replaced_counts_with_both_bodies() -> None:
    first = Function("public.a", "1.sql", 3, frozenset({"public.b"}))
    second = Function("public.a", "2.sql", 4, frozenset({"public.c"}))
    others = [Function(f"public.{name}", "3.sql", 1, frozenset()) for name in "bcd"]

    reached = closure_of("public.a", [first, second, *others])

    assert reached == [first, second, *others[:2]]


def test_every_function_of_the_migrations_is_read_to_its_end() -> None:
    migrations = {path.name: path.read_text() for path in MIGRATIONS.glob("*.sql")}
    # Those of pg_temp do not outlive their migration.
    heads = re.compile(r"^create (?:or replace )?function ((?:public|tickwork)\.\w+)", re.MULTILINE)
    defined = [name for sql in migrations.values() for name in heads.findall(sql)]

    found = list(functions_in(migrations))

    assert sorted(each.name for each in found) == sorted(defined)


def test_a_migration_belongs_to_the_chapter_of_its_number() -> None:
    assert chapter_of("20261116000450_hot_tables.sql") is None
    assert chapter_of("20261116000730_enqueue_verbs.sql") == "enqueue"
    assert chapter_of("20261116001230_settle_and_claim.sql") == "settle"
    assert chapter_of("20261116001500_reap.sql") == "reap"
    assert chapter_of("20261116002000_documents.sql") is None
