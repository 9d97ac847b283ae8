"""Where the vault is: TICKWORK_VAULT_URL, parsed without any library, so that it can be checked at the start."""

import re
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import parse_qs, urlsplit

from tickwork.errors import BadSetting

EXAMPLES = {
    "file": "file:/var/lib/tickwork/vault",
    "s3": "s3://tenant-vault?endpoint=https://storage.example.com&region=eu-central-1",
    "supabase": "supabase:https://project.supabase.co?bucket=tenant-vault",
}
BUCKET = "tenant-vault"
LOOPBACK = ("127.0.0.1", "::1", "localhost")


@dataclass(frozen=True)
class Address:
    """`place` is a folder, an S3 endpoint (empty for Amazon's own) or the URL of a Supabase project."""

    kind: Literal["file", "s3", "supabase"]
    place: str
    bucket: str = BUCKET
    region: str | None = None
    key: str = field(default="", repr=False)


def parse(url: str, key: str | None = None) -> Address:
    """The parts of the URL; raises BadSetting with one line that never contains the URL, which may hold a password."""
    kind, _, rest = url.partition(":")
    try:
        match kind:
            case "file":
                return Address("file", _folder(rest))
            case "s3":
                return _s3(_printable(rest))
            case "supabase":
                return _supabase(_printable(rest), key)
    except ValueError as error:
        raise BadSetting(f"TICKWORK_VAULT_URL: {error}. Example: {EXAMPLES[kind]}") from None
    raise BadSetting(f"TICKWORK_VAULT_URL: must start with file:, s3: or supabase:. Example: {EXAMPLES['file']}")


def _folder(rest: str) -> str:
    folder = rest[2:] if rest.startswith("///") else rest
    if not folder or folder.startswith("//") or "\0" in folder:
        raise ValueError("file: must be followed by the path of a folder on this machine")
    return folder


def _printable(rest: str) -> str:
    if re.search("[^!-~]", rest):
        raise ValueError("a URL must be ASCII without spaces")
    return rest


def _s3(rest: str) -> Address:
    if not rest.startswith("//"):
        raise ValueError("s3: must be followed by // and the bucket")
    parts = urlsplit(f"s3:{rest}")
    if parts.path not in ("", "/") or parts.fragment:
        raise ValueError("the bucket can only be followed by ?endpoint=…&region=…")
    options = _options(parts.query, "endpoint", "region")
    endpoint = _safe(options["endpoint"]) if "endpoint" in options else ""
    region = options.get("region")
    if region is not None and not re.fullmatch("[a-z0-9-]{1,40}", region):
        raise ValueError("the region is not valid")
    return Address("s3", endpoint, _bucket(parts.netloc or BUCKET), region)


def _supabase(rest: str, key: str | None) -> Address:
    url, _, query = rest.partition("?")
    bucket = _options(query, "bucket").get("bucket", BUCKET)
    address = Address("supabase", _safe(url), _bucket(bucket), key=key or "")
    # A header cannot carry anything else.
    if not re.fullmatch("[!-~]+", address.key):
        raise BadSetting("TICKWORK_VAULT_KEY: a supabase: vault needs a key with access to the bucket, without spaces")
    return address


def _options(query: str, *known: str) -> dict[str, str]:
    found = parse_qs(query, keep_blank_values=True)
    if strange := sorted(set(found) - set(known)):
        # An unknown name may be half of a key that somebody forgot to escape.
        raise ValueError(f"{len(strange)} of the options are unknown; known: {', '.join(known)}")
    if any(len(values) > 1 for values in found.values()):
        raise ValueError("an option appears twice")
    return {name: values[0] for name, values in found.items()}


def _bucket(name: str) -> str:
    if not re.fullmatch("[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]", name):
        raise ValueError("a bucket has a name of 3 to 63 letters, digits, dots and dashes; keys do not belong there")
    return name


def _safe(url: str) -> str:
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host = None
    if not re.fullmatch("[A-Za-z0-9.:-]+", host or "") or parts.query or parts.fragment or "@" in parts.netloc:
        raise ValueError("the server's URL is not valid; keys do not belong there")
    # Anybody who can read the request has the key.
    if parts.scheme != "https" and (parts.scheme, host in LOOPBACK) != ("http", True):
        raise ValueError("the server's URL must start with https://")
    return url.rstrip("/")
