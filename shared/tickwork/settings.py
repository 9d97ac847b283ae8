"""What a deployment decides, read once from the environment."""

import os
import re
from base64 import b64decode
from collections.abc import Mapping
from importlib.util import find_spec
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Annotated

import psycopg
from psycopg.conninfo import conninfo_to_dict
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, ValidationInfo

from tickwork.errors import BadSetting

PREFIX = "TICKWORK_"


def _is_postgres_url(url: str) -> str:
    if not url.startswith(("postgresql://", "postgres://")):
        raise ValueError("must start with postgresql://")
    if re.search(r"\s", url) or not _is_read_as_meant(url):
        raise ValueError("is no URL: in a password % is written as %25, @ as %40, / as %2F and a space as %20")
    return url


def _is_read_as_meant(url: str) -> bool:
    # Otherwise libpq takes a part of the password for the host or the port, and prints it when it fails.
    try:
        parts = conninfo_to_dict(url)
    except psycopg.Error:
        return False
    return "@" not in str(parts.get("host")) and re.fullmatch("[0-9,]*", str(parts.get("port", ""))) is not None


def are_long_secrets(secrets: str | None) -> str | None:
    # A header cannot carry anything else.
    if secrets is not None and not all(re.fullmatch("[!-~]{32,}", each) for each in secrets.split(",")):
        raise ValueError(
            "must be 32 characters or longer, of ASCII and without spaces; "
            "two, while one replaces the other, are separated by a comma"
        )
    return secrets


def _can_be_checked(audience: str | None) -> str | None:
    if audience and find_spec("jwt") is None:
        raise ValueError("needs PyJWT: install tickwork[oidc] with the function")
    return audience


def _comes_with_audience(email: str | None, info: ValidationInfo) -> str | None:
    if info.data.get("oidc_audience") and not email:
        raise ValueError(f"must be set when {PREFIX}OIDC_AUDIENCE is: anybody can get a token for an audience")
    return email


def _is_safe_url(url: str) -> str:
    # Who can change the keys on their way can wake the function.
    if not url.startswith(("https://", "http://127.0.0.1:")):
        raise ValueError("must start with https://")
    return url


def _is_vault_url(url: str | None) -> str | None:
    if url is not None and not url.startswith(("file:", "s3:", "supabase:")):
        raise ValueError("must start with file:, s3: or supabase:, such as file:/var/lib/tickwork/vault")
    return url


def _are_keys(keys: str | None) -> str | None:
    if keys is not None:
        keys_of(keys)
    return keys


def keys_of(keys: str) -> list[bytes]:
    """The keys themselves, the one that seals first."""
    try:
        decoded = [b64decode(each, validate=True) for each in keys.split(",")]
    except ValueError:
        decoded = []
    if not decoded or any(len(each) != 32 for each in decoded):
        raise ValueError(
            "must be 32 random bytes in base64, such as `openssl rand -base64 32` prints; "
            "two, while one replaces the other, are separated by a comma, the new one first"
        )
    return decoded


def _are_networks(networks: str | None) -> str | None:
    networks_of(networks)
    return networks


def networks_of(networks: str | None) -> tuple[IPv4Network | IPv6Network, ...]:
    """Those that a list names; the word `loopback` is both of this machine's own."""
    listed = [each.strip() for each in (networks or "").split(",") if each.strip()]
    try:
        return tuple(ip_network(name) for each in listed for name in (LOOPBACK if each == "loopback" else (each,)))
    except ValueError:
        raise ValueError(
            "must be networks such as 10.1.0.0/16 or fd00::/64, or loopback, with commas between"
        ) from None


LOOPBACK = ("127.0.0.0/8", "::1/128")


def _is_http_url(url: str | None) -> str | None:
    if url is not None and not url.startswith(("https://", "http://")):
        raise ValueError("must start with https://, or http:// for a server in your own network")
    return url


Secrets = Annotated[str | None, AfterValidator(are_long_secrets)]


class Settings(BaseModel):
    """Each is the environment variable TICKWORK_<NAME>; the README has the table."""

    # Not pydantic-settings: its import alone doubles the cold start of a function.
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    database_url: Annotated[str, AfterValidator(_is_postgres_url)]
    budget_seconds: float = Field(default=50, gt=0, le=3600)
    max_jobs: int = Field(default=100, ge=1, le=100_000)
    look_again_seconds: float = Field(default=0, ge=0, le=3600)
    grace_seconds: float = Field(default=8, ge=0, le=3600)
    bearer_secret: Secrets = None
    hmac_secret: Secrets = None
    oidc_audience: Annotated[str | None, AfterValidator(_can_be_checked)] = None
    oidc_email: Annotated[str | None, AfterValidator(_comes_with_audience)] = Field(default=None, validate_default=True)
    oidc_keys_url: Annotated[str, AfterValidator(_is_safe_url)] = "https://www.googleapis.com/oauth2/v3/certs"
    open_on_loopback: bool = False
    vault_url: Annotated[str | None, AfterValidator(_is_vault_url)] = None
    vault_key: str | None = None
    unstructured_url: Annotated[str | None, AfterValidator(_is_http_url)] = None
    unstructured_api_key: str | None = None
    secret_key: Annotated[str | None, AfterValidator(_are_keys)] = None
    outbound_allow: Annotated[str | None, AfterValidator(_are_networks)] = None
    outbound_block: Annotated[str | None, AfterValidator(_are_networks)] = None
    outbound_http: bool = False
    outbound_authorities: str | None = None
    webhook_seconds: float = Field(default=30, gt=0, le=30)
    dropbox_app_key: str | None = None
    dropbox_app_secret: str | None = None
    dropbox_url: Annotated[str | None, AfterValidator(_is_http_url)] = None
    microsoft_client_id: str | None = None
    microsoft_client_secret: str | None = None
    microsoft_tenant: str = Field(default="common", pattern="^[0-9A-Za-z.-]{1,100}$")
    microsoft_url: Annotated[str | None, AfterValidator(_is_http_url)] = None
    google_client_id: str | None = None
    google_client_secret: str | None = None
    google_url: Annotated[str | None, AfterValidator(_is_http_url)] = None
    notification_secret: Secrets = None


def load_settings(environment: Mapping[str, str] = os.environ) -> Settings:
    """The settings of this process; raises BadSetting with one line that names the first bad one."""
    known = {
        name: environment[PREFIX + name.upper()]
        for name in Settings.model_fields
        if environment.get(PREFIX + name.upper(), "") != ""
    }
    try:
        return Settings.model_validate(known)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        name = PREFIX + str(first["loc"][0]).upper()
        if first["type"] == "missing":
            raise BadSetting(f"{name} is not set. Example: postgresql://tickwork_worker@host:5432/postgres") from None
        raise BadSetting(f"{name}: {first['msg'].removeprefix('Value error, ')}") from None
