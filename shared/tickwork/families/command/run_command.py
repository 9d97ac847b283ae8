"""Runs the commands of the operator's file, each as a type of job."""

import os
import signal
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from pydantic import BaseModel

from tickwork.errors import BadSetting, NotYet, Permanent, Retryable
from tickwork.families.command.allowlist import Command, read_commands
from tickwork.families.command.process import Process
from tickwork.families.command.template import filled
from tickwork.jobs.handler import Handler, Handlers, Tools
from tickwork.jobs.outcomes import Output
from tickwork.settings import load_settings

# How often to look whether it has to stop, and how often to show what it has printed.
LOOK_SECONDS = 0.2
SHOW_SECONDS = 1.0
# As much as a progress message may have.
MAX_SHOWN = 500


class Result(BaseModel):
    exit_code: int


def handlers_of_file() -> Handlers:
    """A handler for each command of the operator's file, if all of them can run here; raises BadSetting otherwise."""
    file = load_settings().commands_file
    if file is None:
        raise BadSetting("TICKWORK_COMMANDS_FILE is not set. It names the file of commands that jobs may run")
    commands = read_commands(Path(file))
    for key, command in commands.items():
        for problem in command.problems(os.environ):
            raise BadSetting(f"{file}: {key}: {problem}")
    return {key: handler_of(command) for key, command in commands.items()}


def handler_of(command: Command) -> Handler[BaseModel]:
    return Handler(command.payload_model(), partial(run_command, command), Result)


def run_command(command: Command, payload: BaseModel, tools: Tools) -> Result:
    environment = command.own_environment(os.environ)
    secrets = {name: environment[name] for name in command.secrets}
    try:
        process = Process(command, argv_of(command, payload, tools), environment)
    except OSError as error:
        refused = Retryable("The command could not be started", code="NOT_STARTED")
        refused.for_operator = str(error)
        raise refused from error
    try:
        with process:
            follow(process, command, tools, secrets)
    finally:
        tools.note_output(output_of(process, secrets))
    return judged(process, command, tools)


def argv_of(command: Command, payload: BaseModel, tools: Tools) -> list[str]:
    values = {name: text_of(value) for name, value in payload if value is not None}
    job = {"job.id": tools.job_id, "job.tenant_id": tools.tenant_id, "job.attempt": tools.attempt}
    return filled(command.argv, values | {name: str(value) for name, value in job.items()})


def text_of(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def follow(process: Process, command: Command, tools: Tools, secrets: Mapping[str, str]) -> None:
    """Until it ends; raises what it has to be stopped for."""
    began = shown_at = time.monotonic()
    while process.read(LOOK_SECONDS):
        tools.check()
        now = time.monotonic()
        # The worker stops it as well, if its type has a shorter time.
        if now > began + command.timeout_seconds:
            raise Retryable(f"It ran longer than the {command.timeout_seconds} seconds of its command", code="TIMEOUT")
        if now > shown_at + SHOW_SECONDS:
            show(process, tools, secrets)
            shown_at = now


def show(process: Process, tools: Tools, secrets: Mapping[str, str]) -> None:
    """What it has printed so far goes with the next heartbeat, and with the attempt, should that be abandoned."""
    output = output_of(process, secrets, whole_lines=True)
    tools.note_output(output)
    if printed := (output.stdout_tail or output.stderr_tail):
        tools.progress(0, printed.rstrip()[-MAX_SHOWN:])


def output_of(process: Process, secrets: Mapping[str, str], *, whole_lines: bool = False) -> Output:
    return Output(
        pid=process.pid,
        exit_code=process.exit_code,
        stdout_tail=process.stdout.text(secrets, whole_lines=whole_lines),
        stderr_tail=process.stderr.text(secrets, whole_lines=whole_lines),
    )


def judged(process: Process, command: Command, tools: Tools) -> Result:
    """The result, or how the attempt ends if its exit code is not one of those that mean success."""
    code = process.exit_code
    if code is None:
        raise Retryable("The process that watches the command was killed", code="NOT_WATCHED")
    if process.killed_by:
        name = name_of_signal(process.killed_by)
        raise Retryable(f"The command was ended by {name}", code=name)
    if code in command.exit_codes.done:
        return Result(exit_code=code)
    said = f"The command ended with the exit code {code}{last_words(tools)}"
    if code in command.exit_codes.not_yet:
        raise NotYet(said, delay=command.not_yet_seconds)
    if code in command.exit_codes.permanent:
        raise Permanent(said, code=f"EXIT_{code}")
    raise Retryable(said, code=f"EXIT_{code}")


def name_of_signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"SIGNAL_{number}"


def last_words(tools: Tools) -> str:
    printed = tools.output.stderr_tail.split("\n") if tools.output else []
    line = next((line.strip() for line in reversed(printed) if line.strip()), "")
    return f": {line[:MAX_SHOWN]}" if line else ""
