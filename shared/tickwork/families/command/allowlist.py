"""The operator's file of commands: which programs jobs may run, and with what."""

import re
import shutil
import stat
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, create_model, model_validator
from pydantic_core import SchemaError

from tickwork.errors import BadSetting
from tickwork.families.command.template import Place, Template, no_option, one_line, places_in

UUID = "^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$"
# What is known about every job, besides its payload.
JOB = ("job.id", "job.tenant_id", "job.attempt")
# Settings of the worker, such as the URL of its database.
WORKERS_OWN = ("TICKWORK_", "BPC_")
PATH = "/usr/local/bin:/usr/bin:/bin"

Name = Annotated[str, Field(pattern="^[a-z][a-z0-9_]{0,99}$")]
Key = Annotated[str, Field(pattern="^[a-z][a-z0-9_.-]{0,99}$")]
ExitCode = Annotated[int, Field(ge=0, le=255)]


class Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Argument(Table):
    """One field of the payload."""

    type: Literal["string", "integer", "boolean", "uuid"] = "string"
    choices: list[str] = []
    pattern: str | None = Field(default=None, max_length=200)
    max_length: int = Field(default=1000, ge=1, le=65_536)
    minimum: int = -(2**53)
    maximum: int = 2**53
    optional: bool = False
    leading_dash: bool = False

    @model_validator(mode="after")
    def check_pattern(self) -> "Argument":
        # One that is found somewhere in a value says nothing about the rest of it.
        if self.pattern is not None and not re.fullmatch(r"(?s)\^.*(?<!\\)\$", self.pattern):
            raise ValueError("pattern must begin with ^ and end with $")
        return self

    def as_field(self) -> Any:
        """As create_model takes it."""
        return (self._annotation() | None, None) if self.optional else (self._annotation(), ...)

    def _annotation(self) -> Any:
        dash = AfterValidator(as_given if self.leading_dash else no_option_in)
        match self.type:
            case "boolean":
                return bool
            case "integer":
                return Annotated[int, Field(ge=self.minimum, le=self.maximum), dash]
            case "uuid":
                return Annotated[str, Field(pattern=UUID, max_length=36)]
            case "string" if self.choices:
                return Literal[tuple(self.choices)]
            case "string":
                text = Field(pattern=self.pattern, max_length=self.max_length)
                return Annotated[str, text, AfterValidator(one_line), dash]


def as_given(value: Any) -> Any:
    return value


def no_option_in(value: Any) -> Any:
    no_option(str(value))
    return value


class ExitCodes(Table):
    """What the exit codes of a program mean; any other one is tried again."""

    done: list[ExitCode] = [0]
    permanent: list[ExitCode] = []
    not_yet: list[ExitCode] = []


class Command(Table):
    """One entry of the file, which is also a type of job."""

    description: str = ""
    argv: list[str | list[str]] = Field(min_length=1)
    payload: dict[Name, Argument] = {}
    folder: str
    environment: dict[str, str] = {}
    # Variables of the worker that the command gets, too. What it prints of them is redacted.
    secrets: list[str] = []
    timeout_seconds: int = Field(default=3600, ge=1, le=86_400)
    stop_seconds: float = Field(default=3.0, ge=0, le=4)
    memory_mb: int = Field(default=1024, ge=16)
    cpu_seconds: int = Field(default=3600, ge=1)
    exit_codes: ExitCodes = ExitCodes()
    not_yet_seconds: int = Field(default=60, ge=1, le=86_400)
    max_attempts: int = Field(default=3, ge=1, le=25)
    enqueued_by: Literal["service", "admin", "member"] = "service"

    @property
    def program(self) -> str:
        assert isinstance(self.argv[0], str)
        return self.argv[0]

    @model_validator(mode="after")
    def check_places(self) -> "Command":
        places = list(places_in(self.argv))
        if not isinstance(self.argv[0], str) or any(places_in(self.argv[:1])) or not self.argv[0]:
            raise ValueError("argv must begin with the program itself, without a value of the payload")
        if "/" in self.argv[0] and not self.argv[0].startswith("/"):
            raise ValueError("argv must begin with a name or an absolute path")
        if unused := self.payload.keys() - {place.name for place in places}:
            raise ValueError(f"payload.{min(unused)} is not used in argv")
        for place in places:
            if place.name not in JOB:
                self._check_place(place)
        self.payload_model()
        return self

    def _check_place(self, place: Place) -> None:
        name, argument = place.name, self.payload.get(place.name)
        if argument is None:
            raise ValueError(f"argv has {{{name}}}, and payload does not. There are also {', '.join(JOB)}")
        if argument.optional and not place.is_optional:
            raise ValueError(f"{name} is optional: put the arguments that need it into brackets of their own")
        if argument.leading_dash and place.may_be_option:
            raise ValueError(f'{name} may begin with a dash: put "--" before it, or write --option={{{name}}}')

    @model_validator(mode="after")
    def check_variables(self) -> "Command":
        for name in (*self.environment, *self.secrets):
            if not re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", name):
                raise ValueError(f"{name!r} is not the name of a variable")
        if own := next((name for name in self.secrets if name.startswith(WORKERS_OWN)), None):
            raise ValueError(f"{own} is a setting of the worker, which no command gets")
        if any("\0" in each for each in (*self.environment.values(), *flattened(self.argv), self.folder)):
            raise ValueError("nothing may contain a NUL")
        if not self.folder.startswith("/"):
            raise ValueError("folder must be an absolute path")
        return self

    def payload_model(self) -> type[BaseModel]:
        fields = {name: argument.as_field() for name, argument in self.payload.items()}
        strict = ConfigDict(extra="forbid", frozen=True, strict=True)
        try:
            model: type[BaseModel] = create_model("Payload", __config__=strict, **fields)
        except SchemaError:
            raise ValueError("payload: a pattern is no regular expression, or has lookaround") from None
        return model

    def own_environment(self, workers: Mapping[str, str]) -> dict[str, str]:
        """All variables that it gets, some of them from the environment of the worker."""
        return {"PATH": PATH, "LANG": "C.UTF-8"} | self.environment | {name: workers[name] for name in self.secrets}

    def problems(self, workers: Mapping[str, str]) -> list[str]:
        """Why it cannot run on this machine, with the environment of the worker."""
        path = self.environment.get("PATH", PATH)
        found = [f"{name} is not set: the worker needs it" for name in self.secrets if not workers.get(name)]
        if shutil.which(self.program, path=path) is None:
            found.append(f"there is no program {self.program} in {path}")
        if not Path(self.folder).is_dir():
            found.append(f"there is no folder {self.folder}")
        return found


def flattened(template: Template) -> list[str]:
    return [each for part in template for each in ([part] if isinstance(part, str) else part)]


class File(Table):
    commands: dict[Key, Command] = {}


def read_commands(file: Path) -> dict[str, Command]:
    """The commands of the file, by key; raises BadSetting with the first thing that is wrong."""
    try:
        # Whoever can write it can run anything as the worker.
        if file.stat().st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise BadSetting(f"{file}: others than its owner may write it. Run chmod go-w {file}")
        return File.model_validate(tomllib.loads(file.read_text())).commands
    except OSError as error:
        raise BadSetting(f"{file}: {error.strerror}. TICKWORK_COMMANDS_FILE names the file of commands") from None
    except ValidationError as error:
        problem = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(map(str, problem["loc"]))
        raise BadSetting(f"{file}: {where}: {problem['msg'].removeprefix('Value error, ')}") from None
    # Not TOML, not UTF-8, a number of 5,000 digits, a thousand brackets.
    except (ValueError, RecursionError) as error:
        raise BadSetting(f"{file}: {error}") from None
