"""One trace, from the request of a user to the call that a customer's server receives."""

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection
from pathlib import Path

from tests.families.extract.test_extract_document import LETTER, Office
from tests.serve.test_wake_up import SECRET, Served, running_function
from tests.servers.hostile import answer, hostile_server
from tests.servers.otlp import running_collector
from tests.world import World
from tests.world.receivers import KEY
from tests.world.waiting import PATIENCE, until
from tickwork.client import Tickwork

ROOT = Path(__file__).parents[2]
PROCESSED = Counter({"process extract_document": 1, "process classify_document": 1, "process deliver_webhook": 2})
USERS = f"00-{'ab' * 16}-{'cd' * 8}-01"

# An application that traces its requests, as any framework's instrumentation does.
APPLICATION = """
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.propagate import extract
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from tickwork.client import Tickwork

url, tenant, document = sys.argv[1:]
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter()))
trace.set_tracer_provider(provider)
jobs = Tickwork(url).jobs

class Exchange(BaseHTTPRequestHandler):
    def do_POST(self):
        tracer = trace.get_tracer("application")
        with tracer.start_as_current_span("POST /extract", extract(self.headers), trace.SpanKind.SERVER):
            jobs.enqueue_job(tenant, "extract_document", {"document_id": document})
        self.send_response(202)
        self.end_headers()

server = HTTPServer(("127.0.0.1", 0), Exchange)
print(server.server_port, flush=True)
server.serve_forever()
"""


@contextmanager
def running_application(collector_url: str, *arguments: str) -> Iterator[int]:
    environment = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector_url, "OTEL_SERVICE_NAME": "application"}
    command = [sys.executable, "-c", APPLICATION, *arguments]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            yield int(process.stdout.readline())
        finally:
            process.kill()


def request_extraction(port: int) -> int:
    connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        connection.request("POST", "/extract", headers={"traceparent": USERS})
        return connection.getresponse().status
    finally:
        connection.close()


def test_one_trace_leads_from_a_request_over_three_functions_to_the_receiver(world: World, tmp_path: Path) -> None:
    office = Office(world, tmp_path)
    document = office.add("Kündigung.md", LETTER)
    world.run("update job_types set follow_ups = '{classify_document}' where key = 'extract_document'")

    with ExitStack() as running:
        receiver = running.enter_context(hostile_server(answer()))
        collector = running.enter_context(running_collector())
        client = Tickwork(world.service.database, secret_key=KEY)
        client.webhooks.create_webhook_endpoint(office.tenant, receiver.url("/hook"), ["document.classified"])
        settings = {
            "TICKWORK_DATABASE_URL": world.worker_url,
            "TICKWORK_VAULT_URL": f"file:{tmp_path / 'vault'}",
            "TICKWORK_SECRET_KEY": KEY,
            "TICKWORK_BEARER_SECRET": SECRET,
            "TICKWORK_OUTBOUND_ALLOW": "loopback",
            "TICKWORK_OUTBOUND_HTTP": "true",
            "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url,
            "OTEL_EXPORTER_OTLP_TIMEOUT": str(PATIENCE),
        }
        functions: list[Served] = [
            running.enter_context(
                running_function(ROOT / "functions" / family / "main.py", tmp_path / family, **settings)
            )
            for family in ("extract", "classify", "webhook")
        ]
        application = running.enter_context(
            running_application(collector.url, world.url, str(office.tenant), str(document))
        )

        assert request_extraction(application) == 202
        for function in functions:
            assert "done" in function.wake().body

        # On a busy machine they may take longer than a response waits for them.
        until(lambda: Counter(span.name for span in collector.spans if span.name in PROCESSED) == PROCESSED)
        lines = [line for each in functions for line in each.lines() if line["message"] != "miss_spans"]

    assert {line["logging.googleapis.com/labels"]["trace_id"] for line in lines} == {"ab" * 16}
    assert {row["status"] for row in world.rows("select status from jobs")} == {"done"}
    assert {span.trace_id for span in collector.spans} == {"ab" * 16}
    request, send = collector.named("POST /extract"), collector.named("send extract_document")
    extract, classify = collector.named("process extract_document"), collector.named("process classify_document")
    delivered = {span.span_id: span for span in collector.spans if span.name == "process deliver_webhook"}
    parents = [span.parent_id for span in (request, send, extract, classify)]
    assert parents == ["cd" * 8, request.span_id, send.span_id, extract.span_id]
    assert (send.kind, send.service, send.attributes["messaging.destination.name"]) == (
        *("producer", "application"),
        "extract",
    )
    # Both of them tell what the document is.
    assert {span.parent_id for span in delivered.values()} == {extract.span_id, classify.span_id}
    received = {re.sub("-01$", "", seen.headers["traceparent"]) for seen in receiver.requests}
    assert received == {f"00-{'ab' * 16}-{span_id}" for span_id in delivered}
