"""The import function: brings files from cloud drives into the vault."""

from tickwork.handler import Handlers
from tickwork.handlers import loaded_when_due
from tickwork.notifications import PREFIX, notifications
from tickwork.serve import serve

HANDLERS: Handlers = {
    **loaded_when_due("import_dropbox", "import_onedrive", "import_gdrive", "check_connector", "watch_connector")
}

main = serve("import", HANDLERS, {PREFIX: notifications})
