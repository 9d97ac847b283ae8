"""The webhook function: posts events to subscribers, and calls APIs."""

from tickwork.jobs.handler import Handlers, loaded_when_due
from tickwork.serve import serve

HANDLERS: Handlers = loaded_when_due("tickwork.families.webhook", "deliver_webhook", "http_request")

main = serve("webhook", HANDLERS)
