"""Importing the client costs little: what a way in needs is loaded when it is used."""

import subprocess
import sys

SCRIPT = """
import sys
from tickwork.client import AsyncTickwork, Tickwork, Worker

heavy = {"psycopg", "pydantic", "httpx2", "httpx", "asyncio", "supabase"}
print(sorted(heavy & sys.modules.keys()))
Tickwork(url="https://api.example.com/api/v1", key="tw_0123456789abcdef")
print(sorted(heavy & sys.modules.keys()))
"""


def test_nothing_heavy_is_imported_before_it_is_needed() -> None:
    printed = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True).stdout
    at_first, over_http = printed.splitlines()

    assert at_first == "[]"
    assert "httpx2" in over_http
    assert "psycopg" not in over_http
