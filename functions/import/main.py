"""The import function: brings files from cloud drives into the vault."""

from tickwork.handler import Handlers
from tickwork.serve import serve

HANDLERS: Handlers = {}

main = serve("import", HANDLERS)
