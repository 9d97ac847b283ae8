"""What it takes to run the functions on Google Cloud: commands, and jobs for Cloud Scheduler."""

import re
import shlex
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from tickwork.errors import BadSetting, InvalidRequest
from tickwork.waking.ticks import Tick

Callers = Literal["scheduler", "supabase"]

SERVICES = ["run", "cloudbuild", "artifactregistry", "secretmanager", "cloudscheduler", "iam"]
# Settings that no plan, no command line and no description of a service may show.
SECRET = re.compile(r"TICKWORK_(DATABASE_URL|\w*(SECRET|KEY|PASSWORD|TOKEN))|AWS_(ACCESS_KEY_ID|SECRET_ACCESS_KEY)")
# Those that not every family needs.
NEEDED_BY = {
    "TICKWORK_VAULT_KEY": ("extract", "import"),
    "AWS_ACCESS_KEY_ID": ("extract", "import"),
    "AWS_SECRET_ACCESS_KEY": ("extract", "import"),
    "TICKWORK_UNSTRUCTURED_API_KEY": ("extract",),
    "TICKWORK_SECRET_KEY": ("import", "webhook"),
    "TICKWORK_DROPBOX_APP_KEY": ("import",),
    "TICKWORK_DROPBOX_APP_SECRET": ("import",),
    "TICKWORK_MICROSOFT_CLIENT_SECRET": ("import",),
    "TICKWORK_GOOGLE_CLIENT_SECRET": ("import",),
    "TICKWORK_NOTIFICATION_SECRET": ("import",),
}
# Decided by the plan itself, or useless there.
LEFT_OUT = re.compile(
    r"TICKWORK_(OIDC_AUDIENCE|OIDC_EMAIL|LOOK_AGAIN_SECONDS|OPEN_ON_LOOPBACK|HOME|TEST_\w+|\w+_EMULATOR)"
)
# Functions that check twice make up for a scheduler that calls once a minute.
LOOK_AGAIN_SECONDS = 30


@dataclass(frozen=True)
class Step:
    """A command, run unless `unless` succeeds; `stdin` names the setting whose value it reads."""

    what: str
    command: list[str]
    unless: list[str] | None = None
    stdin: str | None = None

    def as_shell(self) -> str:
        text = shlex.join(self.command)
        if self.stdin:
            text = f'printf %s "${self.stdin}" | {text}'
        return f"{shlex.join(self.unless)} || {text}" if self.unless else text


@dataclass(frozen=True)
class Plan:
    project: str
    region: str
    callers: Callers
    shapes: dict[str, dict[str, Any]]
    steps: list[Step] = field(default_factory=list)
    ticks: list[Tick] = field(default_factory=list)

    def service(self, family: str) -> str:
        return f"tickwork-{family.replace('_', '-')}"

    def place(self) -> str:
        """As Google's APIs name it."""
        return f"projects/{self.project}/locations/{self.region}"

    def account(self, name: str) -> str:
        return f"{name}@{self.project}.iam.gserviceaccount.com"

    def url_command(self, family: str) -> list[str]:
        place = [f"--project={self.project}", f"--region={self.region}", "--format=value(status.url)"]
        return ["gcloud", "run", "services", "describe", self.service(family), *place]


def make_plan(
    families: list[str],
    project: str,
    region: str,
    callers: Callers,
    bundles: Path,
    environment: Mapping[str, str],
    shapes: Path,
) -> Plan:
    """Everything that is needed, in the order in which it is created. Running it again only changes what is new."""
    if not re.fullmatch(r"[a-z][a-z0-9-]{4,28}[a-z0-9]", project):
        raise InvalidRequest(f"--project: {project!r} is not a project id", hint="`gcloud projects list` shows yours.")
    if not re.fullmatch(r"[a-z]+-[a-z]+[0-9]+", region):
        raise InvalidRequest(f"--region: {region!r} is not a region", hint="Such as europe-west1.")
    for family in families:
        if len(f"tickwork-{family}") > 30:
            raise InvalidRequest(f"{family}: the name of its service account would be longer than 30 characters")
    check_settings(callers, environment)
    plan = Plan(project, region, callers, {family: shape_of(family, shapes) for family in families})
    plan.steps.append(enable_services(plan))
    plan.steps.extend(create_secret(plan, name) for name in secrets_of(None, environment))
    if callers == "scheduler":
        plan.steps.append(create_account(plan, "tickwork-scheduler", "wakes the functions of tickwork"))
    for family in families:
        plan.steps.extend(function_steps(plan, family, bundles / family, environment))
        if callers == "scheduler":
            plan.ticks.append(tick_of(plan, family))
    return plan


def check_settings(callers: Callers, environment: Mapping[str, str]) -> None:
    if callers == "supabase" and not environment.get("TICKWORK_HMAC_SECRET"):
        raise BadSetting("TICKWORK_HMAC_SECRET is not set. pg_net signs its calls with it: openssl rand -hex 32")
    if not environment.get("TICKWORK_DATABASE_URL"):
        raise BadSetting("TICKWORK_DATABASE_URL is not set. Example: postgresql://tickwork_worker@host:6543/postgres")
    if environment.get("TICKWORK_VAULT_URL", "").startswith("file:"):
        raise BadSetting("TICKWORK_VAULT_URL: a folder is lost with its instance. Use s3: or supabase:.")


def shape_of(family: str, file: Path) -> dict[str, Any]:
    try:
        shapes = tomllib.loads(file.read_text())
        return {**shapes["default"], **shapes.get(family, {})}
    except (OSError, tomllib.TOMLDecodeError, KeyError) as error:
        hint = "It needs a [default] section and may have one for each family."
        raise InvalidRequest(f"{file}: {error}", hint=hint) from None


def enable_services(plan: Plan) -> Step:
    names = [f"{name}.googleapis.com" for name in SERVICES]
    return Step("enable the services", ["gcloud", "services", "enable", *names, f"--project={plan.project}"])


def secrets_of(family: str | None, environment: Mapping[str, str]) -> list[str]:
    """The settings that become secrets: those that are set, and always the database; for one family or for all."""
    found = {name for name, value in environment.items() if value and SECRET.fullmatch(name)}
    # Amazon's are used for other things as well.
    if not environment.get("TICKWORK_VAULT_URL", "").startswith("s3:"):
        found = {name for name in found if not name.startswith("AWS_")}
    found = {name for name in found if not LEFT_OUT.fullmatch(name)} | {"TICKWORK_DATABASE_URL"}
    return sorted(name for name in found if family is None or family in NEEDED_BY.get(name, (family,)))


def secret_id(setting: str) -> str:
    return setting.lower().replace("_", "-")


def create_secret(plan: Plan, setting: str) -> Step:
    project = f"--project={plan.project}"
    create = ["gcloud", "secrets", "create", secret_id(setting), project, "--replication-policy=automatic"]
    return Step(
        f"keep {setting} in Secret Manager",
        [*create, "--data-file=-"],
        unless=["gcloud", "secrets", "describe", secret_id(setting), project, "--format=value(name)"],
        stdin=setting,
    )


def create_account(plan: Plan, name: str, what: str) -> Step:
    project = f"--project={plan.project}"
    return Step(
        f"create the service account {name}, which {what}",
        ["gcloud", "iam", "service-accounts", "create", name, project, f"--display-name={name}: {what}"],
        unless=["gcloud", "iam", "service-accounts", "describe", plan.account(name), project, "--format=value(email)"],
    )


def function_steps(plan: Plan, family: str, bundle: Path, environment: Mapping[str, str]) -> list[Step]:
    service, account = plan.service(family), plan.account(plan.service(family))
    names = secrets_of(family, environment)
    steps = [create_account(plan, service, f"the function of {family} runs as")]
    for name in names:
        steps.append(
            Step(
                f"let {service} read {name}, and no other secret",
                [
                    *("gcloud", "secrets", "add-iam-policy-binding", secret_id(name), f"--project={plan.project}"),
                    *(f"--member=serviceAccount:{account}", "--role=roles/secretmanager.secretAccessor"),
                    *("--condition=None", "--format=none"),
                ],
            )
        )
    steps.append(Step(f"deploy {service}", deploy_command(plan, family, bundle, names, environment)))
    if plan.callers == "scheduler":
        invoker = f"serviceAccount:{plan.account('tickwork-scheduler')}"
        steps.append(
            Step(
                f"let the scheduler, and nobody else, call {service}",
                [
                    *("gcloud", "run", "services", "add-iam-policy-binding", service, f"--project={plan.project}"),
                    *(f"--region={plan.region}", f"--member={invoker}", "--role=roles/run.invoker", "--format=none"),
                ],
            )
        )
    return steps


def deploy_command(
    plan: Plan, family: str, bundle: Path, secrets: list[str], environment: Mapping[str, str]
) -> list[str]:
    shape, service = plan.shapes[family], plan.service(family)
    # pg_net cannot get a Google token: there the function itself checks the signature, before anything else.
    is_open = plan.callers == "supabase"
    return [
        *("gcloud", "run", "deploy", service, f"--project={plan.project}", f"--region={plan.region}"),
        *(f"--source={bundle}", "--function=main", "--base-image=python313"),
        f"--service-account={plan.account(service)}",
        "--allow-unauthenticated" if is_open else "--no-allow-unauthenticated",
        *([] if is_open else [f"--set-custom-audiences={audience_of(plan, family)}"]),
        *(f"--memory={shape['memory']}", f"--cpu={shape['cpu']}", f"--concurrency={shape['concurrency']}"),
        *(f"--timeout={shape['timeout']}", f"--min-instances={shape['min_instances']}"),
        f"--max-instances={shape['max_instances']}",
        f"--set-env-vars={listed(variables_of(plan, family, environment))}",
        f"--set-secrets={listed({name: f'{secret_id(name)}:latest' for name in secrets})}",
        "--quiet",
    ]


def audience_of(plan: Plan, family: str) -> str:
    """Chosen by us: the URL of a service is only known after it is deployed."""
    return f"https://{plan.service(family)}.{plan.project}"


def variables_of(plan: Plan, family: str, environment: Mapping[str, str]) -> dict[str, str]:
    """What the operator has set, except secrets, and what the plan decides."""
    given = {
        name: value
        for name, value in sorted(environment.items())
        if name.startswith("TICKWORK_") and value and not SECRET.fullmatch(name) and not LEFT_OUT.fullmatch(name)
    }
    ours = {"GOOGLE_CLOUD_PROJECT": plan.project}
    if plan.callers == "scheduler":
        ours["TICKWORK_OIDC_AUDIENCE"] = audience_of(plan, family)
        ours["TICKWORK_OIDC_EMAIL"] = plan.account("tickwork-scheduler")
        ours["TICKWORK_LOOK_AGAIN_SECONDS"] = str(LOOK_AGAIN_SECONDS)
    return {**given, **ours}


def listed(pairs: Mapping[str, str]) -> str:
    """Pairs as gcloud reads them; where a value has a comma, another character separates them."""
    separator = "," if not any("," in value for value in pairs.values()) else "~"
    text = separator.join(f"{name}={value}" for name, value in pairs.items())
    return text if separator == "," else f"^{separator}^{text}"


def tick_of(plan: Plan, family: str) -> Tick:
    # What Cloud Scheduler allows: 15 seconds to half an hour.
    seconds = max(15, min(int(plan.shapes[family]["timeout"]), 1800))
    account = plan.account("tickwork-scheduler")
    return Tick(family, plan.service(family), audience_of(plan, family), account, seconds)
