"""The webhook function: posts events to subscribers."""

from tickwork.handler import Handlers
from tickwork.serve import serve

HANDLERS: Handlers = {}

main = serve("webhook", HANDLERS)
