"""The rules that every tenant has: python infra/local/make_rules.py [FOLDER] tests them and writes them as a migration.

Edit shared/tickwork/passports/rules/default, then run it. Their ids stay the same as long as their version does.
"""

import json
import sys
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid5

from tickwork.passports.rules.default import PACKAGE, VERSION, default_rules, default_tests
from tickwork.passports.rules.rules import read_rules
from tickwork.passports.rules.runner import run_tests

FOLDER = Path(__file__).parents[2] / "supabase" / "migrations"
NAME = "20261116005290_known_rule_packages.sql"
SEED = 20270218
MAX_LINE = 118

SQL = """\
-- The rules that every tenant has, tested. infra/local/make_rules.py writes this file.

insert into public.rule_packages (id, name)
values ('{package_id}', '{package}');

insert into public.rule_package_versions (
  id, rule_package_id, version, status, published_at, rules_hash, dsl_source, tests_source
)
values (
  '{version_id}', '{package_id}', '{version}', 'published',
  clock_timestamp(), '\\x{hash}',
  $rules$
{rules}
  $rules$,
  $tests$
{tests}
  $tests$
);

insert into public.rule_tests_runs (
  id, rule_package_version_id, revision, rules_hash, seed, status, total_cases, passed_count, failed_count, mutants,
  mutants_caught
)
values (
  '{run_id}', '{version_id}', 1,
  '\\x{hash}',
  {seed}, '{run.status}', {run.total_cases}, {run.passed_count}, {run.failed_count}, {run.mutants}, {run.mutants_caught}
);
"""


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    (folder / NAME).write_text(migration(), encoding="utf-8")


def migration() -> str:
    """Raises if they do not pass their tests."""
    rules = read_rules(default_rules())
    run = run_tests(rules, default_tests(), SEED)
    if run.status != "passed":
        raise ValueError(f"the rules do not pass their tests: {run.first_failure}")
    return SQL.format(
        package_id=id_of(PACKAGE),
        version_id=id_of(f"{PACKAGE} {VERSION}"),
        run_id=id_of(f"{PACKAGE} {VERSION} tests"),
        package=PACKAGE,
        version=VERSION,
        hash=rules.hash.hex(),
        rules=wrapped(default_rules()),
        tests=wrapped(default_tests()),
        seed=SEED,
        run=run,
    )


def id_of(name: str) -> UUID:
    return uuid5(NAMESPACE_URL, f"tickwork:rules:{name}")


def wrapped(document: Any) -> str:
    """Lines that break between the parts of JSON, never in a text."""
    lines = [""]
    for part in json.JSONEncoder(ensure_ascii=False).iterencode(document):
        if len(lines[-1]) + len(part) > MAX_LINE:
            lines[-1] = lines[-1].rstrip()
            lines.append("")
        lines[-1] += part if lines[-1] else part.lstrip()
    return "\n".join(lines)


if __name__ == "__main__":
    main()
