"""The tenants, types, limits and lanes of a storm."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from tickwork.database.connection import Connection

AUDIT = Path(__file__).with_name("audit.sql")
LEASE_SECONDS = 10
TENANTS = 12
LANES = ("north", "south", "east")
# Every third tenant and every second lane has a limit.
TENANT_LIMIT = 10
LANE_LIMIT = 3
TYPES: dict[str, dict[str, Any]] = {
    "storm_plain": {},
    "storm_urgent": {"priority": 50},
    "storm_limited": {"max_running": 24, "max_running_per_tenant": 4},
    "storm_laned": {"priority": 10},
    "gust_plain": {},
}


@dataclass(frozen=True)
class Scene:
    tenants: tuple[UUID, ...]
    # Who enqueues for each of them as a client.
    members: tuple[UUID, ...]

    def free_tenants(self) -> list[UUID]:
        """Those without a limit."""
        return [tenant for index, tenant in enumerate(self.tenants) if not has_limit(index)]


def has_limit(tenant: int) -> bool:
    return tenant % 3 == 0


def set_up(connection: Connection) -> Scene:
    """Everything but jobs, in a database that has been migrated."""
    connection.execute(AUDIT.read_bytes())
    for type, settings in TYPES.items():
        add_type(connection, type, settings)
    scene = Scene(tuple(uuid4() for _ in range(TENANTS)), tuple(uuid4() for _ in range(TENANTS)))
    for index, (tenant, member) in enumerate(zip(scene.tenants, scene.members, strict=True)):
        connection.execute("insert into public.organizations (id, name) values (%s, %s)", [tenant, f"tenant {index}"])
        connection.execute(
            "update public.tenant_settings set weight = %s, max_running = %s where tenant_id = %s",
            [1 + index % 4, TENANT_LIMIT if has_limit(index) else None, tenant],
        )
        connection.execute("insert into public.memberships (tenant_id, user_id) values (%s, %s)", [tenant, member])
        for lane in LANES[::2]:
            connection.execute("select public.limit_lane('storm', %s, %s, %s)", [tenant, lane, LANE_LIMIT])
    return scene


def add_type(connection: Connection, type: str, settings: dict[str, Any]) -> None:
    values = {
        "key": type,
        "family": type.partition("_")[0],
        "enqueued_by": "member",
        "lease_seconds": LEASE_SECONDS,
        "timeout_seconds": 60,
        "max_attempts": 25,
        "backoff": json.dumps([0.2, 0.5, 1]),
        **settings,
    }
    marks = ", ".join(f"%({name})s" for name in values)
    connection.execute(f"insert into public.job_types ({', '.join(values)}) values ({marks})", values)
