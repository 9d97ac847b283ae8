"""remove_artifacts: deletes the files of artifacts that no job has, and then their rows."""

from typing import Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from tickwork.jobs.connection import Connection
from tickwork.jobs.handler import Handler, Tools
from tickwork.settings import load_settings
from tickwork.tools.vault import vault_of


class Payload(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Result(BaseModel):
    removed: int


def remove_artifacts(payload: Payload, tools: Tools) -> Result:
    vault = vault_of(load_settings(), tools.tenant_id)
    removed = 0
    while artifacts := tools.under_lease(take):
        for artifact in artifacts:
            tools.check()
            vault.delete(artifact["vault_path"])
        ids = [artifact["id"] for artifact in artifacts]
        tools.under_lease(lambda connection, ids=ids: forget(connection, ids))  # type: ignore[misc]
        removed += len(ids)
    return Result(removed=removed)


def take(connection: Connection) -> list[dict[str, Any]]:
    """From now on no job can have them."""
    query = """
        update public.artifacts
        set is_being_removed = true
        where id = any (array(
          select id from public.artifacts where remove_at <= clock_timestamp() order by remove_at limit 100
        ))
          and job_id is null
        returning id, vault_path
    """
    return connection.execute(query).fetchall()


def forget(connection: Connection, ids: list[UUID]) -> None:
    connection.execute("delete from public.artifacts where id = any (%s)", [ids])


REMOVE_ARTIFACTS: Handler[Payload] = Handler(Payload, remove_artifacts, Result)
