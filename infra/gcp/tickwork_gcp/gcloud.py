"""Runs the steps of a plan with the gcloud command line tool."""

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping

from tickwork.errors import BadSetting, DeployFailed
from tickwork_gcp.plan import Plan
from tickwork_gcp.step import Step, shell

Say = Callable[[str], None]

SIGNED_OUT = re.compile("active account|gcloud auth login|refreshing your current auth|[Rr]eauthentication")


class Gcloud:
    """The tool, found on the path; secrets are only passed through its standard input."""

    def __init__(self, environment: Mapping[str, str] = os.environ) -> None:
        self._environment = environment
        self._program = shutil.which("gcloud", path=environment.get("PATH"))
        self._kept: dict[str, str] = {}
        if self._program is None:
            hint = "Install the Google Cloud CLI, or run the commands of --dry-run elsewhere."
            raise BadSetting(f"gcloud is not installed. {hint}")

    def run(self, plan: Plan, say: Say) -> dict[str, str]:
        """Run every step, stop at the first that fails, and return the URL of each function."""
        for step in plan.steps:
            if self._is_done(step):
                say(f"✓ {step.what}: nothing to do")
                continue
            say(f"… {step.what}")
            self._do(step)
        return {family: self._kept[plan.url_name(family)] for family in plan.families}

    def _is_done(self, step: Step) -> bool:
        if step.unless is None:
            return False
        found = self._call(step.unless)
        return found.returncode == 0 and (step.stdin is None or found.stdout == self._environment[step.stdin])

    def _do(self, step: Step) -> None:
        done = self._call(step.command, self._environment[step.stdin] if step.stdin else "")
        words = last_words(done.stderr) or f"exit code {done.returncode}"
        if done.returncode != 0 and SIGNED_OUT.search(done.stderr):
            raise DeployFailed(f"gcloud is not signed in: {words}", "Run `gcloud auth login`.")
        printed = done.stdout.strip()
        if done.returncode != 0 or (step.keep_as and not printed):
            command = f"The command was: {shell(step.command)}"
            raise DeployFailed(f"could not {step.what}: {words}\n{command}", step.hint or "Fix the cause.")
        if step.keep_as:
            self._kept[step.keep_as] = printed

    def _call(self, command: list[str], given: str = "") -> "subprocess.CompletedProcess[str]":
        assert self._program is not None
        return subprocess.run(
            [self._program, *command[1:]],
            input=given,
            env=dict(self._environment),
            capture_output=True,
            encoding="utf-8",
            check=False,
        )


def last_words(text: str) -> str:
    """gcloud's own last error in one line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR:")]
    return (errors or lines or [""])[-1][:600]
