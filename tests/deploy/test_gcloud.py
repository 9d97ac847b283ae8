"""Every command of a plan, read by the real gcloud: it knows each flag and each form, and is asked to do nothing."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.gcp.test_deploy import planned

pytestmark = pytest.mark.skipif(shutil.which("gcloud") is None, reason="gcloud is not installed")

EVERYTHING = {"TICKWORK_HMAC_SECRET": "s" * 32, "TICKWORK_VAULT_URL": "s3://bucket?region=eu,x"}


def complaints(commands: list[str], folder: Path) -> dict[str, str]:
    """What gcloud has to say against each command that it does not understand."""
    file = folder / "commands.json"
    file.write_text(json.dumps([{"command_string": each} for each in commands]))
    # With a configuration of its own, which is empty: no account, no project, nothing to call anybody with.
    quiet = {
        "CLOUDSDK_CONFIG": str(folder),
        "CLOUDSDK_CORE_CHECK_GCE_METADATA": "false",
        "CLOUDSDK_CORE_DISABLE_USAGE_REPORTING": "true",
        "CLOUDSDK_COMPONENT_MANAGER_DISABLE_UPDATE_CHECK": "true",
    }
    asked = ["gcloud", "meta", "lint-gcloud-commands", f"--commands-file={file}"]
    done = subprocess.run(asked, env={**os.environ, **quiet}, capture_output=True, text=True, timeout=600)
    if not done.stdout.startswith("["):
        pytest.skip(f"this gcloud does not lint: {done.stderr.strip()[-200:]}")
    answers = json.loads(done.stdout)
    assert len(answers) == len(commands)
    return {each["command_string"]: each["error_message"] for each in answers if not each["success"]}


@pytest.mark.parametrize("callers", ["scheduler", "supabase"])
def test_gcloud_understands_every_command(callers: str, tmp_path: Path) -> None:
    plan = planned("extract", callers=callers, **EVERYTHING)
    commands = [each for step in plan.steps for each in (step.command, step.unless) if each]
    # It reads a command as a plain string, and takes a parenthesis for the end of it.
    texts = sorted({" ".join(word for word in each if "(" not in word and ": " not in word) for each in commands})

    assert len(texts) >= 8
    assert complaints(texts, tmp_path) == {}


def test_the_check_can_fail(tmp_path: Path) -> None:
    command = "gcloud run deploy tickwork-extract --nonsense=3"

    assert "--nonsense" in complaints([command], tmp_path)[command]
