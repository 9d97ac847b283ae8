"""The webhook function: posts events to subscribers, and calls APIs."""

from tickwork.handler import Handlers
from tickwork.handlers.deliver_webhook import DELIVER_WEBHOOK
from tickwork.handlers.http_request import HTTP_REQUEST
from tickwork.serve import serve

HANDLERS: Handlers = {"deliver_webhook": DELIVER_WEBHOOK, "http_request": HTTP_REQUEST}

main = serve("webhook", HANDLERS)
