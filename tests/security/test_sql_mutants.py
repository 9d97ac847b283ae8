"""Rights and policies that are broken on purpose, each with the test that must turn red on it."""

from typing import Any

import pytest

from tests.database import test_mutants
from tests.database import test_privileges as privileges
from tests.tools import test_secrets as secrets
from tests.world import World
from tests.world.mutant import Mutant
from tests.world.receivers import emit

RULES = privileges.test_functions_tables_views_policies_and_roles_keep_the_rules
RIGHTS = privileges.test_the_roles_have_exactly_the_rights_on_the_list


def test_members_see_only_the_events_of_their_tenants(world: World) -> None:
    emit(world, world.tenant("birch"))
    member = world.member_of(world.tenant("acorn"))

    assert member.execute("select from events").fetchall() == []


def mutant(defect: str, statement: str, caught_by: Any, *arguments: Any) -> Mutant:
    return Mutant(defect, "", "", statement, caught_by, arguments)


MUTANTS = [
    mutant("row-level security is not forced", "alter table jobs no force row level security", RULES),
    mutant("row-level security is off", "alter table documents disable row level security", RULES),
    mutant(
        "a policy opens when a setting is missing",
        "create policy opens on jobs for select to authenticated using (auth.uid() is null or tenant_id is not null)",
        RULES,
    ),
    mutant(
        "a policy opens to all",
        "create policy opens on events for select to authenticated using (true)",
        test_members_see_only_the_events_of_their_tenants,
    ),
    mutant("a view runs as its owner", "alter view document_overview reset (security_invoker)", RULES),
    mutant("a definer function has a mutable search path", "alter function tickwork.hold_job reset search_path", RULES),
    mutant("a definer function belongs to the superuser", "alter function tickwork.hold_job owner to postgres", RULES),
    mutant("members may claim", "grant execute on function claim_next_job to authenticated", RIGHTS),
    mutant("a revoke is missing", "grant execute on function tickwork.read_secrets to public", RIGHTS),
    mutant("members may read secrets", "grant select on tickwork.secrets to authenticated", RIGHTS),
    mutant(
        "members may truncate",
        "grant truncate on jobs to authenticated",
        privileges.test_clients_have_no_right_that_row_level_security_does_not_govern,
    ),
    mutant(
        "members may set any column",
        "grant insert on jobs to authenticated",
        privileges.test_a_client_inserts_only_the_columns_it_owns,
    ),
    mutant(
        "later functions are open",
        "alter default privileges for role tickwork_owner grant execute on functions to public",
        privileges.test_a_function_that_is_added_later_is_closed_until_it_is_opened,
        privileges.ADDED_BY_OWNER,
    ),
    mutant(
        "a worker reads secrets without a job",
        "create or replace function tickwork.held_tenant() returns uuid language sql stable security definer "
        "set search_path = '' as 'select id from public.organizations limit 1'",
        secrets.test_without_a_held_job_there_are_no_secrets,
    ),
]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.defect)
def test_the_gap_is_noticed(world: World, mutant: Mutant) -> None:
    test_mutants.test_the_trap_is_noticed(world, mutant)


@pytest.mark.parametrize("caught_by", {mutant.caught_by: mutant for mutant in MUTANTS}.values(), ids=lambda m: m.defect)
def test_without_the_gap_the_test_is_green(world: World, caught_by: Mutant) -> None:
    caught_by.caught_by(world, *caught_by.arguments)
