"""An import: lists what has changed, fetches it file by file, and leaves the rest to a follow-up job."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Annotated, Any, Concatenate, ParamSpec, TypeVar
from uuid import UUID, uuid5

from pydantic import AfterValidator, BaseModel

from tickwork.errors import Interrupted, JobError, NotYet, Permanent, RateLimited
from tickwork.families.imports import connector_state, imported_items, summary
from tickwork.families.imports.connector_state import Connector
from tickwork.families.imports.download import fetch
from tickwork.families.imports.errors import Changed, NotThere, OutOfTime, Resync, Unusable, answered_oddly
from tickwork.families.imports.items import Item, Provider, normalised
from tickwork.families.imports.summary import Named
from tickwork.jobs.handler import Tools
from tickwork.jobs.outcomes import Done
from tickwork.jobs.rows import FollowUp
from tickwork.tools.file_names import as_name
from tickwork.tools.vault import Vault, document_key

P = ParamSpec("P")
T = TypeVar("T")

# How much of a job's time is reserved for saving its progress: a tenth, or at most this many seconds.
RESERVED_SECONDS = 20.0
# How many files one job imports: so that its result stays readable, and extraction starts before all are imported.
FILES_PER_JOB = 500
ITEMS_AT_ONCE = 50
MAX_FOLDER_LENGTH = 2000
# If this many different files in a row cannot be fetched, the provider is at fault, not the files.
MAX_IN_A_ROW = 3
# A file that changes more often than this while it is being fetched is left to a later import.
MAX_CHANGES = 3


def is_short(path: str | None) -> str | None:
    # As connector_folders allows.
    if path is not None and len(path.encode()) > MAX_FOLDER_LENGTH:
        raise ValueError(f"must have at most {MAX_FOLDER_LENGTH} bytes")
    return path


class Payload(BaseModel):
    """Everything below `remote_path`, or only `files`; without either, the folders that were imported before."""

    connector_id: UUID
    remote_path: Annotated[str | None, AfterValidator(is_short)] = None
    files: list[str] | None = None
    continues: UUID | None = None


class Import:
    def __init__(self, payload: Payload, tools: Tools, connector: Connector, provider: Provider, vault: Vault) -> None:
        self._payload = payload
        self._tools = tools
        self._connector = connector
        self._provider = provider
        self._vault = vault
        self._reserve = min(RESERVED_SECONDS, tools.timeout / 10)
        self._files = self._bytes = self._unchanged = 0
        self._all_files = self._all_bytes = 0
        self._folder = ""
        self._unfound: list[Named] = []
        self._failed_in_a_row: set[str] = set()
        self._changes: Counter[str] = Counter()

    def run(self) -> Done:
        """Raises NotYet if the provider asks to wait: what was done until then is kept."""
        try:
            rest = self._rest_of_folders() if self._payload.files is None else self._rest_of_files()
        except RateLimited as limit:
            pause = limit.delay or 60.0
            raise NotYet(str(limit), delay=pause, hold=pause) from None
        return self._done(rest)

    def _rest_of_folders(self) -> Payload | None:
        """What is left to do when the time is up."""
        named = self._payload.remote_path
        for folder in self._noted(connector_state.folders) if named is None else [normalised(named)]:
            self._folder = folder
            with self._missing_folder_named(folder):
                if not (self._list(folder) and self._fetch_all(folder)):
                    return self._payload.model_copy(update={"continues": self._tools.job_id})
        return None

    @contextmanager
    def _missing_folder_named(self, folder: str) -> Iterator[None]:
        try:
            yield
        except NotThere as error:
            # A folder that was asked for must exist. One of many is not a reason to skip the others.
            if self._payload.remote_path is not None:
                raise Permanent("The folder does not exist", code="FOLDER_MISSING") from None
            self._unfound.append(Named(name=as_name(folder)[-100:], reason="FOLDER_MISSING", message=str(error)))

    def _list(self, folder: str) -> bool:
        """Record everything that has changed; False if the time was up first."""
        if self._payload.continues is None:
            self._noted(connector_state.try_failed_again, folder, self._tools.job_id)
        cursor, listed = self._noted(connector_state.cursor_of, folder), 0
        seen, is_resynced = set[int](), False
        while not self._time_is_up():
            self._tools.progress(0.0, f"listing, {listed} files so far")
            try:
                page = self._provider.changes(folder, cursor)
            except Resync as resync:
                if cursor is None or cursor == resync.cursor or is_resynced:
                    raise
                # The cursor that the provider names instead is saved once it has led somewhere.
                self._noted(connector_state.save_cursor, folder, None, False)
                cursor, seen, is_resynced = resync.cursor, set[int](), True
                continue
            self._unchanged += self._noted(connector_state.save_page, folder, page, self._tools.job_id)
            cursor, listed = page.cursor, listed + len(page.items)
            if page.is_last:
                return True
            # As hashes, because a cursor may be long.
            if hash(cursor) in seen:
                raise answered_oddly()
            seen.add(hash(cursor))
        return False

    def _fetch_all(self, folder: str) -> bool:
        """Fetch what was recorded; False if the time was up first."""
        files, size = self._noted(connector_state.count_to_fetch, folder)
        self._all_files, self._all_bytes = self._files + files, self._bytes + size
        while items := self._noted(connector_state.to_fetch, folder, ITEMS_AT_ONCE):
            for item in items:
                if self._time_is_up() or not self._bring(item):
                    return False
        return True

    def _rest_of_files(self) -> Payload | None:
        files = list(dict.fromkeys(self._payload.files or []))
        self._all_files = len(files)
        for position, named in enumerate(files):
            if self._time_is_up() or not self._bring_named(self._path_of(named)):
                return self._payload.model_copy(update={"files": files[position:], "continues": self._tools.job_id})
        return None

    def _path_of(self, named: str) -> str:
        is_whole = named.startswith(("/", "id:")) or not self._payload.remote_path
        return normalised(named if is_whole else f"{self._payload.remote_path}/{named}")

    def _bring_named(self, path: str) -> bool:
        try:
            item = self._provider.find(path)
            self._unchanged += self._noted(connector_state.save_items, "", [item], self._tools.job_id)
            # Each round counts as one of its tries.
            while self._noted(connector_state.is_to_fetch, item):
                if not self._bring(item):
                    return False
                item = self._provider.find(path)
        except Unusable:
            raise
        except Permanent as error:
            self._unfound.append(Named(name=as_name(path)[-100:], reason=error.code, message=str(error)))
        return True

    def _bring(self, item: Item) -> bool:
        """Turn a file into a document, or record why not; False if there is not enough time."""
        kind, _, told = (item.hash or "").partition(":")
        if kind == "sha256" and self._noted(imported_items.link, item, told, self._tools.job_id):
            self._files += 1
            return True
        # The next attempt of this job writes to the same place, so a killed one leaves nothing behind.
        id = uuid5(self._tools.job_id, f"{item.drive}/{item.id}/{item.revision}")
        key = document_key(self._tools.tenant_id, item.name, id)
        stored, failure = fetch(self._provider, item, self._vault, key, self._tools, self._reserve, self._count)
        if failure:
            return self._coped_with(item, failure)
        assert stored is not None
        if not self._noted(imported_items.register, item, stored, self._tools.job_id):
            self._vault.delete(key)
        self._files += 1
        self._failed_in_a_row.clear()
        return True

    def _coped_with(self, item: Item, failure: JobError) -> bool:
        match failure:
            case Interrupted() | RateLimited() | Unusable():
                raise failure
            case OutOfTime() if self._files or self._payload.continues is None:
                # The follow-up job starts with it, and has more time.
                return False
            case Changed() | NotThere() if self._has_newer(item):
                return True
        is_final = isinstance(failure, Permanent | OutOfTime)
        self._noted(imported_items.note_failure, item, failure, is_final, self._tools.job_id)
        self._files += is_final
        if not is_final:
            self._failed_in_a_row.add(item.id)
            if len(self._failed_in_a_row) >= MAX_IN_A_ROW:
                raise failure
        return True

    def _has_newer(self, item: Item) -> bool:
        """Whether there is a newer revision; it is recorded, and fetched instead."""
        with suppress(NotThere):
            latest = self._provider.again(item)
            if latest.revision != item.revision and self._changes[item.id] < MAX_CHANGES:
                self._changes[item.id] += 1
                self._noted(connector_state.save_items, self._folder, [latest], self._tools.job_id)
                return True
        return False

    def _count(self, size: int) -> None:
        self._bytes += size
        share = self._bytes / self._all_bytes if self._all_bytes else self._files / max(self._all_files, 1)
        files, megabytes = f"{self._files} of {self._all_files} files", f"{self._bytes / 1e6:,.1f}"
        self._tools.progress(share, f"{files}, {megabytes} of {self._all_bytes / 1e6:,.1f} MB")

    def _time_is_up(self) -> bool:
        self._tools.check()
        return self._tools.seconds_left() < self._reserve or self._files >= FILES_PER_JOB

    def _done(self, rest: Payload | None) -> Done:
        documents = self._noted(summary.documents_to_read)
        result = self._noted(summary.sum_up, self._tools.job_id, self._unchanged, self._unfound, rest is not None)
        engine = self._connector.extract
        return Done(
            result,
            writes=[partial(summary.hand_on, self._connector, documents)] if documents else [],
            follow_ups=[
                *(summary.reading(each, engine) for each in documents),
                *([self._follow_up(rest)] if rest else []),
            ],
        )

    def _follow_up(self, rest: Payload) -> FollowUp:
        return FollowUp(
            type=f"import_{self._connector.provider}",
            payload=rest.model_dump(mode="json", exclude_none=True),
            lane=f"connector:{self._connector.id}",
        )

    def _noted(self, work: Callable[Concatenate[Any, Connector, P], T], *given: P.args, **named: P.kwargs) -> T:
        """Run the function in its own transaction under the lease."""
        return self._tools.under_lease(lambda connection: work(connection, self._connector, *given, **named))
