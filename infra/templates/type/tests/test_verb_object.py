"""The type verb_object: a job in a real Postgres, run as a worker runs it, and what it wrote."""

from verb_object import Payload, Result

from tickwork.jobs.payload_schema import payload_schema_of, result_schema_of
from tickwork.testing import Tickwork


def test_what_it_writes_comes_with_the_completed_job(tickwork: Tickwork) -> None:
    job = tickwork.enqueue("verb_object", {"text": " Hello "})

    assert tickwork.run_due() == {"done": 1}

    rows = tickwork.database.execute("select tenant_id, text from my_table where job_id = %s", [job.id]).fetchall()
    assert rows == [{"tenant_id": tickwork.tenant_id, "text": "Hello"}]


def test_a_blank_text_fails_and_writes_nothing(tickwork: Tickwork) -> None:
    job = tickwork.enqueue("verb_object", {"text": " "})

    assert tickwork.run_due() == {"failed": 1}

    assert tickwork.job(job).error_code == "BLANK_TEXT"
    assert tickwork.database.execute("select from my_table").fetchall() == []


def test_the_schemas_are_those_of_the_models(tickwork: Tickwork) -> None:
    query = "select payload_schema, result_schema from job_types where key = 'verb_object'"

    rows = tickwork.database.execute(query).fetchall()

    assert rows == [{"payload_schema": payload_schema_of(Payload), "result_schema": result_schema_of(Result)}]
