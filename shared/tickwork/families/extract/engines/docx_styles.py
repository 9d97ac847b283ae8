"""What the named styles of a Word document mean: which are headings, and which are lists."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from xml.parsers.expat import XMLParserType

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main "
# As ISO's strict variant names it.
STRICT = "http://purl.oclc.org/ooxml/wordprocessingml/main "

HEADING = re.compile(r"heading (\d)")
Listen = Callable[[XMLParserType], None]


@dataclass
class Style:
    name: str = ""
    parent: str = ""
    depth: int | None = None
    is_item: bool = False
    is_bold: bool = False


Styles = dict[str, Style]


def plain_name(tag: str) -> str:
    """ "p" for Word's own elements, and nothing for others."""
    return tag.removeprefix(W if tag.startswith(W) else STRICT) if tag.startswith((W, STRICT)) else ""


def value_of(attributes: dict[str, str], name: str = "val") -> str:
    return attributes.get(W + name) or attributes.get(STRICT + name) or ""


def is_on(attributes: dict[str, str]) -> bool:
    return value_of(attributes) not in ("0", "false", "off", "none")


def styles_of(feed: Callable[[str, Listen], None]) -> Styles:
    styles: Styles = {}
    current = [Style()]

    def start(tag: str, attributes: dict[str, str]) -> None:
        style = current[0]
        match plain_name(tag):
            case "style":
                current[0] = styles.setdefault(value_of(attributes, "styleId"), Style())
            case "name":
                style.name = value_of(attributes).lower()
            case "basedOn":
                style.parent = value_of(attributes)
            case "outlineLvl":
                style.depth = depth_of(value_of(attributes))
            case "numPr":
                style.is_item = True
            case "b":
                style.is_bold = is_on(attributes)

    def listen(parser: XMLParserType) -> None:
        parser.StartElementHandler = start

    feed("word/styles.xml", listen)
    return {key: resolved(style, styles) for key, style in styles.items()}


def resolved(style: Style, styles: Styles) -> Style:
    """With what it has from the styles it is based on."""
    whole = Style(style.name)
    seen = 0
    each: Style | None = style
    # Based on itself, over some others: no end.
    while each and seen < 20:
        whole.depth = named_depth(each.name) if whole.depth is None else whole.depth
        whole.depth = each.depth if whole.depth is None else whole.depth
        whole.is_item = whole.is_item or each.is_item or each.name.startswith("list ")
        whole.is_bold = whole.is_bold or each.is_bold
        each = styles.get(each.parent)
        seen += 1
    return whole


def named_depth(name: str) -> int | None:
    """The built-in names are English in every language of Word."""
    if name == "title":
        return 0
    found = HEADING.fullmatch(name)
    return int(found[1]) - 1 if found else None


def depth_of(level: str) -> int | None:
    """Nine levels; the tenth means body text."""
    return int(level) if level.isascii() and level.isdigit() and int(level[:3]) < 9 else None
