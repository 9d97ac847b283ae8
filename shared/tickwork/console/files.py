"""Files of the vault for the browser: by a signed address, or from a folder through this function, piece by piece."""

from contextlib import ExitStack
from threading import BoundedSemaphore
from typing import TYPE_CHECKING
from uuid import UUID

from tickwork.console.page import Redirect, Refused, Sent
from tickwork.errors import JobError, Retryable
from tickwork.tools.vault import vault_of
from tickwork.web.starting import thread_count

if TYPE_CHECKING:
    from tickwork.console.view import View

SIGNED_SECONDS = 300
# Half of the threads: the others serve those who wait for no file.
_downloads = BoundedSemaphore(max(thread_count() // 2, 1))


def file_of(view: "View", tenant_id: UUID, vault_path: str, name: str) -> "Redirect | Sent":
    """A file that SQL has said the viewer may see. Raises Refused."""
    if not has_vault(view):
        raise Refused(404, view.say("The console has no vault: TICKWORK_VAULT_URL is not set for the api function."))
    vault = vault_of(view.settings, tenant_id)
    # The address of a file in a folder is of no use in a browser elsewhere.
    if not (view.settings.vault_url or "").startswith("file:"):
        return Redirect(vault.sign(vault_path, SIGNED_SECONDS))
    with ExitStack() as stack:
        if not _downloads.acquire(blocking=False):
            raise Refused(503, view.say("Too many files are being downloaded at once: try again soon."))
        stack.callback(_downloads.release)
        try:
            pieces = stack.enter_context(vault.read(vault_path))
        except JobError as error:
            raise Refused(503 if isinstance(error, Retryable) else 404, view.say("The vault: {}.", error)) from None
        return Sent(pieces, name, stack.pop_all().close)


def has_vault(view: "View") -> bool:
    return view.settings.vault_url is not None
