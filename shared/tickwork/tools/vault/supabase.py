"""A vault in a bucket of Supabase Storage, through its own client."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING

from tickwork.tools.vault.address import Address
from tickwork.tools.vault.errors import answered, check_end_is_known, unavailable

if TYPE_CHECKING:
    import httpx
    from storage3 import SyncStorageClient
    from storage3.types import FileOptions

BLOCK = 1 << 18
CONNECT_SECONDS = 5
READ_SECONDS = 30


@lru_cache(maxsize=8)
def open_supabase(address: Address) -> "Supabase":
    import httpx

    # The part of the supabase package that is needed: importing all of it takes twice as long.
    from storage3 import SyncStorageClient

    headers = {"apikey": address.key, "Authorization": f"Bearer {address.key}"}
    http = httpx.Client(
        headers=headers,
        timeout=httpx.Timeout(READ_SECONDS, connect=CONNECT_SECONDS),
        # A function is suspended between jobs, and would resume with dead connections.
        limits=httpx.Limits(max_keepalive_connections=0),
        event_hooks={"response": [raise_for_answer]},
    )
    url = f"{address.place}/storage/v1/"
    return Supabase(SyncStorageClient(url, headers, http_client=http), url, address.bucket)


class Supabase:
    def __init__(self, client: "SyncStorageClient", url: str, bucket: str) -> None:
        self._files = client.from_(bucket)
        self._http = client.session
        self._objects = f"{url}object/{bucket}/"

    @contextmanager
    def read(self, key: str) -> Iterator[Iterator[bytes]]:
        # The client's own download keeps the whole file in memory. This sends the same request.
        request = self._http.build_request("GET", self._objects + key, headers={"Accept-Encoding": "identity"})
        with translated():
            response = self._http.send(request, stream=True)
        try:
            yield _blocks(response)
        finally:
            response.close()

    def write(self, key: str, chunks: Iterable[bytes], mime_type: str) -> None:
        # The server needs the length first, and must not see a file whose source breaks off.
        with NamedTemporaryFile(prefix="tickwork-") as file:
            file.writelines(chunks)
            file.flush()
            # A later extraction replaces this file: nobody should get the old one from a cache for an hour.
            options: FileOptions = {"content-type": mime_type, "x-upsert": "true", "cache-control": "0"}
            with translated():
                self._files.upload(key, Path(file.name), options)

    def sign(self, key: str, seconds: int) -> str:
        # As an attachment, so that no browser runs a document as a page of the vault.
        with translated():
            url = self._files.create_signed_url(key, seconds, {"download": True})["signedURL"]
        assert url is not None, "the client has checked it"
        return url

    def delete(self, key: str) -> None:
        with translated():
            self._files.remove([key])


def raise_for_answer(response: "httpx.Response") -> None:
    """Called for each response, before the client interprets it."""
    if response.is_success:
        return
    response.read()
    try:
        body = response.json()
    except ValueError:
        body = None
    about = body if isinstance(body, dict) else {}
    # Most errors have status 400; the body has the real one.
    told = str(about.get("statusCode"))
    status = int(told) if told.isascii() and told.isdigit() else response.status_code
    reason = f"{about.get('code')} {about.get('error')} {about.get('message')}"
    raise answered(status, reason, response.headers.get("Retry-After"))


@contextmanager
def translated() -> Iterator[None]:
    import httpx

    try:
        yield
    except (httpx.HTTPError, httpx.StreamError):
        raise unavailable() from None
    except (ValueError, KeyError, TypeError):
        # A 200 that does not come from the storage but from something in between.
        raise unavailable() from None


def _blocks(response: "httpx.Response") -> Iterator[bytes]:
    check_end_is_known(response.headers)
    with translated():
        yield from response.iter_bytes(BLOCK)
