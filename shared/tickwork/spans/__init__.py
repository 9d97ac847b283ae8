"""Spans of OpenTelemetry, where somebody wants them: nothing is imported or spent otherwise.

Somebody does if OTEL_EXPORTER_OTLP_ENDPOINT is set (with tickwork[otel]), or if the process has set up tracing itself.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from typing import TYPE_CHECKING

from tickwork.logs import log

if TYPE_CHECKING:
    from tickwork.spans.recorder import Recorder

ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")


def find_recorder() -> Recorder | None:
    """What records spans; None if nobody wants any."""
    return _exporting_recorder() or _recorder_of_the_process()


def flush() -> None:
    """Send what has been recorded, for as long as a response may wait for it: afterwards there may be no CPU."""
    if found := find_recorder():
        found.flush()


@cache
def _exporting_recorder() -> Recorder | None:
    if not any(os.environ.get(name) for name in ENDPOINTS):
        return None
    try:
        from tickwork.spans.recorder import exporting_recorder

        return exporting_recorder()
    except ImportError as error:
        log("miss_spans", "WARNING", reason=str(error), hint="Install tickwork[otel] with the function.")
    except Exception as error:
        log("miss_spans", "WARNING", reason=f"{type(error).__name__}: {error}")
    return None


def _recorder_of_the_process() -> Recorder | None:
    """That of an application that traces itself, and has imported OpenTelemetry for that."""
    if "opentelemetry.sdk.trace" not in sys.modules:
        return None
    from tickwork.spans.recorder import existing_recorder

    return existing_recorder()
