"""Files of a project, damaged: read, or refused with an error that names the file."""

import re
from collections.abc import Callable
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz import quick
from tickwork.cli.project import find_project
from tickwork.errors import BadSetting, InvalidRequest
from tickwork_gcp.family_file import read_family
from tickwork_gcp.requirements import check_lock, read_lock, read_requirements

PROJECT = """[project]
name = "shop"
modules = ["documents", "webhooks"]
tenants = "public.companies(id)"
members = "public.staff(company_id, user_id)"

[stack]
port = 8420
database = "postgresql://localhost/shop"
"""
FAMILY = """settings = ["SHOP_URL"]
secrets = ["SHOP_KEY"]
vault = true

[deploy]
memory = "512Mi"
cpu = 0.5
concurrency = 1
timeout = 120
min_instances = 0
max_instances = 5
"""
REQUIREMENTS = """# What it needs.
tickwork[oidc]>=0.0  # with tokens
httpx>=0.27,<1 ; python_version >= "3.11"
"""
LOCK = """# Written by `tickwork lock`
httpx==0.28.1 \\
    --hash=sha256:0000000000000000000000000000000000000000000000000000000000000000
psycopg[binary]==3.2.3 ; sys_platform != 'win32' \\
    --hash=sha256:0000000000000000000000000000000000000000000000000000000000000000
"""
PIECES = [
    *("=", "==", "[", "]", "{", "}", '"', "'", ",", ".", "#", "\n", "\n\n", "\r", "\\", " ", "\0", "\x1c", "\u2028"),
    *("-1", "1e400", "nan", "inf", "9" * 5000, "true", "1979-05-27T07:32:00Z", "0x", "[" * 900 + "]" * 900),
    *("{a=" * 400 + "1" + "}" * 400, "[[deploy]]", "[]", "{}", "''", '"a.b(c)"', "*", "==1.*", "===x"),
    *("@ file:///x", "-r x", "--hash=", ">=2,<3", "[a,b]", "; x"),
]


@st.composite
def damaged(draw: st.DrawFn, sound: str) -> bytes:
    data = bytearray(sound.encode())
    for _ in range(draw(st.integers(1, 4))):
        at, length = draw(st.integers(0, len(data))), draw(st.sampled_from([0, 0, 1, 3, 12]))
        values = [found.span(1) for found in re.finditer(rb"= ?([^\n]*)", data)]
        begin, end = draw(st.just((at, at + length)) | st.sampled_from(values or [(0, 0)]))
        data[begin:end] = draw(st.sampled_from(PIECES).map(str.encode) | st.binary(max_size=4))
    return bytes(data)


def check(sound: str, file: Path, read: Callable[[], object], refusal: type[Exception]) -> None:
    """Whatever the file has become, it is read or refused."""
    file.write_text(sound)
    read()

    @quick
    @given(damaged(sound))
    def each(data: bytes) -> None:
        file.write_bytes(data)
        assert file.name in said(read, refusal, file)

    each()


def said(read: Callable[[], object], refusal: type[Exception], file: Path) -> str:
    try:
        read()
    except refusal as error:
        return str(error)
    return file.name


def test_a_damaged_tickwork_toml_is_read_or_refused(tmp_path: Path) -> None:
    check(PROJECT, tmp_path / "tickwork.toml", lambda: find_project(tmp_path), BadSetting)


def test_a_damaged_family_toml_is_read_or_refused(tmp_path: Path) -> None:
    check(FAMILY, tmp_path / "family.toml", lambda: read_family(tmp_path), InvalidRequest)


def test_damaged_requirements_are_read_or_refused(tmp_path: Path) -> None:
    file = tmp_path / "requirements.txt"

    check(REQUIREMENTS, file, lambda: read_requirements(file), InvalidRequest)


def test_a_damaged_lock_is_read_or_refused(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("httpx>=0.27\npsycopg[binary]\n")
    needs = read_requirements(tmp_path / "requirements.txt")
    file = tmp_path / "requirements.lock"

    check(LOCK, file, lambda: check_lock(needs, read_lock(file), file), InvalidRequest)
