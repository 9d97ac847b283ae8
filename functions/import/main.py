"""The import function: brings files from cloud drives into the vault."""

from tickwork.handler import Handlers
from tickwork.handlers.check_connector import CHECK_CONNECTOR
from tickwork.handlers.import_dropbox import IMPORT_DROPBOX
from tickwork.handlers.import_gdrive import IMPORT_GDRIVE
from tickwork.handlers.import_onedrive import IMPORT_ONEDRIVE
from tickwork.handlers.watch_connector import WATCH_CONNECTOR
from tickwork.notifications import PREFIX, notifications
from tickwork.serve import serve

HANDLERS: Handlers = {
    "import_dropbox": IMPORT_DROPBOX,
    "import_onedrive": IMPORT_ONEDRIVE,
    "import_gdrive": IMPORT_GDRIVE,
    "check_connector": CHECK_CONNECTOR,
    "watch_connector": WATCH_CONNECTOR,
}

main = serve("import", HANDLERS, {PREFIX: notifications})
