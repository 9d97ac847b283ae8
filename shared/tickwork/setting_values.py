"""Reads settings that are numbers, yes or no, or the names and address of a broker."""

import re
from collections.abc import Callable
from importlib.util import find_spec
from urllib.parse import urlsplit


def seconds(at_most: int, *, is_positive: bool = False, per_second: int = 1) -> Callable[[str], float]:
    """Reads seconds, or milliseconds if there are 1000 per second."""
    most = at_most * per_second
    span = f"above 0 and at most {most}" if is_positive else f"from 0 to {most}"

    def read(text: str) -> float:
        value = number(text)
        if not 0 <= value <= most or (is_positive and value == 0):
            raise ValueError(f"must be a number {span}")
        return value / per_second

    return read


def whole_number(at_least: int, at_most: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        value = number(text)
        if not at_least <= value <= at_most or not value.is_integer():
            raise ValueError(f"must be a whole number from {at_least} to {at_most}")
        return int(value)

    return read


def number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        # NaN is neither less nor greater than anything.
        return float("nan")


def yes_or_no(text: str) -> bool:
    word = text.lower()
    if word not in (*YES, *NO):
        raise ValueError("must be true or false")
    return word in YES


YES = ("true", "1", "yes", "on", "y", "t")
NO = ("false", "0", "no", "off", "n", "f")


def is_amqp_url(url: str) -> str:
    if not url.startswith(("amqp://", "amqps://")):
        raise ValueError("must start with amqp:// or amqps://, such as amqps://user:password@broker.example/vhost")
    try:
        is_whole = urlsplit(url).port != 0 and not re.search(r"\s", url)
    except ValueError:
        is_whole = False
    if not is_whole:
        raise ValueError("is not a valid URL: in a password write % as %25, @ as %40, / as %2F and a space as %20")
    if find_spec("pika") is None:
        raise ValueError("needs pika: install tickwork[rabbitmq]")
    return url


def is_amqp_name(name: str) -> str:
    if not re.fullmatch("[0-9A-Za-z._:-]{1,127}", name) or name.startswith("amq."):
        raise ValueError("must be at most 127 letters, digits, dots, colons, hyphens and underscores, without amq.")
    return name
