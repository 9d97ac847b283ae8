"""Alarms: whoever rings one waits for nobody, and none gets lost."""

from concurrent.futures import ThreadPoolExecutor

from tests.world import World

SET_ALARM = "select tickwork.set_alarm('test', number, now()) from tickwork.tenants where tenant_id = %s"
LOCK = "select tickwork.sees_all_parked(number) as is_locked from tickwork.tenants where tenant_id = %s"


def test_whoever_has_rung_an_alarm_sets_another_without_waiting(world: World) -> None:
    one, other = world.tenant("one"), world.tenant("other")
    first, second = world.connect(), world.connect()

    with ThreadPoolExecutor() as pool, first.transaction(), second.transaction():
        assert first.execute(LOCK, [one]).fetchall() == [{"is_locked": True}]
        assert second.execute(LOCK, [other]).fetchall() == [{"is_locked": True}]
        setting = [pool.submit(first.execute, SET_ALARM, [other]), pool.submit(second.execute, SET_ALARM, [one])]
        for each in setting:
            each.result()

    assert world.value("select count(*) from tickwork.alarms") == 2


def test_an_alarm_that_is_set_while_another_is_removed_still_rings(world: World) -> None:
    tenant = world.tenant()
    world.run(SET_ALARM, tenant)
    ringing = world.connect()

    with ringing.transaction():
        ringing.execute("select tickwork.ring_alarms('test', 10)")
        world.run(SET_ALARM, tenant)

    assert world.value("select count(*) from tickwork.alarms") == 1
