"""`tickwork types --lang python`: a TypedDict for each payload and result, and clients that know their types."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, assert_never

from tickwork.cli.written_types.shapes import (
    Anything,
    ListOf,
    Literals,
    MapOf,
    OneOf,
    Record,
    Scalar,
    Shape,
    shape_of,
)

HEAD = '''\
"""Written by `tickwork types --lang python`. Write it again when job types change."""

# ruff: noqa

from typing import TYPE_CHECKING, Any, Literal, NotRequired, Required, TypedDict, Unpack, overload
from uuid import UUID

from tickwork.client import AsyncTickwork, Tickwork

if TYPE_CHECKING:
    from tickwork.client.job_options import JobOptions
    from tickwork.jobs.rows import EnqueuedJob
'''
CLIENT = '''

class {name}({base}):
    """{base} that takes the job types above only, each with its payload."""

    if TYPE_CHECKING:
'''
NO_TYPES = "        pass\n"
ENQUEUE = """\
        {decorator}{definition} enqueue({ignore}
            self,
            type: Literal[{type}],
            payload: {payload},
            *,
            tenant_id: UUID | str | None = None,
            **options: Unpack[JobOptions],
        ) -> EnqueuedJob: ...
"""
IMPLEMENTATION = """
        {definition} enqueue(self, *given: Any, **options: Any) -> Any: ...
"""
IGNORE = "  # type: ignore[override]"
SCALARS = {"string": "str", "number": "float", "integer": "int", "boolean": "bool", "null": "None"}


def python(job_types: Iterable[Mapping[str, Any]]) -> str:
    names = Names()
    payloads = {}
    text = HEAD
    for job_type in job_types:
        stem = camel(job_type["key"])
        payload = shape_of(job_type["payload_schema"] or {"type": "object"})
        definitions = Definitions(names)
        payloads[job_type["key"]] = (definitions.named(payload, f"{stem}Payload"), is_optional(payload))
        definitions.named(shape_of(job_type["result_schema"]), f"{stem}Result")
        text += definitions.text(job_type["description"])
    return (
        text
        + client("TypedTickwork", "Tickwork", "def", payloads)
        + client("TypedAsyncTickwork", "AsyncTickwork", "async def", payloads)
    )


@dataclass
class Names:
    """Those that are taken, so that types with almost the same key do not share one."""

    taken: set[str] = field(default_factory=set)

    def free(self, wanted: str) -> str:
        name, number = wanted, 2
        while name in self.taken:
            name, number = f"{wanted}{number}", number + 1
        self.taken.add(name)
        return name


class Definitions:
    """The definitions of one job type: what is inside comes first."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._texts: list[str] = []

    def text(self, description: str) -> str:
        # A text cannot turn into code or into a directive for the type checker, as a comment could.
        told = f"\n{' '.join(description.split())!r}\n" if description.strip() else ""
        return "\n" + told + "\n".join(["", *self._texts])

    def named(self, shape: Shape, name: str) -> str:
        """A type of that name."""
        if isinstance(shape, Record):
            return self._record(shape, name)
        name = self._names.free(name)
        self._texts.append(f"{name} = {self._type(shape, name)}\n")
        return name

    def _type(self, shape: Shape, name: str) -> str:
        match shape:
            case Anything():
                return "Any"
            case Scalar(type):
                return SCALARS[type]
            case Literals(values):
                return one_of(literal(value) for value in values)
            case ListOf(items):
                return f"list[{self._type(items, name)}]"
            case MapOf(values=inner):
                return f"dict[str, {self._type(inner, name)}]"
            case Record():
                # TypedDict has no way to say what further fields are.
                return "dict[str, Any]" if shape.is_open else self._record(shape, name)
            case OneOf(shapes):
                return one_of(self._type(each, name) for each in shapes)
            case _:
                assert_never(shape)

    def _record(self, shape: Record, name: str) -> str:
        name = self._names.free(name)
        if shape.is_open:
            self._texts.append(f"{name} = dict[str, Any]\n")
            return name
        fields = "".join(
            f"    {key!r}: {'Required' if each.is_required else 'NotRequired'}"
            f"[{self._type(each.shape, name + camel(key))}],\n"
            for key, each in shape.fields.items()
        )
        # Not as a class: a field may be called anything.
        self._texts.append(f'{name} = TypedDict("{name}", {{\n{fields}}})\n')
        return name


def client(name: str, base: str, definition: str, payloads: Mapping[str, tuple[str, bool]]) -> str:
    methods = [
        ENQUEUE.format(
            # There is no overload of one.
            decorator=f"@overload{IGNORE if not number else ''}\n        " if len(payloads) > 1 else "",
            definition=definition,
            ignore=IGNORE if len(payloads) == 1 else "",
            type=repr(type),
            payload=f"{payload} | None = None" if optional else payload,
        )
        for number, (type, (payload, optional)) in enumerate(payloads.items())
    ]
    if len(methods) > 1:
        methods[-1] += IMPLEMENTATION.format(definition=definition)
    return CLIENT.format(name=name, base=base) + ("\n".join(methods) or NO_TYPES)


def is_optional(payload: Shape) -> bool:
    """Whether an empty payload will do."""
    match payload:
        case Record(fields):
            return not any(each.is_required for each in fields.values())
        case MapOf() | Anything():
            return True
        case _:
            return False


def one_of(types: Iterable[str]) -> str:
    return " | ".join(dict.fromkeys(types))


def literal(value: str | int | float | bool | None) -> str:
    if value is None:
        return "None"
    # There are no literal types of floating-point numbers.
    return "float" if isinstance(value, float) else f"Literal[{value!r}]"


def camel(key: str) -> str:
    words: Sequence[str] = re.findall(r"[A-Za-z0-9]+", key)
    return "".join(word[0].upper() + word[1:] for word in words) or "Field"
