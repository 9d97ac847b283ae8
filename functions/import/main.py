"""The import function: brings files from cloud drives into the vault."""

from tickwork.jobs.handler import Handlers, loaded_when_due
from tickwork.serve import serve
from tickwork.serve.notifications import PREFIX, notifications

HANDLERS: Handlers = loaded_when_due(
    "tickwork.families.imports",
    "import_dropbox",
    "import_onedrive",
    "import_gdrive",
    "check_connector",
    "watch_connector",
)

main = serve("import", HANDLERS, {PREFIX: notifications})
