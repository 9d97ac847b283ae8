"""The my_family function."""

from tickwork.jobs.handler import Handlers
from tickwork.serve import serve

HANDLERS: Handlers = {}

main = serve("my_family", HANDLERS)
