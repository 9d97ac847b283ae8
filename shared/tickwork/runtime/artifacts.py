"""Payloads and results that are too large for a row: handlers get and return them as if they were not."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tickwork.jobs.connection import Connection
from tickwork.jobs.handler import Tools
from tickwork.jobs.outcomes import Done

# A result that is shorter as compact JSON fits, however the database writes it.
SURELY_FITS = 65_536


def whole_payload(payload: Mapping[str, Any], tools: Tools) -> Mapping[str, Any]:
    if "artifact_ref" not in payload:
        return payload
    from tickwork.tools.artifacts import resolved

    return resolved(payload, tools)


def with_small_result(done: Done, type: str, tools: Tools) -> Done:
    """A result that does not fit into its column goes to the vault, and a reference to it takes its place.

    Not without a vault, nor if its type redacts values, which members could read there: the queue refuses it then.
    """
    if done.result is None or len(done.result.model_dump_json()) <= SURELY_FITS or not has_vault():
        return done
    from tickwork.tools.artifacts import MAX_RESULT, Stored, store

    # With spaces, as the database measures it.
    content = json.dumps(done.result.model_dump(mode="json"), ensure_ascii=False).encode()
    if len(content) <= MAX_RESULT or tools.under_lease(lambda connection: redacts(connection, type)):
        return done
    return replace(done, result=Stored(artifact_ref=store(tools, "result.json", "application/json", [content])))


def has_vault() -> bool:
    return bool(os.environ.get("TICKWORK_VAULT_URL"))


def redacts(connection: Connection, type: str) -> bool:
    found = connection.execute("select from public.job_types where key = %s and redacted <> '{}'", [type])
    return found.fetchone() is not None
