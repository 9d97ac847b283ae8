"""The commands for documents: list, add, correct, sign, search."""

from pathlib import Path
from typing import Annotated

import typer

from tickwork.cli import arguments, connect
from tickwork.cli.document_tables import document_table, hit_table
from tickwork.cli.options import AsJson, DatabaseUrl, OfTenant, Tenant
from tickwork.cli.output import print_json, print_table
from tickwork.cli.upload import upload
from tickwork.client import Tickwork

commands = typer.Typer()
group = typer.Typer(help="List documents, or add some.", invoke_without_command=True, rich_markup_mode=None)
commands.add_typer(group, name="documents")

DocType = Annotated[str | None, typer.Option("--type", help="Such as lease or invoice.")]


@group.callback()
def list_documents(
    context: typer.Context,
    tenant: Tenant = None,
    doc_type: DocType = None,
    limit: Annotated[int, typer.Option(min=1, max=1000)] = 20,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    if not context.invoked_subcommand:
        show_documents(connect.client(database_url), tenant, doc_type, limit, as_json)


def show_documents(client: Tickwork, tenant: str | None, doc_type: str | None, limit: int, as_json: bool) -> None:
    tenant_id = client.tenants.find(tenant) if tenant else None
    rows = client.documents.overview(tenant_id, doc_type, limit=limit)
    if as_json:
        print_json(rows)
    elif rows:
        print_table(document_table(rows))
    else:
        print("No documents. `tickwork documents add FILE --tenant NAME` adds some.")


@group.command("add")
def add_documents(
    files: Annotated[list[Path], typer.Argument(metavar="FILE…")],
    tenant: OfTenant,
    engine: Annotated[
        str,
        typer.Option(help="local, or unstructured_fast or unstructured_hires, which send the file to a third party."),
    ] = "local",
    consent: Annotated[
        bool, typer.Option("--consent", help="Confirms consent to sending the file to a third party.")
    ] = False,
    wait: Annotated[float, typer.Option(min=0, help="How many seconds to wait for the text and the type.")] = 300,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Put files into the vault, have them extracted and classified, and show the result."""
    client = connect.client(database_url)
    # Over HTTP, the API has one.
    vault = connect.chosen_vault() if client.has_database else None
    raise typer.Exit(upload(client, vault, files, tenant, engine, consent, wait, as_json))


@group.command("correct")
def correct_document(
    document_id: Annotated[str, typer.Argument(help="As `tickwork documents` shows it.", metavar="ID")],
    doc_type: Annotated[str, typer.Argument(help="The correct type, such as lease.", metavar="TYPE")],
    database_url: DatabaseUrl = None,
) -> None:
    """Correct the type of a document; the classifier learns from it for this tenant."""
    client = connect.client(database_url)
    id = arguments.document_id(client, document_id)
    document = client.documents.correct_document_type(id, doc_type)
    print(
        f"{document['id']} is {document['doc_type']}. Similar documents of the tenant will be classified accordingly."
    )


@group.command("url")
def sign_document(
    document_id: Annotated[str, typer.Argument(help="As `tickwork documents` shows it.", metavar="ID")],
    seconds: Annotated[int, typer.Option(help="How long the URL is valid, at most 86400.")] = 300,
    database_url: DatabaseUrl = None,
) -> None:
    """Print a URL that opens a document for a while."""
    client = connect.client(database_url)
    whole = arguments.document_id(client, document_id)
    print(client.documents.sign_document(connect.chosen_vault(), whole, seconds))


@commands.command()
def search(
    query: Annotated[str, typer.Argument(help='Words, "a phrase", -excluded, this or that.', metavar="QUERY")],
    tenant: Annotated[str, typer.Option(help="Id or name of a tenant.")],
    doc_type: DocType = None,
    limit: Annotated[int, typer.Option(min=1, max=100)] = 10,
    skip: Annotated[int, typer.Option(min=0, max=1_000_000, help="How many hits to skip, for the next page.")] = 0,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Find text in the documents of a tenant."""
    client = connect.client(database_url)
    tenant_id = client.tenants.find(tenant)
    hits = client.documents.search_chunks(tenant_id, query, limit, skip, doc_type=doc_type)
    if as_json:
        print_json(hits)
        return
    if not hits:
        print("Nothing found." if skip == 0 else "No more hits.")
        return
    print_table(hit_table(hits))
    if len(hits) == limit:
        print(f"There may be more: --skip {skip + limit}")
