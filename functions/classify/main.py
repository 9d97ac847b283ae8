"""The classify function: finds out what kind of document it is."""

from tickwork.handler import Handlers
from tickwork.handlers import loaded_when_due
from tickwork.serve import serve

HANDLERS: Handlers = {**loaded_when_due("classify_document")}

main = serve("classify", HANDLERS)
