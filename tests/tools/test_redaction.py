"""A secret is found in every form that a server may send it back in, in time that no server can stretch."""

import html
import json
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable
from urllib.parse import quote, quote_plus

import pytest

from tickwork.tools.redaction import holds_one, redacted, redacted_headers

VALUE = 'canary/"7f3a+9b==\'\\" <é&z'
SECRETS = {"API_KEY": VALUE}

FORMS: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "JSON": json.dumps,
    "JSON with slashes quoted": lambda value: json.dumps(value).replace("/", "\\/"),
    "JSON in JSON": lambda value: json.dumps(json.dumps(value)),
    "JSON in JSON in JSON": lambda value: json.dumps(json.dumps(json.dumps(value))),
    "HTML": html.escape,
    "HTML with apos": lambda value: html.escape(value, quote=False).replace("'", "&apos;").replace('"', "&#34;"),
    "HTML in HTML": lambda value: html.escape(html.escape(value)),
    "HTML in JSON": lambda value: json.dumps(html.escape(value)),
    "JSON in HTML": lambda value: html.escape(json.dumps(value)),
    "every character as an entity": lambda value: "".join(f"&#x{ord(each):X};" for each in value),
    "percent": lambda value: quote(value, safe=""),
    "percent but for slashes": quote,
    "a form": quote_plus,
    "percent in lower case": lambda value: quote(value, safe="").lower(),
    "percent in percent": lambda value: quote(quote(value, safe=""), safe=""),
    "every byte as percent": lambda value: "".join(f"%{byte:02X}" for byte in value.encode()),
    "hex": lambda value: value.encode().hex(),
    "hex in upper case": lambda value: value.encode().hex().upper(),
    "Python": repr,
}


@pytest.mark.parametrize("form", FORMS)
def test_a_secret_is_found_in_every_form(form: str) -> None:
    echo = FORMS[form](VALUE)

    shown = redacted(f"you sent <{echo}>!", SECRETS)

    assert "[secret API_KEY]" in shown
    assert len(shown) < len("you sent <>!") + len("[secret API_KEY]") + 20
    assert holds_one(echo, SECRETS)


@pytest.mark.parametrize("before", ["", "u", "us", "use", "user:"])
@pytest.mark.parametrize("after", ["", "x", "xy"])
@pytest.mark.parametrize("encode", [b64encode, urlsafe_b64encode])
def test_a_secret_is_found_in_base64_whatever_stands_before_it(
    before: str, after: str, encode: Callable[[bytes], bytes]
) -> None:
    echo = encode(f"{before}{VALUE}{after}".encode()).decode()

    for form in (echo, echo.rstrip("="), quote(echo, safe=""), json.dumps(echo).replace("/", "\\/")):
        shown = redacted(form, SECRETS)

        assert "[secret API_KEY]" in shown
        # What is left is of the neighbours, and of padding.
        assert len(shown.replace("[secret API_KEY]", "")) <= 8 + 10


def test_other_texts_are_left_as_they_are() -> None:
    text = "canary/7f3a &amp; \\\\ %25 Y2FuYXJ5"

    assert redacted(text, SECRETS) == text
    assert redacted(text, {"EMPTY": "", "SHORT": "q"}) == text
    assert not holds_one(text, SECRETS)


def test_of_two_secrets_the_longer_is_found_first() -> None:
    secrets = {"SHORT": "canary", "LONG": "canary-and-more"}

    assert redacted("canary-and-more canary", secrets) == "[secret LONG] [secret SHORT]"


def test_headers_are_redacted_and_capped() -> None:
    headers = {"a": VALUE, "b": "x" * 100, "c": "ok"}

    assert redacted_headers(headers, SECRETS, 60) == {"a": "[secret API_KEY]"}
