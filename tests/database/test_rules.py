"""Verbs on rules: who may, from which status to which, and what stays as it is."""

from typing import Any
from uuid import UUID

import psycopg
import pytest

from tests.world import World
from tickwork import errors

RULES: dict[str, Any] = {"attributes": []}
TESTS: dict[str, Any] = {"examples": []}


def saved(world: World, tenant: UUID | None = None, **more: Any) -> UUID:
    given = {"package": "own", "version": "1", "dsl_source": RULES, "tests_source": TESTS, **more}
    row = world.service.rules.save_rules(tenant or world.tenant(), **given)
    id: UUID = row["id"]
    return id


def validated(world: World, tenant: UUID | None = None) -> UUID:
    id = saved(world, tenant)
    world.run("update rule_package_versions set status = 'validated', rules_hash = sha256('x') where id = %s", id)
    return id


def status_of(world: World, id: UUID) -> str:
    found: str = world.value("select status from rule_package_versions where id = %s", id)
    return found


def test_what_is_saved_is_a_draft(world: World) -> None:
    row = world.service.rules.get_rules(saved(world))

    assert (row["status"], row["revision"], row["dsl_source"], row["rules_hash"]) == ("draft", 1, RULES, None)


@pytest.mark.parametrize("change", [{"dsl_source": {"attributes": [], "title": "x"}}, {"tests_source": None}])
def test_any_edit_of_validated_rules_makes_a_draft(world: World, change: dict[str, Any]) -> None:
    tenant = world.tenant()
    id = validated(world, tenant)

    assert saved(world, tenant, **change) == id

    row = world.service.rules.get_rules(id)
    assert (row["status"], row["revision"], row["rules_hash"]) == ("draft", 2, None)


def test_saving_the_same_again_changes_nothing(world: World) -> None:
    tenant = world.tenant()
    id = validated(world, tenant)

    saved(world, tenant)

    assert status_of(world, id) == "validated"


def test_validated_rules_are_published_at_once_and_then_retired(world: World) -> None:
    id = validated(world)

    assert world.service.rules.publish_rules(id)["status"] == "published"
    assert world.service.rules.retire_rules(id)["status"] == "retired"
    assert world.value("select count(*) from jobs where type = 'run_rule_tests'") == 0
    names = {row["type"] for row in world.rows("select type from events where type like 'rules.%%'")}
    assert names == {"rules.validated", "rules.published", "rules.retired"}


@pytest.mark.parametrize("status", ["published", "retired"])
def test_published_rules_never_change(world: World, status: str) -> None:
    tenant = world.tenant()
    id = validated(world, tenant)
    world.service.rules.publish_rules(id)
    if status == "retired":
        world.service.rules.retire_rules(id)

    with pytest.raises(errors.WrongStatus):
        saved(world, tenant, dsl_source={"attributes": [], "title": "x"})
    with pytest.raises(errors.WrongStatus):
        world.service.rules.publish_rules(id)
    for swap in ("dsl_source = '{}'", "rules_hash = sha256('y'), status = 'retired'", "status = 'validated'"):
        if (status, "retired" in swap) != ("retired", True):
            with pytest.raises(psycopg.Error) as raised:
                world.run(f"update rule_package_versions set {swap} where id = %s", id)
            assert raised.value.sqlstate == "TWSTA"


def test_only_published_rules_are_retired(world: World) -> None:
    with pytest.raises(errors.WrongStatus):
        world.service.rules.retire_rules(validated(world))


def test_a_draft_cannot_be_published_past_its_tests(world: World) -> None:
    with pytest.raises(psycopg.Error) as raised:
        world.run(
            "update rule_package_versions set status = 'published', rules_hash = sha256('x') where id = %s",
            saved(world),
        )

    assert raised.value.sqlstate == "TWSTA"


def test_the_same_tests_are_enqueued_once(world: World) -> None:
    id = saved(world)
    first, again, other = (world.service.rules.request_rule_tests(id, seed) for seed in (1, 1, 2))

    assert first["id"] == again["id"] != other["id"]
    assert (first["payload"], first["priority"]) == ({"rule_package_version_id": str(id), "seed": 1}, 10)


def test_tests_need_a_source_and_a_seed_that_json_can_hold(world: World) -> None:
    tenant = world.tenant()
    with pytest.raises(errors.InvalidRequest, match="has no tests"):
        world.service.rules.request_rule_tests(saved(world, tenant, version="2", tests_source=None))
    with pytest.raises(errors.InvalidRequest, match="seed"):
        world.service.rules.request_rule_tests(saved(world, tenant), 2**53)


@pytest.mark.parametrize(
    "wrong",
    [
        {"package": ""},
        {"version": "a b"},
        {"dsl_source": []},
        {"dsl_source": {"x": "x" * 600_000}},
        {"tests_source": {"x": "x" * 1_100_000}},
    ],
)
def test_what_breaks_a_limit_is_refused(world: World, wrong: dict[str, Any]) -> None:
    with pytest.raises(errors.InvalidRequest):
        saved(world, **wrong)


def test_the_rules_of_every_tenant_are_read_by_all_and_changed_by_nobody(world: World) -> None:
    tenant = world.tenant()
    common = world.value("select id from rule_package_versions where tenant_id is null")
    member = world.member_of(tenant, role="admin")

    assert member.execute("select version from public.get_rules(%s)", [common]).fetchone() == {"version": "2027.1"}
    assert len(member.execute("select * from public.list_rule_tests(%s)", [common]).fetchall()) == 1
    for verb in ("publish_rules", "retire_rules", "request_rule_tests"):
        with pytest.raises(errors.NoSuchRules):
            getattr(world.service.rules, verb)(common)


def test_members_save_and_test_and_admins_publish(world: World) -> None:
    tenant = world.tenant()
    id = validated(world, tenant)
    member = world.member_of(tenant)

    member.execute("select public.request_rule_tests(%s)", [id])
    with pytest.raises(psycopg.Error) as raised:
        member.execute("select public.publish_rules(%s)", [id])
    assert raised.value.sqlstate == "TWADM"
    world.member_of(tenant, role="admin").execute("select public.publish_rules(%s)", [id])
    assert status_of(world, id) == "published"
