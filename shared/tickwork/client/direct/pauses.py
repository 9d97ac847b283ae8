"""Pauses, and the lanes of all tenants."""

from uuid import UUID

from psycopg.rows import DictRow

from tickwork.client import pauses
from tickwork.client.direct import Direct


class Pauses(pauses.Pauses, Direct):
    def lanes(self, tenant_id: UUID | None = None) -> list[DictRow]:
        """The lanes that are held or limited, with the names of their tenants."""
        return self._database.rows(LANES, {"tenant_id": tenant_id})


LANES = """
    select
      lane_rules.tenant_id, organizations.name as tenant, lane_rules.family, lane_rules.lane, lane_rules.max_running,
      lane_rules.starts_per_minute,
      -- What ended by itself stays until somebody changes the lane. Not every language can read infinity.
      coalesce(lane_rules.held_until > clock_timestamp(), false) as is_held,
      nullif(lane_rules.held_until, 'infinity') as held_until,
      lane_rules.reason
    from tickwork.lane_rules
    join tickwork.organizations on organizations.id = lane_rules.tenant_id
    where (%(tenant_id)s::uuid is null or lane_rules.tenant_id = %(tenant_id)s)
      and (
        lane_rules.held_until > clock_timestamp()
        or num_nonnulls(lane_rules.max_running, lane_rules.starts_per_minute) > 0
      )
    order by organizations.name, lane_rules.family, lane_rules.lane
"""
