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


def _is_tenant(name: str) -> str:
    if not re.fullmatch("[0-9A-Za-z.-]{1,100}", name):
        raise ValueError("must be at most 100 letters, digits, dots and hyphens")
    return name


def _is_worker_id(name: str) -> str:
    if not name.isprintable() or len(name.encode()) > 200:
        raise ValueError("must be at most 200 bytes of printable characters")
    return name


def _seconds(at_most: int, *, is_positive: bool = False, per_second: int = 1) -> Callable[[str], float]:
    """Reads seconds, or milliseconds if there are 1000 per second."""
    most = at_most * per_second
    span = f"above 0 and at most {most}" if is_positive else f"from 0 to {most}"

    def seconds(text: str) -> float:
        value = _number(text)
        if not 0 <= value <= most or (is_positive and value == 0):
            raise ValueError(f"must be a number {span}")
        return value / per_second

    return seconds


def _whole_number(at_least: int, at_most: int) -> Callable[[str], int]:
    def whole_number(text: str) -> int:
        value = _number(text)
        if not at_least <= value <= at_most or not value.is_integer():
            raise ValueError(f"must be a whole number from {at_least} to {at_most}")
        return int(value)

    return whole_number


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        # NaN is neither less nor greater than anything.
        return float("nan")


def _yes_or_no(text: str) -> bool:
    word = text.lower()
    if word not in (*YES, *NO):
        raise ValueError("must be true or false")
    return word in YES


YES = ("true", "1", "yes", "on", "y", "t")
NO = ("false", "0", "no", "off", "n", "f")

Secrets = Annotated[str | None, are_long_secrets]


@dataclass(frozen=True)
class Settings:
    """Each is the environment variable TICKWORK_<NAME>, read by the function after its type."""

    # Not pydantic: a function that finds nothing due does not need it, and would take a third longer to start.
    database_url: Annotated[str, is_postgres_url]
    budget_seconds: Annotated[float, _seconds(3600, is_positive=True)] = 50
    max_jobs: Annotated[int, _whole_number(1, 100_000)] = 100
    look_again_seconds: Annotated[float, _seconds(3600)] = 0
    grace_seconds: Annotated[float, _seconds(3600)] = 8
    poll_seconds: Annotated[float, _seconds(3600, is_positive=True)] = 1
    lease_seconds: Annotated[int | None, _whole_number(10, 3600)] = None
    heartbeat_seconds: Annotated[float | None, _seconds(1800, is_positive=True)] = None
    worker_id: Annotated[str | None, _is_worker_id] = None
    bearer_secret: Secrets = None
    hmac_secret: Secrets = None
    oidc_audience: Annotated[str | None, _can_be_checked] = None
    oidc_email: str | None = None
    oidc_keys_url: Annotated[str, _is_safe_url] = "https://www.googleapis.com/oauth2/v3/certs"
    open_on_loopback: Annotated[bool, _yes_or_no] = False
    vault_url: Annotated[str | None, _is_vault_url] = None
    vault_key: str | None = None
    unstructured_url: Annotated[str | None, _is_http_url] = None
    unstructured_api_key: str | None = None
    secret_key: Annotated[str | None, _are_keys] = None
    outbound_allow: Annotated[str | None, _are_networks] = None
    outbound_block: Annotated[str | None, _are_networks] = None
    outbound_http: Annotated[bool, _yes_or_no] = False
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
    "BPC_JOBS_POLL_INTERVAL_MS": ("poll_seconds", _seconds(3600, is_positive=True, per_second=1000)),
    "BPC_JOBS_LEASE_SECONDS": ("lease_seconds", READERS["lease_seconds"]),
    "BPC_JOBS_LEASE_RENEW_SECONDS": ("heartbeat_seconds", READERS["heartbeat_seconds"]),
    "BPC_WORKER_ID": ("worker_id", READERS["worker_id"]),
}
