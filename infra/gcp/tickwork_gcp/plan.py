"""What a plan is: commands of gcloud that bring functions to Google Cloud, and jobs for Cloud Scheduler."""

from dataclasses import dataclass, field
from typing import Literal

from tickwork.waking.ticks import Tick
from tickwork_gcp.family_file import FamilyFile
from tickwork_gcp.step import Step

Callers = Literal["scheduler", "supabase"]
Target = Literal["run", "functions"]

# The account that wakes the functions.
SCHEDULER = "tickwork-scheduler"


@dataclass(frozen=True)
class Plan:
    project: str
    region: str
    callers: Callers
    target: Target
    families: dict[str, FamilyFile]
    steps: list[Step] = field(default_factory=list)
    ticks: list[Tick] = field(default_factory=list)

    def service(self, family: str) -> str:
        return f"tickwork-{family.replace('_', '-')}"

    def account(self, name: str) -> str:
        return f"{name}@{self.project}.iam.gserviceaccount.com"

    def in_project(self) -> str:
        return f"--project={self.project}"

    def here(self) -> list[str]:
        return [self.in_project(), f"--region={self.region}"]

    def place(self) -> str:
        """As Google's APIs name it."""
        return f"projects/{self.project}/locations/{self.region}"

    def audience(self, family: str) -> str:
        """Of the scheduler's tokens. The URL of a Cloud Run service is only known after it is deployed."""
        service = self.service(family)
        if self.target == "functions":
            # Its URL, which Google makes an audience of it by itself.
            return f"https://{self.region}-{self.project}.cloudfunctions.net/{service}"
        return f"https://{service}.{self.project}"

    def url_name(self, family: str) -> str:
        """The variable that has the function's URL in the commands that are printed."""
        return f"{family.replace('-', '_').upper()}_URL"
