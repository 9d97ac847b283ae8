"""Histories that the state chart does not have."""

# From each status to each, with what must hold of attempts and tokens. Nothing follows `done`.
ILLEGAL = """
    select job_id, step, old_status, new_status, old_attempts, new_attempts, old_token, new_token
    from storm.history
    where not coalesce(case
      when old_status is null then new_status = 'queued' and new_attempts = 0 and new_token is null
      when old_status = 'queued' then case new_status
        when 'running' then new_attempts = old_attempts + 1 and old_token is null and new_token is not null
        when 'queued' then new_attempts = old_attempts and new_token is null
        when 'cancelled' then new_attempts = old_attempts and new_token is null
        when 'dead' then new_attempts = old_attempts and new_token is null
      end
      when old_status = 'running' then case new_status
        when 'running' then new_attempts = old_attempts and new_token = old_token
        when 'queued' then new_attempts between old_attempts - 1 and old_attempts and new_token is null
        else new_attempts = old_attempts and new_token is null
      end
      when old_status in ('failed', 'dead', 'cancelled') then
        new_status = 'queued' and new_attempts = old_attempts and new_token is null
    end, false)
"""

CHAIN = """
    select job_id, step, old_status, before as noted_before
    from (
      select
        job_id, step, old_status, old_token, old_attempts,
        lag(new_status) over one as before, lag(new_token) over one as token_before,
        lag(new_attempts) over one as attempts_before
      from storm.history
      window one as (partition by job_id order by step)
    ) as steps
    where (old_status, old_token, old_attempts) is distinct from (before, token_before, attempts_before)
"""

REUSED_TOKENS = """
    select new_token, count(*) as claims
    from storm.history
    where new_status = 'running' and old_status <> 'running'
    group by new_token
    having count(*) > 1
"""
