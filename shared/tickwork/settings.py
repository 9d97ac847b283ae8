"""The settings of a deployment, read once from the environment."""

import os
import re
from base64 import b64decode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Annotated, Any, get_type_hints

import psycopg
from psycopg.conninfo import conninfo_to_dict

from tickwork.errors import BadSetting
from tickwork.setting_values import is_amqp_name, is_amqp_url, seconds, whole_number, yes_or_no

PREFIX = "TICKWORK_"
# That of types that have none of their own.
USUAL_LEASE_SECONDS = 60


def is_postgres_url(url: str) -> str:
    if not url.startswith(("postgresql://", "postgres://")):
        raise ValueError("must start with postgresql://")
    if re.search(r"\s", url) or not _is_read_as_meant(url):
        raise ValueError("is not a valid URL: in a password write % as %25, @ as %40, / as %2F and a space as %20")
    return url


def _is_read_as_meant(url: str) -> bool:
    # Otherwise libpq would take part of the password for the host or the port, and print it on failure.
    try:
        parts = conninfo_to_dict(url)
    except psycopg.Error:
        return False
    credentials, _, _ = url.partition("://")[2].rpartition("@")
    return not re.search("[@/]", credentials) and re.fullmatch("[0-9,]*", str(parts.get("port", ""))) is not None


def are_long_secrets(secrets: str) -> str:
    # A header cannot carry anything else.
    if not all(re.fullmatch("[!-~]{32,}", each) for each in secrets.split(",")):
        raise ValueError(
            "must be at least 32 ASCII characters without spaces; "
            "while one replaces another, separate the two by a comma"
        )
    return secrets


def _can_be_checked(audience: str) -> str:
    if find_spec("jwt") is None:
        raise ValueError("needs PyJWT: install tickwork[oidc] with the function")
    return audience


def _is_safe_url(url: str) -> str:
    # Whoever could tamper with the keys in transit could wake the function.
    if not url.startswith(("https://", "http://127.0.0.1:")):
        raise ValueError("must start with https://")
    return url


def _is_safe_jwks_url(url: str) -> str:
    return _can_be_checked(_is_safe_url(url))


def _are_origins(origins: str) -> str:
    if not all(re.fullmatch(r"https?://[^/\s,]+|\*", each) for each in origins.split(",")):
        raise ValueError("must be origins such as https://app.example.com, separated by commas, or *")
    return origins


def _is_path(path: str) -> str:
    if not re.fullmatch("(/[0-9A-Za-z._-]+)+", path) or path.startswith(("/api/", "/health")):
        raise ValueError("must be a path such as /console, and not one of the API's")
    return path


def _is_long_secret(secret: str) -> str:
    if len(secret) < 32:
        raise ValueError("must be at least 32 characters")
    return _can_be_checked(secret)


def _is_vault_url(url: str) -> str:
    if not url.startswith(("file:", "s3:", "supabase:")):
        raise ValueError("must start with file:, s3: or supabase:, such as file:/var/lib/tickwork/vault")
    return url


def _are_keys(keys: str) -> str:
    keys_of(keys)
    return keys


def keys_of(keys: str) -> list[bytes]:
    """The keys, the one that seals first."""
    try:
        decoded = [b64decode(each, validate=True) for each in keys.split(",")]
    except ValueError:
        decoded = []
    if not decoded or any(len(each) != 32 for each in decoded):
        raise ValueError(
            "must be 32 random bytes in base64, such as `openssl rand -base64 32` prints; "
            "while one replaces another, separate the two by a comma, the new one first"
        )
    return decoded


def _are_networks(networks: str) -> str:
    networks_of(networks)
    return networks


def networks_of(networks: str | None) -> tuple[IPv4Network | IPv6Network, ...]:
    """The networks in a list; `loopback` means both of this machine's loopback networks."""
    listed = [each.strip() for each in (networks or "").split(",") if each.strip()]
    try:
        return tuple(ip_network(name) for each in listed for name in (LOOPBACK if each == "loopback" else (each,)))
    except ValueError:
        raise ValueError(
            "must be networks such as 10.1.0.0/16 or fd00::/64, or loopback, separated by commas"
        ) from None


LOOPBACK = ("127.0.0.0/8", "::1/128")


def _is_http_url(url: str) -> str:
    if not url.startswith(("https://", "http://")):
        raise ValueError("must start with https://, or http:// for a server in your own network")
    return url


def _is_absolute(path: str) -> str:
    if not path.startswith("/"):
        raise ValueError("must be an absolute path, such as /etc/tickwork/commands.toml")
    return path


def _is_tenant(name: str) -> str:
    if not re.fullmatch("[0-9A-Za-z.-]{1,100}", name):
        raise ValueError("must be at most 100 letters, digits, dots and hyphens")
    return name


def _is_worker_id(name: str) -> str:
    if not name.isprintable() or len(name.encode()) > 200:
        raise ValueError("must be at most 200 bytes of printable characters")
    return name


def _is_label(name: str) -> str:
    if not re.fullmatch("[0-9A-Za-z._-]{1,100}", name):
        raise ValueError("must be at most 100 letters, digits, dots, hyphens and underscores")
    return name


Secrets = Annotated[str | None, are_long_secrets]


@dataclass(frozen=True)
class Settings:
    """Each is the environment variable TICKWORK_<NAME>, read by the function after its type."""

    # Not pydantic: a function that finds nothing due does not need it, and would take a third longer to start.
    database_url: Annotated[str, is_postgres_url]
    budget_seconds: Annotated[float, seconds(3600, is_positive=True)] = 50
    max_jobs: Annotated[int, whole_number(1, 100_000)] = 100
    look_again_seconds: Annotated[float, seconds(3600)] = 0
    grace_seconds: Annotated[float, seconds(3600)] = 8
    poll_seconds: Annotated[float, seconds(3600, is_positive=True)] = 1
    lease_seconds: Annotated[int | None, whole_number(10, 3600)] = None
    heartbeat_seconds: Annotated[float | None, seconds(1800, is_positive=True)] = None
    worker_id: Annotated[str | None, _is_worker_id] = None
    log_each_job: Annotated[bool, yes_or_no] = False
    amqp_url: Annotated[str | None, is_amqp_url] = None
    amqp_enabled: Annotated[bool | None, yes_or_no] = None
    amqp_exchange: Annotated[str, is_amqp_name] = "bpc"
    amqp_routing_key: Annotated[str, is_amqp_name] = "jobs.trigger"
    health_require_amqp: Annotated[bool, yes_or_no] = False
    bearer_secret: Secrets = None
    hmac_secret: Secrets = None
    oidc_audience: Annotated[str | None, _can_be_checked] = None
    oidc_email: str | None = None
    oidc_keys_url: Annotated[str, _is_safe_url] = "https://www.googleapis.com/oauth2/v3/certs"
    jwt_issuer: Annotated[str | None, _is_safe_url] = None
    jwks_url: Annotated[str | None, _is_safe_jwks_url] = None
    jwt_secret: Annotated[str | None, _is_long_secret] = None
    jwt_audience: str = "authenticated"
    api_origins: Annotated[str | None, _are_origins] = None
    console_secret: Annotated[str | None, _is_long_secret] = None
    console_auth_key: str | None = None
    console_path: Annotated[str, _is_path] = "/console"
    console_frame_ancestors: Annotated[str | None, _are_origins] = None
    console_read_only: Annotated[bool, yes_or_no] = False
    open_on_loopback: Annotated[bool, yes_or_no] = False
    vault_url: Annotated[str | None, _is_vault_url] = None
    vault_key: str | None = None
    unstructured_url: Annotated[str | None, _is_http_url] = None
    unstructured_api_key: str | None = None
    secret_key: Annotated[str | None, _are_keys] = None
    # Read by sign_passport, whose jobs fail by name if there is none or it is no key.
    signing_key: str | None = None
    signing_key_name: Annotated[str | None, _is_label] = None
    outbound_allow: Annotated[str | None, _are_networks] = None
    outbound_block: Annotated[str | None, _are_networks] = None
    outbound_http: Annotated[bool, yes_or_no] = False
    outbound_authorities: str | None = None
    dropbox_app_key: str | None = None
    dropbox_app_secret: str | None = None
    dropbox_url: Annotated[str | None, _is_http_url] = None
    microsoft_client_id: str | None = None
    microsoft_client_secret: str | None = None
    microsoft_tenant: Annotated[str, _is_tenant] = "common"
    microsoft_url: Annotated[str | None, _is_http_url] = None
    google_client_id: str | None = None
    google_client_secret: str | None = None
    google_url: Annotated[str | None, _is_http_url] = None
    notification_secret: Secrets = None
    commands_file: Annotated[str | None, _is_absolute] = None
    compiler_build_id: Annotated[str | None, _is_label] = None


def load_settings(environment: Mapping[str, str] = os.environ) -> Settings:
    """The settings of this process; raises BadSetting with one line that names the first bad one."""
    if not environment.get(f"{PREFIX}DATABASE_URL"):
        raise BadSetting(f"{PREFIX}DATABASE_URL is not set. Example: postgresql://tickwork_worker@host:5432/postgres")
    settings = Settings(**_given(environment))
    lease = settings.lease_seconds or USUAL_LEASE_SECONDS
    if settings.heartbeat_seconds and settings.heartbeat_seconds > lease / 2:
        raise BadSetting(
            f"{PREFIX}HEARTBEAT_SECONDS: must be at most {lease / 2:g}, half of the lease of {lease} seconds, "
            f"so that a job outlives a late heartbeat. {PREFIX}LEASE_SECONDS makes leases longer"
        )
    if settings.oidc_audience and not settings.oidc_email:
        raise BadSetting(
            f"{PREFIX}OIDC_EMAIL: must be set with {PREFIX}OIDC_AUDIENCE, as anybody can get a token for an audience"
        )
    if settings.jwks_url and settings.jwt_secret:
        raise BadSetting(
            f"{PREFIX}JWT_SECRET: must not be set with {PREFIX}JWKS_URL, or a public key could be taken for a secret"
        )
    if (settings.jwks_url or settings.jwt_secret) and not settings.jwt_issuer:
        raise BadSetting(f"{PREFIX}JWT_ISSUER: must be set with {PREFIX}JWKS_URL or {PREFIX}JWT_SECRET")
    if (settings.amqp_enabled or settings.health_require_amqp) and not settings.amqp_url:
        raise BadSetting(
            f"{PREFIX}AMQP_URL: must be set with {PREFIX}AMQP_ENABLED (BPC_QUEUE_ENABLED) or "
            f"{PREFIX}HEALTH_REQUIRE_AMQP (BPC_HEALTH_REQUIRE_QUEUE)"
        )
    return settings


def _given(environment: Mapping[str, str]) -> dict[str, Any]:
    """The settings that are set, by their own variables or by those of the source documents."""
    given: dict[str, Any] = {}
    for name, variable in VARIABLES.items():
        if text := environment.get(variable):
            given[name] = _read(variable, READERS[name], text)
    for alias, (name, reader) in ALIASES.items():
        if text := environment.get(alias):
            value = _read(alias, reader, text)
            if given.setdefault(name, value) != value:
                raise BadSetting(f"{alias}: {VARIABLES[name]} means the same and has another value. Unset one of them")
    return given


def _read(variable: str, reader: Callable[[str], Any], text: str) -> Any:
    try:
        return reader(text)
    except ValueError as error:
        # Without its context, which may contain the value.
        raise BadSetting(f"{variable}: {error}") from None


VARIABLES = {name: PREFIX + name.upper() for name in Settings.__dataclass_fields__}
READERS: Mapping[str, Callable[[str], Any]] = {
    name: (*getattr(hint, "__metadata__", ()), str)[0]
    for name, hint in get_type_hints(Settings, include_extras=True).items()
}
# The variables of the source documents that mean the same, and how to read them.
ALIASES: Mapping[str, tuple[str, Callable[[str], Any]]] = {
    "BPC_JOBS_POLL_INTERVAL_MS": ("poll_seconds", seconds(3600, is_positive=True, per_second=1000)),
    "BPC_JOBS_LEASE_SECONDS": ("lease_seconds", READERS["lease_seconds"]),
    "BPC_JOBS_LEASE_RENEW_SECONDS": ("heartbeat_seconds", READERS["heartbeat_seconds"]),
    "BPC_WORKER_ID": ("worker_id", READERS["worker_id"]),
    "BPC_QUEUE_ENABLED": ("amqp_enabled", READERS["amqp_enabled"]),
    "BPC_HEALTH_REQUIRE_QUEUE": ("health_require_amqp", READERS["health_require_amqp"]),
    "BPC_SIGNING_ED25519_PRIVATE_KEY_BASE64": ("signing_key", READERS["signing_key"]),
    "BPC_SIGNING_KEY_ID": ("signing_key_name", READERS["signing_key_name"]),
    "BPC_COMPILER_BUILD_ID": ("compiler_build_id", READERS["compiler_build_id"]),
}
