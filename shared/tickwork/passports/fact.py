"""A fact: what a document says about a battery, with the hash that stands for it in snapshots and proofs."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from tickwork.passports.canonical import Json, hash_of


@dataclass(frozen=True)
class Fact:
    fact_type: str
    fact_key: str
    schema_version: str
    payload: Mapping[str, Json]

    @cached_property
    def payload_hash(self) -> bytes:
        return hash_of(self.payload)
