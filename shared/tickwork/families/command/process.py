"""A program that runs under supervision, and the end of what it prints."""

import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from tickwork.families.command.allowlist import Command
from tickwork.tools.redaction import redacted

SUPERVISE = Path(__file__).with_name("supervise.py")
MAX_TAIL = 8000
# Kept in front of a tail, so that a secret is found before it is cut in two.
MARGIN = 4096
BLOCK = 1 << 16


class Tail:
    """The end of a stream, however long that is."""

    def __init__(self) -> None:
        self._kept = bytearray()
        self._is_cut = False

    def add(self, block: bytes) -> None:
        self._kept += block
        if len(self._kept) > MAX_TAIL + MARGIN:
            del self._kept[: -(MAX_TAIL + MARGIN)]
            self._is_cut = True

    def text(self, secrets: Mapping[str, str], *, whole_lines: bool = False) -> str:
        """At most 8000 bytes of it, without the secrets; of what still comes, whole lines only."""
        kept = bytes(self._kept)
        if whole_lines:
            # What comes next may be the other half of a secret.
            kept = kept[: max(kept.rfind(b"\n"), kept.rfind(b"\r")) + 1]
        # Half a secret, whose beginning is gone, can only be at the beginning of what is left.
        too_much = MARGIN if self._is_cut else max(0, len(kept) - MAX_TAIL)
        return redacted(shown(kept), secrets)[len(shown(kept[:too_much])) :]


def shown(output: bytes) -> str:
    """Text that the database can store, with a mark for what is none."""
    return output.decode("utf-8", "replace").replace("\0", "\N{REPLACEMENT CHARACTER}")


class Process:
    """Runs while the context is open. Whatever it has started is gone when that is closed."""

    def __init__(self, command: Command, argv: Sequence[str], environment: Mapping[str, str]) -> None:
        self.pid: int | None = None
        # As in a shell: 128 and the number of the signal that ended it.
        self.exit_code: int | None = None
        self.killed_by: int | None = None
        self.stdout, self.stderr = Tail(), Tail()
        reader, writer = os.pipe()
        limits = (command.stop_seconds, command.memory_mb << 20, command.cpu_seconds)
        try:
            self._supervisor = subprocess.Popen(
                [sys.executable, "-I", "-S", str(SUPERVISE), str(writer), *map(str, limits), *argv],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                cwd=command.folder,
                env=environment,
                pass_fds=[writer],
                start_new_session=True,
            )
        except BaseException:
            os.close(reader)
            raise
        finally:
            os.close(writer)
        self._report = os.fdopen(reader, "rb", buffering=0)
        self._told = b""
        self._selector = selectors.DefaultSelector()
        assert self._supervisor.stdout
        assert self._supervisor.stderr
        self._streams = {self._supervisor.stdout: self.stdout, self._supervisor.stderr: self.stderr}
        for stream in (self._report, *self._streams):
            os.set_blocking(stream.fileno(), False)
            self._selector.register(stream, selectors.EVENT_READ)

    def __enter__(self) -> Self:
        return self

    def read(self, seconds: float) -> bool:
        """Read what there is, or wait for it that long; false once the process is gone, and all of it has been read."""
        until = time.monotonic() + seconds
        while ready := self._selector.select(max(0.0, until - time.monotonic())):
            for key, _ in ready:
                if key.fileobj is self._report:
                    if not self._read_report():
                        self._read_rest()
                        return False
                elif not (block := os.read(key.fd, BLOCK)):
                    self._selector.unregister(key.fileobj)
                else:
                    self._streams[key.fileobj].add(block)  # type: ignore[index]
            if time.monotonic() >= until:
                break
        return True

    def stop(self) -> None:
        """Have it end: by SIGTERM, and by SIGKILL after a while."""
        assert self._supervisor.stdin
        self._supervisor.stdin.close()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()
        while self.read(1):
            pass
        self._supervisor.wait()
        self._note_end()
        self._selector.close()
        for stream in (self._report, *self._streams):
            stream.close()

    def _read_report(self) -> bool:
        """False at its end, when the supervisor is gone."""
        told = self._report.read(BLOCK)
        self._told += told or b""
        if self.pid is None and b"\n" in self._told:
            self.pid = int(self._told.split()[1])
        return told != b""

    def _read_rest(self) -> None:
        """What is in the pipes; somebody who could not be killed may still hold them open."""
        for stream, tail in self._streams.items():
            with suppress(BlockingIOError, ValueError):
                # No pipe holds more than that.
                for _ in range(64):
                    tail.add(os.read(stream.fileno(), BLOCK))

    def _note_end(self) -> None:
        words = self._told.split()
        if len(words) == 4:
            ended = int(words[3])
            self.killed_by = -ended if ended < 0 else None
            self.exit_code = ended if ended >= 0 else 128 - ended
        elif self.pid is not None:
            # Somebody has killed the supervisor.
            with suppress(OSError):
                os.killpg(self.pid, signal.SIGKILL)
