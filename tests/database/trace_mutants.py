"""Broken variants of traces, workers and health: see test_mutants."""

from tests.database import test_health, test_traces, test_workers
from tests.world.mutant import Mutant

MUTANTS = [
    Mutant(
        "a follow-up starts a trace of its own",
        "tickwork.enqueue_follow_ups",
        "tickwork.trace_of(jobs.id, jobs.traceparent)",
        "null",
        test_traces.test_follow_ups_are_in_the_trace_of_their_job,
        (test_traces.GIVEN,),
    ),
    Mutant(
        "the trace of a schedule is that of whoever ticks",
        "tickwork.start_fires",
        "case when fire.outcome in ('manual', 'backfilled') then tickwork.caller_traceparent() end",
        "tickwork.caller_traceparent()",
        test_traces.test_a_schedule_starts_new_traces_linked_to_the_request_that_runs_it,
    ),
    Mutant(
        "a trigger continues a trace",
        "tickwork.fire_triggers",
        "trace_link => trace_link",
        "traceparent => trace_link",
        test_traces.test_an_event_of_a_request_has_its_trace,
    ),
    Mutant(
        "tenants see the operator's workers",
        "tickwork.list_workers",
        "tickwork.caller_is_service() or",
        "true or",
        test_workers.test_a_tenant_sees_only_the_workers_that_run_its_jobs,
    ),
    Mutant(
        "workers are never forgotten",
        "tickwork.forget_workers",
        "interval '1 day'",
        "interval '1 year'",
        test_workers.test_a_worker_that_stops_is_gone_and_others_are_forgotten_after_a_day,
    ),
    Mutant(
        "a pause looks like an outage",
        "tickwork.is_served",
        "where not family_types.is_paused",
        "where true",
        test_health.test_a_job_that_may_not_run_is_no_ailment,
    ),
]
