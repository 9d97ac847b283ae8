"""The extract function: turns files of the vault into searchable text."""

from tickwork.handler import Handlers
from tickwork.handlers import loaded_when_due
from tickwork.serve import serve

HANDLERS: Handlers = {**loaded_when_due("extract_document")}

main = serve("extract", HANDLERS)
