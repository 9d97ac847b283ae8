"""The classify function: finds out what kind of document it is."""

from tickwork.handler import Handlers
from tickwork.handlers.classify_document import CLASSIFY_DOCUMENT
from tickwork.serve import serve

HANDLERS: Handlers = {"classify_document": CLASSIFY_DOCUMENT}

main = serve("classify", HANDLERS)
