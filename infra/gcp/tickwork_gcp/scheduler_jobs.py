"""The jobs of Cloud Scheduler: the tick of each family, and the same as commands, for those who run them by hand."""

import shlex

from tickwork.waking.ticks import Tick
from tickwork_gcp.plan import SCHEDULER, Plan
from tickwork_gcp.step import KEPT, shell

JOBS = ["gcloud", "scheduler", "jobs"]


def tick_of(plan: Plan, family: str) -> Tick:
    # What Cloud Scheduler allows: 15 seconds to half an hour.
    seconds = max(15, min(plan.families[family].deploy.timeout, 1800))
    return Tick(family, plan.service(family), plan.audience(family), plan.account(SCHEDULER), seconds)


def what_of(tick: Tick) -> str:
    return f"have Cloud Scheduler call {tick.name} every minute, as {SCHEDULER}, without retries"


def keep_as_shell(plan: Plan, tick: Tick) -> str:
    """Does what keep_ticks of tickwork.waking.cloud_scheduler does."""
    update, create = [shell(write_command(plan, tick, verb)) for verb in ("update", "create")]
    return f"{shell(describe_command(plan, tick))} && {update} || {create}"


def describe_command(plan: Plan, tick: Tick) -> list[str]:
    return [*JOBS, "describe", tick.name, *place(plan), "--format=value(name)"]


def write_command(plan: Plan, tick: Tick, verb: str) -> list[str]:
    return [
        *(*JOBS, verb, "http", tick.name, *place(plan)),
        *(f"--description={tick.description}", f"--schedule={tick.schedule}", f"--time-zone={tick.time_zone}"),
        *(f"{KEPT}{plan.url_name(tick.family)}", "--http-method=post"),
        *(f"--oidc-service-account-email={tick.service_account}", f"--oidc-token-audience={tick.audience}"),
        *(f"--attempt-deadline={tick.attempt_seconds}s", f"--max-retry-attempts={tick.retries}"),
        "--format=none",
    ]


def prune_as_shell(plan: Plan) -> str:
    kept = " ".join(f"-e {tick.name}" for tick in plan.ticks)
    names = f"{shlex.join(list_command(plan))} | grep ^tickwork- | grep -v -x {kept}"
    return f"{names} | xargs -r -I NAME {shlex.join(delete_command(plan, 'NAME'))}"


def list_command(plan: Plan) -> list[str]:
    return [*JOBS, "list", *place(plan), "--format=value(name.basename())"]


def delete_command(plan: Plan, name: str) -> list[str]:
    return [*JOBS, "delete", name, *place(plan), "--quiet"]


def place(plan: Plan) -> list[str]:
    return [plan.in_project(), f"--location={plan.region}"]
