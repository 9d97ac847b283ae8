"""The steps that several functions share: services, secrets and accounts."""

from collections.abc import Mapping

from tickwork_gcp.plan import Plan
from tickwork_gcp.step import Step

SERVICES = ["run", "cloudbuild", "artifactregistry", "secretmanager", "cloudscheduler", "iam"]


def enable_services(plan: Plan) -> Step:
    names = [*SERVICES, *(["cloudfunctions"] if plan.target == "functions" else [])]
    command = ["gcloud", "services", "enable", *(f"{name}.googleapis.com" for name in names), plan.in_project()]
    return Step("enable the services", command)


def secret_id(name: str) -> str:
    return f"tickwork-{name.removeprefix('TICKWORK_').lower().replace('_', '-')}"


def secret_steps(plan: Plan, name: str, environment: Mapping[str, str]) -> list[Step]:
    """A value that differs from the latest version becomes the next one; the revision deployed after that reads it."""
    secret, project = secret_id(name), plan.in_project()
    latest = ["latest", f"--secret={secret}", project]
    if not environment.get(name):
        what = f"find {name} in Secret Manager, as it is not set here"
        hint = f"Set {name}, or add it to Secret Manager as {secret}."
        return [Step(what, ["gcloud", "secrets", "versions", "describe", *latest, "--format=none"], hint=hint)]
    describe = ["gcloud", "secrets", "describe", secret, project, "--format=value(name)"]
    create = ["gcloud", "secrets", "create", secret, project, "--replication-policy=automatic", "--format=none"]
    add = ["gcloud", "secrets", "versions", "add", secret, project, "--data-file=-", "--format=none"]
    access = ["gcloud", "secrets", "versions", "access", *latest]
    return [
        Step(f"create the secret {secret}", create, unless=describe),
        Step(f"keep {name} in Secret Manager", add, unless=access, stdin=name),
    ]


def create_account(plan: Plan, name: str, what: str) -> Step:
    describe = ["gcloud", "iam", "service-accounts", "describe", plan.account(name), plan.in_project()]
    return Step(
        f"create the service account {name}, which {what}",
        ["gcloud", "iam", "service-accounts", "create", name, plan.in_project(), f"--display-name={name}: {what}"],
        unless=[*describe, "--format=value(email)"],
    )
