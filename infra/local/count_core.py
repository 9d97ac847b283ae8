"""How large the queue's core is: make core-size counts the lines of its chapters, and what its verbs reach.

A verb reaches the functions whose names, with their schema, are followed by a parenthesis in its body, and all that
these reach. A call in any branch counts, and so does one in text that is executed. Triggers are not followed, nor are
views, policies, defaults and constraints: they call functions without being called by name.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

MIGRATIONS = Path(__file__).parents[2] / "supabase" / "migrations"
# A migration belongs to the chapter with the last number that is not above its own; None is not part of the core.
CHAPTERS = {
    0: None,
    700: "enqueue",
    800: "turns",
    900: "claim",
    1000: "heartbeat",
    1100: "settle",
    1300: None,
    1500: "reap",
    1540: None,
}
VERBS = (
    # Behind settle_and_claim, and so behind claim_next_job and claim_jobs.
    "tickwork.claim",
    "tickwork.settle",
    "public.settle_and_claim",
    "public.settle_jobs",
    "public.complete_job",
    "public.enqueue_job",
    "public.enqueue_jobs",
)
NUMBER = re.compile(r"\d{8}(\d{6})_")
FUNCTION = re.compile(
    r"^create (?:or replace )?function (?P<name>(?:public|tickwork)\.\w+)\("
    r".*?(?:^as (?P<quote>\$\w*\$).*?^(?P=quote);$|^return\b.*?;$|^end;$)",
    re.MULTILINE | re.DOTALL,
)
COMMENT = re.compile(r"--.*")
CALL = re.compile(r"\b((?:public|tickwork)\.\w+)\(")


@dataclass(frozen=True)
class Function:
    name: str
    file: str
    lines: int
    # Whatever looks like a call: some of it may be built in, or a type with a length.
    calls: frozenset[str]


def main() -> None:
    migrations = {path.name: path.read_text() for path in sorted(MIGRATIONS.glob("*.sql"))}
    print("\n".join([*chapter_table(migrations), "", *closure_table(list(functions_in(migrations)))]))
    print("\nTriggers, views, policies, defaults and constraints are not followed.")


def chapter_table(migrations: Mapping[str, str]) -> Iterator[str]:
    yield f"{'chapter':20}{'files':>8}{'lines':>8}"
    counted = [(chapter_of(name), len(sql.splitlines())) for name, sql in migrations.items()]
    for chapter in filter(None, CHAPTERS.values()):
        lines = [count for each, count in counted if each == chapter]
        yield f"{chapter:20}{len(lines):8,}{sum(lines):8,}"
    lines = [count for each, count in counted if each]
    yield f"{'all of them':20}{len(lines):8,}{sum(lines):8,}"


def chapter_of(migration: str) -> str | None:
    number = NUMBER.match(migration)
    assert number, f"{migration} has no number"
    return CHAPTERS[max(first for first in CHAPTERS if first <= int(number[1]))]


def closure_table(functions: Iterable[Function]) -> Iterator[str]:
    yield f"{'verb':26}{'functions':>12}{'files':>8}{'lines':>8}"
    known = list(functions)
    for verb in VERBS:
        reached = closure_of(verb, known)
        names, files = {each.name for each in reached}, {each.file for each in reached}
        yield f"{verb:26}{len(names):12,}{len(files):8,}{sum(each.lines for each in reached):8,}"


def closure_of(verb: str, functions: Iterable[Function]) -> list[Function]:
    """The function itself and all that it reaches."""
    by_name: dict[str, list[Function]] = {}
    for function in functions:
        by_name.setdefault(function.name, []).append(function)
    assert verb in by_name, f"{verb} is not defined in the migrations"
    reached: set[str] = set()
    ahead = {verb}
    while ahead:
        reached |= ahead
        called = {call for name in ahead for each in by_name[name] for call in each.calls}
        ahead = (called & by_name.keys()) - reached
    return [function for name in sorted(reached) for function in by_name[name]]


def functions_in(migrations: Mapping[str, str]) -> Iterator[Function]:
    for file, sql in migrations.items():
        for found in FUNCTION.finditer(sql):
            text = COMMENT.sub("", found[0])
            yield Function(found["name"], file, len(found[0].splitlines()), frozenset(CALL.findall(text)))


if __name__ == "__main__":
    main()
