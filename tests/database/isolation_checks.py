"""The cells of the matrix of test_isolation.py, and what can be wrong with them."""

import re
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from functools import lru_cache
from uuid import uuid4

import psycopg

from tests.database.isolation_arguments import Target
from tests.database.isolation_attacks import Answer, Attack, attacks, attempt, connect
from tests.database.isolation_catalogue import (
    AN_ID,
    BOOKKEEPING,
    HASHES,
    IN_OTHER_JOBS,
    POLICIES,
    READ_BY_ALL,
    READABLE,
    REFUSED,
    SAYS_NOTHING,
    SERVE_ALL,
)
from tests.database.isolation_population import COLLEAGUE, STRANGER
from tests.database.isolation_rights import may, may_change, may_see
from tests.database.isolation_scene import Actor, Scene
from tickwork.database.connection import Connection

TRAPS = """
    create temp table memberships as select tenant_id, gen_random_uuid() as user_id from public.memberships;
    create temp table organizations as select * from public.organizations;
    create temp table jobs as select * from public.jobs;
    create function lair.spring(uuid, uuid) returns boolean language plpgsql
      as $$ begin raise exception 'trapped' using errcode = 'TRAPS'; end $$;
    create operator lair.= (leftarg = uuid, rightarg = uuid, function = lair.spring);
    set search_path = lair, pg_temp, pg_catalog, public;
"""


def matrix(scene: Scene, only: str = "") -> Iterator[str | None]:
    """For each cell what is wrong with it, or None; or for those whose name begins so."""
    connections: dict[tuple[str, bool], Connection] = {}
    with ExitStack() as stack:
        for actor in scene.actors:
            for context in actor.contexts:
                place = f"{actor.name}, {context}: "
                if not (place.startswith(only) or only.startswith(place)):
                    continue
                is_first = all(role != actor.role for role, _ in connections)
                # All callers of a role share one, as in a pool, but for those who find it cold.
                key = (actor.role, context == "cold")
                if key not in connections:
                    connections[key] = stack.enter_context(connect(scene, actor, context))
                yield from cells(scene, connections[key], actor, context, is_first, only)


def cells(
    scene: Scene, connection: Connection, actor: Actor, context: str, is_first: bool, only: str
) -> Iterator[str | None]:
    """Those of one actor in one context."""
    home, target = actor.home_in(context), actor.home or scene.alpha
    if context == "other tenant":
        target = scene.alpha if target is scene.beta else scene.beta
    if target is not home:
        target = target._replace(token=home.token if home else uuid4())
    is_known = context in ("claims", "other tenant")
    for attack in attacks(scene, target, is_aimed=context == "other tenant", is_known=is_known):
        # What no client may call is refused before anybody's claims are looked at: once is enough.
        if attack.verb == "rpc" and attack.object not in scene.open_functions and not is_first:
            continue
        cell = f"{actor.name}, {context}: {attack.verb} {attack.object}"
        if not cell.startswith(only):
            continue
        answer = attempt(scene, connection, actor, context, attack)
        complaint = breach(scene, actor, home, attack, answer) or trespass(scene, actor, target, attack, answer)
        if context == "other tenant":
            complaint = complaint or betrayal(scene, connection, actor, attack, answer)
        if context == "claims" and home and may_try(actor, attack):
            complaint = complaint or void(scene, actor, attack, answer)
        yield complaint and f"{cell}: {complaint}"


def breach(scene: Scene, actor: Actor, home: Target | None, attack: Attack, answer: Answer) -> str | None:
    """What of others' the actor saw or changed. The service serves every tenant."""
    if actor.name in SERVE_ALL or ("worker" in actor.name and serves_all(attack)):
        return None
    seen = secrets_in(answer, scene.secrets[home and home.word], attack, actor)
    # The pauses of the scene let its jobs run until somebody pauses or resumes any.
    are_followed = attack.deed in ("pause_jobs", "resume_jobs")
    touched = [row for row in answer.touched if not (are_followed and row.table == "tickwork.tenants")]
    return f"saw {seen}, touched {touched}" if seen or touched else None


def secrets_in(answer: Answer, secrets: set[str], attack: Attack, actor: Actor) -> set[str]:
    """Those that are not in the question, nor who the actor is."""
    seen = {secret for secret in secrets if secret in answer.text}
    if seen:
        seen -= {*re.findall(f"{AN_ID}|alpha|beta", f"{attack.parameters} {actor.introduction}")}
    return set() if attack[:2] in READ_BY_ALL else seen


def trespass(scene: Scene, actor: Actor, target: Target, attack: Attack, answer: Answer) -> str | None:
    """What the actor saw or changed at home although its role, or the scope of its key, does not include that."""
    if not actor.kind or answer.code:
        return None
    if answer.changed and not may_change(actor.kind, attack.deed):
        return f"trespass: changed {answer.changed}"
    if may_see(actor.kind, attack.deed) or attack[:2] in READ_BY_ALL:
        return None
    seen = secrets_in(answer, scene.secrets[None], attack, actor)
    usual = answers_to_a_stranger(scene).get((target.word, *attack.form), answer.gist)
    return f"trespass: saw {seen}, {answer.gist} instead of {usual}" if seen or answer.gist != usual else None


@lru_cache(maxsize=1)
def answers_to_a_stranger(scene: Scene) -> dict[tuple[str, ...], str]:
    """What somebody who belongs to no tenant gets of the two."""
    stranger = scene.caller("stranger", "authenticated", STRANGER)
    with connect(scene, stranger, "claims") as connection:
        return {
            (target.word, *attack.form): attempt(scene, connection, stranger, "claims", attack).gist
            for target in (scene.alpha, scene.beta)
            for attack in attacks(scene, target, is_aimed=False)
            if attack.verb == "rpc" and attack.object in scene.open_functions
        }


def serves_all(attack: Attack) -> bool:
    """A claim is for every tenant, and so is what a provider notifies us of, or a worker says of itself."""
    verbs = ("claim_", "note_changes", "maintain", "note_worker", "worker_settle_and")
    return any(each in attack.object for each in verbs)


def betrayal(scene: Scene, connection: Connection, actor: Actor, attack: Attack, answer: Answer) -> str | None:
    """Whether the answer tells another tenant's id from one that does not exist."""
    if attack.verb != "rpc" or actor.name in SERVE_ALL or "claim_" in attack.object:
        return None
    if attack.object.startswith(HASHES):
        return None
    unknown = {name: value and re.sub(AN_ID, str(uuid4()), value) for name, value in attack.parameters.items()}
    other = attempt(scene, connection, actor, "other tenant", attack._replace(parameters=unknown))
    said, would_say = answer.gist, other.gist
    return None if said == would_say else f"says {said!r}, but {would_say!r} of an unknown id"


def may_try(actor: Actor, attack: Attack) -> bool:
    is_of_family = "_jobs(text,text,uuid" in attack.object and not attack.parameters["tenant_id"]
    is_for_all = actor.role == "service_role" or actor.kind == "platform admin"
    return (not actor.kind or may(actor.kind, attack.deed)) and (is_for_all or not is_of_family)


def void(scene: Scene, actor: Actor, attack: Attack, answer: Answer) -> str | None:
    """Whether the actor has the right and is at home, and yet got nothing."""
    # An event or a schedule: without either, it is refused.
    is_neither = attack.object.startswith("public.create_job_trigger(") and answer.code == "TWARG"
    # No job of the scene has run, so that it has no latency; its rules are a draft, and its snapshot has no problem.
    has_none = attack.deed in ("latency", "percentiles", "retire_rules", "snapshot_problem")
    if answer.is_yes_to(attack) or is_neither or has_none:
        return None
    if actor.role == "tickwork_worker" and attack[:2] in IN_OTHER_JOBS:
        return None
    right = "execute" if attack.verb == "rpc" else attack.verb
    kind = {"execute": "function", "delete": "table"}.get(right, "any_column")
    is_granted = scene.value(f"select has_{kind}_privilege(%s, %s, %s)", actor.role, attack.object, right)
    return f"void: {answer}" if is_granted else None


def blunt_attacks(scene: Scene) -> Iterator[Attack]:
    """Those that fail, or would not be noticed, even when nothing stands in their way."""
    operator = scene.caller("operator", "postgres", COLLEAGUE)
    job, token = scene.beta.jobs["running"], scene.beta.token
    operator = operator._replace(introduction=f"{operator.introduction}, public.hold_job('{job}', '{token}')")
    with connect(scene, operator, "claims") as connection:
        for attack in attacks(scene, scene.beta, is_aimed=True):
            answer = attempt(scene, connection, operator, "claims", attack)
            is_noticed = breach(scene, operator, None, attack, answer) or attack.verb == "rpc"
            is_noticed = is_noticed or attack[:2] in (*READ_BY_ALL, SAYS_NOTHING)
            is_refused = attack.object.startswith(REFUSED) or attack.deed == "reveal_job" or attack[:2] in BOOKKEEPING
            if not ((answer.is_yes_to(attack) and is_noticed) or is_refused):
                yield attack


def open_policies(scene: Scene) -> Iterator[str]:
    """Policies that let a client through on a cold connection, were there no other barrier."""
    policies = scene.rows(POLICIES)
    with psycopg.connect(scene.url) as cold, cold.transaction(force_rollback=True):
        for relation in scene.relations:
            if relation["is_table"]:
                cold.execute(f"alter table {relation['name']} disable row level security")
                cold.execute(f"grant select on {relation['name']} to anon, authenticated, tickwork_worker")
        for policy in policies:
            with suppress(psycopg.errors.InsufficientPrivilege), cold.transaction(force_rollback=True):
                cold.execute(f"set local session authorization {policy['client']}")
                if cold.execute(f"select from {policy['relation']} where {policy['expression']}").rowcount:
                    yield f"{policy['policyname']} lets {policy['client']} through"


def sprung_traps(scene: Scene) -> Iterator[str]:
    """Functions that answer otherwise when the caller's search_path leads to his own tables and operators."""
    scene.run("create schema lair")
    scene.run("grant create, usage on schema lair to public")
    actor = scene.actors[0]
    with connect(scene, actor, "claims") as plain, connect(scene, actor, "claims") as trapped:
        trapped.execute(TRAPS)
        for target in (scene.alpha, scene.beta):
            for attack in attacks(scene, target, is_aimed=True):
                if attack.verb == "rpc":
                    usual, now = (attempt(scene, each, actor, "claims", attack) for each in (plain, trapped))
                    if (usual.code, usual.row_count) != (now.code, now.row_count) or now.touched:
                        yield f"{attack.object}: {now} instead of {usual}"


def shown_tokens(scene: Scene) -> Iterator[str]:
    """Where a member can read the token of a lease."""
    tokens = [str(lease["token"]) for lease in scene.rows("select token from tickwork.leases")]
    assert str(scene.alpha.token) in tokens
    for place, text in seen_by_a_member(scene).items():
        if any(token in text for token in tokens):
            yield place


def seen_by_a_member(scene: Scene) -> dict[str, str]:
    """All that he can read: in tables and views, and by the functions that tell of jobs."""
    (member, *_) = scene.actors
    calls = ("list_jobs()", "queue_summary()", f"explain_job('{scene.alpha.jobs['running']}')")
    with connect(scene, member, "claims") as connection, connection.transaction():
        connection.execute(member.introduction)
        queries = {row["name"]: row["query"] for row in connection.execute(READABLE).fetchall()}
        queries |= {call: f"select * from public.{call}" for call in calls}
        return {place: str(connection.execute(query).fetchall()) for place, query in queries.items()}
