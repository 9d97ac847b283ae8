"""import_dropbox: files of a Dropbox become documents."""

from tickwork.connectors.importing import Payload
from tickwork.connectors.opening import run_import
from tickwork.handler import Handler, Tools
from tickwork.outcomes import Done


def import_dropbox(payload: Payload, tools: Tools) -> Done:
    return run_import(payload, tools, "dropbox")


IMPORT_DROPBOX: Handler[Payload] = Handler(Payload, import_dropbox)
