"""The bytes of a snapshot, in whatever order its facts come. Those of SQL are compared in test_build_snapshot.py."""

from tickwork.passports.fact import Fact
from tickwork.passports.snapshot import snapshot_bytes


def test_the_order_of_facts_does_not_matter() -> None:
    facts = [Fact("attribute", key, "1", {"value": 1}) for key in ("\uffff", "\U0001f50b", "a", "B")]

    found = snapshot_bytes(facts)

    assert found == snapshot_bytes(reversed(facts))
    # By code points, unlike the keys of objects in RFC 8785.
    places = [found.index(f'"{key}"'.encode()) for key in ("B", "a", "\uffff", "\U0001f50b")]
    assert places == sorted(places)
