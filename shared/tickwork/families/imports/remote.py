"""Requests to a provider, on behalf of one connector."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tickwork.errors import JobError
from tickwork.families.imports.errors import answered_oddly, understanding
from tickwork.families.imports.tokens import Tokens
from tickwork.tools.json_object import json_object
from tickwork.tools.outbound import http
from tickwork.tools.outbound.http import Limits, Policy, StreamedResponse

# A page of two thousand entries is a megabyte or two.
PAGE_LIMITS = Limits(seconds=60, max_body_bytes=32_000_000)
# Error messages of a provider are short; anything longer is not from a provider.
MAX_REFUSAL_BYTES = 100_000


@dataclass(frozen=True)
class Refusal:
    """An unsuccessful response, for the provider's class to interpret."""

    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: dict[str, Any] = field(repr=False)


class Remote:
    """Tokens are only sent to these `origins`, whatever a response says; redirects drop them."""

    def __init__(
        self, tokens: Tokens, policy: Policy, origins: tuple[str, ...], error_of: Callable[[Refusal], JobError]
    ) -> None:
        self._tokens = tokens
        self._policy = policy
        self._origins = origins
        self._error_of = error_of

    def call(
        self, method: str, url: str, *, body: Any = None, headers: Mapping[str, str] | None = None
    ) -> dict[str, Any]:
        """The JSON object that the provider returns."""
        sent = {"Content-Type": "application/json", **(headers or {})} if body is not None else dict(headers or {})
        encoded = None if body is None else json.dumps(body).encode()
        with self.stream(method, url, headers=sent, body=encoded, limits=PAGE_LIMITS) as answer:
            content = b"".join(answer.body)
        with understanding():
            found = json.loads(content)
        if not isinstance(found, dict):
            raise answered_oddly()
        return found

    @contextmanager
    def stream(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        limits: Limits,
    ) -> Iterator[StreamedResponse]:
        """A successful response, streamed; a token that is refused is renewed, once."""
        if not url.startswith(tuple(f"{origin}/" for origin in self._origins)):
            raise answered_oddly()
        token = self._tokens.access()
        for is_last in (False, True):
            sent = {**(headers or {}), "Authorization": f"Bearer {token}"}
            with http.stream(method, url, policy=self._policy, headers=sent, body=body, limits=limits) as answer:
                if answer.status in (200, 201, 206):
                    yield answer
                    return
                refusal = Refusal(answer.status, answer.headers, self._reason(answer))
            if refusal.status != 401:
                with understanding():
                    error = self._error_of(refusal)
                raise error
            if not is_last:
                token = self._tokens.renewed(token)
        raise self._tokens.give_up()

    def _reason(self, answer: StreamedResponse) -> dict[str, Any]:
        content = b""
        for block in answer.body:
            content += block
            if len(content) > MAX_REFUSAL_BYTES:
                break
        return json_object(content)
