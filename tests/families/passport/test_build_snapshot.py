"""Snapshots: built and sealed with facts that agree and that somebody answers for; the same bytes in SQL and Python."""

from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest

from tests.world.battery_maker import BatteryMaker
from tickwork.passports.fact import Fact
from tickwork.passports.snapshot import snapshot_bytes

LITHIUM = ("material", "Lithium", {"name": "Lithium", "mass": 1.5, "unit": "KGM"})
MORE_LITHIUM = ("material", "Lithium", {"name": "Lithium", "mass": 1.6, "unit": "KGM"})
HOSTILE_KEYS = (
    *(
        '"',
        "\\",
        "a\nb",
        "a\tb",
        "\b\f\r",
        "\x01",
        "a\x1f",
        "\x7f",
        "\u0080",
        "a\u2028",
        "\u2029b",
        "/",
        "</script>",
        "'",
    ),
    *("\U0001f50b", "\uffff", "\ufffd", "\U0010ffff", "é", "\u0301", "Å", "ﬁ", "а", "a", "B", "b", " a", "a "),
    *("10", "9", "_", "~", "ß", "\u200d", "\ufeff", "{}", "[1]", "null", "x" * 500),
)


def seal(maker: BatteryMaker, snapshot: UUID) -> dict[str, Any]:
    return maker.world.row("select * from seal_snapshot(%s)", snapshot)


def test_a_snapshot_is_built_and_sealed(maker: BatteryMaker) -> None:
    version = maker.add_facts(LITHIUM)
    snapshot = maker.snapshot(version)

    job = maker.build(snapshot)
    status = maker.world.value("select status from snapshots")
    sealed = seal(maker, snapshot)

    assert (job.status, job.result, status) == ("done", {"item_count": 1}, "ready")
    assert (sealed["status"], sealed["item_count"]) == ("sealed", 1)
    assert maker.events() == ["document_version.validated", "snapshot.ready", "snapshot.sealed"]


def test_sql_and_python_give_the_same_bytes_for_hostile_keys(maker: BatteryMaker) -> None:
    facts = [("attribute", key, {"value": number}) for number, key in enumerate(HOSTILE_KEYS)]
    snapshot = maker.snapshot(maker.add_facts(*facts))

    sealed = seal(maker, snapshot)

    expected = snapshot_bytes(Fact(type, key, "1", payload) for type, key, payload in reversed(facts))
    assert sealed["snapshot_canonical"] == expected
    assert len(set(HOSTILE_KEYS)) == sealed["item_count"]


def test_an_empty_snapshot_is_neither_built_nor_sealed(maker: BatteryMaker) -> None:
    snapshot = maker.snapshot()

    assert maker.build(snapshot).error_code == "SNAPSHOT_EMPTY"
    with pytest.raises(psycopg.Error, match="SNAPSHOT_EMPTY") as refused:
        seal(maker, snapshot)
    assert refused.value.sqlstate == "TWSTA"


def test_facts_that_contradict_each_other_are_named_until_one_is_removed(maker: BatteryMaker) -> None:
    first, second = maker.add_facts(LITHIUM), maker.add_facts(MORE_LITHIUM)
    snapshot = maker.snapshot(first, second)

    job = maker.build(snapshot)
    with pytest.raises(psycopg.Error, match="FACT_CONFLICT"):
        seal(maker, snapshot)
    maker.world.run("select remove_snapshot_items(%s, %s)", snapshot, [maker.facts(second)[0]["id"]])

    assert job.error_code == "FACT_CONFLICT"
    assert "material Lithium" in (job.error_message or "")
    assert seal(maker, snapshot)["item_count"] == 1


def test_a_guessed_fact_needs_somebody_who_confirms_it(maker: BatteryMaker) -> None:
    version = maker.add_facts(LITHIUM)
    maker.world.run("update facts set confidence = 0.9")
    snapshot = maker.snapshot(version)
    member = maker.world.member_of(maker.tenant)

    job = maker.build(snapshot)
    with pytest.raises(psycopg.Error, match="FACT_UNCONFIRMED"):
        seal(maker, snapshot)
    (confirmed,) = member.execute("select * from confirm_facts(%s)", [[maker.facts(version)[0]["id"]]]).fetchall()

    assert job.error_code == "FACT_UNCONFIRMED"
    assert confirmed["confirmed_by"] is not None
    assert maker.build(snapshot).status == "done"
    assert seal(maker, snapshot)["status"] == "sealed"


def test_a_change_makes_a_ready_snapshot_building_again(maker: BatteryMaker) -> None:
    version = maker.add_facts(LITHIUM)
    snapshot = maker.snapshot(version)
    maker.build(snapshot)

    changed = maker.world.row("select * from remove_snapshot_items(%s, %s)", snapshot, [maker.facts(version)[0]["id"]])

    assert (changed["status"], changed["item_count"]) == ("building", 0)


def test_nothing_of_a_sealed_snapshot_changes(maker: BatteryMaker) -> None:
    version = maker.add_facts(LITHIUM)
    snapshot = maker.snapshot(version)
    seal(maker, snapshot)
    fact = maker.facts(version)[0]["id"]
    job = maker.world.job("build_snapshot", maker.tenant, payload={"snapshot_id": str(snapshot)})
    maker.work()

    assert maker.job(job.id).error_code == "INVALID_SNAPSHOT_STATE"
    for statement, parameters in (
        ("select seal_snapshot(%s)", [snapshot]),
        ("select request_build(%s)", [snapshot]),
        ("select add_snapshot_items(%s, %s)", [snapshot, [fact]]),
        ("select remove_snapshot_items(%s, %s)", [snapshot, [fact]]),
        ("update snapshots set name = 'other' where id = %s", [snapshot]),
        ("update snapshots set snapshot_canonical = '' where id = %s", [snapshot]),
        ("delete from snapshot_items where snapshot_id = %s", [snapshot]),
        ("delete from facts where id = %s", [fact]),
        ("update facts set payload_canonical = '{}', payload = '{}' where id = %s", [fact]),
    ):
        with pytest.raises(psycopg.Error) as refused:
            maker.world.admin.execute(statement, parameters)
        assert refused.value.sqlstate == "TWSTA", statement


def test_a_tenant_can_be_deleted_with_its_sealed_snapshots(maker: BatteryMaker) -> None:
    seal(maker, maker.snapshot(maker.add_facts(LITHIUM)))

    maker.world.run("delete from organizations where id = %s", maker.tenant)

    assert maker.world.value("select count(*) from snapshots") == 0
    assert maker.world.value("select count(*) from facts") == 0


def test_a_fact_of_another_tenant_is_not_there(maker: BatteryMaker) -> None:
    version = maker.add_facts(LITHIUM)
    other = maker.world.tenant("other")
    member = maker.world.member_of(maker.tenant, other)
    foreign = maker.world.value("select id from create_snapshot(%s, 'theirs')", other)

    for statement, parameters, code in (
        ("select add_snapshot_items(%s, %s)", [foreign, [maker.facts(version)[0]["id"]]], "TWFCT"),
        ("select add_snapshot_items(%s, document_version_id => %s)", [foreign, version], "TWDOC"),
        ("select add_document_version(%s, %s)", [maker.document(), uuid4()], "TWDOC"),
        ("select confirm_facts(%s)", [[uuid4()]], "TWFCT"),
        ("select seal_snapshot(%s)", [uuid4()], "TWSNP"),
    ):
        with pytest.raises(psycopg.Error) as refused:
            member.execute(statement, parameters)
        assert refused.value.sqlstate == code, statement


def test_a_snapshot_of_another_tenant_or_none_is_not_found(maker: BatteryMaker) -> None:
    snapshot = maker.snapshot(maker.add_facts(LITHIUM))

    job = maker.world.job("build_snapshot", maker.world.tenant("other"), payload={"snapshot_id": str(snapshot)})
    maker.work()

    assert maker.job(job.id).error_code == "SNAPSHOT_NOT_FOUND"


def test_facts_beyond_the_limit_are_refused(maker: BatteryMaker) -> None:
    snapshot = maker.snapshot(maker.add_facts(LITHIUM))
    maker.world.run("alter table snapshots drop constraint items_are_at_most_20000")
    maker.world.run("alter table snapshots add constraint items_are_at_most_1 check (item_count <= 1)")
    version = maker.add_facts(MORE_LITHIUM)

    with pytest.raises(psycopg.Error) as refused:
        maker.world.run("select add_snapshot_items(%s, document_version_id => %s)", snapshot, version)

    assert refused.value.sqlstate == "TWBIG"
