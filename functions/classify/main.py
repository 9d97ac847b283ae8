"""The classify function: determines the type of documents."""

from tickwork.jobs.handler import Handlers, loaded_when_due
from tickwork.serve import serve

HANDLERS: Handlers = loaded_when_due("tickwork.families.classify", "classify_document")

main = serve("classify", HANDLERS)
