"""Broken variants of upkeep and of hooks: see test_mutants."""

from tests.database import test_hooks, test_maintenance
from tests.world.mutant import Mutant

MUTANTS = [
    *(
        Mutant(
            f"upkeep without {what}",
            "tickwork.maintain",
            part,
            "",
            test_maintenance.test_one_function_does_all_of_it,
            (caller,),
        )
        for what, part, caller in (
            ("leases", "reaped := reaped + tickwork.reap(family, 1000);", "a worker"),
            ("schedules", "perform tickwork.fire_schedules(clock_timestamp(), 5000);", "a ticker"),
            ("modules", "perform tickwork.on_tick();", "a worker"),
            ("retention", "perform tickwork.purge_portions(family, 200);", "a ticker"),
        )
    ),
    Mutant(
        "ticks that maintain nothing",
        "tickwork.tick",
        "perform tickwork.maintain();",
        "",
        test_maintenance.test_one_function_does_all_of_it,
        ("cron",),
    ),
    Mutant(
        "claims that maintain the queue",
        "tickwork.claim",
        "\nbegin\n",
        "\nbegin\n  perform tickwork.maintain();\n",
        test_maintenance.test_a_claim_does_none_of_it,
    ),
    Mutant(
        "two that maintain at once",
        "tickwork.maintain",
        "not pg_try_advisory_xact_lock(7468, 0)",
        "false",
        test_maintenance.test_whoever_comes_second_returns_at_once_and_does_nothing,
    ),
    Mutant(
        "upkeep by each of a hundred workers",
        "tickwork.maintain",
        "tickwork.last_tick() >",
        "clock_timestamp() <",
        test_maintenance.test_many_callers_do_it_only_so_often,
    ),
    Mutant(
        "upkeep that waits",
        "tickwork.purge_portions",
        "for no key update skip locked",
        "for no key update",
        test_maintenance.test_it_waits_for_nobody,
    ),
    Mutant(
        "upkeep that goes on without a module",
        "tickwork.on_tick",
        "execute format('select tickwork.%I()', hook);",
        "begin execute format('select tickwork.%I()', hook); exception when others then null; end;",
        test_maintenance.test_what_fails_leaves_no_trace_that_it_was_done,
    ),
    Mutant(
        "a module that hears of nothing that has failed",
        "tickwork.after_end",
        "hooks.moment = 'end' and not after_end.are_done",
        "false",
        test_hooks.test_a_function_is_called_at_its_moment,
    ),
    Mutant(
        "ends that are always asked for",
        "tickwork.note_listeners",
        "where hooks.moment = 'done'",
        "where false",
        test_hooks.test_the_end_of_done_jobs_is_asked_for_as_long_as_somebody_hears_of_it,
        ("endpoint, status",),
    ),
    Mutant(
        "endpoints that nobody notes",
        "",
        "",
        "drop trigger note_listeners on public.webhook_endpoints",
        test_hooks.test_a_listener_hears_from_its_commit_on,
    ),
    Mutant(
        "a listener that silences the others",
        "tickwork.note_listeners",
        "from public.event_triggers",
        "from (select * from public.event_triggers where false) as event_triggers",
        test_hooks.test_one_that_is_left_is_enough,
    ),
    Mutant(
        "a listener that goes while another comes",
        "tickwork.note_listeners",
        "perform pg_advisory_xact_lock(7469, 0);",
        "",
        test_hooks.test_one_comes_as_the_last_one_goes,
        (True,),
    ),
    Mutant(
        "a snapshot that does not show who has come",
        "tickwork.note_listeners",
        "current_setting('transaction_isolation') = 'read committed'",
        "true",
        test_hooks.test_who_sees_only_the_past_removes_nothing,
    ),
    Mutant(
        "a lock that comes before others",
        "",
        "",
        "alter table public.webhook_endpoints disable trigger note_listeners; "
        "create trigger note_at_once after insert on public.webhook_endpoints "
        "for each row execute function tickwork.note_listeners()",
        test_hooks.test_two_that_touch_the_same_tenants_do_not_deadlock,
    ),
]
