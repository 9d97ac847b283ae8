"""Workers, and whether the queue works."""

from tickwork.api.fields import OfTenant, Request
from tickwork.api.route import Route

ROUTES = (
    Route("GET", "workers", "list_workers", OfTenant, "rows"),
    Route("GET", "health", "queue_health", Request, "rows"),
)
