"""The keys that sign passports: read by everybody, changed by platform admins."""

from tickwork.api.fields import NAME, TEXT, TIME, Request
from tickwork.api.route import Route


class Register(Request):
    public_key = TEXT
    name = TEXT.or_null()


class Key(Request):
    signing_key_id = NAME


class Revoke(Key):
    revoked_at = TIME.or_null()


ROUTES = (
    Route("GET", "signing-keys", "list_signing_keys", Request, "rows"),
    Route("POST", "signing-keys", "register_signing_key", Register),
    Route("POST", "signing-keys/{signing_key_id}/retire", "retire_signing_key", Key),
    Route("POST", "signing-keys/{signing_key_id}/revoke", "revoke_signing_key", Revoke),
)
