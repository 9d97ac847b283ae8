"""The classify function: finds out what kind of document it is."""

from tickwork.jobs.handler import Handlers, loaded_when_due
from tickwork.serve import serve

HANDLERS: Handlers = loaded_when_due("tickwork.families.classify", "classify_document")

main = serve("classify", HANDLERS)
