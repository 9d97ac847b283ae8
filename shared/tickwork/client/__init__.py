"""The client for applications: `Tickwork` and, for programs with an event loop, `AsyncTickwork`.

Each method is written once, in `aio`, and calls one SQL function through one of the ways in: a database, the HTTP API
or a supabase client. `make client` writes the files outside `aio` that say so.
"""

from tickwork.client.aio import AsyncTickwork
from tickwork.client.sync import Tickwork
from tickwork.client.worker import Worker

__all__ = ["AsyncTickwork", "Tickwork", "Worker"]
