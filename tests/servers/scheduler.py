"""A local Cloud Scheduler: its documented gRPC interface, with its errors, its paging and its defaults."""

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import reduce
from operator import attrgetter
from typing import Any

import grpc
from google.cloud import scheduler_v1
from google.protobuf import duration_pb2, empty_pb2

SERVICE = "google.cloud.scheduler.v1.CloudScheduler"
PARENT = re.compile(r"projects/[a-z0-9-]+/locations/[a-z0-9-]+")
PAGE = 2


class CloudScheduler:
    """Keeps jobs by name, and what it was asked to do."""

    def __init__(self) -> None:
        self.jobs: dict[str, scheduler_v1.Job] = {}
        self.calls: list[str] = []
        # Set to let somebody else be faster once.
        self.sneak_in: scheduler_v1.Job | None = None

    def create_job(self, request: Any, context: grpc.ServicerContext) -> scheduler_v1.Job:
        self.calls.append("create")
        if not PARENT.fullmatch(request.parent) or not request.job.name.startswith(f"{request.parent}/jobs/"):
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, "Job name must be formatted: projects/…/locations/…/jobs/…")
        if self.sneak_in:
            self.jobs[self.sneak_in.name], self.sneak_in = self.sneak_in, None
        if request.job.name in self.jobs:
            context.abort(grpc.StatusCode.ALREADY_EXISTS, f"Job {request.job.name} already exists.")
        self.jobs[request.job.name] = self.checked(request.job, context)
        return self.jobs[request.job.name]

    def update_job(self, request: Any, context: grpc.ServicerContext) -> scheduler_v1.Job:
        self.calls.append("update")
        old = self.found(request.job.name, context)
        new = scheduler_v1.Job(old)
        for path in request.update_mask.paths:
            *outer, last = path.split(".")
            setattr(reduce(getattr, outer, new), last, attrgetter(path)(request.job))
        self.jobs[old.name] = self.checked(new, context)
        return self.jobs[old.name]

    def get_job(self, request: Any, context: grpc.ServicerContext) -> scheduler_v1.Job:
        return self.found(request.name, context)

    def list_jobs(self, request: Any, context: grpc.ServicerContext) -> scheduler_v1.ListJobsResponse:
        names = sorted(name for name in self.jobs if name.startswith(f"{request.parent}/jobs/"))
        start = int(request.page_token or 0)
        more = str(start + PAGE) if start + PAGE < len(names) else ""
        page = [self.jobs[name] for name in names[start : start + PAGE]]
        return scheduler_v1.ListJobsResponse(jobs=page, next_page_token=more)

    def delete_job(self, request: Any, context: grpc.ServicerContext) -> empty_pb2.Empty:
        self.calls.append("delete")
        del self.jobs[self.found(request.name, context).name]
        return empty_pb2.Empty()

    def found(self, name: str, context: grpc.ServicerContext) -> scheduler_v1.Job:
        if name not in self.jobs:
            context.abort(grpc.StatusCode.NOT_FOUND, f"Job {name} not found.")
        return self.jobs[name]

    def checked(self, job: scheduler_v1.Job, context: grpc.ServicerContext) -> scheduler_v1.Job:
        """The job as the real one stores it: five fields, a deadline within bounds, defaults filled in."""
        if len(job.schedule.split()) != 5:
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, f"Schedule or time zone is invalid: {job.schedule}")
        if not job.http_target.uri.startswith(("http://", "https://")):
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, f"Invalid HTTP target URI: {job.http_target.uri}")
        stored = scheduler_v1.Job(job)
        if not stored.attempt_deadline:
            stored.attempt_deadline = duration_pb2.Duration(seconds=180)
        if not 15 <= stored.attempt_deadline.total_seconds() <= 1800:
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, "attempt_deadline must be between 15s and 30m")
        if stored.http_target.oidc_token.service_account_email and not stored.http_target.oidc_token.audience:
            stored.http_target.oidc_token.audience = stored.http_target.uri
        stored.http_target.headers["User-Agent"] = "Google-Cloud-Scheduler"
        stored.retry_config.max_doublings = stored.retry_config.max_doublings or 5
        stored.state = scheduler_v1.Job.State(1)
        return stored


@contextmanager
def running_scheduler() -> Iterator[tuple[CloudScheduler, str]]:
    """The server, and the address it listens at."""
    scheduler = CloudScheduler()
    methods: dict[str, tuple[Any, Any, Any]] = {
        "CreateJob": (scheduler.create_job, scheduler_v1.CreateJobRequest, scheduler_v1.Job),
        "UpdateJob": (scheduler.update_job, scheduler_v1.UpdateJobRequest, scheduler_v1.Job),
        "GetJob": (scheduler.get_job, scheduler_v1.GetJobRequest, scheduler_v1.Job),
        "ListJobs": (scheduler.list_jobs, scheduler_v1.ListJobsRequest, scheduler_v1.ListJobsResponse),
        "DeleteJob": (scheduler.delete_job, scheduler_v1.DeleteJobRequest, None),
    }
    handlers = {
        name: grpc.unary_unary_rpc_method_handler(
            call,
            request_deserializer=request.deserialize,
            response_serializer=answer.serialize if answer else empty_pb2.Empty.SerializeToString,
        )
        for name, (call, request, answer) in methods.items()
    }
    server = grpc.server(ThreadPoolExecutor(4))
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, handlers),))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield scheduler, f"127.0.0.1:{port}"
    finally:
        server.stop(None).wait()
