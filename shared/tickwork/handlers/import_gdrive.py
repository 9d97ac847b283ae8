"""import_gdrive: files of a Google Drive become documents."""

from tickwork.connectors.importing import Payload
from tickwork.connectors.opening import run_import
from tickwork.handler import Handler, Tools
from tickwork.outcomes import Done


def import_gdrive(payload: Payload, tools: Tools) -> Done:
    return run_import(payload, tools, "gdrive")


IMPORT_GDRIVE: Handler[Payload] = Handler(Payload, import_gdrive)
