"""
Nobody sees or changes what is another tenant's: every object, by every actor, in every context.

Two tenants, alpha and beta, have rows in every table. The matrix has one cell for each

    actor     in each tenant a member, an admin, an owner and an API key of each kind, also revoked and expired; a
              platform admin, workers with and without a lease, anon, somebody removed, a stranger, the service
    context   signed in; aiming at the other tenant; no claims, on a cold or warm connection; broken claims; SQL in them
    attack    select, insert, update and delete on each table and view, and a call of each function in the catalogue

Each cell is tried in a transaction that is rolled back, in one round trip if it is refused. It is wrong if the actor
saw or touched a row of another tenant (`breach`), if the answer tells an id of another tenant from one that does not
exist (`betrayal`), if the actor did at home what its role or scope does not include (`trespass`: isolation_rights.py),
or if the actor got nothing although it is at home and has the right, since then the cell proves nothing (`void`). A
table or function that is added is in the matrix by itself. A table needs rows of both tenants (isolation_population.py)
and, if they have no tenant_id, whose they are (isolation_catalogue.py); if a function takes an argument that nobody
knows, the test says which, and isolation_arguments.py is where it goes. The deliberate holes of isolation_holes.py
show that each check can fail.
"""

import re
from contextlib import ExitStack
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest

from tests.database.isolation_attacks import Attack, calls, connect
from tests.database.isolation_catalogue import NO_TENANTS, RELATIONS
from tests.database.isolation_checks import (
    blunt_attacks,
    matrix,
    open_policies,
    seen_by_a_member,
    shown_tokens,
    sprung_traps,
)
from tests.database.isolation_holes import LEAKS, MUTANTS, TRESPASSES
from tests.database.isolation_population import INSIDER, populate_figures, populate_tenant
from tests.database.isolation_scene import Actor, Scene, populated, scene
from tests.world import World
from tickwork.database.connection import Connection
from tickwork.errors import LeaseLost
from tickwork_docs.rights import CALLERS, allowed

__all__ = ["populated", "scene"]

# Where what the matrix tries would be refused, or change nothing, whoever tries it.
INSTEAD = {
    "change_job_trigger": {"changes": '{"is_enabled": false}'},
    "change_job_type": {"key": "do_alpha"},
    "create_job_trigger": {"trigger_type": "event"},
    "change_alert_rule": {"key": "queue_size"},
}
MAY_CALL = "select has_function_privilege('authenticated', %s, 'execute')"


def test_no_cell_of_the_matrix_leaks_or_trespasses_and_none_is_void(
    scene: Scene, capsys: pytest.CaptureFixture[str]
) -> None:
    cells = list(matrix(scene))

    assert [cell for cell in cells if cell] == []
    assert len(cells) >= 10_000
    with capsys.disabled():
        print(f"leaks 0, trespasses 0 and void cells 0 in {len(cells)} cells of {len(scene.actors)} actors")


def test_each_attack_would_succeed_and_be_noticed_if_nothing_stood_in_its_way(scene: Scene) -> None:
    assert sorted({f"{attack.object} {attack.verb}" for attack in blunt_attacks(scene)}) == []


def test_no_policy_lets_a_client_through_when_nothing_is_set(scene: Scene) -> None:
    assert list(open_policies(scene)) == []


def test_tables_and_operators_of_the_caller_are_never_used(scene: Scene) -> None:
    assert list(sprung_traps(scene)) == []


def test_a_member_sees_the_running_job_and_its_token_nowhere(scene: Scene) -> None:
    seen = seen_by_a_member(scene)

    assert str(scene.alpha.jobs["running"]) in seen["public.jobs"]
    assert str(scene.alpha.jobs["running"]) in seen["public.job_attempts"]
    assert list(shown_tokens(scene)) == []


def test_deleting_a_tenant_leaves_nothing_of_it_and_its_worker_hears_so(world: World) -> None:
    populate_tenant(world, "acme", INSIDER, dedupe_key="key")
    populate_figures(world)
    (job,) = world.held_jobs()
    tables = {row["name"]: row["columns"] for row in world.rows(RELATIONS) if row["is_table"]}
    number = world.value("select number from tickwork.tenants")
    assert tables_of(job.tenant_id, number, tables, world) == {*tables} - NO_TENANTS - {"tickwork.open_jobs"}

    world.connect("service_role").execute("delete from organizations where id = %s", [job.tenant_id])

    assert tables_of(job.tenant_id, number, tables, world) == set()
    with pytest.raises(LeaseLost) as lost:
        world.queue.complete_job(job)
    assert lost.value.sqlstate == "TWLSE"


def tables_of(tenant: UUID, number: int, tables: dict[str, list[str]], world: World) -> set[str]:
    """Those that hold a row of the tenant, under its id or its number."""
    parts = [
        f"select '{table}' as name from {table} as t where strpos(t::text, %(id)s) > 0"
        + (" or t.tenant_number = %(number)s" if "tenant_number" in columns else "")
        for table, columns in tables.items()
    ]
    return {row["name"] for row in world.admin.execute(" union ".join(parts), {"id": str(tenant), "number": number})}


def test_a_removed_member_is_refused_at_the_next_statement(world: World) -> None:
    job = world.job()
    member = world.member_of(job.tenant_id)
    assert member.execute("select list_jobs()").rowcount == 1

    world.run("delete from memberships")

    assert member.execute("select list_jobs()").rowcount == 0
    for statement, code in {
        f"select enqueue_job('{job.tenant_id}', '{job.type}')": "TWMEM",
        f"insert into jobs (tenant_id, type) values ('{job.tenant_id}', '{job.type}')": "TWMEM",
        f"select cancel_job('{job.id}')": "TWJOB",
    }.items():
        with pytest.raises(psycopg.Error) as refused:
            member.execute(statement)
        assert refused.value.sqlstate == code


def test_a_member_chooses_neither_the_id_of_a_job_nor_where_it_comes_from(scene: Scene) -> None:
    (member, *_) = scene.actors
    job, foreign = scene.alpha.jobs["done"], scene.beta.jobs["running"]

    with connect(scene, member, "claims") as connection, connection.transaction():
        connection.execute(member.introduction)
        for id in (job, foreign):
            request = "tickwork.new_job(%s, 'do_alpha', dedupe_key => %s, source => 'event', id => %s)"
            made = connection.execute(
                f"select * from tickwork.enqueue_job({request})", [scene.alpha.tenant, str(uuid4()), id]
            ).fetchone()
            assert made is not None
            assert (made["tenant_id"], made["source"], made["deduplicated"]) == (scene.alpha.tenant, "manual", False)


def callers_by_right(scene: Scene) -> dict[str, Actor]:
    """Each kind of user and of key, all of them at home in alpha."""
    actors = {}
    for number, name in enumerate(CALLERS):
        if name in ("member", "admin", "platform admin"):
            user = UUID(int=100 + number)
            if name == "platform admin":
                scene.run("insert into tickwork.platform_admins values (%s)", user)
            else:
                scene.run("insert into public.memberships values (%s, %s, %s)", scene.alpha.tenant, user, name)
            actors[name] = scene.caller(name, "authenticated", user, scene.alpha)
        else:
            scopes = ["worker:alpha"] if name == "worker" else name.split()
            scene.service.keys.create_api_key(f"to {name}", scopes, scene.alpha.tenant)
            actors[name] = scene.key(name, f"to {name}", scene.alpha, name)
    return actors


def is_yes(connection: Connection, actor: Actor, attack: Attack) -> bool:
    """Whether the actor gets something, before it is rolled back."""
    with connection.transaction(force_rollback=True):
        connection.execute(actor.introduction)
        try:
            found = [row["row"] for row in connection.execute(attack.statement, attack.parameters)]
            # Those two return how many jobs there were.
            counts = re.search("cancel_jobs|summarize_jobs", attack.object)
            return any(re.search("[1-9]", row) for row in found) if counts else bool(found)
        except psycopg.Error as error:
            if (error.sqlstate or "").startswith("TW") or error.sqlstate == "42501":
                return False
            raise


def test_each_verb_is_for_those_whom_the_reference_names(scene: Scene) -> None:
    actors, wrong = callers_by_right(scene), []
    service = scene.caller("service", "service_role", INSIDER)
    verbs = [each for each in scene.functions if each["signature"] in scene.open_functions]
    tried = set()
    with ExitStack() as stack:
        connections = {
            name: stack.enter_context(connect(scene, actor, "claims"))
            for name, actor in {**actors, "service": service}.items()
        }
        for function in verbs:
            name = function["signature"].partition("(")[0].removeprefix("public.")
            if "." in name or not scene.value(MAY_CALL, function["signature"]):
                continue
            tried.add(name)
            # No job of the scene has run, so that there is none.
            if name in ("latency", "percentiles"):
                continue
            attacks = [
                each._replace(parameters={**each.parameters, **INSTEAD.get(name, {})})
                for each in calls(scene, function, scene.alpha)
            ]
            attacks.sort(key=lambda each: not each.parameters.get("tenant_id"))
            finders = [service, actors["platform admin"]]
            attack = next(
                (each for each in attacks if any(is_yes(connections[one.name], one, each) for one in finders)), None
            )
            if attack is None:
                wrong.append(f"{name}: nobody gets anything")
                continue
            may = {caller for caller, actor in actors.items() if is_yes(connections[caller], actor, attack)}
            if may != {*allowed().get(name, ())}:
                wrong.append(f"{name}: {sorted(may)} and not {sorted(allowed().get(name, ()))}")

    assert "\n".join(wrong) == ""
    assert tried == {*allowed()}


@pytest.mark.parametrize("change", LEAKS)
def test_each_deliberate_leak_is_found(scene: Scene, change: str) -> None:
    scene.admin.execute(change)

    wrong = [cell for cell in matrix(scene, LEAKS[change]) if cell]

    assert wrong != []
    assert "void" not in str(wrong)


@pytest.mark.parametrize("change", TRESPASSES)
def test_each_deliberate_trespass_is_found(scene: Scene, change: str) -> None:
    scene.admin.execute(change)

    assert "trespass" in str([cell for cell in matrix(scene, TRESPASSES[change]) if cell])


@pytest.mark.parametrize(("check", "change"), [(check, each) for check in MUTANTS for each in MUTANTS[check]])
def test_each_deliberate_hole_is_found(scene: Scene, check: Any, change: str) -> None:
    try:
        scene.admin.execute(change)

        assert next(iter(check(scene)), None) is not None
    finally:
        # Roles belong to the whole server.
        scene.run("alter role tickwork_worker nobypassrls")


@pytest.mark.parametrize(
    "new", ["table public.riddle (tenant_id uuid)", "procedure public.p(riddle money) begin atomic end"]
)
def test_an_object_that_the_matrix_cannot_try_fails_it(scene: Scene, new: str) -> None:
    scene.admin.execute(f"create {new}")

    with pytest.raises(AssertionError, match="riddle"):
        list(matrix(scene))
