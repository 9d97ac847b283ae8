"""A parser that was taken over can do nothing but answer: not as root, and not as another user."""

import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.world.engine_files import DOCX, PDF, docx, docx_paragraph, report_of
from tests.world.hijacked_parser import ATTEMPTS
from tickwork.families.extract.engines.local import ChildOutput, extract, running_child

CONFINED = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() not in ("x86_64", "aarch64"),
    reason="there is a filter of system calls for Linux on x86-64 and arm64 only",
)


@CONFINED
@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_a_hijacked_parser_is_refused(attempt: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TICKWORK_DATABASE_URL", "postgresql://a:geheim@b/c")
    secret = tmp_path / "secret"
    secret.write_text("streng geheim")
    secret.chmod(0o666)
    file = tmp_path / "file"
    file.write_text(json.dumps({"attempt": attempt, "path": str(secret), "port": "80"}))

    with file.open("rb") as source, running_child(source, "tests.world.hijacked_parser", 60) as child:
        answer = ChildOutput(child, time.monotonic() + 60, lambda share, message: None).read()

    assert [each["text"] for each in answer.elements] == ["refused: Permission denied"]
    assert secret.read_text() == "streng geheim"
    assert not list(tmp_path.glob("*.new"))


READING = """
import os, sys
from pathlib import Path
if len(sys.argv) > 3:
    os.setgroups([]); os.setgid(int(sys.argv[3])); os.setuid(int(sys.argv[3]))
from tickwork.families.extract.engines.local import extract
print([each["text"] for each in extract(Path(sys.argv[1]), sys.argv[2], 60, lambda share, message: None).elements])
"""
FILES: dict[str, Callable[[], bytes]] = {
    PDF: lambda: report_of(1),
    DOCX: lambda: docx(docx_paragraph("Schöne Grüße")),
    "text/plain": lambda: "Schöne Grüße".encode("cp1252"),
    "message/rfc822": lambda: (
        b"Subject: =?iso-8859-15?q?Gr=FC=DFe?=\r\nContent-Type: text/plain; charset=koi8-r\r\n\r\n\xc1"
    ),
}


def is_open_to_all(path: Path) -> bool:
    return all(each.stat().st_mode & 0o001 for each in [path, *path.parents])


@pytest.mark.parametrize("mime_type", FILES)
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
@pytest.mark.skipif(not is_open_to_all(Path(sys.executable).resolve()), reason="this Python is root's own")
def test_a_plain_user_reads_what_root_reads(mime_type: str, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(FILES[mime_type]())
    for folder in [file, *file.parents]:
        if folder.is_relative_to(tmp_path.parent.parent):
            folder.chmod(0o755)

    by_root = [each["text"] for each in extract(file, mime_type, 60, lambda share, message: None).elements]
    by_another = subprocess.run(
        [sys.executable, "-c", READING, file, mime_type, "12345"], capture_output=True, text=True, check=True
    )

    assert by_another.stdout.strip() == str(by_root)
