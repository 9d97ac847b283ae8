"""One file on its way into the vault: streamed, resumed where a connection broke, and verified."""

import hashlib
from collections.abc import Callable, Iterator

from tickwork.errors import JobError
from tickwork.families.imports.errors import Changed, OutOfTime, answered_oddly
from tickwork.families.imports.hashes import hash_of_kind
from tickwork.families.imports.imported_items import Stored
from tickwork.families.imports.items import Item, Provider
from tickwork.families.imports.remote import MAX_REFUSAL_BYTES
from tickwork.jobs.handler import Tools
from tickwork.tools.file_names import UNKNOWN_TYPE
from tickwork.tools.outbound.http import Limits, StreamedResponse, TooLarge, Unreachable
from tickwork.tools.vault import Vault

# How long one request may last: a silent server costs no more than that, and a slow one is asked for the rest.
REQUEST_SECONDS = 120.0
# How many requests in a row may return nothing.
MAX_BREAKS = 3
# The size of an export is not known beforehand.
MAX_BYTES_OF_UNKNOWN_SIZE = 200_000_000


class Stream:
    """The bytes of a file, read once. `failure` is an error of the provider, as opposed to one of the vault."""

    def __init__(
        self, provider: Provider, item: Item, tools: Tools, reserve: float, report: Callable[[int], None]
    ) -> None:
        self._provider = provider
        self._item = item
        self._tools = tools
        self._reserve = reserve
        self._report = report
        self._sha256 = hashlib.sha256()
        kind, _, self._expected = (item.hash or "sha256:").partition(":")
        self._own = hash_of_kind(kind)
        self.size = 0
        self.failure: JobError | None = None

    def __iter__(self) -> Iterator[bytes]:
        try:
            yield from self._blocks()
            self._check()
        except JobError as error:
            self.failure = error
            raise

    def sha256(self) -> str:
        return self._sha256.hexdigest()

    def _blocks(self) -> Iterator[bytes]:
        breaks = 0
        while True:
            before = self.size
            try:
                with self._provider.open(self._item, self.size, self._limits()) as answer:
                    for block in self._rest_of(answer):
                        self._take(block)
                        yield block
                return
            except TooLarge:
                raise Changed() from None
            except Unreachable:
                breaks = 0 if self.size > before else breaks + 1
                if breaks >= MAX_BREAKS:
                    raise

    def _limits(self) -> Limits:
        left = self._tools.seconds_left() - self._reserve
        if left <= 0:
            raise OutOfTime()
        # A refusal may be longer than a small file.
        largest = MAX_BYTES_OF_UNKNOWN_SIZE if self._item.size is None else max(self._item.size, 2 * MAX_REFUSAL_BYTES)
        return Limits(seconds=min(left + 1, REQUEST_SECONDS), max_body_bytes=largest, redirects=3)

    def _rest_of(self, answer: StreamedResponse) -> Iterator[bytes]:
        # Without a hash, only the framing tells a whole file from a part.
        if not {"content-length", "transfer-encoding"} & answer.headers.keys() and not self._expected:
            raise answered_oddly()
        to_skip = self.size if answer.status == 200 else 0
        for block in answer.body:
            rest = block[to_skip:]
            to_skip -= len(block) - len(rest)
            if rest:
                yield rest

    def _take(self, block: bytes) -> None:
        self._tools.check()
        if self._tools.seconds_left() < self._reserve:
            raise OutOfTime()
        self.size += len(block)
        if self._item.size is not None and self.size > self._item.size:
            raise Changed()
        self._sha256.update(block)
        if self._expected:
            self._own.update(block)
        self._report(len(block))

    def _check(self) -> None:
        if self._item.size is not None and self.size != self._item.size:
            raise Changed()
        if self._expected and self._own.hexdigest() != self._expected:
            raise Changed()


def fetch(
    provider: Provider,
    item: Item,
    vault: Vault,
    key: str,
    tools: Tools,
    reserve: float,
    report: Callable[[int], None],
) -> tuple[Stored | None, JobError | None]:
    """What is in the vault afterwards, or what was wrong with the file; errors of the vault are raised."""
    stream = Stream(provider, item, tools, reserve, report)
    try:
        vault.write(key, stream, item.mime_type or UNKNOWN_TYPE)
    except JobError as error:
        if stream.failure is None and error.code != "FILE_TOO_LARGE":
            raise
        return None, stream.failure or error
    return Stored(key, stream.size, stream.sha256()), None
