"""What is asked of the queue in a storm: the same orders for the same seed."""

from dataclasses import dataclass, replace
from random import Random
from typing import Any

from tickwork_chaos.handlers import Effect, Order
from tickwork_chaos.scene import LANES, TENANTS, TYPES


@dataclass(frozen=True)
class Wanted:
    """One job that is to be enqueued, for the tenant of this index."""

    number: int
    tenant: int
    type: str
    order: Order
    idempotency_key: str | None
    dedupe_key: str | None
    lane: str | None
    priority: int

    def keyed(self) -> "Wanted":
        return replace(self, idempotency_key=f"order {self.number}", dedupe_key=None)

    def options(self) -> dict[str, Any]:
        """What enqueue_job takes beside tenant, type and payload."""
        options = {
            "idempotency_key": self.idempotency_key,
            "dedupe_key": self.dedupe_key,
            "lane": self.lane,
            "priority": self.priority,
        }
        return {name: value for name, value in options.items() if value is not None}

    def payload(self) -> dict[str, Any]:
        return self.order.model_dump(exclude_defaults=True)


def wanted(number: int, seed: int, slow_share: float) -> Wanted:
    chance = Random(f"{seed} order {number}")
    type = chance.choice([*TYPES])
    effect: Effect = chance.choice(["done", "done", "lease", "none", "none"])
    order = Order(
        number=number,
        seconds=round(chance.uniform(0.1, 2), 2) if chance.random() < slow_share else 0,
        fails=chance.choice([0] * 8 + [1, 2]),
        fate="failed" if chance.random() < 0.03 else "done",
        effect=effect,
        follow_ups=chance.choice([0] * 9 + [2]),
    )
    is_deduped = chance.random() < 0.02
    tenant = chance.randrange(TENANTS)
    return Wanted(
        number,
        tenant,
        type,
        order,
        idempotency_key=f"order {number}" if not is_deduped and chance.random() < 0.8 else None,
        dedupe_key=f"only one {chance.randrange(3)}" if is_deduped else None,
        lane=chance.choice(LANES) if type == "storm_laned" else None,
        priority=chance.choice([0, 0, 0, 10, 90]),
    )
