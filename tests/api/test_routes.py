"""The routes are those of the SQL functions: each one that a signed-in user may call, with its parameters."""

from collections import Counter
from typing import Any, LiteralString

import pytest

from tests.world import World
from tickwork.api.fields import ForTenant
from tickwork.api.reading import json_fields
from tickwork.api.route import Route
from tickwork.api.table import all_routes, routes_for

CATALOGUE = """
    select
      proname as name,
      coalesce(proargnames[1:pronargs], '{}') as parameters,
      array(select format_type(each, null) from unnest(proargtypes) as each) as types,
      pronargs - pronargdefaults as needed,
      case
        when prorettype = 'void'::regtype then 'nothing'
        when proretset then 'rows'
        when typtype = 'c' then 'row'
        else 'value'
      end as returns
    from pg_proc
    join pg_type on pg_type.oid = prorettype
    where pronamespace = 'public'::regnamespace
"""
OPEN = " and has_function_privilege('authenticated', pg_proc.oid, 'execute')"
# One row by their nature, though the catalogue says a set.
ONE_ROW = {
    *("cancel_jobs", "retry_jobs", "reschedule_jobs", "summarize_jobs", "estimate_extraction", "sign_document"),
    *("queue_widgets", "sign_artifact"),
}


def catalogue(world: World, chosen: LiteralString = "") -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in world.rows(CATALOGUE + chosen)}


def by_function() -> dict[str, Route]:
    return {route.function: route for route in all_routes()}


def test_every_function_that_a_user_may_call_has_a_route(world: World) -> None:
    # The API and the console call these themselves.
    assert set(catalogue(world, OPEN)) - set(by_function()) == {"note_refusal", "use_sign_in_link"}


def test_every_route_takes_the_parameters_of_its_function(world: World) -> None:
    functions = catalogue(world)

    for route in all_routes():
        if function := functions[route.function]:
            fields = route.request.fields
            assert (set(fields) - route.own_fields) | route.filled == set(function["parameters"]), route.function
            needed = set(function["parameters"][: function["needed"]]) - route.filled
            if issubclass(route.request, ForTenant):
                needed -= {"tenant_id"}
            required = {name for name, field in fields.items() if field.is_required}
            assert required == needed, route.function
            types = dict(zip(function["parameters"], function["types"], strict=True))
            assert {name for name, type in types.items() if type == "jsonb"} == set(json_fields(route.request))


def test_every_route_answers_as_its_function_does(world: World) -> None:
    functions = catalogue(world)

    for route in all_routes():
        returns = functions[route.function]["returns"]
        assert route.returns == ("row" if route.function in ONE_ROW else returns), route.function


def test_no_two_routes_are_the_same() -> None:
    paths = Counter((route.method, route.path) for route in all_routes())
    names = Counter(route.operation_id or route.function for route in all_routes())

    assert [each for each, count in (paths + names).items() if count > 1] == []


@pytest.mark.parametrize("route", all_routes(), ids=lambda route: f"{route.method} {route.path}")
def test_every_path_is_found_by_its_beginning(route: Route) -> None:
    path = route.path.replace("{", "").replace("}", "")

    found = [each for each in routes_for(path) if each.method == route.method and each.values_in(path) is not None]

    assert found[0] == route
