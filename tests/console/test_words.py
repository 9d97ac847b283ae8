"""The words of the console: each one has its German, and no German is left over."""

import re
from pathlib import Path

import pytest

import tickwork.console
from tickwork.console.words import Words, german

FOLDER = Path(tickwork.console.__file__).parent
SAID = re.compile(r"""\b(?:_|say)\(\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')""")


def sources() -> str:
    return "\n".join(path.read_text() for path in sorted(FOLDER.rglob("*")) if path.suffix in (".py", ".html"))


def test_every_word_has_its_german() -> None:
    said = {first or second for first, second in SAID.findall(sources())}

    assert sorted(said - german().keys()) == []


def test_no_german_is_left_over() -> None:
    text = sources()

    assert [word for word in german() if f'"{word}"' not in text and f"'{word}'" not in text] == []


def test_the_german_has_room_for_the_same_values() -> None:
    assert [word for word, meaning in german().items() if word.count("{}") != meaning.count("{}")] == []


@pytest.mark.parametrize(("language", "text"), [("en", "3 of 4"), ("de", "3 of 4"), ("xx", "3 of 4")])
def test_what_is_unknown_is_said_in_english(language: str, text: str) -> None:
    assert Words(language)("{} of {}", 3, 4) == text
