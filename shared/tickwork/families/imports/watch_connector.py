"""watch_connector: subscribes to a provider's change notifications, and renews the subscription."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from pydantic import BaseModel

from tickwork.errors import NotYet, RateLimited
from tickwork.families.imports import connector_state
from tickwork.families.imports.errors import NotSetUp
from tickwork.families.imports.providers import open_drive
from tickwork.jobs.connection import Connection
from tickwork.jobs.handler import Handler, Tools
from tickwork.jobs.outcomes import Done
from tickwork.jobs.rows import FollowUp
from tickwork.settings import load_settings
from tickwork.tools.channel_tokens import channel_token

# How much of its time is left when a subscription is renewed: a day of downtime does no harm.
SPARE_SHARE = 0.2


class Payload(BaseModel):
    connector_id: UUID


class Result(BaseModel):
    watched_until: datetime | None


def watch_connector(payload: Payload, tools: Tools) -> Done:
    settings = load_settings()
    connector = tools.under_lease(lambda connection: connector_state.read_connector(connection, payload.connector_id))
    if connector.watch_url is None:
        return Done(Result(watched_until=None))
    if not settings.notification_secret:
        raise NotSetUp("The operator has not set TICKWORK_NOTIFICATION_SECRET, which authenticates notifications")
    token = channel_token(settings.notification_secret.split(",")[0], connector.provider, connector.id)
    try:
        until = open_drive(connector, tools, settings).watch(connector.watch_url, token)
    except RateLimited as limit:
        raise NotYet(str(limit), delay=limit.delay or 60.0, hold=limit.delay or 60.0) from None
    tools.under_lease(lambda connection: note(connection, connector.id, until))
    return Done(Result(watched_until=until), follow_ups=[again(connector.id, until)] if until else [])


def note(connection: Connection, connector_id: UUID, until: datetime | None) -> None:
    connection.execute("update public.connectors set watched_until = %s where id = %s", [until, connector_id])


def again(connector_id: UUID, until: datetime) -> FollowUp:
    now = datetime.now(UTC)
    lasts = max((until - now).total_seconds(), 300.0)
    return FollowUp(
        type="watch_connector",
        payload={"connector_id": str(connector_id)},
        run_at=now + timedelta(seconds=lasts * (1 - SPARE_SHARE)),
        lane=f"connector:{connector_id}",
        dedupe_key=f"watch {connector_id}",
    )


WATCH_CONNECTOR: Handler[Payload] = Handler(Payload, watch_connector, Result)
