"""The page on settings: names, defaults and accepted values from the code, meanings from here."""

import re
from collections.abc import Callable
from dataclasses import MISSING, fields
from typing import Any

from tickwork.settings import ALIASES, READERS, VARIABLES, Settings
from tickwork_docs.markdown import table

HEAD = """\
# Settings

Environment variables of the functions, of `tickwork worker` and, where they apply, of the commands. Only
`TICKWORK_DATABASE_URL` is required. A missing or invalid setting stops the start with one line that names it. An empty
value counts as not set. `tickwork doctor` checks them all and says what to do.

"""

ALIASES_HEAD = """\
## Names of the source documents

These are accepted too. If a variable and its alias are both set, they must mean the same.

"""

TAIL = """\
## Who may call a function

Without `TICKWORK_BEARER_SECRET`, `TICKWORK_HMAC_SECRET`, `TICKWORK_OIDC_AUDIENCE` or `TICKWORK_OPEN_ON_LOOPBACK`, a
function refuses every call with 401. A worker needs none of them. Do not set `TICKWORK_OPEN_ON_LOOPBACK` on a machine
with a reverse proxy: behind a proxy, every call comes from the loopback address.

A function returns 204 when nothing was due, and 200 with a report otherwise, also when jobs failed: the queue retries,
cron must not. 401 means that the caller is unknown, 405 that the method was not POST, and 503 that the queue could not
be reached for the first job or that the schema has a version that the code does not support.

## Other variables

| variable | read by | meaning |
| --- | --- | --- |
| `TICKWORK_HOME` | the commands | the folder of the local stack, by default `.tickwork` in the project |
| `TICKWORK_FUNCTIONS` | the commands | the folder of the functions instead of the project's and the built-in ones; as \
`--functions` |
| `TICKWORK_PORT` | `tickwork up` | the port of the local database; as `--port` |
| `GOOGLE_CLOUD_PROJECT` | functions, workers | links log lines to their traces in Cloud Logging |
| `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and the other `AWS_` variables | functions, workers | credentials of an \
`s3:` vault |

In a database URL, a password is percent-encoded: `%` is `%25`, `@` is `%40`, `/` is `%2F`. After a migration the role
`tickwork_worker` has no password; set one with `alter role tickwork_worker password '…'`.
"""

DEFAULTS = {
    "lease_seconds": "each type's own",
    "heartbeat_seconds": "a third of the lease",
    "worker_id": "made up",
    "oidc_keys_url": "Google's",
    "vault_url": "the local stack's folder",
    "unstructured_url": "Unstructured's API",
    "dropbox_url": "Dropbox's API",
    "microsoft_url": "Microsoft's API",
    "google_url": "Google's API",
}

MEANINGS = {
    "Database and runtime": {
        "database_url": "connects as `tickwork_worker`, directly or through a pooler in transaction mode",
        "budget_seconds": "how long one invocation goes on claiming; the request may last this plus one job's timeout",
        "max_jobs": "how many jobs one invocation processes at most",
        "look_again_seconds": "with 30, an invocation that finds nothing more looks again 30 s after its start, while "
        "its budget lasts: for a scheduler that calls once a minute. 0 is off",
        "grace_seconds": "how long a worker that is asked to stop lets its job finish before it gives the job back",
        "poll_seconds": "how long `tickwork worker` waits before it looks for jobs again, unless a notice wakes it",
        "lease_seconds": "for how long a job is leased, whatever its type says. Without it the `lease_seconds` of its "
        "type count, or else 60",
        "heartbeat_seconds": "how often the lease of a running job is renewed: at most half of "
        "`TICKWORK_LEASE_SECONDS`, or else of 60. A type with a shorter lease has it renewed after half of it. Without "
        "this setting, after a third",
        "worker_id": "the name of the worker, for people to read in `jobs.worker_id` and logs. By default made of the "
        "revision or host, the process and a random part, which tells instances apart",
        "log_each_job": "a worker whose `--concurrency` is above 20 writes the [lines](logs.md) `claim` and `settle` "
        "of each job, too",
    },
    "RabbitMQ": {
        "amqp_url": "a broker that wakes workers at once, `amqps://user:password@broker.example/vhost`: for workers "
        "and whoever enqueues ([guide](../guide/rabbitmq.md)); needs `tickwork[rabbitmq]`",
        "amqp_enabled": "with `false` the broker is not used, although its URL is set",
        "amqp_exchange": "where messages are published; created if it does not exist",
        "amqp_routing_key": "their routing key",
        "health_require_amqp": "`/health/ready` fails with `broker` while that cannot be reached",
    },
    "Callers": {
        "bearer_secret": "accepts `Authorization: Bearer <secret>`",
        "hmac_secret": "accepts `X-Tickwork-Signature: sha256=<hex>` over `<timestamp>.<family>.<nonce>`, with "
        "`X-Tickwork-Timestamp` within 5 minutes and `X-Tickwork-Nonce`, once each. Without a nonce, over "
        "`<timestamp>.<family>`, a signature is accepted once a second",
        "oidc_audience": "accepts a Google OIDC token for this audience; needs `TICKWORK_OIDC_EMAIL`",
        "oidc_email": "the service account that such a token must belong to",
        "oidc_keys_url": "where the keys of those tokens are",
        "jwt_issuer": "who signs the tokens of users that call the API: `https://<project>.supabase.co/auth/v1`",
        "jwks_url": "where the public keys of those tokens are: "
        "`https://<project>.supabase.co/auth/v1/.well-known/jwks.json`. ES256, RS256 and EdDSA are accepted",
        "jwt_secret": "the shared secret of a project that still signs tokens with HS256; never beside "
        "`TICKWORK_JWKS_URL`",
        "jwt_audience": "the audience that a user's token must have",
        "api_origins": "the pages whose scripts may call the API from a browser, each with a credential of its own",
        "console_secret": "signs the sessions of users of the console; without it, only API keys can sign in there",
        "console_auth_key": "the publishable (anon) key of the Supabase project of `TICKWORK_JWT_ISSUER`; with it, "
        "users sign in to the console with their e-mail address and password",
        "console_path": "the path of the console",
        "console_frame_ancestors": "the pages that may show the console in a frame; they must be of the same site, as "
        "browsers do not send its cookie otherwise",
        "console_read_only": "the console changes nothing, whoever is signed in",
        "open_on_loopback": "accepts every call from this machine: for the local stack only",
    },
    "Commands": {
        "commands_file": "the file of [commands](../guide/commands.md) that `tickwork worker command` may run",
    },
    "Documents and vault": {
        "vault_url": "where files are: `file:/folder`, `s3://bucket?endpoint=https://…&region=…` with the usual `AWS_` "
        "variables, or `supabase:https://<project>.supabase.co`",
        "vault_key": "the secret key of a `supabase:` vault",
        "unstructured_url": "where `unstructured_fast` and `unstructured_hires` send documents",
        "unstructured_api_key": "the key for it; with a key, `unstructured_fast` is the engine of jobs that name none, "
        "otherwise `local` is",
    },
    "Secrets of tenants": {
        "secret_key": "encrypts the tokens and keys of tenants; without it they are stored in Supabase Vault",
    },
    "Passports": {
        "signing_key": "the Ed25519 key that `sign_passport` signs with: 32 random bytes in base64, such as `openssl "
        "rand -base64 32` prints; while one replaces another, two separated by a comma, the new one first. Only the "
        "function of the family `sign` needs it",
        "signing_key_name": "a name for people beside the id of the key, which is its thumbprint",
        "compiler_build_id": "what the receipt of a battery passport names besides the version and the hash of the "
        "compiler, such as a commit; `BPC_COMPILER_BUILD_ID` means the same",
    },
    "Outgoing requests": {
        "outbound_allow": "private networks that webhooks, `http_request` and imports may call, at any port: "
        "`10.1.0.0/16,fd00::/64`, or `loopback`",
        "outbound_block": "networks that they may never call: the deployment's own public addresses",
        "outbound_http": "allows `http:` besides `https:`",
        "outbound_authorities": "a PEM file of certificate authorities to trust besides the system's",
    },
    "Cloud drives": {
        "dropbox_app_key": "the app that is registered with Dropbox; without it, imports fail with "
        "`PROVIDER_NOT_SET_UP`",
        "dropbox_app_secret": "its secret",
        "microsoft_client_id": "the app that is registered with Microsoft, for OneDrive",
        "microsoft_client_secret": "its secret",
        "microsoft_tenant": "the directory that the app belongs to, if it is for one company only",
        "google_client_id": "the app that is registered with Google, for Google Drive",
        "google_client_secret": "its secret",
        "notification_secret": "signs the tokens of subscriptions to changes",
        "dropbox_url": "a server that stands in for Dropbox, in tests",
        "microsoft_url": "a server that stands in for Microsoft's, in tests",
        "google_url": "a server that stands in for Google's, in tests",
    },
}


def page() -> str:
    described = [name for section in MEANINGS.values() for name in section]
    if sorted(described) != sorted(VARIABLES):
        odd = ", ".join(sorted({*described} ^ {*VARIABLES}))
        raise ValueError(f"MEANINGS in infra/local/tickwork_docs/settings.py and Settings differ: {odd}")
    sections = "".join(section(title, meanings) for title, meanings in MEANINGS.items())
    return HEAD + sections + ALIASES_HEAD + aliases() + "\n" + TAIL


def section(title: str, meanings: dict[str, str]) -> str:
    rows = [(f"`{VARIABLES[name]}`", default(name), meaning, accepted(name)) for name, meaning in meanings.items()]
    return f"## {title}\n\n" + table(["variable", "default", "meaning", "accepted values"], rows) + "\n"


def aliases() -> str:
    rows = [(f"`{alias}`", f"`{VARIABLES[name]}`", accepted_by(read)) for alias, (name, read) in ALIASES.items()]
    return table(["alias", "variable", "accepted values"], rows)


def default(name: str) -> str:
    (value,) = [field.default for field in fields(Settings) if field.name == name]
    if value is MISSING:
        return "required"
    return DEFAULTS.get(name) or ("none" if value is None else f"`{as_written(value)}`")


def as_written(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def accepted(name: str) -> str:
    return accepted_by(READERS[name])


def accepted_by(read: Callable[[str], Any]) -> str:
    """What the setting's own parser says about an invalid value."""
    try:
        read("\x00")
    except ValueError as error:
        return re.sub("^must (be )?", "", str(error).replace("must start with", "starts with"))
    return ""
