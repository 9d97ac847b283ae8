"""family.toml: how the function of a family is deployed, and the variables of its own that it gets."""

import re
import tomllib
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from tickwork.errors import InvalidRequest

FILE = "family.toml"
# Settings of tickwork that no plan, no command line and no description of a service may show.
SECRET = re.compile(
    r"TICKWORK_(?!AMQP_ROUTING)\w*(DATABASE_URL|AMQP_URL|SECRET|KEY|PASSWORD|TOKEN)|AWS_(ACCESS_KEY_ID|SECRET_ACCESS_KEY)"
)
# Set by Google or by the plan itself.
RESERVED = re.compile(
    r"PORT|K_(SERVICE|REVISION|CONFIGURATION)|X_GOOGLE_\w+|FUNCTION_(TARGET|SIGNATURE_TYPE)|GOOGLE_CLOUD_PROJECT"
    r"|TICKWORK_(OIDC_AUDIENCE|OIDC_EMAIL|LOOK_AGAIN_SECONDS)"
)


class Shape(BaseModel):
    """The section [deploy]. The descriptions are those of docs/reference/family-file.md."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    memory: str = Field(
        default="512Mi", pattern=r"^[1-9][0-9]*(Mi|Gi)$", description="memory of an instance, in Mi or Gi"
    )
    cpu: float = Field(
        default=1, ge=0.08, le=8, description="processors of an instance; below 1 needs `concurrency = 1`"
    )
    concurrency: int = Field(default=4, ge=1, le=1000, description="requests that an instance takes at once")
    timeout: int = Field(
        default=120,
        ge=1,
        le=3600,
        description="seconds that a request may take: `TICKWORK_BUDGET_SECONDS` and the timeout of the longest type",
    )
    min_instances: int = Field(default=0, ge=0, description="instances that are kept although nothing is due")
    max_instances: int = Field(default=5, ge=1, description="instances at most")

    @model_validator(mode="after")
    def check_together(self) -> "Shape":
        if self.max_instances < self.min_instances:
            raise ValueError("max_instances must not be below min_instances")
        if self.cpu < 1 and self.concurrency > 1:
            raise ValueError("cpu below 1 needs concurrency = 1")
        return self


class FamilyFile(BaseModel):
    """The whole file."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    deploy: Shape = Shape()
    settings: list[str] = Field(
        default=[], description="variables of the family's own; one that is not set is left out"
    )
    secrets: list[str] = Field(
        default=[],
        description="variables that are kept in Secret Manager; one of the family's own has to be set, or be there",
    )
    vault: bool = Field(
        default=False, description="whether the function reads or writes files: it gets the vault's keys and client"
    )

    database: str = Field(
        default="TICKWORK_DATABASE_URL",
        description="the variable of yours that the function gets as `TICKWORK_DATABASE_URL`",
    )
    is_open: bool = Field(
        default=False,
        description="whether everybody may call the function: it verifies its callers, and no scheduler wakes it",
    )

    @model_validator(mode="after")
    def check_names(self) -> "FamilyFile":
        for name in (*self.settings, *self.secrets, self.database):
            if not re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", name):
                raise ValueError(f"{name!r} is not the name of a variable")
            if RESERVED.fullmatch(name):
                raise ValueError(f"{name} is set by Google or by the deployment itself")
            if name in self.settings and (name in self.secrets or SECRET.fullmatch(name)):
                raise ValueError(f"{name} is a secret: do not name it in settings")
        return self


def read_family(folder: Path) -> FamilyFile:
    """What family.toml of this family says, or the defaults where there is none."""
    file = folder / FILE
    try:
        return FamilyFile.model_validate(tomllib.loads(file.read_text()) if file.exists() else {})
    except ValidationError as error:
        first: Any = error.errors()[0]
        raise InvalidRequest(f"{file}: {explained(first)}") from None
    # Not TOML, not UTF-8, a number of 5,000 digits, a thousand brackets.
    except (ValueError, RecursionError) as error:
        raise InvalidRequest(f"{file}: {error}") from None


def explained(error: Any) -> str:
    key = ".".join(str(part) for part in error["loc"])
    if error["type"] == "extra_forbidden":
        known = Shape if key.startswith("deploy.") else FamilyFile
        return f"there is no key {key}; there are {', '.join(known.model_fields)}"
    words = error["msg"].removeprefix("Value error, ")
    if error["type"] == "string_pattern_mismatch":
        words = "must be such as 512Mi or 2Gi"
    return f"{key}: {words}, not {error['input']!r}" if error["type"] != "value_error" else f"{key} {words}".strip()
