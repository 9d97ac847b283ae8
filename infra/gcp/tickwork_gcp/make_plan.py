"""Makes the plan of a deployment from the files of the families and the settings of the operator."""

import re
from collections.abc import Mapping
from pathlib import Path

from tickwork.errors import BadSetting, InvalidRequest
from tickwork_gcp.family_file import FamilyFile
from tickwork_gcp.function_steps import function_steps
from tickwork_gcp.plan import SCHEDULER, Callers, Plan, Target
from tickwork_gcp.project_steps import create_account, enable_services, secret_steps
from tickwork_gcp.scheduler_jobs import tick_of
from tickwork_gcp.variables import DATABASE_URL, secrets_of, source_of


def make_plan(
    families: dict[str, FamilyFile],
    project: str,
    region: str,
    callers: Callers,
    target: Target,
    bundles: Path,
    environment: Mapping[str, str],
) -> Plan:
    """Everything that is needed, in the order in which it is created. Running it again only changes what is new."""
    check_place(project, region)
    check_names(list(families))
    check_settings(families, callers, environment)
    plan = Plan(project, region, callers, target, families)
    plan.steps.append(enable_services(plan))
    for name in sorted({source_of(name, file) for file in families.values() for name in secrets_of(file, environment)}):
        plan.steps.extend(secret_steps(plan, name, environment))
    if callers == "scheduler":
        plan.steps.append(create_account(plan, SCHEDULER, "wakes the functions of tickwork"))
    for family, file in families.items():
        plan.steps.extend(function_steps(plan, family, bundles / family, environment))
        if callers == "scheduler" and not file.is_open:
            plan.ticks.append(tick_of(plan, family))
    return plan


def check_place(project: str, region: str) -> None:
    if not re.fullmatch(r"[a-z][a-z0-9-]{4,28}[a-z0-9]", project):
        raise InvalidRequest(f"--project: {project!r} is not a project id", hint="`gcloud projects list` shows yours.")
    if not re.fullmatch(r"[a-z]+-[a-z]+[0-9]+", region):
        raise InvalidRequest(f"--region: {region!r} is not a region", hint="Such as europe-west1.")


def check_names(families: list[str]) -> None:
    for family in families:
        if not re.fullmatch("[a-z][a-z0-9_-]*[a-z0-9]", family):
            raise InvalidRequest(f"{family}: a service is named in small letters, digits and hyphens")
        if len(f"tickwork-{family}") > 30:
            raise InvalidRequest(f"{family}: the name of its service account would be longer than 30 characters")
        if f"tickwork-{family}" == SCHEDULER:
            raise InvalidRequest(f"{family}: {SCHEDULER} is who wakes the functions; choose another name")


def check_settings(families: Mapping[str, FamilyFile], callers: Callers, environment: Mapping[str, str]) -> None:
    if callers == "supabase" and not environment.get("TICKWORK_HMAC_SECRET"):
        raise BadSetting("TICKWORK_HMAC_SECRET is not set. pg_net signs its calls with it: openssl rand -hex 32")
    for name in sorted({file.database for file in families.values()}):
        if not environment.get(name):
            role = "tickwork_worker" if name == DATABASE_URL else "tickwork_api"
            raise BadSetting(f"{name} is not set. Example: postgresql://{role}@host:6543/postgres")
    if environment.get("TICKWORK_VAULT_URL", "").startswith("file:"):
        raise BadSetting("TICKWORK_VAULT_URL: a folder is lost with its instance. Use s3: or supabase:.")
