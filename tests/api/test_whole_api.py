"""The whole API as its description has it, and as it has not: by schemathesis, as every kind of caller."""

import json
import os
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.database.isolation_arguments import Target
from tests.database.isolation_catalogue import AN_ID
from tests.database.isolation_scene import Scene, populated
from tests.world.api import KEY, Api, api_of, member_of
from tickwork.testing.database import cloned
from tickwork_local.postgres import Server

__all__ = ["populated"]

Case = schemathesis.Case[Any]
Operation = schemathesis.APIOperation[Any, Any, Any, Any]

EXAMPLES = int(os.environ.get("TICKWORK_API_EXAMPLES", "1"))
CHECKS = [
    *(not_a_server_error, status_code_conformance, content_type_conformance),
    *(response_headers_conformance, response_schema_conformance),
]
CREDENTIALS = ("authorization", "x-api-key")
bounded = settings(
    max_examples=EXAMPLES,
    derandomize="TICKWORK_API_EXAMPLES" not in os.environ,
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture
def scene(server: Server, populated: str) -> Iterator[Scene]:
    with cloned(server, populated) as name, Scene(server.url(name), server.url(name, "tickwork_worker")) as scene:
        # Or the API is not ready.
        scene.run("select public.maintain()")
        yield scene


def callers_of(scene: Scene, nobody: Api) -> dict[str, tuple[Api, UUID | None]]:
    """Each with the tenant whose rows they may see; None is for those who see no row, or those of all."""
    alpha, beta, admin = scene.alpha.tenant, scene.beta.tenant, uuid4()
    scene.run("insert into tickwork.platform_admins (user_id) values (%s)", admin)

    def key(scope: str, tenant: UUID | None) -> Api:
        secret: str = scene.value("select key from public.create_api_key(%s, %s, %s)", scope, [scope], tenant)
        return nobody.with_key(secret)

    return {
        "nobody": (nobody, None),
        "member": (nobody.as_user(member_of(scene, alpha)), alpha),
        "admin": (nobody.as_user(member_of(scene, alpha, role="admin")), alpha),
        "stranger": (nobody.as_user(member_of(scene, beta, role="admin")), beta),
        "platform admin": (nobody.as_user(admin), None),
        "key to read": (key("read", alpha), alpha),
        "key to enqueue": (key("enqueue", alpha), alpha),
        "key to operate": (key("operate", alpha), alpha),
        "key of a worker": (key("worker:alpha", alpha), alpha),
        "key of the platform": (key("operate", None), None),
    }


def known_ids(scene: Scene) -> dict[str, str]:
    """What there is, so that not every path leads nowhere: rows of alpha."""
    alpha = scene.alpha
    return {
        "job_id": str(alpha.jobs["queued"]),
        "schedule_id": str(alpha.schedule),
        "trigger_id": str(alpha.trigger),
        "webhook_endpoint_id": str(alpha.endpoint),
        "webhook_delivery_id": str(alpha.delivery),
        "document_id": str(alpha.document),
        "connector_id": str(alpha.connector),
        "type": "do_alpha",
    }


def cases_of(operation: Operation) -> list[Case]:
    found: list[Case] = []
    for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):

        @bounded
        @given(case=operation.as_strategy(generation_mode=mode))
        def collect(case: Case) -> None:
            found.append(case)

        # Some operations have nothing that could be wrong.
        with suppress(Unsatisfiable):
            collect()
    return found


def test_no_answer_is_unexpected_and_no_row_is_anothers(scene: Scene, tmp_path: Path) -> None:
    statuses: Counter[int] = Counter()
    complaints: list[str] = []
    with api_of(scene, TICKWORK_SECRET_KEY=KEY, TICKWORK_VAULT_URL=f"file:{tmp_path}") as nobody:
        schema = schemathesis.openapi.from_wsgi("/api/v1/openapi.json", nobody.client.application)
        callers, known = callers_of(scene, nobody), known_ids(scene)
        foreign = {tenant: foreign_ids(scene, tenant) for tenant in (scene.alpha.tenant, scene.beta.tenant)}
        for result in schema.get_all_operations():
            operation: Any = result.ok()  # type: ignore[union-attr]
            for number, case in enumerate(cases_of(operation)):
                # It makes up credentials, too: the callers have their own.
                for name in CREDENTIALS:
                    case.headers.pop(name, None)
                if number % 2 == 0:
                    case.path_parameters = {**case.path_parameters, **at(case, known)}
                for name, (api, tenant) in callers.items():
                    response = case.call(headers=dict(api.headers))
                    statuses[response.status_code] += 1
                    complaints += complaints_about(case, response)
                    complaints += foreign_rows(name, case, response, foreign[tenant] if tenant else set())

    assert complaints == []
    # Had all of it been refused, it would prove nothing.
    assert statuses[200] > 200, statuses
    assert {400, 401, 403, 404, 422} <= statuses.keys()
    print(f"{statuses.total()} requests: {dict(sorted(statuses.items()))}")


def at(case: Case, known: dict[str, str]) -> dict[str, str]:
    return {name: known[name] for name in case.path_parameters if name in known}


def foreign_ids(scene: Scene, tenant: UUID) -> set[str]:
    """The ids in rows of others that are in no row of the tenant's own."""
    mine, others = (scene.alpha, scene.beta) if tenant == scene.alpha.tenant else (scene.beta, scene.alpha)
    return ids_outside(scene, mine) - ids_outside(scene, others)


def ids_outside(scene: Scene, home: Target) -> set[str]:
    tables = [each["name"] for each in scene.relations if each["is_table"]]
    found = scene.rows_seen_from(home, tables, scene.admin)
    return {each for rows in found.values() for row in rows if row.is_foreign for each in re.findall(AN_ID, row.text)}


def complaints_about(case: Case, response: schemathesis.Response) -> list[str]:
    try:
        case.validate_response(response, checks=CHECKS)
    except FailureGroup as group:
        return [f"{case.method} {case.path}: {each}\n{response.text[:500]}" for each in group.exceptions]
    return []


def foreign_rows(name: str, case: Case, response: schemathesis.Response, foreign: set[str]) -> list[str]:
    sent = json.dumps([case.path_parameters, dict(case.query or {}), str(case.body)], default=str)
    seen = {each for each in foreign if each in response.text and each not in sent}
    return [f"{name} saw {seen} at {case.method} {case.path}"] if seen else []
