"""import_onedrive: files of a OneDrive become documents."""

from tickwork.connectors.importing import Payload
from tickwork.connectors.opening import run_import
from tickwork.handler import Handler, Tools
from tickwork.outcomes import Done


def import_onedrive(payload: Payload, tools: Tools) -> Done:
    return run_import(payload, tools, "onedrive")


IMPORT_ONEDRIVE: Handler[Payload] = Handler(Payload, import_onedrive)
