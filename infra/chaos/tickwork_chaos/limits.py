"""How many ran at once. Whoever starts a job at a limit has seen the others end, so that their steps come before."""

from tickwork_chaos.scene import LANE_LIMIT, LANES, TENANT_LIMIT, TYPES

LIMITED = {name: settings for name, settings in TYPES.items() if "max_running" in settings}
LIMITED_LANES = tuple(LANES[::2])

# Every limit as the name of what it counts, its size, and the rows of the history that it counts.
RULES = [
    *((f"'type {name}'", settings["max_running"], f"history.type = '{name}'") for name, settings in LIMITED.items()),
    *(
        (f"'type {name} of ' || history.tenant_id", settings["max_running_per_tenant"], f"history.type = '{name}'")
        for name, settings in LIMITED.items()
    ),
    (
        "'tenant ' || history.tenant_id",
        TENANT_LIMIT,
        "history.tenant_id in (select tenant_id from public.tenant_settings where max_running is not null)",
    ),
    (
        "'lane ' || history.lane || ' of ' || history.tenant_id",
        LANE_LIMIT,
        f"history.lane in {LIMITED_LANES!r}",
    ),
]
RUNNING = "(new_status = 'running')::integer - coalesce(old_status = 'running', false)::integer"
# A dedupe key is a limit of one on the jobs that are queued or running.
ACTIVE = """
    (new_status in ('queued', 'running'))::integer - coalesce(old_status in ('queued', 'running'), false)::integer
"""


def over(name: str, limit: int, rows: str, change: str = RUNNING) -> str:
    return f"""
        select scope, at_once, step from (
          select scope, step, sum(change) over (partition by scope order by step) as at_once
          from (select {name} as scope, step, {change} as change from storm.history where {rows}) as changes
          where change <> 0
        ) as counted
        where at_once > {limit}
    """


OVER_LIMITS = " union all ".join(
    [
        *(over(*rule) for rule in RULES),
        over(
            "'dedupe key ' || history.dedupe_key || ' of ' || history.tenant_id",
            1,
            "history.dedupe_key is not null",
            ACTIVE,
        ),
    ]
)
