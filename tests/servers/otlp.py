"""A collector of OpenTelemetry: takes spans over HTTP, and shows them."""

import gzip
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span as Told

KINDS = {Told.SPAN_KIND_PRODUCER: "producer", Told.SPAN_KIND_CONSUMER: "consumer", Told.SPAN_KIND_CLIENT: "client"}


@dataclass(frozen=True)
class Span:
    name: str
    kind: str
    trace_id: str
    span_id: str
    parent_id: str
    links: list[str]
    attributes: Mapping[str, Any]
    is_error: bool
    service: str


@dataclass
class Collector:
    """`status` is what it answers with; while it `hangs`, it answers nothing."""

    url: str
    spans: list[Span] = field(default_factory=list)
    status: int = 200
    is_free: threading.Event = field(default_factory=threading.Event)

    def named(self, name: str) -> Span:
        (found,) = [span for span in self.spans if span.name == name]
        return found


@contextmanager
def running_collector() -> Iterator[Collector]:
    class Exchange(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            collector.is_free.wait()
            if collector.status == 200:
                whole = gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body
                collector.spans += spans_in(whole)
            self.send_response(collector.status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *arguments: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Exchange)
    server.daemon_threads = True
    collector = Collector(f"http://127.0.0.1:{server.server_port}")
    collector.is_free.set()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield collector
    finally:
        collector.is_free.set()
        server.shutdown()
        server.server_close()
        thread.join()


def spans_in(body: bytes) -> Iterator[Span]:
    for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
        of_resource = values(resource.resource.attributes)
        for scope in resource.scope_spans:
            for told in scope.spans:
                yield Span(
                    told.name,
                    KINDS.get(told.kind, "other"),
                    told.trace_id.hex(),
                    told.span_id.hex(),
                    told.parent_span_id.hex(),
                    [f"{link.trace_id.hex()}-{link.span_id.hex()}" for link in told.links],
                    values(told.attributes),
                    told.status.code == 2,
                    of_resource["service.name"],
                )


def values(attributes: Any) -> dict[str, Any]:
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in attributes}
