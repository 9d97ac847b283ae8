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
        # A function sleeps between two jobs, and would wake up to connections that are dead.
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
        # The client's own download keeps the whole file in memory. This asks what it asks.
        request = self._http.build_request("GET", self._objects + key, headers={"Accept-Encoding": "identity"})
        with translated():
            response = self._http.send(request, stream=True)
        try:
            yield _blocks(response)
        finally:
            response.close()

    def write(self, key: str, chunks: Iterable[bytes], mime_type: str) -> None:
        # The server has to be told the length first, and must not see a file whose source breaks off.
        with NamedTemporaryFile(prefix="tickwork-") as file:
            file.writelines(chunks)
            file.flush()
            # A later extraction replaces what this one found: nobody shall be served the old one for an hour.
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
    """Called for each answer, before the client can make of it what it likes."""
    if response.is_success:
        return
    response.read()
    try:
        body = response.json()
    except ValueError:
        body = None
    about = body if isinstance(body, dict) else {}
    # Nearly all errors come as 400; the body knows better.
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
        # An answer of 200 that is not the storage's, but that of something in between.
        raise unavailable() from None


def _blocks(response: "httpx.Response") -> Iterator[bytes]:
    check_end_is_known(response.headers)
    with translated():
        yield from response.iter_bytes(BLOCK)
