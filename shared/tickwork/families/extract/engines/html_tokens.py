"""The tags and texts of an HTML file, told apart as browsers do it, in a single pass.

Python's own parser starts over at every tag that has no end, which takes the square of the file's size.
"""

import html
import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

NAME = re.compile(r"</?([a-zA-Z][^\s/>]{0,100})")
END_OR_VALUE = re.compile("[>=]")
# Only after an equals sign do quotes matter.
VALUE = re.compile(r"""\s*(?:"[^"]*"?|'[^']*'?|[^\s>]*)""")
# Nothing in them is a tag but their own end.
END_OF_CODE = {name: re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE) for name in ("script", "style")}


class Token(NamedTuple):
    """A tag by its name in lower case, or a piece of text."""

    kind: Literal["start", "end", "text"]
    value: str


def tokens_of(source: str) -> Iterator[Token]:
    at = text_start = 0
    while (at := source.find("<", at)) >= 0:
        name = NAME.match(source, at)
        if not name and source[at + 1 : at + 2] not in ("!", "?", "/"):
            at += 1
            continue
        end = _end_of_tag(source, name.end()) if name else _end_of_comment(source, at)
        if end is None:
            # It is cut off, so no tag after it has an end either: the rest is text.
            break
        if text_start < at:
            yield Token("text", html.unescape(source[text_start:at]))
        if name:
            tag = name[1].lower()
            is_end = source[at + 1] == "/"
            yield Token("end" if is_end else "start", tag)
            if tag in END_OF_CODE and not is_end:
                code = END_OF_CODE[tag].search(source, end)
                end = code.start() if code else len(source)
        at = text_start = end
    if text_start < len(source):
        yield Token("text", html.unescape(source[text_start:]))


def _end_of_tag(source: str, at: int) -> int | None:
    while found := END_OR_VALUE.search(source, at):
        if found[0] == ">":
            return found.end()
        value = VALUE.match(source, found.end())
        assert value is not None
        at = value.end()
    return None


def _end_of_comment(source: str, at: int) -> int | None:
    if source.startswith("<!--", at):
        end = source.find("-->", at + 2)
        return end + 3 if end >= 0 else len(source)
    end = source.find(">", at)
    return end + 1 if end >= 0 else None
