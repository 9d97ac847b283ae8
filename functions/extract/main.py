"""The extract function: turns files of the vault into searchable text."""

from tickwork.jobs.handler import Handlers, loaded_when_due
from tickwork.serve import serve

HANDLERS: Handlers = loaded_when_due("tickwork.families.extract", "extract_document", "ingest_document")

main = serve("extract", HANDLERS)
