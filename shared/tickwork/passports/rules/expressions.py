"""Expressions of rules: CEL behind three functions. Nothing else knows the library."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Context, Decimal
from typing import Any, Literal, TypeAlias

from cel_expr_python import cel

from tickwork.passports.canonical import Json

Kind: TypeAlias = Literal["number", "string", "boolean", "list", "object", "facts", "count", "names"]

MAX_LENGTH = 4096
MAX_INTEGER = 2**53 - 1
MAX_DIGITS = 15
# Every sum and difference of two doubles is exact in as many digits.
EXACT = Context(prec=700, rounding=ROUND_HALF_EVEN)

TYPES = {
    "number": cel.Type.DOUBLE,
    "string": cel.Type.STRING,
    "boolean": cel.Type.BOOL,
    "list": cel.Type.List(cel.Type.DYN),
    "object": cel.Type.Map(cel.Type.STRING, cel.Type.DYN),
    "facts": cel.Type.List(cel.Type.Map(cel.Type.STRING, cel.Type.DYN)),
    "count": cel.Type.INT,
    "names": cel.Type.List(cel.Type.STRING),
}
RESULTS = {"DOUBLE": "number", "INT": "number", "STRING": "string", "BOOL": "boolean", "DYN": "any"}
STRINGS = re.compile(r"""(\"{3}|'{3})[\s\S]*?\1|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'""")
# Also those that are set apart by a comment.
MACROS = re.compile(r"\b(?:all|exists|exists_one|map|filter)(?:\s|//[^\n]*\n)*\(")


class TypeMismatch(Exception):
    """An expression that cannot be compiled, or that cannot be computed for these values."""


class OverBudget(Exception):
    """An expression that takes too many steps."""


@dataclass(frozen=True)
class Expression:
    """`names` are the variables it reads, `loops` how many lists it goes through."""

    text: str
    names: frozenset[str]
    loops: int
    program: Any


class Language:
    """The variables that expressions may use, each with its kind."""

    def __init__(self, variables: Mapping[str, Kind]) -> None:
        self._variables = variables
        self._env = cel.NewEnv(
            variables={name: TYPES[kind] for name, kind in variables.items()}, functions=[ROUNDED, CLOSE]
        )

    def compile(self, text: str) -> Expression:
        """Raises TypeMismatch."""
        if len(text.encode()) > MAX_LENGTH:
            raise TypeMismatch(f"the expression is longer than {MAX_LENGTH} bytes")
        try:
            program = self._env.compile(text)
        except RuntimeError as error:
            raise TypeMismatch(str(error).splitlines()[0]) from None
        return Expression(text, self._names_in(text), len(MACROS.findall(text)), program)

    def type_of(self, expression: Expression) -> str:
        """number, string, boolean, list, object, any, or a name of CEL that no value of JSON has."""
        name = expression.program.return_type().name()
        return RESULTS.get(name) or {"LIST": "list", "MAP": "object"}.get(name.partition("<")[0], name)

    def evaluate(self, expression: Expression, values: Mapping[str, Any]) -> Json:
        """Raises TypeMismatch and OverBudget."""
        try:
            found = expression.program.eval(data=values)
        except RuntimeError as error:
            if "budget" in str(error):
                raise OverBudget("the expression goes through more than 9,999 elements") from None
            raise TypeMismatch(str(error)) from None
        if found.type().name() == "ERROR":
            raise TypeMismatch(str(found.plain_value()))
        return as_json(found.plain_value())

    def _names_in(self, text: str) -> frozenset[str]:
        """Those that occur in it. One that it reads otherwise is not there when it is evaluated."""
        bare = re.sub(r"\s*\.\s*", ".", STRINGS.sub("''", text))
        chains = re.findall(r"(?<![\w.])[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*", bare)
        beginnings = {".".join(parts[:end]) for parts in map(split, chains) for end in range(1, len(parts) + 1)}
        return frozenset(beginnings & self._variables.keys())


def split(chain: str) -> list[str]:
    return chain.split(".")


def as_json(value: Any) -> Json:
    """A whole number is an integer, as canonical JSON writes it. Raises TypeMismatch."""
    match value:
        case None | bool() | str():
            return value
        case float() if not math.isfinite(value):
            raise TypeMismatch("the result is not a number")
        case float() if value.is_integer() and abs(value) <= MAX_INTEGER:
            return int(value)
        case float():
            return value
        case int() if abs(value) <= MAX_INTEGER:
            return value
        case list():
            return [as_json(each) for each in value]
        case dict() if all(isinstance(key, str) for key in value):
            return {key: as_json(each) for key, each in sorted(value.items())}
    raise TypeMismatch(f"JSON has no value such as {str(value)[:100]}")


def as_doubles(value: Json) -> Any:
    """Expressions see every number as a double."""
    match value:
        case bool():
            return value
        case int():
            return float(value)
        case list() | tuple():
            return [as_doubles(each) for each in value]
        case dict():
            return {key: as_doubles(each) for key, each in value.items()}
    return value


def exact(number: float) -> Decimal:
    """The number that people read, not the nearest double."""
    return Decimal(repr(number))


def rounded(number: float, digits: int) -> float:
    """To so many digits behind the point, halves to the even one."""
    return float(exact(number).quantize(Decimal(1).scaleb(-checked(digits)), context=EXACT))


def close(left: float, right: float, digits: int) -> bool:
    """Whether they differ by at most half a unit of the last of so many digits behind the point."""
    difference = EXACT.subtract(exact(left), exact(right))
    return EXACT.abs(difference) * 2 <= Decimal(1).scaleb(-checked(digits))


def checked(digits: int) -> int:
    if not 0 <= digits <= MAX_DIGITS:
        raise ValueError(f"digits must be 0 to {MAX_DIGITS}")
    return digits


DOUBLE, INT = cel.Type.DOUBLE, cel.Type.INT
ROUNDED = cel.FunctionDecl("rounded", [cel.Overload("rounded", DOUBLE, [DOUBLE, INT], False, rounded)])
CLOSE = cel.FunctionDecl("close", [cel.Overload("close", cel.Type.BOOL, [DOUBLE, DOUBLE, INT], False, close)])
