"""The classify function: finds out what kind of document it is."""

from tickwork.handler import Handlers
from tickwork.serve import serve

HANDLERS: Handlers = {}

main = serve("classify", HANDLERS)
