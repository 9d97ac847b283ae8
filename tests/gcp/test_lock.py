"""The lock of a family of one's own: written by uv, checked by build, installed by a bundle."""

import re
import shutil
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.gcp.test_bundles import family, install, packages
from tests.serve.test_wake_up import SECRET, running_function
from tests.world import World
from tests.world.command_line import run
from tickwork.errors import InvalidRequest
from tickwork_gcp import lock as locks
from tickwork_gcp.bundles import build
from tickwork_gcp.lock import write_lock
from tickwork_gcp.requirements import check_lock, read_lock

MAIN = """
import greeting_words
from pydantic import BaseModel
from tickwork.jobs.handler import Handler
from tickwork.jobs.outcomes import Done
from tickwork.serve import serve

class Anything(BaseModel):
    pass

class Greeting(BaseModel):
    text: str

def greet(payload, tools):
    return Done(Greeting(text=greeting_words.HELLO))

main = serve("billing", {"greet": Handler(Anything, greet)})
"""


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of packages that nobody else has."""
    place = tmp_path / "shelf"
    place.mkdir()
    put(place, "1.0")
    monkeypatch.setenv("UV_FIND_LINKS", str(place))
    return place


def put(shelf: Path, version: str) -> None:
    """A wheel of greeting-words, made by hand."""
    about = f"greeting_words-{version}.dist-info"
    with zipfile.ZipFile(shelf / f"greeting_words-{version}-py3-none-any.whl", "w") as wheel:
        wheel.writestr("greeting_words.py", f"HELLO = 'Hello from {version}'\n")
        wheel.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: greeting-words\nVersion: {version}\n")
        wheel.writestr(
            f"{about}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{about}/RECORD", "")


def test_a_family_with_packages_of_its_own_is_locked_built_and_does_a_job(
    shelf: Path, world: World, tmp_path: Path
) -> None:
    place = family(tmp_path, "tickwork[oidc]\ngreeting-words\n", **{"main.py": MAIN})
    where = ["--functions", str(place.parent)]
    environment = {"UV_FIND_LINKS": str(shelf)}

    locked = run("lock", "billing", *where, home=tmp_path, **environment)
    built = run("build", "billing", *where, "--output", str(tmp_path / "dist"), home=tmp_path)

    assert (locked.returncode, built.returncode) == (0, 0), locked.stderr + built.stderr
    bundle = tmp_path / "dist" / "billing"
    found = packages(bundle)
    assert found["greeting-words"] == "1.0"
    assert {"psycopg", "pyjwt", "functions-framework"} <= found.keys()
    assert "tickwork" not in found
    text = (bundle / "requirements.txt").read_text()
    assert all("--hash=sha256:" in block for block in re.split(r"\n(?=\w)", text.strip()))
    world.run("insert into job_types (key, family) values ('greet', 'billing')")
    job = world.job("greet")
    settings = {"TICKWORK_DATABASE_URL": world.worker_url, "TICKWORK_BEARER_SECRET": SECRET}
    python = install(bundle, tmp_path / "environment")
    with running_function(bundle / "main.py", tmp_path / "run", python=python, **settings) as function:
        assert function.wake().body == {"family": "billing", "claimed": 1, "done": 1}
    assert world.reload(job).result == {"text": "Hello from 1.0"}


def test_what_is_locked_stays_until_it_is_upgraded(shelf: Path, tmp_path: Path) -> None:
    place = family(tmp_path, "tickwork\ngreeting-words\n")
    write_lock(place)
    first = (place / "requirements.lock").read_bytes()
    put(shelf, "2.0")

    write_lock(place)
    assert (place / "requirements.lock").read_bytes() == first
    write_lock(place, is_upgrade=True)
    assert "greeting-words==2.0" in (place / "requirements.lock").read_text()


def test_a_lock_that_does_not_have_what_is_asked_for_is_out_of_date(shelf: Path, tmp_path: Path) -> None:
    place = family(tmp_path, "tickwork\ngreeting-words\nhttpx\n")
    write_lock(place)
    build(place, tmp_path / "dist")

    asked = {
        "tickwork\ngreeting-words>=2\n": "does not have greeting-words>=2",
        "tickwork\nleft-pad\n": "does not have left-pad",
        "tickwork\nhttpx[http2]\n": r"does not have httpx\[http2\]",
        "tickwork[oidc]\n": r"does not have pyjwt\[crypto\]>=",
    }
    for requirements, words in asked.items():
        (place / "requirements.txt").write_text(requirements)
        with pytest.raises(InvalidRequest, match=f"requirements.lock is out of date: it {words}") as stale:
            build(place, tmp_path / "dist")
        assert f"Run `tickwork lock billing --functions {place.parent}`." in str(stale.value.hint)
    (place / "requirements.txt").write_text("tickwork\nhttpx\n")
    with pytest.raises(InvalidRequest, match="does not have boto3>=") as stale:
        build(place, tmp_path / "dist", ["s3"])
    assert "ask for tickwork[s3]" in str(stale.value.hint)


def test_a_package_with_several_versions_is_kept_whole(tmp_path: Path) -> None:
    text = "# By hand.\nnumpy==1.26.4 ; python_full_version < '3.12' \\\n    --hash=sha256:1\nnumpy==2.4.0 ; "
    text += "python_full_version >= '3.12' \\\n    --hash=sha256:2\npsycopg[binary]==3.3.0 \\\n    --hash=sha256:3\n"
    (tmp_path / "requirements.lock").write_text(text)

    lock = read_lock(tmp_path / "requirements.lock")

    assert lock.keys() == {"numpy", "psycopg"}
    assert lock["numpy"].count("==") == 2
    assert "".join(lock.values()) == text.partition("\n")[2]


def test_a_lock_that_somebody_has_edited_is_out_of_date(tmp_path: Path) -> None:
    (file := tmp_path / "requirements.lock").write_text("httpx==0.28.1 \\\n    --hash=sha256:1\n\nidna==3.10\n")
    check_lock([Requirement("httpx"), Requirement("idna")], read_lock(file), file)

    for entry in ("httpx", "httpx>=0.27,<1", "httpx >=0.27", "httpx==0.*", "httpx[", "httpx 1"):
        file.write_text(f"{entry}\n")
        with pytest.raises(InvalidRequest, match="is out of date: it does not have httpx"):
            check_lock([Requirement("httpx")], read_lock(file), file)
    file.write_bytes(b"\xff")
    with pytest.raises(InvalidRequest, match="can't decode"):
        read_lock(file)


def test_what_cannot_be_locked_is_said_and_leaves_the_lock_alone(
    shelf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = family(tmp_path, "tickwork\ngreeting-words>=3\n", **{"requirements.lock": "# as it was\n"})

    with pytest.raises(InvalidRequest, match=r"billing: uv cannot lock this: .*greeting-words>=3"):
        write_lock(place)
    monkeypatch.setattr(shutil, "which", lambda program: None)
    monkeypatch.setattr(locks, "find_spec", lambda name: None)
    with pytest.raises(InvalidRequest, match="locking needs uv") as missing:
        write_lock(place)

    assert missing.value.hint == "Run `pip install uv`."
    assert (place / "requirements.lock").read_text() == "# as it was\n"
    assert "the built-in families come with their lock" in run("lock", home=tmp_path).stderr
