"""The exact arguments of a program, from a template and the values of a payload. There is no shell."""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

# An argument, or several that are left out together if the payload lacks a value for one of them.
Template = Sequence[str | Sequence[str]]

MARK = re.compile(r"\{\{|\}\}|\{([a-z][a-z0-9_.]*)\}|[{}]")
# Control characters, half a character, and what some programs take for the end of a line.
NOT_IN_A_LINE = {"Cc", "Cs", "Zl", "Zp"}
MINUS = "\N{MINUS SIGN}"


@dataclass(frozen=True)
class Place:
    """Where a template has a value."""

    name: str
    # Whether the program could take the argument for an option if the value began with a dash.
    may_be_option: bool
    is_optional: bool


def places_in(template: Template) -> Iterator[Place]:
    """Every place for a value, in order; raises ValueError for a brace that stands for nothing."""
    options_are_over = False
    for part in template:
        for argument in [part] if isinstance(part, str) else part:
            for mark in MARK.finditer(argument):
                if mark[0] in "{}":
                    raise ValueError(f"{argument!r}: write {{{{ for a brace, and {{name}} for a value of the payload")
                if mark[1]:
                    # Other values before it may be empty.
                    literal = MARK.sub(lambda each: "" if each[1] else each[0], argument[: mark.start()])
                    may_be_option = not options_are_over and not literal
                    yield Place(mark[1], may_be_option, not isinstance(part, str))
        options_are_over = options_are_over or part == "--"


def filled(template: Template, values: Mapping[str, str]) -> list[str]:
    """The arguments, each exactly what the template and the values make of it."""
    arguments: list[str] = []
    for part in template:
        if isinstance(part, str):
            arguments.append(filled_argument(part, values))
        elif all(mark[1] in values for each in part for mark in MARK.finditer(each) if mark[1]):
            arguments += [filled_argument(each, values) for each in part]
    return arguments


def filled_argument(argument: str, values: Mapping[str, str]) -> str:
    # In one pass: a value that contains a mark is not looked at again.
    return MARK.sub(lambda mark: values[mark[1]] if mark[1] else mark[0][0], argument)


def one_line(value: str) -> str:
    """The value, if it is one line of text; raises ValueError otherwise."""
    if any(unicodedata.category(character) in NOT_IN_A_LINE for character in value):
        raise ValueError("must be one line, without control characters")
    return value


def no_option(value: str) -> str:
    """The value, if no program can take it for an option; raises ValueError otherwise."""
    # Some programs, and people who copy, take other dashes for the ASCII one.
    first = unicodedata.normalize("NFKC", value)[:1]
    if first and (unicodedata.category(first) == "Pd" or first == MINUS):
        raise ValueError("must not begin with a dash")
    return value
