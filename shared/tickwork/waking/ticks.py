"""What Cloud Scheduler calls, and how often."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Tick:
    """A job of Cloud Scheduler; its URL is known when the function is deployed."""

    family: str
    name: str
    audience: str
    service_account: str
    attempt_seconds: int
    schedule: str = "* * * * *"
