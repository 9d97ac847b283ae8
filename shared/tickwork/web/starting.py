"""What a function does first."""

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from tickwork.errors import BadSetting
from tickwork.settings import Settings, load_settings

if TYPE_CHECKING:
    from flask import Request
    from flask.typing import ResponseReturnValue


def use_guarded_worker() -> None:
    # functions-framework leaves the class to gunicorn's default, and has no setting for it.
    from gunicorn.config import WorkerClass  # type: ignore[import-untyped]

    WorkerClass.default = "tickwork.web.guarded_worker.GuardedWorker"


def take_every_path(function: "Callable[[Request], ResponseReturnValue]") -> None:
    """Also the few that functions-framework routes nowhere, such as one with a newline: Flask would answer in HTML.

    To be called while functions-framework loads the function.
    """
    import flask

    if flask.has_app_context():
        flask.current_app.register_error_handler(404, lambda error: function(flask.request))


def settings_or_exit() -> Settings:
    try:
        return load_settings()
    except BadSetting as error:
        sys.exit(f"tickwork: {error}")


def thread_count() -> int:
    """How many requests are served at once: functions-framework reads it from the same place."""
    return int(os.environ.get("THREADS") or (os.cpu_count() or 1) * 4)
