"""The type verb_object: a job in a real Postgres, the function woken, and what it wrote."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from verb_object import Payload

from tickwork.database.connection import Database
from tickwork.jobs.payload_schema import payload_schema_of

ENQUEUE = "select id from enqueue_job(%(tenant_id)s, 'verb_object', jsonb_build_object('text', %(text)s::text))"

Wake = Callable[[str], Any]


def test_what_it_writes_comes_with_the_completed_job(database: Database, tenant_id: UUID, wake: Wake) -> None:
    (job,) = database.rows(ENQUEUE, {"tenant_id": tenant_id, "text": " Hello "})

    wake("my_family")

    assert database.rows("select tenant_id, text from my_table where job_id = %(id)s", job) == [
        {"tenant_id": tenant_id, "text": "Hello"}
    ]


def test_a_blank_text_fails_and_writes_nothing(database: Database, tenant_id: UUID, wake: Wake) -> None:
    (job,) = database.rows(ENQUEUE, {"tenant_id": tenant_id, "text": " "})

    wake("my_family")

    assert database.rows("select status, error_code from jobs where id = %(id)s", job) == [
        {"status": "failed", "error_code": "BLANK_TEXT"}
    ]
    assert database.rows("select id from my_table where job_id = %(id)s", job) == []


def test_the_payload_schema_is_that_of_the_model(database: Database) -> None:
    (type,) = database.rows("select payload_schema from job_types where key = 'verb_object'", {})

    assert type["payload_schema"] == payload_schema_of(Payload)
