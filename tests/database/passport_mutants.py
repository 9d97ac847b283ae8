"""Broken variants of the SQL of passports, each with the test that must turn red on it."""

from collections.abc import Callable
from inspect import signature
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from tests.database import test_passports as passports
from tests.database import test_rules as rules
from tests.database import test_signing_keys as keys
from tests.families.passport import test_build_snapshot as snapshots
from tests.families.passport import test_export_passport as exports
from tests.families.passport import test_parse_facts as documents
from tests.families.sign import test_sign_passport as signatures
from tests.world import World
from tests.world.battery_maker import BatteryMaker
from tests.world.mutant import Mutant
from tests.world.passports import Maker
from tests.world.signing import Signer

Test = Callable[..., None]


def with_maker(test: Test, make: Callable[[World, pytest.MonkeyPatch], object] = Maker) -> Test:
    """The test with what its fixtures would give it."""

    def caught_by(world: World, *arguments: Any) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patched = [patch] if "monkeypatch" in signature(test).parameters else []
            test(make(world, patch), *patched, *arguments)

    return caught_by


def with_vault(test: Test, make: Callable[[World, Path], object] = BatteryMaker) -> Test:
    def caught_by(world: World, *arguments: Any) -> None:
        with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
            patch.setenv("TICKWORK_DATABASE_URL", world.worker_url)
            patch.setenv("TICKWORK_VAULT_URL", f"file:{folder}/vault")
            test(make(world, Path(folder)), *arguments)

    return caught_by


SEALED = with_vault(snapshots.test_nothing_of_a_sealed_snapshot_changes)
PUBLISHED = rules.test_published_rules_never_change
STAYS = with_maker(passports.test_what_was_compiled_and_signed_never_changes)
COMPILABLE = with_maker(passports.test_a_request_for_what_cannot_be_compiled_is_refused)
ACTIVATABLE = with_maker(passports.test_only_a_signed_version_with_a_qr_code_becomes_active)
REVOKED = with_maker(keys.test_a_version_is_revoked_once_and_only_with_a_reason, lambda world, _: world)
KEYS = keys.test_a_retired_key_can_be_revoked_and_neither_comes_back

MUTANTS = [
    Mutant(
        "a rejected document stays uploaded",
        "tickwork.end_document_versions",
        "and jobs.status = 'failed'",
        "and false",
        with_vault(documents.test_a_bad_document_is_rejected_by_name),
        ("DUPLICATE_KEY",),
    ),
    Mutant("facts change", "", "", "drop trigger keep_fact on facts", SEALED),
    Mutant("a sealed snapshot changes", "", "", "drop trigger keep_snapshot on snapshots", SEALED),
    Mutant("items leave a sealed snapshot", "", "", "drop trigger keep_snapshot_items on snapshot_items", SEALED),
    Mutant(
        "facts of another tenant are there",
        "tickwork.add_snapshot_items",
        "and facts.tenant_id = snapshot.tenant_id",
        "",
        with_vault(snapshots.test_a_fact_of_another_tenant_is_not_there),
    ),
    Mutant(
        "facts that contradict each other are sealed",
        "tickwork.snapshot_problem",
        "having count(*) > 1",
        "having count(*) > 2",
        with_vault(snapshots.test_facts_that_contradict_each_other_are_named_until_one_is_removed),
    ),
    Mutant(
        "guessed facts are sealed",
        "tickwork.snapshot_problem",
        "and item.confirmed_at is null",
        "and false",
        with_vault(snapshots.test_a_guessed_fact_needs_somebody_who_confirms_it),
    ),
    Mutant(
        "nothing is sealed",
        "tickwork.snapshot_problem",
        "where not exists (select from item)",
        "where false",
        with_vault(snapshots.test_an_empty_snapshot_is_neither_built_nor_sealed),
    ),
    Mutant(
        "a changed snapshot stays ready",
        "tickwork.note_snapshot_change",
        "status = 'building',",
        "status = snapshots.status,",
        with_vault(snapshots.test_a_change_makes_a_ready_snapshot_building_again),
    ),
    Mutant(
        "keys of facts are not escaped",
        "tickwork.snapshot_bytes",
        "to_json(facts.fact_key)",
        "'\"' || facts.fact_key || '\"'",
        with_vault(snapshots.test_sql_and_python_give_the_same_bytes_for_hostile_keys),
    ),
    Mutant(
        "an edit leaves rules validated",
        "tickwork.note_rules_edit",
        "new.status := 'draft';",
        "",
        rules.test_any_edit_of_validated_rules_makes_a_draft,
        ({"tests_source": None},),
    ),
    Mutant(
        "published rules change",
        "",
        "",
        "drop trigger edit_makes_a_draft on rule_package_versions",
        PUBLISHED,
        ("published",),
    ),
    Mutant(
        "the hash of published rules changes",
        "tickwork.check_rules_status",
        "new.rules_hash is distinct from old.rules_hash",
        "false",
        PUBLISHED,
        ("published",),
    ),
    Mutant(
        "rules are published past their tests",
        "tickwork.check_rules_status",
        "('draft', 'validated'),",
        "('draft', 'validated'), ('draft', 'published'),",
        rules.test_a_draft_cannot_be_published_past_its_tests,
    ),
    Mutant(
        "members publish rules",
        "tickwork.publish_rules",
        "perform tickwork.check_manager(rules.tenant_id);",
        "",
        rules.test_members_save_and_test_and_admins_publish,
    ),
    Mutant(
        "the rules of every tenant are changed by anybody",
        "tickwork.lock_rules_for_caller",
        "and rule_package_versions.tenant_id is not null",
        "",
        rules.test_the_rules_of_every_tenant_are_read_by_all_and_changed_by_nobody,
    ),
    Mutant(
        "what is not sealed is compiled",
        "tickwork.check_compilable",
        "snapshot_status <> 'sealed'",
        "false",
        COMPILABLE,
    ),
    Mutant(
        "rules that are not published are used",
        "tickwork.check_compilable",
        "rules_status <> 'published'",
        "false",
        COMPILABLE,
    ),
    Mutant(
        "every request is another job",
        "tickwork.request_compile",
        "idempotency_key => key,",
        "",
        with_maker(passports.test_a_request_is_for_whole_seconds_and_the_same_again_is_the_same_job),
    ),
    Mutant("compiled bytes change", "", "", "drop trigger what_was_compiled_stays on passport_versions", STAYS),
    Mutant("signatures change", "", "", "drop trigger what_was_set_stays on passport_versions", STAYS),
    Mutant("statuses go back", "", "", "drop trigger status_follows_the_chart on passport_versions", STAYS),
    Mutant(
        "the version before is not superseded",
        "tickwork.activate_passport",
        "and passport_versions.status = 'active'",
        "and false",
        with_maker(passports.test_an_activated_version_supersedes_the_one_before),
    ),
    Mutant(
        "an old version replaces a newer one",
        "tickwork.check_activatable",
        "and passport_versions.number > (version).number",
        "and false",
        ACTIVATABLE,
    ),
    Mutant(
        "a version without a QR code is activated",
        "tickwork.check_activatable",
        "(version).qr_payload is null",
        "false",
        ACTIVATABLE,
    ),
    Mutant(
        "the public sees what is restricted",
        "tickwork.audience_sees",
        "THEN (access = 'public'::text)",
        "THEN (access <> 'authorities'::text)",
        with_maker(passports.test_a_bundle_holds_what_its_audience_may_see_and_proves_it),
        ("public",),
    ),
    Mutant(
        "a bundle is not cut",
        "tickwork.shown_leaves",
        "and tickwork.audience_sees(shown_leaves.audience, leaf.document ->> 'access')",
        "",
        with_maker(passports.test_no_byte_of_a_restricted_value_is_in_a_bundle_for_a_lesser_audience),
    ),
    Mutant(
        "what is not signed is disclosed",
        "tickwork.disclose",
        "version.signature is null",
        "false",
        with_maker(passports.test_only_what_is_signed_is_disclosed_and_only_by_members),
    ),
    Mutant(
        "a node can stand for a leaf",
        "tickwork.tree_levels",
        r"sha256('\x01' ||",
        r"sha256('\x00' ||",
        passports.test_the_tree_of_sql_is_that_of_python,
        (3,),
    ),
    Mutant(
        "a key comes back",
        "tickwork.register_signing_key",
        "where signing_keys.status = 'active'",
        "",
        KEYS,
    ),
    Mutant(
        "a key is retired after its revocation",
        "tickwork.end_signing_key",
        "signing_keys.status = 'active'",
        "true",
        KEYS,
    ),
    Mutant(
        "a revocation is taken back",
        "tickwork.end_signing_key",
        "coalesce(signing_keys.revoked_at > ended_at, true)",
        "true",
        KEYS,
    ),
    Mutant("a version is revoked again", "tickwork.revoke_passport", "version.status not in", "'' in", REVOKED),
    Mutant("nobody says why", "tickwork.revoke_passport", "between 1 and 1000", "between 0 and 1000", REVOKED),
    Mutant(
        "what was revoked is not listed",
        "",
        "",
        "drop trigger what_ends_is_listed on passport_versions",
        with_maker(signatures.test_what_was_revoked_is_in_the_signed_list, Signer),
    ),
    Mutant(
        "a full queue keeps a version from being revoked",
        "tickwork.enqueue_status_list",
        "when sqlstate 'TWFUL' or",
        "when",
        with_maker(keys.test_a_full_queue_does_not_keep_a_version_from_being_revoked, lambda world, _: world),
    ),
    Mutant(
        "what was revoked is exported",
        "tickwork.check_exportable",
        "(version).status not in ('signed', 'active', 'superseded')",
        "false",
        with_vault(exports.test_an_export_cannot_be_requested_of_what_is_not_there_or_not_signed, exports.Maker),
    ),
    Mutant(
        "JSON-LD for others than the public",
        "tickwork.check_exportable",
        "check_exportable.audience <> 'public'",
        "false",
        with_vault(exports.test_a_wrong_request_is_refused_at_once, exports.Maker),
        (["json_ld", "standard", "owner"], "TWARG"),
    ),
    Mutant(
        "every export is another job",
        "tickwork.request_export",
        "dedupe_key => concat_ws(",
        "correlation_id => concat_ws(",
        with_vault(exports.test_a_member_requests_an_export_once, exports.Maker),
    ),
]
