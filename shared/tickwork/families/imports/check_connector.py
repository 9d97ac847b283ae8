"""check_connector: asks a provider which account a connector belongs to, and so whether it still accepts its token."""

from uuid import UUID

from pydantic import BaseModel

from tickwork.errors import NotYet, RateLimited
from tickwork.families.imports import connector_state
from tickwork.families.imports.items import Account
from tickwork.families.imports.providers import open_drive
from tickwork.jobs.connection import Connection
from tickwork.jobs.handler import Handler, Tools
from tickwork.jobs.outcomes import Done
from tickwork.jobs.rows import FollowUp
from tickwork.settings import load_settings
from tickwork.tools.file_names import as_name


class Payload(BaseModel):
    connector_id: UUID


class Result(BaseModel):
    provider: str
    account_id: str
    account_name: str


def check_connector(payload: Payload, tools: Tools) -> Done:
    connector = tools.under_lease(lambda connection: connector_state.read_connector(connection, payload.connector_id))
    try:
        account = open_drive(connector, tools, load_settings()).account()
    except RateLimited as limit:
        raise NotYet(str(limit), delay=limit.delay or 60.0, hold=limit.delay or 60.0) from None
    tools.under_lease(lambda connection: note(connection, payload.connector_id, account))
    name = as_name(account.name)[:200]
    result = Result(provider=connector.provider, account_id=as_name(account.id)[:200], account_name=name)
    # Its subscription was not renewed while its token was refused.
    return Done(result, follow_ups=[watching(connector.id)] if connector.watch_url else [])


def watching(connector_id: UUID) -> FollowUp:
    payload = {"connector_id": str(connector_id)}
    return FollowUp(type="watch_connector", payload=payload, lane=f"connector:{connector_id}")


def note(connection: Connection, connector_id: UUID, account: Account) -> None:
    """It works, so a connector that was connected again becomes active."""
    connection.execute(
        """
        update public.connectors
        set
          account_id = coalesce(nullif(%s, ''), account_id),
          status = case status when 'reauthorize' then 'active' else status end
        where id = %s
        """,
        [as_name(account.id)[:200], connector_id],
    )


CHECK_CONNECTOR: Handler[Payload] = Handler(Payload, check_connector, Result)
