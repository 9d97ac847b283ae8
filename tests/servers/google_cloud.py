"""A local Google Cloud for gcloud itself: Secret Manager, Cloud Scheduler, service accounts and services over REST."""

import json
import re
import threading
from base64 import b64decode, b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

APIS = ("SECRETMANAGER", "CLOUDSCHEDULER", "IAM", "SERVICEUSAGE")


class GoogleCloud:
    """Keeps what it is given by name, and the versions of secrets in the order in which they came."""

    def __init__(self) -> None:
        self.secrets: dict[str, list[str]] = {}
        self.policies: dict[str, Any] = {}
        self.accounts: set[str] = set()
        self.jobs: dict[str, dict[str, Any]] = {}
        self.services: set[str] = set()
        self.url = ""

    def environment(self) -> dict[str, str]:
        """In which gcloud calls this server, and nobody else."""
        quiet = {
            "CLOUDSDK_AUTH_DISABLE_CREDENTIALS": "true",
            "CLOUDSDK_CORE_CHECK_GCE_METADATA": "false",
            "CLOUDSDK_CORE_DISABLE_USAGE_REPORTING": "true",
            "CLOUDSDK_COMPONENT_MANAGER_DISABLE_UPDATE_CHECK": "true",
        }
        return {**quiet, **{f"CLOUDSDK_API_ENDPOINT_OVERRIDES_{name}": self.url for name in APIS}}

    def answer(self, method: str, path: str, query: dict[str, str], body: Any) -> Any:
        """The response to a request, or None for 404."""
        match method, re.sub("^/v1/projects/(my-project|-)/(locations/europe-west1/)?", "", path).split("/"):
            case "POST", ["services:batchEnable"]:
                self.services.update(body["serviceIds"])
                return {"name": "operations/1", "done": True}
            case _, ["secrets", *rest]:
                return self.secret(method, rest, query, body)
            case "POST", ["serviceAccounts"]:
                self.accounts.add(f"{body['accountId']}@my-project.iam.gserviceaccount.com")
                return {"email": body["accountId"]}
            case "GET", ["serviceAccounts", email]:
                return {"email": email} if email in self.accounts else None
            case _, ["jobs", *rest]:
                return self.job(method, rest, query, body)
        raise AssertionError(f"what is {method} {path}?")

    def secret(self, method: str, path: list[str], query: dict[str, str], body: Any) -> Any:
        name, _, verb = "/".join(path).partition(":")
        name = name.partition("/")[0]
        if method == "POST" and not path:
            self.secrets[query["secretId"]] = []
            return {"name": f"projects/1/secrets/{query['secretId']}"}
        if name not in self.secrets:
            return None
        versions = self.secrets[name]
        match verb:
            case "addVersion":
                versions.append(b64decode(body["payload"]["data"]).decode())
                return {"name": f"projects/1/secrets/{name}/versions/1", "clientSpecifiedPayloadChecksum": True}
            case "access":
                data = b64encode(versions[-1].encode()).decode() if versions else ""
                return {"name": "x", "payload": {"data": data}} if versions else None
            case "getIamPolicy":
                return self.policies.get(name, {"etag": "AA=="})
            case "setIamPolicy":
                self.policies[name] = body["policy"]
                return body["policy"]
        return {"name": f"projects/1/secrets/{name}"}

    def job(self, method: str, path: list[str], query: dict[str, str], body: Any) -> Any:
        if not path and method == "GET":
            return {"jobs": list(self.jobs.values())}
        name = path[0] if path else body["name"].rpartition("/")[2]
        match method:
            case "POST":
                self.jobs[name] = body
            case "PATCH":
                for mask in query["updateMask"].split(","):
                    replace(self.jobs[name], body, mask.split("."))
            case "DELETE":
                del self.jobs[name]
                return {}
        return self.jobs.get(name)


def replace(old: dict[str, Any], new: dict[str, Any], path: list[str]) -> None:
    *outer, last = path
    for key in outer:
        old, new = old.setdefault(key, {}), new.get(key, {})
    old[last] = new.get(last)


class Requests(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    cloud: GoogleCloud

    def respond(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        url = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        found = self.cloud.answer(self.command, url.path, query, json.loads(body or "{}"))
        missing = {"error": {"code": 404, "status": "NOT_FOUND", "message": f"{url.path} not found"}}
        text = json.dumps(missing if found is None else found).encode()
        self.send_response(404 if found is None else 200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_POST = do_PATCH = do_DELETE = respond  # noqa: N815

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def running_google_cloud() -> Iterator[GoogleCloud]:
    cloud = GoogleCloud()
    listener = ThreadingHTTPServer(("127.0.0.1", 0), type("OfThisCloud", (Requests,), {"cloud": cloud}))
    cloud.url = f"http://127.0.0.1:{listener.server_address[1]}/"
    thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield cloud
    finally:
        listener.shutdown()
        listener.server_close()
        thread.join()
