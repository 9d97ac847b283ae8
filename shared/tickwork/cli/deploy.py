"""`tickwork build` and `tickwork deploy`: bundles, and what it takes to run them on Google Cloud."""

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tickwork.cli.options import Functions
from tickwork.cli.output import one_line, plain_table, print_json, print_table
from tickwork.cli.project import find_project
from tickwork.errors import InvalidRequest

if TYPE_CHECKING:
    from tickwork_gcp.plan import Plan

commands = typer.Typer()
group = typer.Typer(help="Deploy the functions to a cloud.", no_args_is_help=True, rich_markup_mode=None)
commands.add_typer(group, name="deploy")

Families = Annotated[list[str] | None, typer.Argument(help="Such as extract; by default all.", metavar="FAMILY…")]
Output = Annotated[Path, typer.Option(help="The folder of the bundles.")]
Extras = Annotated[
    list[str] | None, typer.Option("--with", help="Extras to install, such as s3 or supabase for the vault.")
]


@group.callback()
def clouds() -> None:
    # Without it, typer would treat the only command as the default and drop its name.
    pass


@commands.command()
def build(
    families: Families = None, output: Output = Path("dist"), functions: Functions = None, extras: Extras = None
) -> None:
    """Build a self-contained bundle of each function."""
    for bundle in make_bundles(families, output, functions, extras):
        requirements = (bundle / "requirements.txt").read_text()
        print(f"{bundle}: {requirements.count('==')} packages")


@group.command()
def gcp(
    project: Annotated[str, typer.Option(help="The id of a project.")],
    region: Annotated[str, typer.Option(help="Such as europe-west1.")],
    families: Families = None,
    callers: Annotated[
        str, typer.Option(help="Who wakes the functions: scheduler (Cloud Scheduler) or supabase (pg_cron and pg_net).")
    ] = "scheduler",
    yes: Annotated[bool, typer.Option("--yes", help="Carry it out, with the gcloud command line tool.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the exact commands without running them.")] = False,
    prune: Annotated[bool, typer.Option("--prune", help="Delete Cloud Scheduler jobs of other families.")] = False,
    output: Output = Path("dist"),
    functions: Functions = None,
    extras: Extras = None,
    shapes: Annotated[Path | None, typer.Option(help="A TOML file with memory, timeout and so on per family.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the plan as JSON.")] = False,
) -> None:
    """Plan a deployment to Google Cloud; --yes carries it out."""
    from tickwork_gcp import plan as plans

    if callers not in ("scheduler", "supabase"):
        raise InvalidRequest(f"--callers: {callers!r} is neither scheduler nor supabase")
    if yes and dry_run:
        raise InvalidRequest("--yes and --dry-run cannot be combined")
    file = shapes or Path(plans.__file__).with_name("families.toml")
    chosen = names_of(families, functions)
    where = callers if callers == "supabase" else "scheduler"
    plan = plans.make_plan(chosen, project, region, where, output, os.environ, file)  # type: ignore[arg-type]
    if as_json:
        steps = [{"what": step.what, "command": step.as_shell()} for step in plan.steps]
        print_json({"functions": plan.shapes, "steps": steps, "ticks": [vars(tick) for tick in plan.ticks]})
    elif dry_run:
        print_commands(plan, output)
    elif yes:
        make_bundles(families, output, functions, extras)
        run(plan, prune)
    else:
        print_plan(plan)


def names_of(families: list[str] | None, functions: Path | None) -> list[str]:
    from tickwork_gcp.bundles import REPOSITORY, families_in

    folder = functions or own_functions() or REPOSITORY / "functions"
    known = families_in(folder)
    for family in families or []:
        if family not in known:
            raise InvalidRequest(f"there is no function {family!r} in {folder}", hint=f"Use one of {', '.join(known)}.")
    return families or known


def make_bundles(
    families: list[str] | None, output: Path, functions: Path | None, extras: list[str] | None
) -> list[Path]:
    from tickwork_gcp.bundles import REPOSITORY, build

    wanted = extras if extras is not None else vault_extras()
    return build(functions or own_functions() or REPOSITORY / "functions", families or [], output, wanted)


def own_functions() -> Path | None:
    project = find_project()
    return project.root / "functions" if project.own_families() else None


def vault_extras() -> list[str]:
    scheme = os.environ.get("TICKWORK_VAULT_URL", "").partition(":")[0]
    return [scheme] if scheme in ("s3", "supabase") else []


def print_plan(plan: "Plan") -> None:
    table = plain_table("function", "memory", "cpu", "requests at once", "timeout", "instances", "runs as")
    for family, shape in plan.shapes.items():
        instances = f"{shape['min_instances']} to {shape['max_instances']}"
        account = one_line(plan.account(plan.service(family)))
        rest = (str(shape["concurrency"]), f"{shape['timeout']} s", instances, account)
        table.add_row(plan.service(family), str(shape["memory"]), str(shape["cpu"]), *rest)
    print_table(table)
    print()
    for step in plan.steps:
        print(f"- {step.what}")
    for tick in plan.ticks:
        print(f"- have Cloud Scheduler call {tick.name} every minute, as {tick.service_account}, without retries")
    print("\nNothing was changed. --dry-run prints the commands, --yes runs them.")


def print_commands(plan: "Plan", output: Path) -> None:
    print(f"tickwork build {' '.join(plan.shapes)} --output={shlex.quote(str(output))}")
    for step in plan.steps:
        print(step.as_shell())
    for tick in plan.ticks:
        target = f"POST $({' '.join(plan.url_command(tick.family))})"
        options = f"audience {tick.audience}, deadline {tick.attempt_seconds} s, no retries"
        print(f"# Cloud Scheduler, by its API: {tick.name} '{tick.schedule}' {target}")
        print(f"#   as {tick.service_account}, {options}")
    if plan.callers == "supabase":
        print(f"# then: {cron_command(dict.fromkeys(plan.shapes, '$URL'))}")


def run(plan: "Plan", prune: bool) -> None:
    from tickwork.waking import cloud_scheduler
    from tickwork_gcp import gcloud

    urls = gcloud.Gcloud().run(plan, lambda line: print(line, flush=True))
    emulator = os.environ.get("TICKWORK_SCHEDULER_EMULATOR") or None
    if plan.ticks:
        for name, what in cloud_scheduler.keep_ticks(plan.place(), plan.ticks, urls, emulator):
            print(f"✓ Cloud Scheduler: {name} {what}")
        kept = {tick.name for tick in plan.ticks}
        others = [name for name in cloud_scheduler.ours(plan.place(), emulator) if name not in kept]
        for name in cloud_scheduler.remove_ticks(plan.place(), others, emulator) if prune else []:
            print(f"✓ Cloud Scheduler: {name} deleted")
        for name in [] if prune else others:
            print(f"Cloud Scheduler also has {name}; --prune deletes it.")
    for family, url in urls.items():
        print(f"{family:<9} {url}")
    if plan.callers == "supabase":
        print(f"Next: {cron_command(urls)}")


def cron_command(urls: dict[str, str]) -> str:
    pairs = " ".join(f"{family}={url}" for family, url in urls.items())
    return f"tickwork cron install {pairs} --database-url …"
