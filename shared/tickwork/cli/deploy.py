"""`tickwork deploy`: what it takes to run the functions on Google Cloud."""

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tickwork.cli.bundles import Extras, Families, Output, family_folders, make_bundles
from tickwork.cli.options import Functions
from tickwork.cli.output import one_line, plain_table, print_json, print_table
from tickwork.errors import InvalidRequest

if TYPE_CHECKING:
    from tickwork_gcp.plan import Plan

commands = typer.Typer()
group = typer.Typer(help="Deploy the functions to a cloud.", no_args_is_help=True, rich_markup_mode=None)
commands.add_typer(group, name="deploy")

CALLERS = "Who wakes the functions: scheduler (Cloud Scheduler) or supabase (pg_cron and pg_net)."
TARGET = "run (gcloud run deploy) or functions (gcloud functions deploy)."


@group.callback()
def clouds() -> None:
    # Without it, typer would treat the only command as the default and drop its name.
    pass


@group.command()
def gcp(
    project: Annotated[str, typer.Option(help="The id of a project.")],
    region: Annotated[str, typer.Option(help="Such as europe-west1.")],
    families: Families = None,
    callers: Annotated[str, typer.Option(help=CALLERS)] = "scheduler",
    target: Annotated[str, typer.Option(help=TARGET)] = "run",
    yes: Annotated[bool, typer.Option("--yes", help="Carry it out, with the gcloud command line tool.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the exact commands without running them.")] = False,
    prune: Annotated[bool, typer.Option("--prune", help="Delete Cloud Scheduler jobs of other families.")] = False,
    output: Output = Path("dist"),
    functions: Functions = None,
    extras: Extras = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the plan as JSON.")] = False,
) -> None:
    """Plan a deployment to Google Cloud; --yes carries it out."""
    from tickwork_gcp.family_file import read_family
    from tickwork_gcp.make_plan import make_plan

    check_choice("--callers", callers, "scheduler", "supabase")
    check_choice("--target", target, "run", "functions")
    if yes and dry_run:
        raise InvalidRequest("--yes and --dry-run cannot be combined")
    files = {folder.name: read_family(folder) for folder in family_folders(families, functions)}
    plan = make_plan(files, project, region, callers, target, output, os.environ)  # type: ignore[arg-type]
    if as_json:
        steps = [{"what": step.what, "command": step.as_shell()} for step in plan.steps]
        print_json({"functions": {name: file.deploy.model_dump() for name, file in files.items()}, "steps": steps})
    elif dry_run:
        options = [f"--output={output}", *([f"--functions={functions}"] if functions else [])]
        print(shlex.join(["tickwork", "build", *files, *options, *(f"--with={extra}" for extra in extras or [])]))
        print_commands(plan, prune)
    elif yes:
        make_bundles(families, output, functions, extras)
        run(plan, prune)
    else:
        print_plan(plan)


def check_choice(option: str, value: str, *known: str) -> None:
    if value not in known:
        raise InvalidRequest(f"{option}: {value!r} is neither {' nor '.join(known)}")


def print_plan(plan: "Plan") -> None:
    table = plain_table("function", "memory", "cpu", "requests at once", "timeout", "instances", "runs as")
    for family, file in plan.families.items():
        shape, service = file.deploy, plan.service(family)
        instances = f"{shape.min_instances} to {shape.max_instances}"
        rest = (str(shape.concurrency), f"{shape.timeout} s", instances, one_line(plan.account(service)))
        table.add_row(service, shape.memory, f"{shape.cpu:g}", *rest)
    print_table(table)
    print()
    for step in plan.steps:
        print(f"- {step.what}")
    for family, file in plan.families.items():
        for name in [each for each in file.settings if not os.environ.get(each)]:
            print(f"- {name} is not set: {family} has to do without it")
    print("\nNothing was changed. --dry-run prints the commands, --yes runs them.")


def print_commands(plan: "Plan", prune: bool) -> None:
    for step in plan.steps:
        print(step.as_shell())
    if prune and plan.callers == "scheduler":
        print(prune_command(plan))
    if plan.callers == "supabase":
        print(f"# then: {cron_command({family: f'${plan.url_name(family)}' for family in plan.families})}")


def prune_command(plan: "Plan") -> str:
    from tickwork_gcp.function_steps import delete_job_command, list_jobs_command

    kept = " ".join(f"-e {plan.service(family)}" for family in plan.families)
    names = f"{shlex.join(list_jobs_command(plan))} | grep ^tickwork- | grep -v -x {kept}"
    return f"{names} | xargs -r -I NAME {shlex.join(delete_job_command(plan, 'NAME'))}"


def run(plan: "Plan", prune: bool) -> None:
    from tickwork_gcp.gcloud import Gcloud

    gcloud = Gcloud()
    urls = gcloud.run(plan, lambda line: print(line, flush=True))
    for name in gcloud.other_jobs(plan) if plan.callers == "scheduler" else []:
        if prune:
            gcloud.delete_job(plan, name)
            print(f"✓ Cloud Scheduler: {name} deleted")
        else:
            print(f"Cloud Scheduler also has {name}; --prune deletes it.")
    for family, url in urls.items():
        print(f"{family:<9} {url}")
    if plan.callers == "supabase":
        print(f"Next: {cron_command(urls)}")


def cron_command(urls: dict[str, str]) -> str:
    pairs = " ".join(f"{family}={url}" for family, url in urls.items())
    return f"tickwork cron install {pairs} --database-url …"
