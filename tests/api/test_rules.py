"""Rules over the API: a draft, its tests, and what is refused."""

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest

from tests.world import World
from tests.world.api import Api, api_of, member_of

RULES: dict[str, Any] = {
    "package": "own",
    "version": "1",
    "dsl_source": {"attributes": []},
    "tests_source": {"examples": []},
}


@pytest.fixture
def admin(world: World) -> Iterator[Api]:
    user = member_of(world, world.tenant(), role="admin")
    with api_of(world) as api:
        yield api.as_user(user)


def test_rules_are_saved_tested_and_published(admin: Api, world: World) -> None:
    saved = admin.post("rules", **RULES).body
    path = f"rules/{saved['id']}"

    assert (saved["status"], saved["rules_hash"]) == ("draft", None)
    assert admin.post(f"{path}/tests", seed=7).body["payload"]["seed"] == 7
    world.run(
        "update rule_package_versions set status = 'validated', rules_hash = sha256('x') where tenant_id is not null"
    )
    assert admin.post(f"{path}/publish").body["status"] == "published"
    assert admin.get(path).body["rules_hash"].startswith("\\x2d711642b726b044")
    assert {row["status"] for row in admin.get("rules").items} == {"published"}
    assert admin.get(f"{path}/tests").items == []
    assert admin.post(f"{path}/retire").body["status"] == "retired"


@pytest.mark.parametrize("valid_from", ["2027-02-30", "yesterday!", "2027-2-18", 5])
def test_a_day_that_is_none_is_refused(admin: Api, valid_from: Any) -> None:
    assert admin.post("rules", **{**RULES, "valid_from": valid_from}).status == 400


def test_rules_of_nobody_are_not_there(admin: Api) -> None:
    assert admin.get(f"rules/{uuid4()}").status == 404
    assert admin.post(f"rules/{uuid4()}/publish").status == 404
