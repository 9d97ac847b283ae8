"""The page on SQLSTATEs: codes and verbs from the catalogue, Python's names from the code, meanings from here."""

import re
from typing import Any

import psycopg
from psycopg.rows import scalar_row

from tickwork.errors import BY_SQLSTATE
from tickwork_docs.markdown import table
from tickwork_docs.verbs import Function

HEAD = """\
# SQLSTATEs

What the [verbs](verbs.md) raise. Every error has a message that names the argument, and a hint that says what to do.
Python raises the class in the third column; `error.sqlstate` and `error.hint` carry the rest. PostgREST returns it as
`code` in the body. The last column lists the verbs whose description names the code; a verb that enqueues, such as
`request_extraction`, raises what `enqueue_job` raises too.

"""

# Raised by Postgres itself.
OF_POSTGRES = ("22P05", "42501")

MEANINGS = {
    "TWLSE": "the job is no longer held under this lease, or none is held",
    "TWJOB": "there is no such job, or it is another tenant's",
    "TWDOC": "there is no such document, or it is another tenant's",
    "TWART": "there is no such artifact, it is another tenant's, or another job has it",
    "TWFCT": "there is no such fact, or it is another tenant's",
    "TWSNP": "there is no such snapshot, or it is another tenant's",
    "TWPAS": "there is no such passport or version of one, or it is another tenant's",
    "TWEND": "there is no such webhook endpoint, or it is another tenant's",
    "TWDLV": "there is no such delivery, it is another tenant's, or not that of the held job",
    "TWCTR": "there is no such connector, or it is another tenant's",
    "TWTRG": "there is no such schedule or trigger, or it is another tenant's",
    "TWAPI": "there is no such API key, or it is another tenant's",
    "TWRUL": "there is no such version of rules, or it is another tenant's",
    "TWSTA": "the status of the job, delivery, endpoint, snapshot, rules or passport does not allow the transition",
    "TWDUP": "another job holds the dedupe_key: a retry would double it, or its holders change too fast to return one",
    "TWAUT": "nobody is signed in, or the API key is unknown, revoked or expired",
    "TWMEM": "the caller is not a member of the tenant, the API key not one of it, or there is no such tenant",
    "TWENQ": "the caller may not enqueue this type, or the API key nothing at all",
    "TWADM": "the caller is not an admin of the tenant, or the API key lacks the scope",
    "TWFUL": "the tenant has as many jobs queued as its `max_queued` allows, or 100 API keys",
    "TWTNT": "the tenant does not exist (only the service is told)",
    "TWTYP": "the type is unknown or inactive",
    "TWPAY": "the payload is not an object, too deep, has a number beyond 1e308, or does not match the type's schema",
    "TWSCH": "the schema uses a keyword that is not checked in SQL, and the server has no pg_jsonschema",
    "TWBIG": "a value is over its limit; the message names both numbers",
    "TWKEY": "a key is empty",
    "TWPRI": "the priority is not within 0 to 100",
    "TWRUN": "run_at is not a point in time, or not within the years 1900 to 9998",
    "TWATT": "max_attempts is not within 1 to 25",
    "TWLEA": "lease_seconds is not within 10 to 3600",
    "TWLAN": "the tenant has as many held or limited lanes as its `max_lanes` allows",
    "TWARG": "another argument is out of range or of the wrong shape, or a family to pause is unknown",
    "TWTYD": "there is no such document type for this tenant",
    "TWCON": "nobody has consented to sending the document to a third party",
    "TWSEC": "there is neither a key nor Supabase Vault to store secrets with",
    "TWCRN": "a function cannot be called: its URL, the secret or pg_net is missing",
    "TWCAL": "a cron expression or a time zone cannot be read, or never fires",
    "TWTPL": "a template is malformed or too large, or a value that it needs is missing",
    "22P05": "a payload contains `\\u0000`; Postgres itself refuses it before any function sees it",
    "42501": "the role may not do that: a column grant or row-level security refused",
}


def page(connection: psycopg.Connection[Any], functions: dict[str, Function]) -> str:
    codes = {*raised(connection), *OF_POSTGRES}
    if codes != set(MEANINGS):
        odd = ", ".join(sorted(codes ^ set(MEANINGS)))
        raise ValueError(f"MEANINGS in infra/local/tickwork_docs/sqlstates.py and the database differ: {odd}")
    rows = [
        (f"`{code}`", meaning, f"`{BY_SQLSTATE[code].__name__}`", verbs_with(code, functions))
        for code, meaning in MEANINGS.items()
    ]
    return HEAD + table(["code", "raised when", "Python", "verbs"], rows)


def raised(connection: psycopg.Connection[Any]) -> set[str]:
    query = "select prosrc from pg_proc where pronamespace in ('public'::regnamespace, 'tickwork'::regnamespace)"
    with connection.cursor(row_factory=scalar_row) as cursor:
        sources = cursor.execute(query).fetchall()
    return {code for source in sources for code in re.findall(r"errcode = '(\w{5})'", source)}


def verbs_with(code: str, functions: dict[str, Function]) -> str:
    return ", ".join(f"`{name}`" for name, function in functions.items() if code in function.comment)
