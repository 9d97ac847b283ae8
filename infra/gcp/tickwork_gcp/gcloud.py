"""Runs the steps of a plan with the gcloud command line tool."""

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping

from tickwork.errors import BadSetting, Unavailable
from tickwork_gcp.plan import Plan, Step

Say = Callable[[str], None]


class Gcloud:
    """The tool, found on the path; secrets are only passed through its standard input."""

    def __init__(self, environment: Mapping[str, str] = os.environ) -> None:
        self._environment = environment
        self._program = shutil.which("gcloud", path=environment.get("PATH"))
        if self._program is None:
            hint = "Install the Google Cloud CLI, or run the commands of --dry-run elsewhere."
            raise BadSetting(f"gcloud is not installed. {hint}")

    def run(self, plan: Plan, say: Say) -> dict[str, str]:
        """Run every step, stop at the first that fails, and return the URL of each function."""
        self.check_secrets(plan)
        for step in plan.steps:
            if step.unless and self._call(step.unless).returncode == 0:
                say(f"✓ {step.what}: was there")
                continue
            say(f"… {step.what}")
            self._must(step)
        return {family: self._output(plan.url_command(family)) for family in plan.shapes}

    def check_secrets(self, plan: Plan) -> None:
        """Before anything is created: each secret is already in Secret Manager, or its setting is set."""
        for step in plan.steps:
            if step.stdin and not self._environment.get(step.stdin):
                assert step.unless is not None
                if self._call(step.unless).returncode != 0:
                    raise BadSetting(f"{step.stdin} is neither set nor in Secret Manager. Nothing was deployed.")

    def _must(self, step: Step) -> None:
        done = self._call(step.command, self._environment.get(step.stdin or ""))
        if done.returncode != 0:
            words = done.stderr.strip() or done.stdout.strip() or f"exit code {done.returncode}"
            hint = "Fix it and run the command again: finished steps are not repeated."
            raise Unavailable(f"could not {step.what}: {words[-600:]}", hint=hint)

    def _output(self, command: list[str]) -> str:
        done = self._call(command)
        if done.returncode != 0 or not done.stdout.strip():
            raise Unavailable(f"{' '.join(command)} answered nothing: {done.stderr.strip()[-300:]}")
        return done.stdout.strip()

    def _call(self, command: list[str], given: str | None = None) -> "subprocess.CompletedProcess[str]":
        assert self._program is not None
        return subprocess.run(
            [self._program, *command[1:]],
            input=given or "",
            env=dict(self._environment),
            capture_output=True,
            text=True,
            check=False,
        )
