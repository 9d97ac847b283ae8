"""Traces of workers that acted under a lease that was no longer theirs, or acted in halves."""

# Where each lease ended: an effect under it that comes later was written by somebody who had lost the job.
ENDS = """
    select job_id, token, min(step) as step
    from storm.tokens
    where is_over
    group by job_id, token
"""

ZOMBIE_EFFECTS = f"""
    select effects.job_id, effects.attempt, effects.step, ends.step as ended_at_step
    from storm.effects
    left join ({ENDS}) as ends on ends.job_id = effects.job_id and ends.token = effects.token
    where ends.step < effects.step or ends.step is null
"""

# The result, or the error, of an attempt that was not the current one.
ZOMBIE_OUTCOMES = """
    select job_id, new_status, attempt_of_outcome, old_attempts
    from storm.history
    where old_status = 'running' and attempt_of_outcome <> old_attempts
"""

# What is written with the completion is written by the very transaction that completes the job.
SPLIT = """
    select effects.job_id, effects.transaction, history.transaction as completed_in
    from storm.effects
    left join storm.history
      on history.job_id = effects.job_id and history.new_status = 'done' and history.old_status = 'running'
    where effects.kind = 'done' and history.transaction is distinct from effects.transaction
"""

# An attempt that was ended as expired although its lease was not over.
EARLY = """
    select job_id, history.step, history.at, tokens.expires_at
    from storm.history
    join storm.tokens using (job_id, transaction)
    where old_status = 'running' and new_status in ('queued', 'dead') and error_code = 'LEASE_EXPIRED'
      -- A job that is given back keeps the error of an earlier attempt.
      and new_attempts = old_attempts
      and tokens.is_over
      -- What the lease says, and not the record: a heartbeat that meets a locked record extends the lease alone.
      and history.at < tokens.expires_at
"""
