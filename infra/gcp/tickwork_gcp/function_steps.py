"""The steps of one function: its account, its secrets, the function itself, and who may call it."""

from collections.abc import Mapping
from pathlib import Path

from tickwork_gcp.plan import SCHEDULER, Plan
from tickwork_gcp.project_steps import create_account, secret_id
from tickwork_gcp.step import Step
from tickwork_gcp.variables import listed, secrets_of, source_of, stale_secrets, stale_variables, variables_of

# Functions that check twice make up for a scheduler that calls once a minute.
LOOK_AGAIN_SECONDS = 30


def function_steps(plan: Plan, family: str, bundle: Path, environment: Mapping[str, str]) -> list[Step]:
    service = plan.service(family)
    steps = [create_account(plan, service, f"the function of {family} runs as")]
    steps += [let_read(plan, family, name) for name in secrets_of(plan.families[family], environment)]
    steps.append(Step(f"deploy {service}", deploy_command(plan, family, bundle, environment)))
    find = Step(f"find the URL of {service}", url_command(plan, family), keep_as=plan.url_name(family))
    if is_open(plan, family):
        return [*steps, find]
    return [*steps, let_call(plan, family), find]


def let_read(plan: Plan, family: str, name: str) -> Step:
    service = plan.service(family)
    name = source_of(name, plan.families[family])
    command = ["gcloud", "secrets", "add-iam-policy-binding", secret_id(name), plan.in_project()]
    command += [f"--member=serviceAccount:{plan.account(service)}", "--role=roles/secretmanager.secretAccessor"]
    return Step(f"let {service} read {name}", [*command, "--condition=None", "--format=none"])


def deploy_command(plan: Plan, family: str, bundle: Path, environment: Mapping[str, str]) -> list[str]:
    service, shape = plan.service(family), plan.families[family].deploy
    return [
        *(by_functions(plan, service) if plan.target == "functions" else by_run(plan, service, family)),
        f"--source={bundle}",
        f"--service-account={plan.account(service)}",
        "--allow-unauthenticated" if is_open(plan, family) else "--no-allow-unauthenticated",
        *(f"--memory={shape.memory}", f"--cpu={shape.cpu:g}", f"--concurrency={shape.concurrency}"),
        *(f"--timeout={shape.timeout}s", f"--min-instances={shape.min_instances}"),
        f"--max-instances={shape.max_instances}",
        *variable_options(plan, family, environment),
        "--quiet",
    ]


def is_open(plan: Plan, family: str) -> bool:
    # pg_net cannot get a Google token: there the function itself checks the signature, before anything else.
    return plan.callers == "supabase" or plan.families[family].is_open


def by_run(plan: Plan, service: str, family: str) -> list[str]:
    command = ["gcloud", "run", "deploy", service, *plan.here(), "--function=main", "--base-image=python313"]
    return [*command, *([] if plan.callers == "supabase" else [f"--add-custom-audiences={plan.audience(family)}"])]


def by_functions(plan: Plan, service: str) -> list[str]:
    command = ["gcloud", "functions", "deploy", service, "--gen2", *plan.here(), "--entry-point=main"]
    return [*command, "--runtime=python313", "--trigger-http"]


def variable_options(plan: Plan, family: str, environment: Mapping[str, str]) -> list[str]:
    """Variables that we do not know stay as they are; of those that we know, what is no longer set is removed."""
    file = plan.families[family]
    variables = variables_of(file, environment, decided(plan, family))
    secrets = {name: f"{secret_id(source_of(name, file))}:latest" for name in secrets_of(file, environment)}
    return [
        f"--update-env-vars={listed(variables)}",
        f"--remove-env-vars={','.join(stale_variables(file, variables))}",
        f"--update-secrets={listed(secrets)}",
        f"--remove-secrets={','.join(stale_secrets(file, environment))}",
    ]


def decided(plan: Plan, family: str) -> dict[str, str]:
    ours = {"GOOGLE_CLOUD_PROJECT": plan.project}
    if plan.callers == "scheduler":
        ours["TICKWORK_OIDC_AUDIENCE"] = plan.audience(family)
        ours["TICKWORK_OIDC_EMAIL"] = plan.account(SCHEDULER)
        if not plan.families[family].is_open:
            ours["TICKWORK_LOOK_AGAIN_SECONDS"] = str(LOOK_AGAIN_SECONDS)
    return ours


def url_command(plan: Plan, family: str) -> list[str]:
    if plan.target == "functions":
        return ["gcloud", "functions", "describe", plan.service(family), "--gen2", *plan.here(), "--format=value(url)"]
    return ["gcloud", "run", "services", "describe", plan.service(family), *plan.here(), "--format=value(status.url)"]


def let_call(plan: Plan, family: str) -> Step:
    service = plan.service(family)
    who = [*plan.here(), f"--member=serviceAccount:{plan.account(SCHEDULER)}"]
    if plan.target == "functions":
        command = ["gcloud", "functions", "add-invoker-policy-binding", service, *who]
    else:
        command = ["gcloud", "run", "services", "add-iam-policy-binding", service, *who, "--role=roles/run.invoker"]
    return Step(f"let the scheduler, and nobody else, call {service}", [*command, "--format=none"])
