"""The documents of `make demo`: put into the vault, extracted, classified, found again."""

from pathlib import Path
from uuid import UUID

from tickwork.cli.document_tables import document_table, hit_table
from tickwork.cli.output import print_table
from tickwork.client import Tickwork
from tickwork.tools.vault import open_vault
from tickwork_local.stack import Stack

TENANT = "acme"
QUERY = "mietvertrag hauptstraße"


def add_samples(client: Tickwork, stack: Stack, folder: Path) -> list[UUID]:
    """Put every file of the folder into the vault and have it extracted."""
    documents = client.documents
    tenant = client.tenants.find(TENANT)
    vault = open_vault(stack.vault_url, tenant)
    added = [documents.add(vault, tenant, file)["id"] for file in sorted(folder.iterdir())]
    for id in added:
        documents.request_extraction(id)
    return added


def show_samples(client: Tickwork, ids: list[UUID]) -> bool:
    """Shows the results and a search; returns whether all documents were extracted and classified."""
    documents = client.documents
    rows = sorted(documents.overview(ids=ids, limit=len(ids)), key=lambda row: str(row["name"]))
    print("\nThe documents:\n")
    print_table(document_table(rows, with_ids=False))
    hits = documents.search_chunks(rows[0]["tenant_id"], QUERY, 5)
    print(f'\nA search for "{QUERY}":\n')
    print_table(hit_table(hits))
    if not hits or any(row["extraction_status"] != "done" or row["doc_type"] is None for row in rows):
        print("\nNot every document was extracted and classified.")
        return False
    print("\nEvery document was extracted and classified.")
    return True
