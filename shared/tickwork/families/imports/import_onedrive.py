"""import_onedrive: files of a OneDrive become documents."""

from tickwork.families.imports.import_drive import Payload
from tickwork.families.imports.providers import run_import
from tickwork.families.imports.summary import Result
from tickwork.jobs.handler import Handler, Tools
from tickwork.jobs.outcomes import Done


def import_onedrive(payload: Payload, tools: Tools) -> Done:
    return run_import(payload, tools, "onedrive")


IMPORT_ONEDRIVE: Handler[Payload] = Handler(Payload, import_onedrive, Result)
