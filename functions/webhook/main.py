"""The webhook function: posts events to subscribers, and calls APIs."""

from tickwork.handler import Handlers
from tickwork.handlers import loaded_when_due
from tickwork.serve import serve

HANDLERS: Handlers = {**loaded_when_due("deliver_webhook", "http_request")}

main = serve("webhook", HANDLERS)
