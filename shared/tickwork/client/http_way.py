# Written by `make client` from aio/http_way.py: change that one.
"""The way in over HTTP: one request for each call, sent again only where that is safe."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import httpx2

from tickwork.client.http_requests import ATTEMPTS, WAIT_SECONDS, Request, error_of, is_passing, pause_before, with_keys
from tickwork.client.json_values import rows_of
from tickwork.client.way import Arguments, Row, Watch
from tickwork.errors import Unavailable

if TYPE_CHECKING:
    from pydantic import BaseModel

    M = TypeVar("M", bound=BaseModel)


class HttpWay:
    """Each attempt at a request is given up after `timeout` seconds."""

    def __init__(
        self,
        url: str,
        credential: str,
        timeout: float = 30.0,
        traceparent: str | None = None,
        http: httpx2.Client | None = None,
    ) -> None:
        self._url = url.rstrip("/")
        self._credential = credential
        self._timeout = timeout
        self._traceparent = traceparent
        self._http = http or httpx2.Client()
        self._is_ours = http is None

    def with_options(self, timeout: float | None, traceparent: str | None) -> HttpWay:
        """The same, over the same connections."""
        return HttpWay(
            self._url, self._credential, timeout or self._timeout, traceparent or self._traceparent, self._http
        )

    def rows(self, function: str, arguments: Arguments, *, columns: str = "*", repeatable: bool = True) -> list[Row]:
        given, has_keys = with_keys(function, arguments)
        request = Request.of(function, given)
        answer = self._answer(request, repeatable or has_keys, self._timeout)
        return rows_of(function, request.result(answer))

    def one(self, model: type[M], function: str, arguments: Arguments, *, repeatable: bool = True) -> M:
        (row,) = self.rows(function, arguments, repeatable=repeatable)
        return model.model_validate(row)

    @contextmanager
    def watch(self) -> Iterator[Watch]:
        yield HttpWatch(self)

    def wait_for(self, job_id: str, seconds: float) -> None:
        """Returns when the job has ended, or after so many seconds."""
        # The API waits for whole seconds.
        if seconds < 1:
            time.sleep(seconds)
            return
        request = Request.of("get_job", {"job_id": job_id, "wait": int(seconds)})
        self._answer(request, True, self._timeout + seconds)

    def upload(self, query: Arguments, content: bytes) -> Row:
        """A file, which is sent once: it may have arrived although no answer did."""
        request = Request.of_file("/documents/files", query, content)
        (row,) = rows_of("add_document", self._answer(request, False, self._timeout))
        return row

    def close(self) -> None:
        if self._is_ours:
            self._http.close()

    def _answer(self, request: Request, is_safe: bool, seconds: float) -> Any:
        for attempt in range(1, ATTEMPTS + 1):
            response: httpx2.Response | None = None
            try:
                response = self._http.request(
                    request.method,
                    self._url + request.path,
                    params=request.query,
                    content=request.body,
                    headers=request.headers(self._credential, self._traceparent),
                    timeout=seconds,
                )
            except httpx2.TransportError as error:
                # What never reached the server was not done.
                never_sent = isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout)
                is_late = isinstance(error, httpx2.TimeoutException) and not never_sent
                if attempt == ATTEMPTS or is_late or not (is_safe or never_sent):
                    what = f"no answer within {seconds:g} s" if is_late else str(error) or type(error).__name__
                    raise Unavailable(f"the API: {what}", hint="Is its URL right?") from error
            if response is not None:
                if response.status_code < 400:
                    return response.json() if response.content else None
                if attempt == ATTEMPTS or not is_safe or not is_passing(response.status_code, response.text):
                    raise error_of(response.status_code, response.text)
            time.sleep(pause_before(attempt + 1, response.headers.get("retry-after") if response else None))
        raise AssertionError("the last attempt returns or raises")


class HttpWatch:
    """The API itself waits for the end of a job, for up to so many seconds."""

    def __init__(self, way: HttpWay) -> None:
        self._way = way

    def pauses(self) -> Sequence[float]:
        return (WAIT_SECONDS,)

    def wait_for(self, job_id: str, seconds: float) -> None:
        self._way.wait_for(job_id, seconds)
