"""Histories that the state chart does not have."""

# From each status to each, with what must hold of attempts. Nothing follows `done`.
ILLEGAL = """
    select job_id, step, old_status, new_status, old_attempts, new_attempts
    from storm.history
    where not coalesce(case
      when old_status is null then new_status = 'queued' and new_attempts = 0
      when old_status = 'queued' then case new_status
        when 'running' then new_attempts = old_attempts + 1
        when 'queued' then new_attempts = old_attempts
        when 'cancelled' then new_attempts = old_attempts
        when 'dead' then new_attempts = old_attempts
      end
      when old_status = 'running' then case new_status
        when 'running' then new_attempts = old_attempts
        when 'queued' then new_attempts between old_attempts - 1 and old_attempts
        else new_attempts = old_attempts
      end
      when old_status in ('failed', 'dead', 'cancelled') then
        new_status = 'queued' and new_attempts = old_attempts
    end, false)
"""

CHAIN = """
    select job_id, step, old_status, before as noted_before
    from (
      select
        job_id, step, old_status, old_attempts,
        lag(new_status) over one as before, lag(new_attempts) over one as attempts_before
      from storm.history
      window one as (partition by job_id order by step)
    ) as steps
    where (old_status, old_attempts) is distinct from (before, attempts_before)
"""

# A token begins in the transaction that starts the job, and is over in the one that ends its attempt.
WITHOUT_LEASE = """
    select job_id, changes.step, tokens.token
    from (
      select job_id, step, transaction, old_status is not distinct from 'running' as is_over
      from storm.history
      where (old_status is not distinct from 'running') <> (new_status = 'running')
    ) as changes
    full join storm.tokens using (job_id, transaction, is_over)
    where changes.step is null or tokens.token is null
"""

REUSED_TOKENS = """
    select token, count(distinct transaction) as claims
    from storm.tokens
    where not is_over
    group by token
    -- All jobs of one claim share it.
    having count(distinct transaction) > 1
"""
