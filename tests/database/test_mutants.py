"""Broken variants of the SQL, each with the test that must turn red on it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from tests.database import (
    test_chains,
    test_claim,
    test_durability,
    test_enqueue,
    test_enqueued_by,
    test_filing,
    test_handler_writes,
    test_isolation,
    test_lanes,
    test_lease,
    test_limits,
    test_limits_at_once,
    test_manage,
    test_manage_many,
    test_max_queued,
    test_model,
    test_pauses,
    test_rates,
    test_schedules,
    test_settle,
    test_turns,
)
from tests.world import World
from tests.world.crowd import claim_in_batches, claim_one_by_one


@dataclass(frozen=True)
class Mutant:
    """A defect and who notices it: `before` becomes `after` in the function, or `after` is run as it is."""

    defect: str
    function: str
    before: str
    after: str
    caught_by: Callable[..., None]
    arguments: Sequence[Any] = ()


FENCE = "leases.token = given.token"
# Written so that no line of the suite is a copy of the SQL: just enough of it to be found.
MUTANTS = [
    Mutant(
        "one job too many",
        "tickwork.start_jobs",
        "limit target.room",
        "limit target.room + 1",
        test_claim.test_a_claim_never_takes_more_than_it_was_asked_for_whatever_the_plan,
    ),
    Mutant(
        "a claim waits for another",
        "tickwork.start_jobs",
        "for update of waiting skip locked",
        "for update of waiting",
        test_claim.test_a_claim_in_flight_hides_its_job_but_no_other,
        (True,),
    ),
    Mutant(
        "a claim of one waits for another",
        "tickwork.claim_one",
        "for update of waiting skip locked",
        "for update of waiting",
        test_claim.test_a_claim_in_flight_hides_its_job_but_no_other,
        (False,),
    ),
    Mutant(
        "locks what it does not take",
        "tickwork.start_jobs",
        "begin",
        "begin perform from public.jobs where jobs.status = 'queued' for update skip locked;",
        test_claim.test_a_claim_locks_only_what_it_takes,
    ),
    Mutant(
        "the future blocks its lane",
        "tickwork.start_jobs",
        "and waiting.priority <= target.max_priority",
        "and not exists (select from public.jobs as peer where peer.lane = waiting.lane and peer.id <> waiting.job_id)",
        test_claim.test_a_future_job_of_the_same_lane_and_key_blocks_nobody,
    ),
    Mutant(
        "an expired job goes to the end of the queue",
        "tickwork.note_undone",
        "when outcome.delay_seconds = 0 or",
        "when",
        test_lease.test_an_expired_lease_goes_back_to_the_head_of_the_queue,
    ),
    Mutant(
        "due only after its time",
        "tickwork.insert_new_jobs",
        ").run_at <= due_by",
        ").run_at < due_by",
        test_filing.test_a_batch_of_now_and_later_is_found_now,
    ),
    Mutant(
        "a poison row stays for ever",
        "tickwork.note_edit",
        "and new.attempts >= new.max_attempts",
        "and false",
        test_claim.test_a_job_out_of_attempts_in_the_queue_is_dead_and_stops_nobody,
    ),
    Mutant(
        "giving back spends the attempt",
        "tickwork.note_undone",
        "(outcome.status = 'released' and following.status = 'queued')::integer",
        "0",
        test_settle.test_a_released_job_spends_no_attempt_and_keeps_its_place,
    ),
    Mutant(
        "a claim blocks its children",
        "tickwork.start_jobs",
        "for no key update of jobs",
        "for update of jobs",
        test_claim.test_a_child_row_can_be_written_while_the_job_is_claimed,
    ),
    Mutant(
        "a policy for reading only",
        "",
        "",
        "drop policy the_queue_reaches_all on jobs; create policy p on jobs for select to "
        "tickwork_owner using (true); create policy q on jobs for insert to tickwork_owner with check "
        "(true)",
        test_claim.test_every_role_that_may_claim_gets_a_job,
        ("tickwork_worker",),
    ),
    *(
        Mutant(
            f"{verb} by status only",
            "tickwork.settle",
            FENCE,
            "true",
            test_lease.test_a_stale_token_changes_nothing_and_raises,
            (verb,),
        )
        for verb in ("fail", "release")
    ),
    Mutant(
        "heartbeat by status only",
        "tickwork.heartbeat_jobs",
        "and leases.token = beats.lease_token",
        "",
        test_lease.test_many_heartbeats_and_outcomes_are_fenced_one_by_one,
    ),
    Mutant(
        "a stale heartbeat beside a good one",
        "tickwork.heartbeat_jobs",
        "and leases.token = beats.lease_token\n    limit 1",
        "limit 1",
        test_lease.test_a_stale_token_does_not_profit_from_a_good_one_beside_it,
    ),
    Mutant(
        "complete by status only",
        "tickwork.settle_done_job",
        "leases.token = settle_done_job.lease_token",
        "true",
        test_lease.test_a_stale_token_changes_nothing_and_raises,
        ("complete",),
    ),
    Mutant(
        "one token for all of a batch",
        "tickwork.settle",
        FENCE,
        "leases.token = any ((outcomes).tokens)",
        test_settle.test_the_token_of_another_job_of_the_batch_settles_nothing,
    ),
    Mutant(
        "a lane held by whoever had the job",
        "tickwork.hold_lane_of_job",
        "and leases.token = hold_lane_of_job.lease_token",
        "",
        test_lanes.test_only_the_holder_of_the_lease_may_hold_the_lane,
    ),
    Mutant(
        "the reaper waits for the one who completes",
        "tickwork.reap",
        "for update skip locked",
        "for update",
        test_lease.test_a_job_that_completes_before_the_reaper_has_its_lock_stays_done,
    ),
    Mutant(
        "two reapers wait for each other",
        "tickwork.reap",
        "skip locked",
        "",
        test_lease.test_two_reapers_at_once_end_an_attempt_once,
    ),
    Mutant(
        "a heartbeat that waits for whoever settles",
        "tickwork.heartbeat_jobs",
        "    for no key update skip locked\n    ) as lease",
        "    for no key update\n    ) as lease",
        test_lease.test_a_heartbeat_waits_for_nobody,
        ("settle",),
    ),
    Mutant(
        "a heartbeat that waits for whoever edits the record",
        "tickwork.heartbeat_jobs",
        "from extended))\n    for no key update skip locked",
        "from extended))\n    for no key update",
        test_lease.test_a_heartbeat_waits_for_nobody,
        ("edit",),
    ),
    Mutant(
        "a heartbeat that extends nothing",
        "tickwork.heartbeat_jobs",
        "make_interval(secs => leases.lease_seconds)",
        "interval '0'",
        test_lease.test_a_beating_job_is_never_reaped_and_one_missed_beat_is_forgiven,
    ),
    Mutant(
        "a lease from the start of the transaction",
        "tickwork.lease_jobs",
        "now_at constant timestamptz := clock_timestamp()",
        "now_at constant timestamptz := now()",
        test_lease.test_a_lease_taken_late_in_a_long_transaction_is_not_born_expired,
    ),
    Mutant(
        "a lease of one job from the start of the transaction",
        "tickwork.start_job",
        "now_at constant timestamptz := clock_timestamp()",
        "now_at constant timestamptz := now()",
        test_claim.test_one_job_and_many_are_started_alike,
        ({"dedupe_key": True},),
    ),
    Mutant(
        "one job started unlike many",
        "tickwork.start_job",
        "progress_message = null,",
        "",
        test_claim.test_one_job_and_many_are_started_alike,
        ({"dedupe_key": True},),
    ),
    Mutant(
        "one job settled unlike many",
        "tickwork.settle_done_job",
        "error_message = null,",
        "",
        test_settle.test_one_job_and_many_are_settled_alike,
        (None,),
    ),
    Mutant(
        "one job enqueued unlike many",
        "tickwork.insert_job",
        "coalesce((request).max_attempts, job_type.max_attempts)",
        "4",
        test_enqueue.test_one_job_and_many_are_enqueued_alike,
        ({},),
    ),
    Mutant(
        "a heartbeat of another length than the claim",
        "tickwork.heartbeat_jobs",
        "make_interval(secs => leases.lease_seconds)",
        "interval '60 seconds'",
        test_lease.test_a_heartbeat_extends_the_lease_by_the_length_it_was_claimed_with,
    ),
    Mutant(
        "a batch starved by what it must pass over",
        "tickwork.reap",
        "from tickwork.leases",
        "from (select * from tickwork.leases order by expires_at desc limit 100) as leases",
        test_lease.test_rows_that_must_be_passed_over_do_not_starve_the_reaper,
    ),
    Mutant(
        "a dedupe key lost while running",
        "tickwork.lease_jobs",
        "with taken as (",
        "with lost as (delete from tickwork.taken_keys), taken as (",
        test_lease.test_an_expired_job_keeps_its_dedupe_key_and_wedges_nobody,
    ),
    Mutant(
        "a token per worker",
        "tickwork.lease_jobs",
        "gen_random_uuid()",
        "md5((request).worker_id)::uuid",
        test_lease.test_a_stale_token_changes_nothing_and_raises,
        ("complete",),
    ),
    Mutant(
        "an attempt ended twice",
        "tickwork.settle_done_job",
        "delete from tickwork.leases",
        "update tickwork.leases set token = leases.token",
        test_lease.test_a_token_is_worth_nothing_once_the_job_has_ended,
        ("complete",),
    ),
    Mutant(
        "a key without an index",
        "",
        "",
        "drop index jobs_idempotency_key",
        test_enqueue.test_a_key_whose_holder_rolls_back_is_not_lost,
    ),
    Mutant(
        "the last of two equal keys wins",
        "tickwork.insert_missing_jobs",
        "request.idempotency_key order by request.ordinality",
        "request.idempotency_key order by request.ordinality desc",
        test_enqueue.test_a_batch_answers_in_its_order_and_the_first_of_two_equal_keys_wins,
    ),
    Mutant(
        "the same key twice at once",
        "tickwork.insert_missing_jobs",
        "on conflict do nothing",
        "",
        test_enqueue.test_a_key_whose_holder_commits_is_answered_with_that_job,
    ),
    Mutant(
        "batches in any order",
        "tickwork.insert_jobs",
        "pg_advisory_xact_lock(hashtextextended(tenant.id::text, 0))",
        "tenant.id",
        test_enqueue.test_batches_with_the_same_keys_in_opposite_order_do_not_deadlock,
    ),
    Mutant(
        "a dedupe key lost between attempts",
        "tickwork.give_keys_back",
        "jobs.status not in ('queued', 'running')",
        "true",
        test_enqueue.test_a_dedupe_key_is_held_while_queued_running_and_waiting_for_a_retry,
    ),
    Mutant(
        "a dedupe key that is never given back",
        "tickwork.give_keys_back",
        "jobs.status not in ('queued', 'running')",
        "false",
        test_enqueue.test_a_dedupe_key_is_free_again_when_its_job_has_ended,
    ),
    Mutant(
        "a dedupe key that nobody watches",
        "tickwork.lease_jobs",
        "or jobs.dedupe_key is not null",
        "",
        test_enqueue.test_a_dedupe_key_is_free_again_when_its_job_has_ended,
    ),
    Mutant(
        "a dedupe key of one job that nobody watches",
        "tickwork.claim_one",
        "or jobs.dedupe_key is not null",
        "",
        test_claim.test_one_job_and_many_are_started_alike,
        ({"dedupe_key": True},),
    ),
    Mutant(
        "a retry that doubles a dedupe key",
        "tickwork.jobs_with_keys",
        "where job.dedupe_key is null\n",
        "where true\n",
        test_manage.test_a_retry_that_would_double_a_dedupe_key_is_refused,
    ),
    Mutant(
        "nobody is told of a job given back",
        "tickwork.file_again",
        "pg_notify('tickwork', due.family)",
        "due.family",
        test_settle.test_a_job_that_is_due_again_at_once_wakes_its_family,
    ),
    Mutant(
        "a cancelled job is retried",
        "tickwork.status_after",
        "WHEN is_cancelled THEN 'cancelled'::text",
        "",
        test_settle.test_a_job_that_was_asked_to_stop_is_cancelled_however_it_stops,
        ("fail",),
    ),
    Mutant(
        "a cancel that overlooks a claim",
        "tickwork.change_job",
        "for no key update",
        "",
        test_manage.test_a_cancel_that_meets_a_claim_asks_the_worker,
    ),
    Mutant(
        "an enqueue that does not wait for the disk",
        "tickwork.wait_for_disk",
        "= 'off'",
        "= 'never'",
        test_durability.test_what_must_not_be_lost_waits_for_the_disk_whatever_the_default,
        (
            "enqueue",
            "off",
        ),
    ),
    Mutant(
        "a claim that takes durability back",
        "tickwork.skip_disk",
        "if pg_current_xact_id_if_assigned() is null then",
        "if true then",
        test_durability.test_a_claim_in_the_same_transaction_takes_nothing_back,
        ("complete",),
    ),
    Mutant(
        "a tenant held by a setting alone",
        "tickwork.held_tenant",
        "and leases.token = nullif(current_setting('tickwork.lease_token', true), '')::uuid",
        "",
        test_handler_writes.test_without_a_lease_the_worker_sees_and_writes_nothing,
    ),
    Mutant(
        "writes that somebody else can overtake",
        "tickwork.hold_job",
        "for key share",
        "",
        test_handler_writes.test_nobody_takes_a_job_whose_effects_are_being_written,
    ),
    Mutant(
        "a member enqueues what only the service may",
        "tickwork.check_enqueuer",
        "if found then",
        "if false then",
        test_enqueued_by.test_a_type_is_enqueued_by_those_it_names_and_by_nobody_else,
        (
            test_enqueued_by.by_function,
            "service",
            "member",
        ),
    ),
    Mutant(
        "a member inserts what only the service may",
        "tickwork.fill_in_job",
        "perform tickwork.check_enqueuer(new.tenant_id, array[new.type]);",
        "",
        test_enqueued_by.test_a_type_is_enqueued_by_those_it_names_and_by_nobody_else,
        (
            test_enqueued_by.by_insert,
            "service",
            "member",
        ),
    ),
    Mutant(
        "types that the worker does not know",
        "tickwork.keep_up",
        "(keep_up.types is null or family_types.type = any (keep_up.types))",
        "true",
        test_claim.test_a_claim_gets_only_the_types_it_names,
    ),
    Mutant(
        "a pointer that never moves",
        "tickwork.packed",
        "(tenant_number << 23)",
        "(0::bigint << 23)",
        test_turns.test_a_newcomer_is_served_within_one_round,
    ),
    Mutant(
        "a wrap that counts as a look",
        "tickwork.next_turns",
        "num_nonnulls(next.number)",
        "1",
        test_turns.test_nobody_starves_behind_a_round_that_is_as_long_as_a_claim_looks,
    ),
    Mutant(
        "a batch that forgets what it is about to start",
        "tickwork.room_for",
        "coalesce(sum(target.room), 0)",
        "0",
        test_limits.test_one_batch_never_starts_more_than_a_limit_allows,
        ("type",),
    ),
    Mutant(
        "a turn that never ends",
        "tickwork.claim_one",
        "end - 1",
        "end",
        test_turns.test_a_newcomer_is_served_within_one_round,
    ),
    Mutant(
        "a single claim that starts with the first tenant",
        "tickwork.tenant_in_turn",
        "and waiting.tenant_number > tenant_in_turn.start",
        "",
        test_turns.test_a_newcomer_is_served_within_one_round,
    ),
    Mutant(
        "a single claim that ignores the weights",
        "tickwork.claim_one",
        "else tenant.weight",
        "else 1",
        test_turns.test_a_change_of_weight_holds_for_turns_that_exist,
    ),
    Mutant(
        "turns that ignore the weights",
        "tickwork.next_turns",
        "else tenant.weight",
        "else 1",
        test_turns.test_batches_smaller_than_the_weights_follow_them_too,
        (5,),
    ),
    Mutant(
        "rounds that ignore the weights",
        "tickwork.share_out",
        "(turns[number]).weight * (missing / weights)",
        "(missing / weights)",
        test_turns.test_batches_that_do_not_divide_evenly_follow_the_weights,
        (25,),
    ),
    Mutant(
        "the same tenants get what is left of each batch",
        "tickwork.share_out",
        "row((turns[last_turn]).tenant_number, -missing",
        "row((turns[cardinality(share_out.turns)]).tenant_number, 0",
        test_turns.test_what_is_left_of_a_batch_goes_to_one_tenant_after_the_other,
    ),
    Mutant(
        "a lower priority that starves",
        "tickwork.low_starts",
        "RETURN ",
        "RETURN 0 * ",
        test_turns.test_every_tenth_start_of_a_turn_goes_to_a_lower_priority_and_no_more,
        (claim_one_by_one,),
    ),
    Mutant(
        "a single claim that sees the highest priority only",
        "tickwork.claim_one",
        "and waiting.priority <= max_priority",
        "",
        test_turns.test_every_tenth_start_of_a_turn_goes_to_a_lower_priority_and_no_more,
        (claim_one_by_one,),
    ),
    Mutant(
        "a batch that sees the highest priority only",
        "tickwork.targets_of",
        "tickwork.low_starts(targets_of.starts, served.room)",
        "0",
        test_turns.test_every_tenth_start_of_a_turn_goes_to_a_lower_priority_and_no_more,
        (claim_in_batches,),
    ),
    Mutant(
        "only the second priority does not starve",
        "tickwork.lower_priority",
        "2 + lower_priority.rank % (cardinality(priorities) - 1)",
        "2",
        test_turns.test_all_lower_priorities_progress,
    ),
    Mutant(
        "a type that hides the jobs of another",
        "tickwork.most_urgent_type",
        "order by waiting.priority desc, waiting.run_at",
        "order by served.type",
        test_turns.test_a_second_type_gives_a_tenant_no_second_share,
        (claim_one_by_one,),
    ),
    Mutant(
        "a lower priority of another type that starves",
        "tickwork.lower_priority",
        "unnest(lower_priority.types)",
        "unnest(lower_priority.types[:1])",
        test_turns.test_a_type_whose_jobs_are_all_less_urgent_does_not_starve,
    ),
    Mutant(
        "callers before operators",
        "tickwork.keep_up",
        "order by family_types.priority desc",
        "order by family_types.priority",
        test_turns.test_the_types_of_an_operator_come_before_the_priorities_of_callers,
    ),
    Mutant(
        "a later job that nobody hears of",
        "tickwork.file_jobs",
        "perform tickwork.set_alarm(place.family, place.tenant_number, place.wake_at);",
        "null;",
        test_lanes.test_as_many_lanes_as_there_are_run_when_their_time_has_come,
    ),
    Mutant(
        "an alarm that is never set",
        "tickwork.set_alarm",
        "if not isfinite(set_alarm.wake_at) then",
        "if true then",
        test_lanes.test_a_held_lane_runs_when_the_time_has_passed,
    ),
    Mutant(
        "a later alarm taken for an earlier one",
        "tickwork.set_alarm",
        "and alarms.wake_at <= set_alarm.wake_at;",
        ";",
        test_rates.test_a_changed_rate_holds_from_the_next_claim_on,
        ("lane",),
    ),
    Mutant(
        "an alarm that nobody hears",
        "tickwork.keep_up",
        "and alarms.wake_at <= now_at",
        "and false",
        test_lanes.test_a_held_lane_runs_when_the_time_has_passed,
    ),
    Mutant(
        "an alarm removed though more is parked",
        "tickwork.reset_alarm",
        "if next_at < 'infinity' then",
        "if false then",
        test_lanes.test_as_many_lanes_as_there_are_run_when_their_time_has_come,
    ),
    Mutant(
        "an ended job that stays parked",
        "tickwork.unfile_jobs",
        "exit when left_over = '{}';",
        "exit when source.name = 'parked';",
        test_manage.test_a_job_that_waits_for_its_time_or_its_lane_can_be_buried,
    ),
    Mutant(
        "an ended job that hides others",
        "tickwork.unfile_jobs",
        "exit when left_over = '{}';",
        "continue when source.name = 'waiting';",
        test_max_queued.test_a_job_that_is_claimed_or_cancelled_makes_room_at_once,
    ),
    Mutant(
        "a single job claimed past a pause of its type",
        "tickwork.claim_one",
        "and not family_types.is_paused",
        "",
        test_filing.test_a_single_job_is_not_started_past_what_is_in_its_way,
        ("pause_type",),
    ),
    Mutant(
        "a single job claimed past a pause of its tenant",
        "tickwork.claim_one",
        "tenant.is_paused or",
        "",
        test_filing.test_a_single_job_is_not_started_past_what_is_in_its_way,
        ("pause_tenant",),
    ),
    Mutant(
        "a single job claimed past the limit of its type",
        "tickwork.claim_one",
        "and not family_types.is_limited",
        "",
        test_filing.test_a_single_job_is_not_started_past_what_is_in_its_way,
        ("limit",),
    ),
    Mutant(
        "a tenant that leaves something behind",
        "tickwork.forget_tenant",
        "begin",
        "begin return null;",
        test_isolation.test_deleting_a_tenant_leaves_nothing_of_it_and_its_worker_hears_so,
    ),
    Mutant(
        "a change of many jobs that waits for one",
        "tickwork.lock_jobs",
        "for no key update skip locked",
        "for no key update",
        test_manage_many.test_a_job_that_somebody_else_is_changing_is_skipped,
    ),
    Mutant(
        "jobs lost by the rebuild",
        "tickwork.follow_jobs",
        "perform tickwork.file_again(",
        "perform cardinality(",
        test_filing.test_jobs_filled_in_by_hand_are_found_when_the_queue_is_rebuilt,
    ),
    *(
        Mutant(
            f"a limit of a {kind} counted without its lock",
            "tickwork.lock_limit",
            "perform pg_advisory_xact_lock(hashtextextended(lock_limit.key, 7465));",
            "",
            test_limits_at_once.test_a_claim_in_flight_is_counted,
            (kind,),
        )
        for kind in ("type", "tenant and type", "tenant")
    ),
    *(
        Mutant(
            f"a limit of a {kind} that no ending job opens again",
            "tickwork.unblock",
            "begin",
            "begin return;",
            test_limits.test_exactly_so_many_run_and_each_that_ends_lets_one_start_at_once,
            (kind,),
        )
        for kind in ("type", "tenant and type", "tenant")
    ),
    Mutant(
        "a lane that no ending job opens again",
        "tickwork.free_what_was_held",
        "perform tickwork.fill_lane(lane.family, tenants.number, lane.name)",
        "perform lane.name",
        test_limits.test_exactly_so_many_run_and_each_that_ends_lets_one_start_at_once,
        ("lane",),
    ),
    Mutant(
        "a lane that nobody watches",
        "tickwork.lease_jobs",
        "or jobs.lane is not null",
        "",
        test_limits.test_exactly_so_many_run_and_each_that_ends_lets_one_start_at_once,
        ("lane",),
    ),
    *(
        Mutant(
            f"a limit of a {kind} that counts nothing",
            "tickwork.room_for",
            "rule.max_running - tickwork",
            "rule.max_running - 0 * tickwork",
            test_limits.test_exactly_so_many_run_and_each_that_ends_lets_one_start_at_once,
            (kind,),
        )
        for kind in ("type", "tenant and type", "tenant")
    ),
    Mutant(
        "a limit of a lane that counts nothing",
        "tickwork.room_in_lane",
        ").max_running - (",
        ").max_running - 0 * (",
        test_limits.test_exactly_so_many_run_and_each_that_ends_lets_one_start_at_once,
        ("lane",),
    ),
    Mutant(
        "a limit of a tenant that counts one type only",
        "tickwork.count_running",
        "where leases.tenant_id = count_running.tenant_id;",
        "where leases.tenant_id = count_running.tenant_id and leases.type = count_running.type;",
        test_limits.test_a_limit_counts_everything_in_its_scope,
        ("tenant",),
    ),
    Mutant(
        "a limit counted in an old snapshot",
        "tickwork.check_isolation",
        "<> 'read committed'",
        "= 'unheard of'",
        test_limits_at_once.test_a_claim_under_an_old_snapshot_starts_nothing_too_many,
    ),
    Mutant(
        "a claim that waits for limits while it holds some",
        "tickwork.lock_limit",
        "if lock_limit.may_wait then",
        "if true then",
        test_limits_at_once.test_no_limit_is_ever_exceeded_by_one,
    ),
    *(
        Mutant(
            f"starts that no rate of a {kind} counts",
            "tickwork.spend_tokens",
            "- spend_tokens.starts",
            "",
            test_rates.test_the_starts_of_a_minute_come_at_once_and_then_evenly,
            (kind,),
        )
        for kind in ("tenant and type", "lane")
    ),
    Mutant(
        "a full type that nobody notes",
        "tickwork.block",
        "set full_until = until",
        "set full_until = family_types.full_until",
        test_limits.test_a_full_head_of_the_queue_is_in_nobodys_way,
        ("type",),
    ),
    Mutant(
        "a queue that is never full",
        "tickwork.renew_allowances",
        "> most then",
        "> most and false then",
        test_max_queued.test_one_job_too_many_is_refused_by_name_and_number,
    ),
    Mutant(
        "an allowance that is never used up",
        "tickwork.take_allowance",
        "and free.jobs_left >= take_allowance.jobs",
        "",
        test_max_queued.test_one_job_too_many_is_refused_by_name_and_number,
    ),
    Mutant(
        "an enqueue refused though there may be room",
        "tickwork.renew_allowances",
        "current_setting('tickwork.has_enqueued', true) is distinct from 'yes'",
        "false",
        test_max_queued.test_an_enqueue_in_flight_is_counted,
        (
            "rollback",
            1,
        ),
    ),
    Mutant(
        "enqueues that wait for each other",
        "tickwork.renew_allowances",
        "is distinct from 'yes'",
        "is distinct from 'no'",
        test_max_queued.test_two_transactions_that_enqueue_bit_by_bit_do_not_deadlock,
    ),
    Mutant(
        "allowances that outlive a lower maximum",
        "",
        "",
        "drop trigger renew_allowances on tenant_settings",
        test_max_queued.test_a_changed_maximum_holds_at_once,
    ),
    Mutant(
        "a hold that no claim knows of",
        "tickwork.room_in_lane",
        "if (room_in_lane.rule).held_until > clock_timestamp() then",
        "if false then",
        test_lanes.test_a_held_lane_waits_and_everything_else_goes_on,
        (False,),
    ),
    Mutant(
        "a held lane that stands in the way",
        "tickwork.park_lane",
        "where waiting.family",
        "where false and waiting.family",
        test_lanes.test_a_held_lane_at_the_head_costs_a_claim_nothing,
    ),
    Mutant(
        "a held lane that newcomers stand in",
        "tickwork.has_lane_rule",
        "return has_lane_rule.lane is not null",
        "return false",
        test_lanes.test_a_held_lane_at_the_head_costs_a_claim_nothing,
    ),
    Mutant(
        "a lane that is not filled again",
        "tickwork.fill_lane",
        "begin",
        "begin return;",
        test_lanes.test_a_released_lane_runs_at_once,
    ),
    Mutant(
        "a held lane that nobody wakes",
        "tickwork.wake_lane",
        "perform tickwork.set_alarm((wake_lane.rule).family, wake_lane.tenant_number, wake_lane.wake_at);",
        "",
        test_lanes.test_a_held_lane_runs_when_the_time_has_passed,
    ),
    Mutant(
        "a pause of a tenant that no claim knows of",
        "tickwork.next_turns",
        "tenant.is_paused or",
        "",
        test_pauses.test_what_is_paused_does_not_start_and_the_rest_does,
        (
            "tenant_id",
            False,
        ),
    ),
    Mutant(
        "a pause of a type that no claim knows of",
        "tickwork.keep_up",
        "not family_types.is_paused and",
        "",
        test_pauses.test_what_is_paused_does_not_start_and_the_rest_does,
        (
            "type",
            False,
        ),
    ),
    Mutant(
        "a pause of a tenant that is not noted",
        "tickwork.follow_pauses",
        "'tenant ' ||",
        "'tenants ' ||",
        test_pauses.test_what_is_paused_does_not_start_and_the_rest_does,
        (
            "tenant_id",
            True,
        ),
    ),
    Mutant(
        "a pause of a family that is not noted",
        "tickwork.follow_pauses",
        "'family ' ||",
        "'families ' ||",
        test_pauses.test_what_is_paused_does_not_start_and_the_rest_does,
        (
            "family",
            True,
        ),
    ),
    Mutant(
        "one result for all",
        "tickwork.settle",
        "result = ended.result",
        "result = (outcomes).results[1]",
        test_settle.test_each_of_many_done_jobs_has_its_own_result_and_logs,
    ),
    Mutant(
        "a backoff without jitter",
        "tickwork.backoff_seconds",
        "(0.8 + 0.4 * random())",
        "1",
        test_settle.test_jitter_differs_from_job_to_job,
    ),
    # What all orders of two transactions find.
    *(
        Mutant(defect, function, before, after, test_schedules.check_pair, pair)
        for defect, function, before, after, *pair in (
            (
                "two at once: a limit that nobody locks",
                "tickwork.lock_limit",
                "if lock_limit.may_wait then",
                "return true; if lock_limit.may_wait then",
                *("claim what is limited", "claim what is limited"),
            ),
            (
                "two at once: a claim that waits",
                "tickwork.start_jobs",
                "skip locked",
                "",
                *("claim one", "cancel all"),
            ),
            (
                "two at once: a reaper that waits",
                "tickwork.reap",
                "for no key update skip locked\n  ) as jobs",
                ") as jobs",
                *("reap", "cancel all"),
            ),
            (
                "two at once: an end that is missed",
                "tickwork.check_portion",
                "for no key update skip locked",
                "",
                *("wait for others", "complete"),
            ),
            (
                "two at once: a key that is taken twice",
                "tickwork.insert_missing_jobs",
                "on conflict do nothing",
                "",
                *("enqueue with keys", "enqueue a batch"),
            ),
        )
    ),
    # Jobs that wait for others.
    *(
        Mutant(defect, function, before, after, caught_by, arguments)
        for defect, function, before, after, caught_by, *arguments in (
            (
                "starts before the others are done",
                "tickwork.decide_awaiting",
                "or not exists (select from tickwork.awaited where awaited.job_id = job.id)",
                "or true",
                test_chains.test_a_job_starts_when_all_that_it_waits_for_are_done,
            ),
            (
                "no flag at the end of one job",
                "tickwork.settle_done_job",
                "is_watched or is_awaited",
                "is_watched",
                test_chains.test_a_job_starts_when_all_that_it_waits_for_are_done,
            ),
            (
                "no flag at the end of many jobs",
                "tickwork.settle",
                "(select from done where done.is_awaited)",
                "(select from done where false)",
                test_chains.test_a_job_starts_when_all_that_it_waits_for_are_done,
            ),
            (
                "no flag at the end of a failed job",
                "tickwork.note_undone",
                "return are_awaited",
                "return false",
                test_chains.test_what_happens_when_one_is_not_done_is_said,
                *("all_done", "failed"),
            ),
            (
                "a failed job cancels nothing",
                "tickwork.decide_awaiting",
                "job.after_when = 'all_done'",
                "false",
                test_chains.test_what_happens_when_one_is_not_done_is_said,
                *("all_done", "dead"),
            ),
            (
                "a failed job cancels those that run anyway",
                "tickwork.decide_awaiting",
                "job.after_when = 'all_done'",
                "true",
                test_chains.test_what_happens_when_one_is_not_done_is_said,
                *("all_ended", "dead"),
            ),
            (
                "whoever starts to wait locks nothing",
                "tickwork.check_portion",
                "for no key update skip locked",
                "",
                test_chains.test_whoever_starts_to_wait_does_not_miss_an_end_in_flight,
            ),
            (
                "an end in flight is never looked at again",
                "tickwork.check_awaited",
                "tickwork.set_alarm(later.family, check_awaited.tenant_number, clock_timestamp())",
                "0",
                test_chains.test_whoever_starts_to_wait_does_not_miss_an_end_in_flight,
            ),
            (
                "whoever starts to wait sets no flag",
                "tickwork.check_portion",
                "set is_awaited = true",
                "set is_awaited = false",
                test_chains.test_the_end_of_the_last_one_waits_for_whoever_starts_to_wait,
            ),
            (
                "of two ends each takes the other for unfinished",
                "tickwork.lock_awaiting",
                "for no key update skip locked",
                "",
                test_chains.test_of_two_that_end_at_the_same_moment_one_starts_it,
                (0, 1),
            ),
            (
                "an end that waits for whoever cancels",
                "tickwork.lock_awaiting",
                "skip locked",
                "",
                test_chains.test_whoever_cancels_what_waits_does_not_stop_those_who_end,
            ),
            (
                "an older snapshot decides",
                "tickwork.check_portions",
                "<> 'read committed'",
                "= ''",
                test_chains.test_an_older_snapshot_does_not_lose_the_last_end,
            ),
            (
                "waits for a job of another tenant",
                "tickwork.check_after",
                "and jobs.tenant_id = (check_after.request).tenant_id",
                "",
                test_chains.test_nobody_waits_for_what_is_not_there_or_not_theirs,
                False,
            ),
            (
                "waits for a job that was deleted",
                "tickwork.forget_jobs",
                "where gone.is_awaited",
                "where false",
                test_chains.test_what_is_edited_by_hand_is_followed,
            ),
            (
                "waits for a job that was ended by hand",
                "tickwork.note_edit",
                "where new.is_awaited",
                "where false and new.is_awaited",
                test_chains.test_what_is_edited_by_hand_is_followed,
            ),
            (
                "a retry that waits for what has ended",
                "tickwork.wait_again",
                "else again.unfinished",
                "else jobs.after",
                test_chains.test_a_retried_job_waits_again_for_what_has_not_ended,
            ),
            (
                "what waits is not counted",
                "tickwork.count_queued",
                "from tickwork.awaiting",
                "from (select * from tickwork.awaiting where false) as awaiting",
                test_chains.test_what_waits_counts_as_queued_but_not_as_due,
            ),
        )
    ),
    # What the comparison with the model finds by itself.
    *(
        Mutant(defect, function, before, after, test_model.check_some_sequences)
        for defect, function, before, after in (
            ("the model: no fence", "tickwork.settle", FENCE, "true"),
            (
                "the model: keys that are shared by all types",
                "tickwork.job_asked_for",
                "same.type = (job_asked_for.request).type",
                "true",
            ),
            (
                "the model: keys that are not given back",
                "tickwork.give_keys_back",
                "jobs.status not in",
                "jobs.status in",
            ),
            (
                "the model: a job that waits for one of them only",
                "tickwork.decide_awaiting",
                "job.after_when = 'any_ended'",
                "job.after_when <> 'all_done'",
            ),
            ("the model: a rate that is not spent", "tickwork.spend_starts", "is not null", "is null"),
            ("the model: a lane that nobody fills", "tickwork.fill_lane", "limit greatest(room, 0)", "limit 0"),
            (
                "the model: a cancel that a release forgets",
                "tickwork.status_after",
                "WHEN is_cancelled",
                "WHEN is_cancelled and ending <> 'released'",
            ),
            (
                "the model: a release that costs an attempt",
                "tickwork.note_undone",
                "(outcome.status = 'released'",
                "(false",
            ),
            (
                "the model: a retry by filter beyond the tenant",
                "tickwork.resolve_filter",
                "when wanted.tenant_id is not null",
                "when false",
            ),
            (
                "the model: a purge of what still runs",
                "tickwork.purge_jobs",
                "and jobs.finished_at <",
                "and jobs.updated_at <",
            ),
        )
    ),
]

FIXTURES: dict[str, Callable[[World], None]] = {
    "test_handler_writes": test_handler_writes.make_notes,
    "test_durability": test_durability.make_jobs,
}


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.defect)
def test_the_trap_is_noticed(world: World, mutant: Mutant) -> None:
    # Who waits for a lock for ever is as wrong as who does not wait at all.
    world.admin.execute(f"alter database {world.value('select current_database()')} set lock_timeout = '3s'")
    break_it(world, mutant)
    with World(world.url, world.worker_url) as broken:
        if prepare := FIXTURES.get(mutant.caught_by.__module__.rpartition(".")[2]):
            prepare(broken)

        with pytest.raises((Exception, pytest.fail.Exception)):
            mutant.caught_by(broken, *mutant.arguments)


def break_it(world: World, mutant: Mutant) -> None:
    statement = mutant.after
    if mutant.function:
        intact: str = world.value("select pg_get_functiondef(%s::regproc)", mutant.function)
        assert mutant.before in intact, "the mutant no longer fits the function"
        statement = intact.replace(mutant.before, mutant.after)
    world.admin.execute(statement)
