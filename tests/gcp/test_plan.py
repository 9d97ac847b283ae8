"""A plan for Google Cloud: accounts, secrets, variables and functions as commands, and what Cloud Scheduler calls."""

from pathlib import Path
from typing import Any

import pytest

from tickwork.errors import BadSetting, Error
from tickwork.shipped import FUNCTIONS
from tickwork_gcp.family_file import FamilyFile, read_family
from tickwork_gcp.make_plan import make_plan
from tickwork_gcp.plan import Plan

PASSWORD = "canary-7f3a"
ENVIRONMENT = {"TICKWORK_DATABASE_URL": f"postgresql://tickwork_worker:{PASSWORD}@db.example:6543/postgres"}
BILLING = FamilyFile(settings=["BILLING_CURRENCY"], secrets=["STRIPE_KEY"])
ACCOUNT = "tickwork-{}@my-project.iam.gserviceaccount.com"


def planned(*names: str, callers: Any = "scheduler", target: Any = "run", **environment: str) -> Plan:
    own = {"billing": BILLING}
    families = {name: own.get(name) or read_family(FUNCTIONS / name) for name in names or ("extract",)}
    return make_plan(
        families, "my-project", "europe-west1", callers, target, Path("dist"), {**ENVIRONMENT, **environment}
    )


def command(plan: Plan, words: str) -> list[str]:
    (found,) = [step.command for step in plan.steps if words in step.what]
    return found


def option(command: list[str], name: str) -> str:
    (found,) = [word.partition("=")[2] for word in command if word.startswith(f"--{name}=")]
    return found


def pairs(text: str) -> dict[str, str]:
    return dict(pair.split("=", 1) for pair in text.split(","))


def deployed(plan: Plan, family: str) -> list[str]:
    return command(plan, f"deploy tickwork-{family}")


def test_each_function_has_an_account_that_reads_its_own_secrets_only() -> None:
    plan = planned("extract", "webhook", TICKWORK_UNSTRUCTURED_API_KEY="k", TICKWORK_VAULT_KEY="v")

    grants = {
        (option(step.command, "member"), step.command[3])
        for step in plan.steps
        if "add-iam-policy-binding" in step.command and step.command[1] == "secrets"
    }

    account = f"serviceAccount:{ACCOUNT}"
    assert grants == {
        (account.format("extract"), "tickwork-database-url"),
        (account.format("extract"), "tickwork-unstructured-api-key"),
        (account.format("extract"), "tickwork-vault-key"),
        (account.format("webhook"), "tickwork-database-url"),
    }
    roles = {option(step.command, "role") for step in plan.steps if "add-iam-policy-binding" in step.command}
    assert roles == {"roles/secretmanager.secretAccessor", "roles/run.invoker"}
    for family in ("extract", "webhook"):
        assert option(deployed(plan, family), "service-account") == ACCOUNT.format(family)


def test_the_keys_of_a_vault_at_s3_go_to_those_who_read_and_write_files() -> None:
    keys = {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "TICKWORK_SECRET_KEY": "c"}
    families = ["extract", "import", "classify", "webhook"]

    at_s3 = planned(*families, TICKWORK_VAULT_URL="s3://bucket", **keys)
    elsewhere = planned(*families, TICKWORK_VAULT_URL="supabase:https://x", **keys)

    def given(plan: Plan) -> dict[str, set[str]]:
        secrets = {family: pairs(option(deployed(plan, family), "update-secrets")).keys() for family in families}
        return {family: {*names} - ENVIRONMENT.keys() for family, names in secrets.items()}

    assert given(at_s3) == {
        "extract": {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"},
        "import": keys.keys(),
        "classify": set(),
        "webhook": {"TICKWORK_SECRET_KEY"},
    }
    assert given(elsewhere) == {
        "extract": set(),
        "import": {"TICKWORK_SECRET_KEY"},
        "classify": set(),
        "webhook": {"TICKWORK_SECRET_KEY"},
    }


def test_a_function_is_deployed_in_its_own_shape_and_closed() -> None:
    deploy = deployed(planned("extract"), "extract")

    shape = {name: option(deploy, name) for name in ("memory", "concurrency", "timeout", "min-instances", "source")}
    assert shape == {
        "memory": "2Gi",
        "concurrency": "1",
        "timeout": "660s",
        "min-instances": "0",
        "source": "dist/extract",
    }
    assert option(deploy, "function") == "main"
    assert "--no-allow-unauthenticated" in deploy
    variables = pairs(option(deploy, "update-env-vars"))
    assert variables["TICKWORK_OIDC_AUDIENCE"] == option(deploy, "add-custom-audiences")
    assert variables["TICKWORK_OIDC_EMAIL"] == ACCOUNT.format("scheduler")
    assert variables["TICKWORK_LOOK_AGAIN_SECONDS"] == "30"


def test_where_pg_net_calls_the_function_checks_the_signature() -> None:
    plan = planned("extract", callers="supabase", TICKWORK_HMAC_SECRET="s" * 32)
    deploy = deployed(plan, "extract")

    assert "--allow-unauthenticated" in deploy
    assert "TICKWORK_HMAC_SECRET=tickwork-hmac-secret:latest" in option(deploy, "update-secrets")
    assert "TICKWORK_OIDC" not in option(deploy, "update-env-vars")
    assert "TICKWORK_OIDC_AUDIENCE" in option(deploy, "remove-env-vars").split(",")
    assert plan.ticks == []
    assert not [step for step in plan.steps if "tickwork-scheduler" in step.what]
    with pytest.raises(BadSetting, match="TICKWORK_HMAC_SECRET is not set"):
        planned("extract", callers="supabase")


def test_a_family_of_ones_own_gets_the_variables_and_secrets_that_it_names() -> None:
    both = planned("billing", "webhook", BILLING_CURRENCY="EUR", STRIPE_KEY=f"{PASSWORD}-stripe", OTHER="x")
    billing, webhook = deployed(both, "billing"), deployed(both, "webhook")

    assert pairs(option(billing, "update-env-vars"))["BILLING_CURRENCY"] == "EUR"
    assert pairs(option(billing, "update-secrets"))["STRIPE_KEY"] == "tickwork-stripe-key:latest"
    assert "let tickwork-billing read STRIPE_KEY" in [step.what for step in both.steps]
    assert not [word for word in webhook if "STRIPE_KEY" in word or "BILLING_CURRENCY" in word]
    assert not [word for word in (*billing, *webhook) if "OTHER" in word]


def test_a_secret_that_is_not_set_has_to_be_in_secret_manager() -> None:
    plan = planned("billing")

    (find,) = [step for step in plan.steps if "find STRIPE_KEY" in step.what]
    before = [step.what for step in plan.steps[: plan.steps.index(find)]]

    assert find.command[:6] == ["gcloud", "secrets", "versions", "describe", "latest", "--secret=tickwork-stripe-key"]
    assert find.hint == "Set STRIPE_KEY, or add it to Secret Manager as tickwork-stripe-key."
    assert not [what for what in before if "deploy" in what]
    assert "STRIPE_KEY" in pairs(option(deployed(plan, "billing"), "update-secrets"))


def test_variables_that_we_know_and_are_no_longer_set_are_removed_and_others_stay() -> None:
    before = deployed(planned("billing", BILLING_CURRENCY="EUR", TICKWORK_MAX_JOBS="5", STRIPE_KEY="k"), "billing")
    after = deployed(planned("billing", STRIPE_KEY="k"), "billing")

    removed = [{*option(each, "remove-env-vars").split(",")} for each in (before, after)]
    assert removed[1] - removed[0] == {"BILLING_CURRENCY", "TICKWORK_MAX_JOBS"}
    # One that was plain once, and is a secret now, would be refused.
    assert "STRIPE_KEY" in removed[0]
    for each in (before, after):
        for kind in ("env-vars", "secrets"):
            kept, gone = pairs(option(each, f"update-{kind}")), option(each, f"remove-{kind}").split(",")
            assert not kept.keys() & {*gone}
        assert not [word for word in each if word.startswith(("--set-", "--clear-"))]
    assert "TICKWORK_UNSTRUCTURED_API_KEY" in option(after, "remove-secrets").split(",")


def test_a_secret_whose_value_differs_gets_a_version_and_is_never_shown() -> None:
    names = ("TICKWORK_HMAC_SECRET", "TICKWORK_BEARER_SECRET", "STRIPE_KEY")
    plan = planned("billing", **{name: f"{PASSWORD}-{name}" for name in names})

    text = "\n".join(step.as_shell() for step in plan.steps)

    assert PASSWORD not in text
    for name, secret in zip(
        names, ("tickwork-hmac-secret", "tickwork-bearer-secret", "tickwork-stripe-key"), strict=True
    ):
        latest = f"gcloud secrets versions access latest --secret={secret} --project=my-project"
        add = f"gcloud secrets versions add {secret} --project=my-project --data-file=- --format=none"
        assert f'[ "$({latest})" = "${name}" ] || printf %s "${name}" | {add}\n' in text
        assert f"gcloud secrets create {secret} " in text


def test_what_the_operator_has_set_reaches_the_function_and_nothing_else_does() -> None:
    given = {
        "TICKWORK_VAULT_URL": "s3://bucket?region=eu,x",
        "TICKWORK_BUDGET_SECONDS": "40",
        "TICKWORK_HOME": "/here",
        "TICKWORK_FUNCTIONS": "/there",
        "TICKWORK_OPEN_ON_LOOPBACK": "true",
        "HOME": "/home/somebody",
    }
    text = option(deployed(planned("extract", **given), "extract"), "update-env-vars")

    assert text.startswith("^~^")
    variables = dict(pair.split("=", 1) for pair in text.removeprefix("^~^").split("~"))
    assert variables["TICKWORK_VAULT_URL"] == "s3://bucket?region=eu,x"
    assert variables["TICKWORK_BUDGET_SECONDS"] == "40"
    assert not {"TICKWORK_HOME", "TICKWORK_FUNCTIONS", "TICKWORK_OPEN_ON_LOOPBACK", "HOME"} & variables.keys()


def test_cloud_scheduler_calls_each_function_every_minute() -> None:
    plan = planned("extract", "import", "classify")
    extract, imports, classify = plan.ticks

    assert plan.place() == "projects/my-project/locations/europe-west1"
    assert (extract.name, extract.schedule, extract.retries) == ("tickwork-extract", "* * * * *", 0)
    assert extract.audience == "https://tickwork-extract.my-project"
    assert extract.service_account == ACCOUNT.format("scheduler")
    # Its function may run longer than Cloud Scheduler waits.
    assert [tick.attempt_seconds for tick in (extract, imports, classify)] == [660, 1800, 120]
    find = next(step.as_shell() for step in plan.steps if step.what == "find the URL of tickwork-extract")
    assert find.startswith("EXTRACT_URL=$(gcloud run services describe tickwork-extract ")


def test_the_same_functions_by_gcloud_functions_deploy() -> None:
    plan = planned("extract", target="functions")
    deploy = deployed(plan, "extract")
    url = "https://europe-west1-my-project.cloudfunctions.net/tickwork-extract"

    assert deploy[:5] == ["gcloud", "functions", "deploy", "tickwork-extract", "--gen2"]
    assert {"--trigger-http", "--entry-point=main", "--runtime=python313", "--no-allow-unauthenticated"} <= {*deploy}
    assert pairs(option(deploy, "update-env-vars"))["TICKWORK_OIDC_AUDIENCE"] == url
    assert [tick.audience for tick in plan.ticks] == [url]
    assert command(plan, "let the scheduler")[:3] == ["gcloud", "functions", "add-invoker-policy-binding"]
    assert command(plan, "find the URL")[-1] == "--format=value(url)"
    assert "cloudfunctions.googleapis.com" in command(plan, "enable")
    shape = [
        word for word in deploy if word.startswith(("--memory", "--cpu", "--conc", "--timeout", "--m", "--service"))
    ]
    assert [word for word in deployed(planned("extract"), "extract") if word in shape] == shape


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"project": "My_Project"}, "is not a project id"),
        ({"project": "p; rm -rf /"}, "is not a project id"),
        ({"region": "Frankfurt"}, "is not a region"),
        ({"environment": {}}, "TICKWORK_DATABASE_URL is not set"),
        ({"environment": {**ENVIRONMENT, "TICKWORK_VAULT_URL": "file:/tmp"}}, "a folder is lost"),
        ({"families": {"a_family_with_a_name_too_long": FamilyFile()}}, "longer than 30"),
        ({"families": {"Billing": FamilyFile()}}, "small letters"),
        ({"families": {"scheduler": FamilyFile()}}, "choose another name"),
    ],
)
def test_a_plan_that_cannot_work_is_refused(change: dict[str, Any], words: str) -> None:
    good: dict[str, Any] = {
        "families": {"extract": FamilyFile()},
        "project": "my-project",
        "region": "europe-west1",
        "callers": "scheduler",
        "target": "run",
        "bundles": Path("dist"),
        "environment": ENVIRONMENT,
    }

    with pytest.raises(Error, match=words):
        make_plan(**{**good, **change})


def test_the_api_is_open_connects_as_its_own_role_and_is_not_woken() -> None:
    url = "postgresql://tickwork_api:x@db.example:6543/postgres"
    plan = planned("extract", "api", TICKWORK_API_DATABASE_URL=url, TICKWORK_HMAC_SECRET="h" * 32)

    deploy = deployed(plan, "api")
    assert "--allow-unauthenticated" in deploy
    assert "--no-allow-unauthenticated" in deployed(plan, "extract")
    assert pairs(option(deploy, "update-secrets")) == {"TICKWORK_DATABASE_URL": "tickwork-api-database-url:latest"}
    assert "TICKWORK_LOOK_AGAIN_SECONDS" not in option(deploy, "update-env-vars")
    assert [tick.name for tick in plan.ticks] == [tick.name for tick in planned("extract").ticks]
    assert not [step for step in plan.steps if "invoker" in str(step.command) and "tickwork-api" in step.command]
    with pytest.raises(BadSetting, match="TICKWORK_API_DATABASE_URL is not set"):
        planned("api")
