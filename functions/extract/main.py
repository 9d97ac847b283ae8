"""The extract function: turns files of the vault into searchable text."""

from tickwork.handler import Handlers
from tickwork.serve import serve

HANDLERS: Handlers = {}

main = serve("extract", HANDLERS)
