"""pgbouncer in transaction mode, as a hosted database puts it in front of its workers."""

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.world.waiting import PATIENCE
from tickwork_local.launch import ends_with_parent
from tickwork_local.postgres import free_port, nobody_for_root


def find_pgbouncer() -> str | None:
    return shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin")


@contextmanager
def running_pgbouncer(server_port: int, folder: Path) -> Iterator[int]:
    """The port of a pooler that hands every transaction to whichever session is free."""
    program = find_pgbouncer()
    assert program, "pgbouncer is not installed: tests/deploy/through_pgbouncer.sh installs it"
    port = free_port()
    users = folder / "users.txt"
    users.write_text('"postgres" ""\n"tickwork_worker" ""\n')
    config = folder / "pgbouncer.ini"
    config.write_text(f"""
[databases]
* = host=127.0.0.1 port={server_port}

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = trust
auth_file = {users}
pool_mode = transaction
default_pool_size = 10
max_client_conn = 500
server_idle_timeout = 5
server_login_retry = 1
query_wait_timeout = 2
ignore_startup_parameters = extra_float_digits
""")
    # It refuses to run as root.
    process = subprocess.Popen(ends_with_parent([program, "-q", str(config)], signal.SIGINT, nobody_for_root()))
    try:
        give_up_at = time.monotonic() + PATIENCE
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                assert process.poll() is None, "pgbouncer did not start"
                assert time.monotonic() < give_up_at, "pgbouncer does not answer"
                time.sleep(0.05)
        yield port
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(PATIENCE)
