"""The extract function: turns files of the vault into searchable text."""

from tickwork.handler import Handlers
from tickwork.handlers.extract_document import EXTRACT_DOCUMENT
from tickwork.serve import serve

HANDLERS: Handlers = {"extract_document": EXTRACT_DOCUMENT}

main = serve("extract", HANDLERS)
