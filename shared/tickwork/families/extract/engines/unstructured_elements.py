"""Elements as the Unstructured API sends them, made into ours."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from tickwork.errors import Retryable
from tickwork.families.extract.elements import Element, Elements, Extracted, cleaned
from tickwork.families.extract.engines import local
from tickwork.families.extract.engines.refusals import MAX_ELEMENTS, MAX_PAGES, MAX_TEXT
from tickwork.families.extract.engines.unstructured_errors import NO_ELEMENTS


def element_of(raw: Mapping[str, Any]) -> Element:
    type, id, text, found = raw.get("type"), raw.get("element_id"), raw.get("text") or "", raw.get("metadata") or {}
    if not (isinstance(type, str) and isinstance(id, str) and isinstance(text, str) and isinstance(found, dict)):
        raise Retryable(NO_ELEMENTS, code="ENGINE_ANSWER")
    metadata = {name: _clean(found[name]) for name, is_useful in USEFUL.items() if is_useful(found.get(name))}
    return {"type": cleaned(type), "element_id": cleaned(id), "text": cleaned(text), "metadata": metadata}  # type: ignore[typeddict-item]


def within_limits(elements: list[Element]) -> Extracted:
    page_count = max((each["metadata"].get("page_number", 1) for each in elements), default=0)
    if page_count > MAX_PAGES:
        raise local.refused("too many pages")
    if sum(len(each["text"].encode()) for each in elements) > MAX_TEXT or len(elements) > MAX_ELEMENTS:
        raise local.refused("too much text")
    return Extracted(Elements(each for each in elements if each["text"]), page_count)


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value < 1_000_000


def _is_text(value: object, longest: int = 200) -> bool:
    return isinstance(value, str) and len(value) <= longest


# Anything else is of no use here, and may be as large as an image.
USEFUL: dict[str, Callable[[Any], bool]] = {
    "page_number": lambda value: _is_count(value) and value > 0,
    "parent_id": _is_text,
    "text_as_html": partial(_is_text, longest=100_000),
    "category_depth": _is_count,
    "filetype": _is_text,
    "languages": lambda value: isinstance(value, list) and len(value) <= 20 and all(map(_is_text, value)),
}


def _clean(value: Any) -> Any:
    match value:
        case str():
            return cleaned(value)
        case list():
            return [cleaned(each) for each in value]
        case _:
            return value
