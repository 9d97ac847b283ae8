"""From a connector's row to a drive that can be read: its provider's API, its tokens, and their URLs."""

from urllib.parse import urlsplit
from uuid import UUID

from tickwork.errors import Permanent
from tickwork.families.imports import connector_state
from tickwork.families.imports.connector_state import Connector
from tickwork.families.imports.errors import NotSetUp, Reauthorize
from tickwork.families.imports.import_drive import Import, Payload
from tickwork.families.imports.items import Provider
from tickwork.families.imports.remote import Remote
from tickwork.families.imports.tokens import Client, Tokens
from tickwork.jobs.handler import Tools
from tickwork.jobs.outcomes import Done
from tickwork.settings import Settings, load_settings
from tickwork.tools.outbound.policy import policy_of
from tickwork.tools.secrets import SecretStore
from tickwork.tools.vault import vault_of


def run_import(payload: Payload, tools: Tools, provider: str) -> Done:
    """What the handlers of all providers have in common."""
    settings = load_settings()
    connector = tools.under_lease(
        lambda connection: connector_state.read_connector(connection, payload.connector_id, provider)
    )
    if connector.status == "reauthorize":
        raise Reauthorize()
    if connector.status != "active":
        raise Permanent("The connector has been disabled", code="CONNECTOR_DISABLED")
    drive = open_drive(connector, tools, settings)
    return Import(payload, tools, connector, drive, vault_of(settings, tools.tenant_id)).run()


def open_drive(connector: Connector, tools: Tools, settings: Settings) -> Provider:
    match connector.provider:
        case "dropbox":
            return open_dropbox(connector.id, tools, settings)
        case "onedrive":
            return open_onedrive(connector.id, tools, settings)
        case "gdrive":
            return open_gdrive(connector.id, tools, settings)
        case _:
            raise Permanent("This version does not support the provider", code="PROVIDER_UNKNOWN")


def open_dropbox(connector_id: UUID, tools: Tools, settings: Settings) -> Provider:
    from tickwork.families.imports import dropbox

    own = own_server(settings.dropbox_url)
    api, content = own or dropbox.API, own or dropbox.CONTENT
    client = Client(*registered(settings, "dropbox_app_key", "dropbox_app_secret"), api + dropbox.RENEWAL_PATH)
    tokens = tokens_of(connector_id, tools, settings, client)
    return dropbox.Dropbox(Remote(tokens, policy_of(settings), (api, content), dropbox.error_of), api, content)


def open_onedrive(connector_id: UUID, tools: Tools, settings: Settings) -> Provider:
    from tickwork.families.imports import onedrive

    own = own_server(settings.microsoft_url)
    api, login = own or onedrive.API, own or onedrive.LOGIN
    registration = registered(settings, "microsoft_client_id", "microsoft_client_secret")
    renewals = login + onedrive.RENEWAL_PATH.format(tenant=settings.microsoft_tenant)
    tokens = tokens_of(connector_id, tools, settings, Client(*registration, renewals))
    return onedrive.OneDrive(Remote(tokens, policy_of(settings), (api,), onedrive.error_of), api)


def open_gdrive(connector_id: UUID, tools: Tools, settings: Settings) -> Provider:
    from tickwork.families.imports import gdrive

    own = own_server(settings.google_url)
    api, login, exports = own or gdrive.API, own or gdrive.LOGIN, own or gdrive.EXPORTS_AT
    registration = registered(settings, "google_client_id", "google_client_secret")
    tokens = tokens_of(connector_id, tools, settings, Client(*registration, login + gdrive.RENEWAL_PATH))
    return gdrive.GoogleDrive(Remote(tokens, policy_of(settings), (api, exports), gdrive.error_of), api)


def tokens_of(connector_id: UUID, tools: Tools, settings: Settings, client: Client) -> Tokens:
    return Tokens(tools, SecretStore(settings.secret_key), connector_id, client, policy_of(settings))


def registered(settings: Settings, id: str, secret: str) -> tuple[str, str]:
    """The operator's app at the provider, from the settings of these names."""
    values = {name: getattr(settings, name) for name in (id, secret)}
    if missing := " and ".join(f"TICKWORK_{name.upper()}" for name, value in values.items() if not value):
        raise NotSetUp(f"The operator has not registered an app with this provider: {missing} must be set")
    return values[id], values[secret]


def own_server(url: str | None) -> str | None:
    """A server that stands in for those of the provider, without a trailing slash."""
    if url is None:
        return None
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"
