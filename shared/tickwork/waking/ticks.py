"""What Cloud Scheduler calls, and how often: the one description of its jobs, for its client and for gcloud."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Tick:
    """A job of Cloud Scheduler; its URL is known when the function is deployed."""

    family: str
    name: str
    audience: str
    service_account: str
    # Its default is three minutes.
    attempt_seconds: int
    schedule: str = "* * * * *"
    time_zone: str = "Etc/UTC"
    # The next minute is soon enough, and the queue has its own retries.
    retries: int = 0

    @property
    def description(self) -> str:
        return f"wakes the function of {self.family}"
