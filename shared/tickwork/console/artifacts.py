"""Artifacts: the files of a job, to download."""

from typing import TYPE_CHECKING

from tickwork.console.files import SIGNED_SECONDS, file_of
from tickwork.console.page import Page

if TYPE_CHECKING:
    from tickwork.console.page import Redirect, Sent
    from tickwork.console.view import View


def download_artifact(view: "View", artifact_id: str) -> "Redirect | Sent":
    found = view.row("sign_artifact", artifact_id=view.id_of(artifact_id), seconds=SIGNED_SECONDS)
    # The end of its path is its id and its name.
    return file_of(view, found["tenant_id"], found["vault_path"], found["vault_path"].rpartition("/")[2][37:])


PAGES = (Page("GET", "/artifacts/{artifact_id}/file", download_artifact, module="reports"),)
