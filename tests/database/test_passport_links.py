"""Links of passports in SQL: who sets what they are made of, what is refused, and that no code outlives a change."""

from typing import Any, LiteralString
from uuid import UUID, uuid4

import psycopg
import pytest

from tests.database.test_passports import refused, signed
from tests.passports.test_qr import (
    GTIN,
    GTINS,
    HOST,
    HOSTS,
    NO_GTINS,
    NO_HOSTS,
    NO_SERIALS,
    SERIAL,
    SERIALS,
)
from tests.world import World
from tests.world.passports import Maker
from tickwork.families.passport.generate_qr import store_link


@pytest.fixture
def maker(world: World, monkeypatch: pytest.MonkeyPatch) -> Maker:
    return Maker(world, monkeypatch)


def accepts(world: World, query: Any, *parameters: Any) -> bool:
    try:
        world.run(query, *parameters)
    except psycopg.Error as error:
        if error.sqlstate != "TWARG":
            raise
        return False
    return True


def test_sql_accepts_what_python_makes_links_of_and_nothing_else(maker: Maker) -> None:
    """The lists are those of tests/passports/test_qr.py, which has Python read them."""
    world, tenant, passport = maker.world, maker.tenant, maker.passport()

    assert [host for host in HOSTS + NO_HOSTS if accepts(world, "select set_resolver(%s, %s)", tenant, host)] == HOSTS
    set_gtin = "select set_gtin(%s, %s, %s)"
    assert [gtin for gtin in GTINS + NO_GTINS if accepts(world, set_gtin, passport, gtin, SERIAL)] == GTINS
    assert [each for each in SERIALS + NO_SERIALS if accepts(world, set_gtin, passport, GTIN, each)] == SERIALS
    assert accepts(world, "select set_gtin(%s)", passport)


def test_only_an_admin_sets_the_resolver_and_members_read_it(maker: Maker) -> None:
    world, tenant = maker.world, maker.tenant
    admin, member = world.member_of(tenant, role="admin"), world.member_of(tenant)
    stranger = world.member_of(world.tenant("other"), role="admin")

    admin.execute("select set_resolver(%s, %s)", [tenant, HOST])

    for caller, code in ((member, "TWADM"), (stranger, "TWMEM")):
        with refused(code):
            caller.execute("select set_resolver(%s, 'evil.example')", [tenant])
    with pytest.raises(psycopg.errors.CheckViolation):
        world.connect("service_role").execute("update tenant_settings set resolver = 'evil.example/'")
    with refused("TWMEM"):
        stranger.execute("select get_resolver(%s)", [tenant])
    assert member.execute("select get_resolver(%s) as host", [tenant]).fetchone() == {"host": HOST}
    audited = admin.execute("select after from list_audit(%s, 'tenant_settings.changed')", [tenant]).fetchone()
    assert audited == {"after": {"resolver": HOST}}


def test_a_link_leads_to_one_battery(maker: Maker) -> None:
    world, create = maker.world, "select create_passport(%s, %s, 'ev', gtin => %s, serial => %s)"
    world.run(create, maker.tenant, "ZW-1", GTIN, SERIAL)

    with refused("TWDUP"):
        world.run(create, maker.tenant, "ZW-2", GTIN, SERIAL)
    with refused("TWARG"):
        world.run(create, maker.tenant, "ZW-2", GTIN, "..")
    for battery in ("ZW-2", "ZW-3"):
        world.run(create, maker.tenant, battery, GTIN, None)
    world.run(create, world.tenant("other"), "ZW-1", GTIN, SERIAL)

    assert world.value("select count(*) from passports") == 4


@pytest.fixture
def linked(maker: Maker) -> UUID:
    """A passport that has all that a link is made of."""
    maker.world.run("select set_resolver(%s, %s)", maker.tenant, HOST)
    passport: UUID = maker.world.value(
        "select id from create_passport(%s, 'ZW-1', 'ev', gtin => %s, serial => %s)", maker.tenant, GTIN, SERIAL
    )
    return passport


@pytest.mark.usefixtures("linked")
def test_no_code_outlives_what_it_was_made_of(maker: Maker) -> None:
    changes: dict[LiteralString, bool] = {
        "select set_resolver(tenant_id, 'id.example.com') from passports": True,
        "select set_gtin(id, '09506000134352', 'BAT-2027_0001') from passports": True,
        "select set_gtin(id, '09506000134352', '2') from passports": False,
        "select set_gtin(id) from passports": False,
        "update tenant_settings set resolver = 'id.new.example'": False,
        "select set_resolver(tenant_id) from passports": False,
    }

    for change, is_kept in changes.items():
        maker.world.run("update passports set link_qr_payload = 'https://', link_qr_png = 'png'")
        maker.world.run(change)
        assert (maker.world.value("select link_qr_png from passports") is not None) is is_kept, change


def test_no_code_of_before_a_change_is_stored_after_it(maker: Maker, linked: UUID) -> None:
    """A change waits until the code is stored, and then deletes it."""
    world, stored = maker.world, "select link_qr_payload from passports"
    world.job("generate_qr", maker.tenant, payload={"passport_version_id": str(uuid4())})
    job, other = world.claim("passport"), world.connect()
    other.execute("set lock_timeout = '50ms'")

    for is_changed in (False, True):
        with world.connect_worker() as worker, worker.transaction():
            worker.execute("select hold_job(%s, %s)", [job.id, job.lease_token])
            store_link(linked, worker)
            for change in (f"set_resolver('{maker.tenant}')", f"set_gtin('{linked}')"):
                with pytest.raises(psycopg.errors.LockNotAvailable):
                    other.execute(f"select {change}")
        assert world.value(stored) == (None if is_changed else f"https://{HOST}/01/{GTIN}/21/{SERIAL}")
        world.run("select set_resolver(%s)", maker.tenant)


def test_what_a_link_lacks_is_said_and_keeps_nobody_from_activating(maker: Maker) -> None:
    world, version = maker.world, signed(maker)
    passport = world.value("select id from passports")

    def words() -> str:
        text: str = world.value("select explain_passport(%s)", passport)
        return text

    def lacking() -> str:
        with refused("TWSTA") as error:
            world.run("select request_link_qr(%s)", passport)
        return str(error.value.diag.message_hint)

    ready = "No version is active. Version 1 is signed and has its QR code: activate_passport makes it active."
    assert words() == ready
    assert "set_gtin" in lacking()
    world.run("select set_resolver(%s, %s)", maker.tenant, HOST)
    assert words() == f"{ready} It has no link at {HOST}: set_gtin sets the GTIN and serial number that it needs."
    world.run("select set_gtin(%s, %s)", passport, GTIN)
    assert words().endswith("the GTIN and serial number that it needs.")
    world.run("select set_gtin(%s, %s, %s)", passport, GTIN, SERIAL)
    assert words() == f"{ready} Its link QR code was not made yet: request_link_qr makes it."
    first, again = (world.value("select id from request_link_qr(%s)", passport) for _ in range(2))
    assert first == again
    world.run("update passports set link_qr_payload = 'https://', link_qr_png = 'png'")
    assert words() == ready
    world.run("select set_resolver(%s)", maker.tenant)
    assert "set_resolver" in lacking()
    world.run("select activate_passport(%s)", version)
    assert "signed version" in missing_version(maker)


def missing_version(maker: Maker) -> str:
    id = maker.world.value(
        "select id from create_passport(%s, 'new', 'ev', gtin => %s, serial => 'new')", maker.tenant, GTIN
    )
    with refused("TWSTA") as error:
        maker.world.run("select request_link_qr(%s)", id)
    return str(error.value.diag.message_hint)
