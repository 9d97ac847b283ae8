"""What others wrote, such as keys, errors and the bodies of webhooks, cannot pose as what the command line says."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.world import World
from tests.world.command_line import run_all, started
from tests.world.receivers import emit, endpoint
from tests.world.waiting import PATIENCE, until
from tickwork.cli.output import printable

# A line break, what clears the screen, and what turns the direction of writing.
HOSTILE = "x\nFORGED\r\x1b[2J\x9b2J\u2028FORGED\u202e\u2066\u200b\x00"
IN_A_COLUMN = HOSTILE.replace("\x00", "")
SECRET = f"whsec_{'A' * 43}="


def lines_that_are_forged(output: str) -> list[str]:
    assert not set(output) & {"\r", "\x1b", "\x9b", "\u2028", "\u202e", "\u2066", "\u200b"}
    return [line for line in output.splitlines() if line.lstrip("| ").startswith("FORGED")]


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("plain Grüße 漢字 🙂 a\\b", "plain Grüße 漢字 🙂 a\\b"),
        ("a\nb\tc\r", "a\\nb\\tc\\r"),
        ("\x00\x1b\x7f\x9b", "\\u0000\\u001b\\u007f\\u009b"),
        ("\u202e\u2066\u2028\ufeff", "\\u202e\\u2066\\u2028\\ufeff"),
        ("\U000e0041\ud800", "\\U000e0041\\ud800"),
    ],
)
def test_what_a_terminal_obeys_is_escaped(given: str, shown: str) -> None:
    assert printable(given) == shown


def test_no_command_on_jobs_prints_a_forged_line(world: World, tmp_path: Path) -> None:
    tenant = world.tenant(IN_A_COLUMN)
    keys = dict.fromkeys(("idempotency_key", "dedupe_key", "lane", "correlation_id"), IN_A_COLUMN)
    job = world.job(tenant=tenant, payload={"name": IN_A_COLUMN}, **keys)
    held = world.claim("test")
    error = {"code": "BAD", "message": IN_A_COLUMN, "details": {"why": IN_A_COLUMN}, "logs": IN_A_COLUMN}
    world.queue.fail_job(held, error)
    world.run("select hold_lane('test', %s, %s, 'infinity', %s)", tenant, IN_A_COLUMN, IN_A_COLUMN)

    commands = [
        ["job", str(job.id)],
        ["jobs"],
        ["holds"],
        ["tenants"],
        ["jobs", "--tenant", IN_A_COLUMN],
        ["pause", "--tenant", IN_A_COLUMN],
        ["tenants", "add", f"{IN_A_COLUMN}2"],
        ["bury", str(job.id), "--reason", IN_A_COLUMN],
        ["jobs", "--tenant", f"{IN_A_COLUMN}3"],
    ]

    shown = run_all([[*each, "--database-url", world.url] for each in commands], home=tmp_path)

    assert [ran.returncode for ran in shown] == [0] * (len(shown) - 1) + [1]
    assert "FORGED" in shown[0].stdout
    assert [lines_that_are_forged(ran.stdout + ran.stderr) for ran in shown] == [[]] * len(shown)


def test_no_command_on_webhooks_prints_a_forged_line(world: World, tmp_path: Path) -> None:
    tenant = world.tenant(IN_A_COLUMN)
    endpoint(world, tenant)
    emit(world, tenant)
    world.run("update webhook_deliveries set error_message = %s", IN_A_COLUMN)

    commands = [["webhooks", each, "--database-url", world.url] for each in ("list", "deliveries")]
    for shown in run_all(commands, home=tmp_path):
        assert (shown.returncode, lines_that_are_forged(shown.stdout)) == (0, [])


@contextmanager
def listening(folder: Path) -> Iterator[Path]:
    output = folder / "output"
    settings = {"TICKWORK_WEBHOOK_SECRET": SECRET}
    with started("webhooks", "listen", home=folder / "home", output=output, **settings):
        until(lambda: "Listening on " in output.read_text(), "it does not listen")
        yield output


def post(output: Path, body: bytes, **headers: str) -> int:
    address = urlsplit(output.read_text().split()[2])
    connection = HTTPConnection(address.hostname or "", address.port, timeout=PATIENCE)
    connection.request("POST", "/", body, {name.replace("_", "-"): value for name, value in headers.items()})
    return connection.getresponse().status


def test_the_body_of_a_webhook_forges_no_line(tmp_path: Path) -> None:
    with listening(tmp_path) as output:
        assert post(output, b'{"type": "a\\nFORGED", "x": 1}\nFORGED verified invoice.paid\x1b[2J') == 401
        until(lambda: "NOT GENUINE" in output.read_text(), "nothing arrives")

        assert lines_that_are_forged(output.read_text()) == []
        assert len(output.read_text().splitlines()) == 2


def test_numbers_that_are_none_are_refused_cleanly(tmp_path: Path) -> None:
    with listening(tmp_path) as output:
        assert post(output, b"{}", webhook_timestamp="1" * 5000, webhook_id="m", webhook_signature="v1,x") == 401
        assert post(output, b"[" * 100_000, webhook_timestamp="-1") == 401
        for length in ("9" * 5000, "\xb2", "-1"):
            assert post_with_length(output, length) == 401
        until(lambda: output.read_text().count("NOT GENUINE") == 5, "not all arrive")

        assert "Traceback" not in output.read_text()


def post_with_length(output: Path, length: str) -> int:
    address = urlsplit(output.read_text().split()[2])
    with socket.create_connection((address.hostname, address.port), timeout=PATIENCE) as connection:
        connection.sendall(f"POST / HTTP/1.0\r\nContent-Length: {length}\r\n\r\n".encode("latin-1"))
        return int(connection.makefile("rb").readline().split()[1])


PASSWORDS = ["p4ss/w0rd", "1234/w0rd", "p4@ss", "p4@12/w0rd", "p4:ss@w0rd", "p4%ss", "p4 ss"]


def test_a_password_that_is_not_encoded_is_refused_and_not_printed(tmp_path: Path) -> None:
    urls = [f"postgresql://someone:{password}@127.0.0.1:1/app" for password in PASSWORDS]
    commands = [["jobs", "--database-url", url] for url in urls] + [["migrate", url] for url in urls]

    for ran in run_all(commands, home=tmp_path):
        assert (ran.returncode, ran.stdout) == (1, "")
        assert "is not a valid URL" in ran.stderr
        assert [part for part in ("p4", "ss ", "w0rd", "1234", "someone") if part in ran.stderr] == []
