"""http_request: calls an API, with secrets that the payload only names, and returns its response."""

import json
import re
from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from tickwork.errors import Permanent, RateLimited, Retryable
from tickwork.jobs.connection import Connection
from tickwork.jobs.handler import Handler, Tools
from tickwork.settings import Settings, load_settings
from tickwork.tools.outbound.http import Limits, Response, request
from tickwork.tools.outbound.policy import policy_of
from tickwork.tools.outbound.retry_after import PASSING, pause_of
from tickwork.tools.outbound.urls import Url, parse
from tickwork.tools.redaction import redacted, redacted_headers
from tickwork.tools.secrets import SecretStore

MAX_RESPONSE_BYTES = 1_000_000
MAX_KEPT = 65_536
MAX_HEADERS_KEPT = 8_192
REFERENCE = re.compile(r"\{\{ *secret:([A-Za-z0-9_.-]{1,100}) *\}\}")
# Everybody who can read the job could read them.
NEVER_INLINED = frozenset({"authorization", "cookie", "x-api-key", "api-key", "x-auth-token"})

Status = Annotated[int, Field(ge=200, le=599)]


class Payload(BaseModel):
    model_config = ConfigDict(extra="forbid")

    method: Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] = "GET"
    url: str
    headers: dict[str, str] = {}
    # Text is sent as it is, anything else as JSON.
    body: Any = None
    expected_status: list[Status] = []
    redirects: int = Field(default=0, ge=0, le=3)

    @field_validator("headers")
    @classmethod
    def names_its_secrets(cls, headers: dict[str, str]) -> dict[str, str]:
        for name, value in headers.items():
            if name.lower() in NEVER_INLINED and not REFERENCE.search(value):
                raise ValueError(f"{name} is a secret. Store it, and write {{{{secret:NAME}}}} instead")
        return headers


class Result(BaseModel):
    status: int
    headers: dict[str, str]
    body: str
    is_cut: bool
    seconds: float


class Secret(BaseModel):
    """The value, and the hosts that may receive it, over https unless prefixed with `http://`."""

    value: str = Field(repr=False)
    hosts: list[str]

    def is_for(self, url: Url) -> bool:
        wanted = {"*", url.host} if url.scheme == "https" else {f"http://{url.host}"}
        return not wanted.isdisjoint(self.hosts)


def http_request(payload: Payload, tools: Tools) -> Result:
    settings = load_settings()
    secrets = tools.under_lease(partial(secrets_for, payload, settings, tools))
    response = request(
        payload.method,
        payload.url,
        policy=policy_of(settings),
        headers=headers_of(payload, secrets, tools),
        body=body_of(payload),
        secrets=secrets,
        limits=Limits(max_body_bytes=MAX_RESPONSE_BYTES, redirects=payload.redirects),
    )
    return judged(payload, response, secrets)


def secrets_for(payload: Payload, settings: Settings, tools: Tools, connection: Connection) -> dict[str, str]:
    """The values of the secrets named in the headers, if the host of the request may receive them."""
    names = {name for value in payload.headers.values() for name in REFERENCE.findall(value)}
    if not names:
        return {}
    url = parse(payload.url)
    stored = SecretStore(settings.secret_key).read(connection, tools.tenant_id, "tenant")
    found: dict[str, str] = {}
    for name in sorted(names):
        if name not in stored:
            raise Permanent(f"There is no secret {name}. `tickwork secrets set` stores one", code="SECRET_MISSING")
        secret = Secret.model_validate_json(stored[name])
        # Any member of the tenant may enqueue a request, and could otherwise send every secret to their own server.
        if not secret.is_for(url):
            raise Permanent(f"The secret {name} may not be sent to this host", code="SECRET_NOT_FOR_HOST")
        found[name] = secret.value
    return found


def headers_of(payload: Payload, secrets: Mapping[str, str], tools: Tools) -> dict[str, str]:
    headers = {name: REFERENCE.sub(lambda match: secrets[match[1]], value) for name, value in payload.headers.items()}
    given = {name.lower() for name in headers}
    if payload.body is not None and not isinstance(payload.body, str) and "content-type" not in given:
        headers["Content-Type"] = "application/json"
    # Servers that support it recognize a second attempt at the same job as the same request.
    if "idempotency-key" not in given:
        headers["Idempotency-Key"] = str(tools.job_id)
    return headers


def body_of(payload: Payload) -> bytes | None:
    match payload.body:
        case None:
            return None
        case str():
            return payload.body.encode()
        case _:
            return json.dumps(payload.body, ensure_ascii=False).encode()


def judged(payload: Payload, response: Response, secrets: Mapping[str, str]) -> Result:
    """The result, or how the attempt ends if the status is not an expected one."""
    text = redacted(response.body.decode("utf-8", "replace").replace("\x00", ""), secrets)
    status = response.status
    if status in payload.expected_status or (not payload.expected_status and 200 <= status < 300):
        headers = redacted_headers(response.headers, secrets, MAX_HEADERS_KEPT)
        is_cut = len(text) > MAX_KEPT
        return Result(
            status=status, headers=headers, body=text[:MAX_KEPT], is_cut=is_cut, seconds=round(response.seconds, 3)
        )
    code = f"HTTP_{status}"
    said = f"The server responded with {status}{': ' if text else ''}{' '.join(text[:300].split())}"
    pause = pause_of(response.headers.get("retry-after"))
    if status == 429:
        raise RateLimited(said, delay=pause, hold=pause)
    if status >= 500 or status in PASSING:
        raise Retryable(said, code=code, delay=pause)
    raise Permanent(said, code=code)


HTTP_REQUEST: Handler[Payload] = Handler(Payload, http_request, Result)
