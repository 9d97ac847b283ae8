"""A worker on a machine of its own: the unit for systemd, and what the Dockerfile installs."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from uuid import uuid4

import pytest

from tests.world import World
from tests.world.command_line import environment_for
from tests.world.waiting import until

ROOT = Path(__file__).parents[2]
UNIT = ROOT / "infra/worker/tickwork@.service"
DOCKERFILE = ROOT / "infra/docker/Dockerfile"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
def test_systemd_understands_the_unit(tmp_path: Path) -> None:
    copy = tmp_path / "tickwork@extract.service"
    # It looks whether the program is there.
    copy.write_text(re.sub("^ExecStart=.*$", "ExecStart=/bin/true worker %i", UNIT.read_text(), flags=re.MULTILINE))

    verified = subprocess.run(["systemd-analyze", "verify", str(copy)], capture_output=True, text=True, timeout=60)

    assert verified.returncode == 0, verified.stderr
    assert "tickwork" not in verified.stderr


def test_what_the_image_installs_works_off_a_job(world: World, tmp_path: Path) -> None:
    """The image itself takes a Docker daemon; its one step that can fail is run here, in an empty environment."""
    (extras,) = re.findall(r'"\.(\[[a-z0-9,]+\])"', DOCKERFILE.read_text())
    uv = [sys.executable, "-m", "uv"]
    place = tmp_path / "environment"
    subprocess.run([*uv, "venv", "--quiet", str(place)], check=True)
    options = ["--python", f"{place}/bin/python", "--constraints", "requirements.lock"]
    subprocess.run([*uv, "pip", "install", "--quiet", *options, f"{ROOT}{extras}"], check=True, cwd=ROOT)
    settings = {"TICKWORK_DATABASE_URL": world.worker_url}
    environment = environment_for(tmp_path, settings)
    job = world.job("classify_document", payload={"document_id": str(uuid4())})

    with subprocess.Popen([f"{place}/bin/tickwork", "worker", "classify"], env=environment, cwd=tmp_path) as worker:
        try:
            until(lambda: world.reload(job).status == "failed")
        finally:
            worker.terminate()
    migrated = subprocess.run(
        [f"{place}/bin/tickwork", "migrate", world.url], env=environment, cwd=tmp_path, capture_output=True, text=True
    )

    assert worker.returncode == 0
    assert world.reload(job).error_code == "DOCUMENT_MISSING"
    assert migrated.stdout == "Nothing to do: the schema is up to date.\n"
    assert (next(place.glob("lib/*/site-packages")) / "tickwork/files/supabase/cron.sql").exists()
