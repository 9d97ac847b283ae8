"""The command line. Each command does what its name says, and says what to do next when it cannot."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer
from typer.exceptions import TyperException

from tickwork.cli import arguments, connectors, cron, deploy, doctor, documents, jobs, pauses
from tickwork.cli.options import AsJson, DatabaseUrl, Desk, JobId, Tenant
from tickwork.cli.output import one_line, plain_table, print_error, print_job, print_json, print_table, say
from tickwork.cli.secrets import secrets_app
from tickwork.cli.webhooks import webhooks_app
from tickwork.database.connection import Database
from tickwork.database.migrate import folder as sql_folder
from tickwork.database.migrate import migrate as migrate_database
from tickwork.errors import BadSetting, Error, InvalidRequest, NoSuchJob, NotAllowed, Unavailable
from tickwork.jobs.rows import Job
from tickwork.queue import Queue
from tickwork.settings import load_settings
from tickwork.tools.outbound.http import Policy
from tickwork.tools.outbound.policy import policy_of
from tickwork.tools.secrets import Safe

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
documents_app = typer.Typer(help="List documents, or add some.", invoke_without_command=True, rich_markup_mode=None)
app.add_typer(documents_app, name="documents")
connectors_app = typer.Typer(help="List cloud drives, or add one.", invoke_without_command=True, rich_markup_mode=None)
app.add_typer(connectors_app, name="connectors")
tenants_app = typer.Typer(help="List the tenants, or add one.", invoke_without_command=True, rich_markup_mode=None)
app.add_typer(tenants_app, name="tenants")
app.add_typer(webhooks_app, name="webhooks")
app.add_typer(secrets_app, name="secrets")
app.add_typer(cron.app, name="cron")
app.add_typer(deploy.app, name="deploy")

HOME = Path(os.environ.get("TICKWORK_HOME") or ".tickwork")

Functions = Annotated[
    Path | None,
    typer.Option(
        "--functions",
        envvar="TICKWORK_FUNCTIONS",
        show_envvar=False,
        help="The folder of the functions; by default that of the repository.",
    ),
]


def main() -> None:
    """Errors of our own end in one line and what to do next; a traceback comes only with --debug."""
    is_debugging = "--debug" in sys.argv
    arguments = [argument for argument in sys.argv[1:] if argument != "--debug"]
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        check_encoding(arguments)
        sys.exit(app(args=arguments or ["--help"], prog_name="tickwork", standalone_mode=False))
    except Exception as error:
        if is_debugging:
            raise
        print_error(*explained(error))
        sys.exit(getattr(error, "exit_code", 1))


def check_encoding(arguments: list[str]) -> None:
    try:
        "".join(arguments).encode()
    except UnicodeEncodeError:
        raise InvalidRequest("an argument is not UTF-8") from None


def explained(error: Exception) -> tuple[str, str | None]:
    match error:
        case Unavailable():
            return f"the database cannot be reached: {str(error).splitlines()[0]}", error.hint
        case NoSuchJob():
            return str(error), "`tickwork jobs` lists them."
        case NotAllowed(sqlstate="42501"):
            return str(error), "Connect as the role that ran the migrations, with --database-url; workers use another."
        case Error():
            return str(error), getattr(error, "hint", None)
        case TyperException():
            context = getattr(error, "ctx", None)
            return error.format_message(), f"See `{context.command_path if context else 'tickwork'} --help`."
        case OSError():
            return str(error), None
        case _:
            return f"{type(error).__name__}: {error}", "This is a defect of tickwork. --debug shows where it is."


@app.callback()
def options(
    context: typer.Context, debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False
) -> None:
    """Durable background jobs on Postgres."""
    context.obj = Desk(chosen_url, connected, chosen_safe, chosen_policy)


@app.command()
def up(
    reset: Annotated[bool, typer.Option("--reset", help="Start with an empty database.")] = False,
    tick_seconds: Annotated[float, typer.Option(min=0.1, help="How often the ticker wakes the functions.")] = 30,
    functions: Functions = None,
) -> None:
    """Run the local stack, with a live table of its jobs."""
    from tickwork_local.live import show
    from tickwork_local.stack import functions_in, running_stack, stopped_by_signals

    with stopped_by_signals():
        print("Starting Postgres and the functions …", flush=True)
        with running_stack(HOME, functions_in(functions), tick_seconds=tick_seconds, reset=reset) as stack:
            show(stack)


@app.command()
def demo() -> None:
    """Send jobs and documents through their life, and check them."""
    from tickwork_local.demo import run_demo

    raise typer.Exit(run_demo(Path(f"{HOME}-demo")))


@app.command()
def status(as_json: AsJson = False) -> None:
    """Say where the database and functions of the stack are."""
    from tickwork_local.stack import find_stack

    stack = find_stack(HOME)
    if as_json:
        print_json({"running": stack is not None, **(stack.as_json() if stack else {})})
        raise typer.Exit(0 if stack else 1)
    if stack is None:
        raise BadSetting(f"no local stack is running in {HOME}. Start one with `tickwork up`.")
    print(f"The local stack is running as process {stack.pid}.")
    for name, where in stack.places().items():
        print(f"{name:<9} {where}")


@app.command()
def migrate(
    url: Annotated[str, typer.Argument(help="Of any Postgres from version 15 on.", metavar="URL")],
    as_json: AsJson = False,
) -> None:
    """Bring a database to the current schema; twice changes nothing."""
    applied = migrate_database(arguments.database_url(url, "URL"))
    if as_json:
        print_json({"applied": applied})
    else:
        print("\n".join(f"applied {name}" for name in applied) or "Nothing to do: the schema is current.")


@app.command()
def enqueue(
    type: Annotated[str, typer.Argument(help="A key of job_types, such as extract_document.", metavar="TYPE")],
    tenant: Annotated[str, typer.Option(help="Id or name of a tenant; see `tickwork tenants`.")],
    payload: Annotated[str, typer.Option(help="A JSON object.")] = "{}",
    priority: Annotated[int, typer.Option(help="0 to 100; higher runs first.")] = 0,
    run_at: Annotated[str | None, typer.Option(help="Not before, such as 2027-01-31T08:00Z or '1 hour'.")] = None,
    idempotency_key: Annotated[str | None, typer.Option(help="A repeat answers the first job.")] = None,
    dedupe_key: Annotated[str | None, typer.Option(help="At most one such job waits or runs.")] = None,
    lane: Annotated[str | None, typer.Option(help="Such as connector:<id>.")] = None,
    max_attempts: Annotated[int | None, typer.Option(help="1 to 25; by default what the type says.")] = None,
    correlation_id: Annotated[str | None, typer.Option(help="For finding related jobs.")] = None,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Put a job into the queue."""
    queue = connected(database_url)
    job = queue.enqueue_job(
        arguments.tenant_id(queue, tenant),
        type,
        arguments.payload(payload),
        priority=priority,
        run_at=arguments.point_in_time(queue, run_at),
        idempotency_key=idempotency_key,
        dedupe_key=dedupe_key,
        lane=lane,
        max_attempts=max_attempts,
        correlation_id=correlation_id,
    )
    say(job, as_json, "was there already and is" if job.deduplicated else "is")


app.command()(jobs.jobs)


@app.command()
def job(job_id: JobId, database_url: DatabaseUrl = None, as_json: AsJson = False) -> None:
    """Show one job: attempts, error, and why it is not running."""
    queue = connected(database_url)
    given = {"id": arguments.job_id(job_id)}
    why = queue.explain_job(given["id"])
    (row,) = queue.database.rows("select * from public.jobs where id = %(id)s", given)
    attempts = queue.database.rows("select * from public.job_attempts where job_id = %(id)s order by number", given)
    if as_json:
        print_json({**Job(**row).model_dump(mode="json"), "why": why, "attempt_history": attempts})
    else:
        print_job(row, attempts, why)


for job_command in (jobs.retry, jobs.reschedule, jobs.cancel, jobs.bury):
    app.command()(job_command)

for command in (pauses.pause, pauses.resume, pauses.holds):
    app.command()(command)


@app.command()
def worker(
    family: Annotated[str, typer.Argument(help="Such as extract: a folder with a main.py.", metavar="FAMILY")],
    batch: Annotated[
        int, typer.Option(min=1, max=1000, help="How many jobs to hold at a time: many if they are small.")
    ] = 1,
    functions: Functions = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Work off one family until stopped."""
    from tickwork.queue import worker_name
    from tickwork.worker import Worker
    from tickwork_local.stack import FUNCTIONS, find_stack, own_outbound, own_secret_key

    # The function reads it as well, when its handlers are loaded.
    os.environ["TICKWORK_DATABASE_URL"] = chosen_url(database_url, is_worker=True)
    if stack := find_stack(HOME):
        os.environ.setdefault("TICKWORK_VAULT_URL", stack.vault_url)
        os.environ.setdefault("TICKWORK_SECRET_KEY", own_secret_key(stack.home))
        for name, value in own_outbound().items():
            os.environ.setdefault(name, value)
    settings = load_settings()
    handlers = arguments.handlers(functions or FUNCTIONS, family)
    queue = Queue(Database(settings.database_url, f"tickwork {family} worker"), worker_name(family))
    one = Worker(queue, family, handlers, settings.database_url, settings.grace_seconds, batch)
    one.stop_on_signals()
    one.run()


@app.command("doctor")
def examine(
    admin_url: Annotated[
        str | None, typer.Option(help="Of the role that ran the migrations, to look at cron as well.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Look at settings, database, vault and callers; say what to do."""
    from tickwork_local.stack import find_stack

    given = dict(os.environ)
    if "TICKWORK_DATABASE_URL" not in given and (stack := find_stack(HOME)):
        ours = {"DATABASE_URL": stack.worker_url, "VAULT_URL": stack.vault_url, "OPEN_ON_LOOPBACK": "true"}
        given = {**{f"TICKWORK_{name}": value for name, value in ours.items()}, **given}
    checked = arguments.database_url(admin_url, "--admin-url") if admin_url else None
    raise typer.Exit(doctor.report(given, checked, as_json))


app.command("build")(deploy.build)


@app.command()
def tick(database_url: DatabaseUrl = None, as_json: AsJson = False) -> None:
    """Do what cron does, once: reap leases, wake the functions."""
    from tickwork_local.stack import find_stack
    from tickwork_local.ticker import wake_all

    url = chosen_url(database_url)
    reaped = connected(url).reap_expired_leases()
    stack = find_stack(HOME)
    reports = wake_all(stack.functions) if stack and stack.database_url == url else []
    if as_json:
        print_json({"reaped": reaped, "functions": reports})
    else:
        print(f"{reaped} expired leases given back, {len(reports)} functions woken")
        for report in reports:
            print(
                f"{report['family']}: "
                + ", ".join(f"{count} {what}" for what, count in report.items() if what != "family")
            )
    raise typer.Exit(1 if any("error" in report for report in reports) else 0)


@tenants_app.callback()
def tenants(context: typer.Context, database_url: DatabaseUrl = None, as_json: AsJson = False) -> None:
    if context.invoked_subcommand:
        return
    rows = connected(database_url).database.rows("select id, name from public.organizations order by name, id", {})
    if as_json:
        print_json(rows)
    else:
        table = plain_table("id", "tenant")
        for row in rows:
            table.add_row(str(row["id"]), one_line(row["name"]))
        print_table(table)


@tenants_app.command("add")
def add_tenant(
    name: Annotated[str, typer.Argument(metavar="NAME")], database_url: DatabaseUrl = None, as_json: AsJson = False
) -> None:
    """Add a tenant."""
    if not name.strip():
        raise InvalidRequest("name: must not be empty")
    database = connected(database_url).database
    if database.rows("select from public.organizations where name = %(name)s", {"name": name}):
        raise InvalidRequest(f"name: there is a tenant {name!r} already", hint="`tickwork tenants` lists them.")
    (row,) = database.rows(
        "insert into public.organizations (name) values (%(name)s) returning id, name", {"name": name}, repeatable=False
    )
    if as_json:
        print_json(row)
    else:
        print(f"{row['id']} {row['name']}")


DocType = Annotated[str | None, typer.Option("--type", help="Such as lease or invoice.")]


@documents_app.callback()
def list_documents(
    context: typer.Context,
    tenant: Tenant = None,
    doc_type: DocType = None,
    limit: Annotated[int, typer.Option(min=1, max=1000)] = 20,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    if not context.invoked_subcommand:
        documents.list_documents(connected(database_url), tenant, doc_type, limit, as_json)


@documents_app.command("add")
def add_documents(
    files: Annotated[list[Path], typer.Argument(metavar="FILE…")],
    tenant: Annotated[str, typer.Option(help="Id or name of a tenant; see `tickwork tenants`.")],
    engine: Annotated[
        str, typer.Option(help="local, or unstructured_fast or unstructured_hires, which send the file away.")
    ] = "local",
    consent: Annotated[
        bool, typer.Option("--consent", help="Whoever may decide it agrees to sending it away.")
    ] = False,
    wait: Annotated[float, typer.Option(min=0, help="For how many seconds to wait for the text and the type.")] = 300,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Put files into the vault, have them read and classified, and show what came of it."""
    vault = chosen_vault()
    queue = connected(database_url)
    raise typer.Exit(documents.add_documents(queue, vault, files, tenant, engine, consent, wait, as_json))


@documents_app.command("correct")
def correct_document(
    document_id: Annotated[str, typer.Argument(help="As `tickwork documents` shows it.", metavar="ID")],
    doc_type: Annotated[str, typer.Argument(help="What it really is, such as lease.", metavar="TYPE")],
    database_url: DatabaseUrl = None,
) -> None:
    """Say what type a document really is; later ones of the tenant are classified accordingly."""
    documents.correct(connected(database_url), document_id, doc_type)


@app.command()
def search(
    query: Annotated[str, typer.Argument(help='Words, "a phrase", -without, one or other.', metavar="QUERY")],
    tenant: Annotated[str, typer.Option(help="Id or name of a tenant.")],
    doc_type: DocType = None,
    limit: Annotated[int, typer.Option(min=1, max=100)] = 10,
    skip: Annotated[int, typer.Option(min=0, max=1_000_000, help="How many hits to leave out: for the next page.")] = 0,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Find text in the documents of a tenant."""
    documents.search(connected(database_url), query, tenant, doc_type, limit, skip, as_json)


Connector = Annotated[str, typer.Argument(help="Id or name of a connector.", metavar="CONNECTOR")]
Wait = Annotated[float, typer.Option(min=0, help="For how many seconds to wait for it.")]


@connectors_app.callback()
def show_connectors(
    context: typer.Context, tenant: Tenant = None, database_url: DatabaseUrl = None, as_json: AsJson = False
) -> None:
    if not context.invoked_subcommand:
        connectors.list_connectors(connected(database_url), tenant, as_json)


@connectors_app.command("list")
def list_connectors(tenant: Tenant = None, database_url: DatabaseUrl = None, as_json: AsJson = False) -> None:
    """List cloud drives."""
    connectors.list_connectors(connected(database_url), tenant, as_json)


@connectors_app.command("add")
def add_connector(
    provider: Annotated[str, typer.Argument(help="dropbox, onedrive or gdrive.", metavar="PROVIDER")],
    tenant: Annotated[str, typer.Option(help="Id or name of a tenant; see `tickwork tenants`.")],
    name: Annotated[str | None, typer.Option(help="What people call it.")] = None,
    extract: Annotated[str | None, typer.Option(help="The engine that reads what is imported, such as local.")] = None,
    consent: Annotated[
        bool, typer.Option("--consent", help="Whoever may decide it agrees to sending documents away.")
    ] = False,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Connect a cloud drive; its refresh token is asked for, or read from a pipe."""
    queue = connected(database_url)
    id = connectors.add(queue, chosen_safe(database_url), tenant, provider, name, extract, consent)
    print_json({"id": id}) if as_json else print(
        f"{id} is connected. See whether it works: tickwork connectors check {id}"
    )


@connectors_app.command("check")
def check_connector(
    connector: Connector, wait: Wait = 60, database_url: DatabaseUrl = None, as_json: AsJson = False
) -> None:
    """Ask the provider whether it still takes the token."""
    queue = connected(database_url)
    raise typer.Exit(connectors.check(queue, connectors.find(queue, connector)["id"], wait, as_json))


@connectors_app.command("renew")
def renew_connector(
    connector: Connector, wait: Wait = 60, database_url: DatabaseUrl = None, as_json: AsJson = False
) -> None:
    """Give a connector another refresh token, and check it."""
    queue = connected(database_url)
    id = connectors.renew(queue, chosen_safe(database_url), connector)
    raise typer.Exit(connectors.check(queue, id, wait, as_json))


@connectors_app.command("watch")
def watch_connector(
    connector: Connector,
    url: Annotated[str, typer.Argument(help="Of the import function, as the world sees it.", metavar="URL")],
    wait: Wait = 60,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Have the provider tell the import function of changes."""
    raise typer.Exit(connectors.watch(connected(database_url), connector, url, wait, as_json))


@connectors_app.command("remove")
def remove_connector(connector: Connector, database_url: DatabaseUrl = None) -> None:
    """Forget a cloud drive and its tokens; what it has imported stays."""
    connectors.remove(connected(database_url), connector)


@app.command("import")
def import_files(
    connector: Connector,
    path: Annotated[
        str | None, typer.Argument(help="A folder there; by default the whole drive.", metavar="PATH")
    ] = None,
    files: Annotated[list[str] | None, typer.Option("--file", help="Just this one; can be given again.")] = None,
    wait: Wait = 3600,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Bring what is new in a cloud drive into the vault."""
    queue = connected(database_url)
    raise typer.Exit(connectors.import_files(queue, connector, path, files or [], wait, as_json))


@app.command()
def classifier(
    folder: Annotated[
        Path | None, typer.Argument(help="A text file for each type; by default the held-out ones of the repository.")
    ] = None,
) -> None:
    """Say how good the classifier is on documents it has not seen."""
    from tickwork.families.classify import evaluate

    samples = evaluate.read_corpus(folder or evaluate.HELD_OUT)
    if not samples:
        raise InvalidRequest(f"FOLDER: there are no documents in {folder or evaluate.HELD_OUT}")
    print("\n".join(evaluate.report(evaluate.judged(samples, evaluate.shipped_types(sql_folder("migrations"))))))


def connected(url: str | None) -> Queue:
    return Queue(Database(chosen_url(url), "tickwork command line"))


def chosen_url(given: str | None, is_worker: bool = False) -> str:
    from tickwork_local.stack import find_stack

    if given is not None:
        return arguments.database_url(given, "--database-url")
    if from_environment := os.environ.get("TICKWORK_DATABASE_URL"):
        return arguments.database_url(from_environment, "TICKWORK_DATABASE_URL")
    if stack := find_stack(HOME):
        return stack.worker_url if is_worker else stack.database_url
    raise BadSetting("there is no database. Start the local stack with `tickwork up`, or set TICKWORK_DATABASE_URL.")


def chosen_vault() -> tuple[str, str | None]:
    from tickwork_local.stack import find_stack

    if url := os.environ.get("TICKWORK_VAULT_URL"):
        return url, os.environ.get("TICKWORK_VAULT_KEY")
    if stack := find_stack(HOME):
        return stack.vault_url, None
    raise BadSetting("there is no vault. Start the local stack with `tickwork up`, or set TICKWORK_VAULT_URL.")


def chosen_safe(database_url: str | None) -> Safe:
    """With the key of the environment, or in the database of the local stack with that of the stack; without one,
    Supabase Vault keeps the secrets."""
    from tickwork_local.stack import find_stack, own_secret_key

    if key := os.environ.get("TICKWORK_SECRET_KEY"):
        return Safe(key)
    # Sealed with the key of a stack, nobody else's functions could open them.
    if (stack := find_stack(HOME)) and stack.database_url == chosen_url(database_url):
        return Safe(own_secret_key(stack.home))
    return Safe(None)


def chosen_policy() -> Policy:
    """Whom the functions may call, as the environment says or as the running local stack has told them."""
    from tickwork_local.stack import find_stack, own_outbound

    stack = find_stack(HOME)
    environment = {**(own_outbound() if stack else {}), **os.environ, "TICKWORK_DATABASE_URL": "postgresql://"}
    return policy_of(load_settings(environment))


if __name__ == "__main__":
    main()
