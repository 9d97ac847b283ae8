"""`tickwork deploy`: what it takes to run the functions on Google Cloud."""

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tickwork.cli.bundles import Extras, Families, Output, family_folders, make_bundles
from tickwork.cli.options import Functions
from tickwork.cli.output import one_line, plain_table, print_json, print_table
from tickwork.errors import BadSetting, InvalidRequest

if TYPE_CHECKING:
    from google.cloud.scheduler_v1 import CloudSchedulerClient

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
    yes: Annotated[bool, typer.Option("--yes", help="Carry it out, with gcloud and Cloud Scheduler's API.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print all of it as commands of gcloud.")] = False,
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
        steps = [{"what": what, "command": command} for what, command in as_commands(plan)]
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


def as_commands(plan: "Plan") -> list[tuple[str, str]]:
    """What is done, and a command that does it; the jobs of Cloud Scheduler too, which we write with its client."""
    from tickwork_gcp.scheduler_jobs import keep_as_shell, what_of

    steps = [(step.what, step.as_shell()) for step in plan.steps]
    return steps + [(what_of(tick), keep_as_shell(plan, tick)) for tick in plan.ticks]


def print_plan(plan: "Plan") -> None:
    table = plain_table("function", "memory", "cpu", "requests at once", "timeout", "instances", "runs as")
    for family, file in plan.families.items():
        shape, service = file.deploy, plan.service(family)
        instances = f"{shape.min_instances} to {shape.max_instances}"
        rest = (str(shape.concurrency), f"{shape.timeout} s", instances, one_line(plan.account(service)))
        table.add_row(service, shape.memory, f"{shape.cpu:g}", *rest)
    print_table(table)
    print()
    for what, _ in as_commands(plan):
        print(f"- {what}")
    for family, file in plan.families.items():
        for name in [each for each in file.settings if not os.environ.get(each)]:
            print(f"- {name} is not set: {family} has to do without it")
    print("\nNothing was changed. --dry-run prints the commands, --yes runs them.")


def print_commands(plan: "Plan", prune: bool) -> None:
    from tickwork_gcp.scheduler_jobs import prune_as_shell

    for _, command in as_commands(plan):
        print(command)
    if prune and plan.ticks:
        print(prune_as_shell(plan))
    if plan.callers == "supabase":
        print(f"# then: {cron_command({family: f'${plan.url_name(family)}' for family in plan.families})}")


def run(plan: "Plan", prune: bool) -> None:
    from tickwork_gcp.gcloud import Gcloud

    gcloud = Gcloud()
    # Whoever is not signed in learns it before anything is changed.
    scheduler = scheduler_client() if plan.ticks else None
    urls = gcloud.run(plan, lambda line: print(line, flush=True))
    if scheduler:
        keep_jobs(scheduler, plan, urls, prune)
    for family, url in urls.items():
        print(f"{family:<9} {url}")
    if plan.callers == "supabase":
        print(f"Next: {cron_command(urls)}")


def scheduler_client() -> "CloudSchedulerClient":
    try:
        from tickwork.waking.cloud_scheduler import client_for
    except ImportError:
        raise BadSetting("Cloud Scheduler needs google-cloud-scheduler: install tickwork[gcp]") from None
    return client_for(os.environ.get("TICKWORK_SCHEDULER_EMULATOR") or None)


def keep_jobs(scheduler: "CloudSchedulerClient", plan: "Plan", urls: dict[str, str], prune: bool) -> None:
    from tickwork.waking.cloud_scheduler import keep_ticks, ours, remove_ticks

    for name, what in keep_ticks(scheduler, plan.place(), plan.ticks, urls):
        print(f"✓ Cloud Scheduler: {name} {what}")
    kept = {tick.name for tick in plan.ticks}
    others = [name for name in ours(scheduler, plan.place()) if name not in kept]
    for name in remove_ticks(scheduler, plan.place(), others) if prune else []:
        print(f"✓ Cloud Scheduler: {name} deleted")
    for name in [] if prune else others:
        print(f"Cloud Scheduler also has {name}; --prune deletes it.")


def cron_command(urls: dict[str, str]) -> str:
    pairs = " ".join(f"{family}={url}" for family, url in urls.items())
    return f"tickwork cron install {pairs} --database-url …"
