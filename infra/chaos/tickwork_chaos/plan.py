"""Which fault comes when: the same plan for the same seed."""

from dataclasses import dataclass
from random import Random
from typing import Literal

from tickwork_chaos.scene import LEASE_SECONDS

Kind = Literal["kill", "freeze", "terminate", "crash", "cut", "standby", "promote", "fill_disk"]
# How long before a promotion the standby is made.
STANDBY_SECONDS = 20.0


@dataclass(frozen=True)
class Sizes:
    """How much of everything. `slow_share` of the jobs take up to two seconds."""

    jobs: int
    seconds: float
    kill: int = 0
    freeze: int = 0
    terminate: int = 0
    crash: int = 0
    cut: int = 0
    promote: int = 0
    fill_disk: int = 0
    slow_share: float = 0.05
    has_pooler: bool = True

    def counts(self) -> dict[Kind, int]:
        return {
            "kill": self.kill,
            "freeze": self.freeze,
            "terminate": self.terminate,
            "crash": self.crash,
            "cut": self.cut,
            "promote": self.promote,
            "fill_disk": self.fill_disk,
        }


@dataclass(frozen=True)
class Fault:
    """`choice` decides whom it meets, `seconds` how long it lasts."""

    at: float
    kind: Kind
    choice: float
    seconds: float


def plan_of(seed: int, sizes: Sizes) -> list[Fault]:
    """Each kind is spread over the whole storm, at random within its share of it."""
    chance = Random(f"{seed} plan")
    faults: list[Fault] = []
    for kind, count in sizes.counts().items():
        for number in range(count):
            at = sizes.seconds * (0.02 + 0.96 * (number + chance.random()) / count)
            fault = Fault(at, kind, chance.random(), seconds_of(kind, chance))
            faults.append(fault)
            if kind == "promote":
                faults.append(Fault(max(0, at - STANDBY_SECONDS), "standby", 0, 0))
    return sorted(faults, key=lambda fault: fault.at)


def seconds_of(kind: Kind, chance: Random) -> float:
    match kind:
        case "freeze":
            # Just beyond the lease, so that somebody else has the job by then, and perhaps still runs it.
            return LEASE_SECONDS * chance.uniform(1.1, 1.6)
        case "cut":
            return chance.uniform(1, 8)
        case "fill_disk":
            return chance.uniform(2, 5)
        case _:
            return chance.uniform(1, 3)
