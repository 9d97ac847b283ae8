"""One file for each type of job, named after it."""

from collections.abc import Mapping
from functools import partial
from importlib import import_module
from typing import Any

from tickwork.handler import Handler, Handlers, Tools
from tickwork.outcomes import Done


def loaded_when_due(*types: str) -> Handlers:
    """The handlers of these types. Each is loaded with its first job: what it imports takes as long as all the rest."""
    return {type: partial(load_and_run, type) for type in types}


def load_and_run(type: str, payload: Mapping[str, Any], tools: Tools) -> Done:
    handler: Handler[Any] = getattr(import_module(f"{__name__}.{type}"), type.upper())
    return handler(payload, tools)
