"""Access tokens: stored until they expire, renewed once however many jobs need one, and never shown to anybody."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, TypeGuard
from urllib.parse import urlencode
from uuid import UUID

from tickwork.families.imports.errors import NotSetUp, Reauthorize, answered_oddly, by_status
from tickwork.jobs.connection import Connection
from tickwork.jobs.handler import Tools
from tickwork.tools.json_object import json_object
from tickwork.tools.outbound import http
from tickwork.tools.outbound.http import Limits, Policy
from tickwork.tools.secrets import SecretStore

# It is requested in a transaction that others wait for.
LIMITS = Limits(seconds=10)
# How long before it expires a token is renewed: a request may take that long.
EARLY_SECONDS = 120
# A token that is said to last longer than this is renewed for every job.
MAX_SECONDS = 366 * 86_400


@dataclass(frozen=True)
class Client:
    """The app that the operator has registered with the provider, and the URL that renews tokens."""

    id: str
    secret: str = field(repr=False)
    url: str


class Tokens:
    def __init__(self, tools: Tools, secrets: SecretStore, connector_id: UUID, client: Client, policy: Policy) -> None:
        self._tools = tools
        self._secrets = secrets
        self._connector_id = connector_id
        self._client = client
        self._policy = policy
        self._access: str | None = None

    def access(self) -> str:
        """A token that should be valid. Raises Reauthorize if none can be obtained."""
        self._access = self._access or self.renewed(None)
        return self._access

    def renewed(self, refused: str | None) -> str:
        """A different token from the one that was refused."""
        access = self._tools.under_lease(lambda connection: self._renew(connection, refused))
        if access is None:
            raise Reauthorize()
        self._access = access
        return access

    def give_up(self) -> Reauthorize:
        """Even a new token was refused."""
        self._tools.under_lease(self._mark)
        return Reauthorize()

    def _renew(self, connection: Connection, refused: str | None) -> str | None:
        # Of two concurrent jobs the second waits here, and then finds the token of the first. A refresh token that is
        # used twice may be revoked.
        connection.execute("select from public.connectors where id = %s for no key update", [self._connector_id])
        secrets = self._secrets.read(connection, self._tools.tenant_id, self._owner)
        access = secrets.get("access_token")
        if access is not None and access != refused:
            return access
        answer = self._asked(secrets["refresh_token"]) if "refresh_token" in secrets else None
        if answer is None:
            # Committed, because nothing is raised in here.
            self._mark(connection)
            return None
        return self._keep(connection, answer, secrets["refresh_token"])

    def _mark(self, connection: Connection) -> None:
        connection.execute(
            "update public.connectors set status = 'reauthorize' where id = %s and status = 'active'",
            [self._connector_id],
        )

    def _asked(self, refresh_token: str) -> Mapping[str, Any] | None:
        """The provider's response, or None if the user has to agree again."""
        form = {
            "grant_type": "refresh_token",
            "refresh_token": refresh_token,
            "client_id": self._client.id,
            "client_secret": self._client.secret,
        }
        headers = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
        body = urlencode(form).encode()
        response = http.request(
            "POST", self._client.url, policy=self._policy, headers=headers, body=body, limits=LIMITS
        )
        answer = json_object(response.body)
        match response.status, answer.get("error"):
            case 200, _ if is_token(answer.get("access_token")):
                return answer
            case 400 | 401, "invalid_grant" | "interaction_required" | "consent_required":
                return None
            case 400 | 401 | 403, "invalid_client" | "unauthorized_client":
                raise NotSetUp("The provider does not know the app. The operator has to check its id and secret")
            case 200, _:
                raise answered_oddly()
            case status, _:
                raise by_status(status, response.headers.get("retry-after"))

    def _keep(self, connection: Connection, answer: Mapping[str, Any], used: str) -> str:
        access, rotated, seconds = str(answer["access_token"]), answer.get("refresh_token"), answer.get("expires_in")
        lasts = seconds if isinstance(seconds, int | float) and 0 < seconds < MAX_SECONDS else 0
        (clock,) = connection.execute("select clock_timestamp() as now").fetchall()
        expires_at = clock["now"] + timedelta(seconds=max(lasts - EARLY_SECONDS, 0))
        self._secrets.keep(connection, self._tools.tenant_id, self._owner, "access_token", access, expires_at)
        if is_token(rotated) and rotated != used:
            self._secrets.keep(connection, self._tools.tenant_id, self._owner, "refresh_token", rotated)
        return access

    @property
    def _owner(self) -> str:
        return f"connector:{self._connector_id}"


def is_token(given: object) -> TypeGuard[str]:
    """Whether it can be sent in a header, and stored."""
    return isinstance(given, str) and re.fullmatch("[!-~]+", given) is not None
