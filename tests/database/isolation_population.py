"""Two tenants with rows in every table, for the matrix of test_isolation.py. A new table gets its rows here."""

import json
from base64 import b64encode
from datetime import UTC, datetime
from uuid import UUID, uuid4

from tests.database.isolation_catalogue import NEWEST_ALERT
from tests.database.isolation_rights import KEYS
from tests.database.test_figures import roll_up
from tests.world import World
from tests.world.receivers import emit, endpoint
from tests.world.supabase_vault import VAULT

INSIDER, COLLEAGUE, REMOVED, STRANGER, PLATFORM_ADMIN = (UUID(int=number) for number in range(1, 6))


def populate(world: World) -> None:
    world.run(VAULT)
    populate_tenant(world, "alpha", INSIDER, REMOVED, dedupe_key="alpha")
    populate_tenant(world, "beta", COLLEAGUE, idempotency_key="key", dedupe_key="key")
    world.run("delete from memberships where user_id = %s", REMOVED)
    # What is everybody's is nobody's secret.
    world.run("delete from document_types where tenant_id is null")
    world.run("delete from rule_packages where tenant_id is null")
    world.run("insert into tickwork.sign_in_links values (encode(sha256('word'), 'hex'), %s, 'infinity')", uuid4())
    world.run("insert into tickwork.platform_admins (user_id) values (%s), (%s)", PLATFORM_ADMIN, uuid4())
    for word in ("alpha", "beta"):
        populate_roles(world, word)
    world.run("delete from tickwork.tenants where tenant_id = %s", world.tenant("without a number"))
    world.run("delete from tenant_settings where tenant_id = %s", world.tenant("without settings"))
    populate_calls(world)
    populate_figures(world)
    world.service.alerts.set_platform_tenant(world.tenant("platform"))


def populate_roles(world: World, word: str) -> None:
    """A member, an owner, and a key of each kind."""
    tenant = world.value("select id from organizations where name = %s", word)
    for role in ("member", "owner"):
        world.run("insert into memberships (tenant_id, user_id, role) values (%s, %s, %s)", tenant, uuid4(), role)
    for name, kind in KEYS.items():
        scopes = {"worker": [f"worker:{word}"], "nobody": ["operate"]}.get(kind, kind.split())
        world.service.keys.create_api_key(f"{name} {word}", scopes, tenant)
    world.run("update tickwork.api_keys set revoked_at = now() where name = %s", f"revoked {word}")
    world.run("update tickwork.api_keys set expires_at = now() where name = %s", f"expired {word}")


# What `tickwork cron install` adds, without pg_net behind it.
SEND_CALL = """
    create function tickwork.send_call(url text, headers jsonb, timeout_milliseconds integer) returns bigint
      language sql set search_path = '' as 'select 1';
    alter function tickwork.send_call owner to tickwork_owner;
    revoke execute on function tickwork.send_call from public;
"""


def populate_calls(world: World) -> None:
    world.run(SEND_CALL)
    world.run("insert into tickwork.call_secrets values ('tickwork_hmac_secret', repeat('alpha-beta-', 4))")
    world.run("select vault.create_secret(repeat('alpha-beta-', 4), 'tickwork_hmac_secret')")
    for word in ("alpha", "beta"):
        world.run("insert into tickwork.functions (family, url) values (%s, %s)", word, f"https://{word}.example")
        world.run("select note_worker(%s, %s, metadata => %s)", word, word, json.dumps({"types": [word]}))
        world.run("insert into tickwork.call_tokens (family, number) values (%s, 1)", word)
        world.run("insert into tickwork.ticks (family, due_jobs, request_ids) values (%s, 0, '{}')", word)


def populate_figures(world: World) -> None:
    roll_up(world)
    one = "row(now(), tenant_id, family, type, 'enqueued', null, null)::tickwork.happening"
    world.run(f"insert into tickwork.early_figures (happening) select {one} from jobs where status = 'done'")
    world.run("insert into tickwork.early_renewals (worker_id, renewals) values ('worker', 1)")
    world.run("insert into tickwork.renewals (worker_id, renewals) values ('worker', 1)")
    # In the windows that are asked for, by arguments and by default.
    for at in ("'2026-01-01 12:00Z'", "now() - interval '5 minutes'"):
        ran = f"row({at}, tenant_id, family, type, 'done', 5, 5)::tickwork.happening"
        world.run(f"select tickwork.add_figures(array(select {ran} from jobs where status = 'done'))")
    world.run("update alert_rules set description = 'alpha beta', value = 1")
    columns, alert = "id, rule, severity, message, value, worst, closed_at", "key, severity, description, 1, 1, now()"
    for id in (uuid4(), NEWEST_ALERT):
        world.run(f"insert into alerts ({columns}) select %s, {alert} from alert_rules where key = 'queue_size'", id)
    columns, values = "tenant_id, month, engine, pages, cents", "select tenant_id, '2026-11-01', 'local', 1, 1"
    world.run(f"insert into tickwork.early_usage ({columns}) {values} from tickwork.tenants")
    world.run(f"insert into tickwork.monthly_usage ({columns}, extractions) {values}, 1 from tickwork.tenants")


def populate_tenant(world: World, word: str, *users: UUID, **keys: str) -> None:
    tenant, type = world.tenant(word), world.type(f"do_{word}", family=word, max_running=1000)
    world.service.pauses.limit_lane(word, tenant, word, max_running=5, starts_per_minute=100)
    world.service.pauses.hold_lane(word, tenant, "held", "infinity")
    world.job(type, tenant, payload={"of": word, "secret": word}, lane=word)
    world.claim(word, lease_seconds=3600)
    later = world.job(type, tenant, lane="held", run_at=datetime(2100, 1, 1, tzinfo=UTC))
    world.job(type, tenant, after=[later.id])
    to_check = "insert into tickwork.to_check select number, %s from tickwork.tenants where tenant_id = %s"
    world.run(to_check, later.id, tenant)
    for status in ("done", "failed", "dead", "cancelled"):
        job = world.job(type, tenant, lane=word, correlation_id="key")
        ended = "update jobs set status = %s, error_code = 'no', finished_at = now() where id = %s"
        world.run(ended, status, job.id)
    world.job(type, tenant, **keys)
    populate_documents(world, tenant, word)
    populate_facts(world, tenant, word)
    populate_secrets(world, tenant, word)
    world.service.artifacts.add_artifact(tenant, 1, "0" * 64, word)
    populate_rules(world, tenant, word)
    populate_passports(world, tenant, word)
    # Connectors first: their events are not to be delivered.
    populate_connectors(world, tenant, word)
    populate_schedules(world, tenant, word)
    populate_webhooks(world, tenant, word)
    of_jobs = "select tenant_id, id, family, 'text/plain', 1, repeat('0', 64) from jobs where tenant_id = %s"
    world.run(f"insert into artifacts (tenant_id, job_id, name, mime_type, size, sha256) {of_jobs}", tenant)
    attempt = "select id, 7, tenant_id, family, now(), now(), 'failed' from jobs where tenant_id = %s"
    world.run(f"insert into tickwork.attempts {attempt}", tenant)
    world.run("insert into tickwork.exceptions select id, 7, tenant_id, family from jobs where tenant_id = %s", tenant)
    reveal = "select id, tenant_id, gen_random_uuid(), family from jobs where tenant_id = %s"
    world.run(f"insert into tickwork.reveals (job_id, tenant_id, revealed_by, reason) {reveal}", tenant)
    world.run("insert into tickwork.pauses (scope) values (%s)", f"tenant {tenant}")
    world.run("insert into tickwork.blocked select number, %s, %s, now() from tickwork.tenants", word, type)
    world.service.keys.create_api_key(word, ["operate"], tenant)
    for user in users:
        world.run("insert into memberships (tenant_id, user_id, role) values (%s, %s, 'admin')", tenant, user)
    populate_steps(world, tenant, word)


def populate_rules(world: World, tenant: UUID, word: str) -> None:
    row = world.service.rules.save_rules(tenant, f"rules {word}", "1", {"of": word}, {})
    run = "select tenant_id, id, 1, 1, 'passed', 500, 500, 0 from rule_package_versions where id = %s"
    columns = "tenant_id, rule_package_version_id, revision, seed, status, total_cases, passed_count, failed_count"
    world.run(f"insert into rule_tests_runs ({columns}) {run}", row["id"])


def populate_steps(world: World, tenant: UUID, word: str) -> None:
    """A step, a wait and its event for each job."""
    jobs = "from jobs join tickwork.tenants using (tenant_id) where tenant_id = %s"
    result = json.dumps({"of": word})
    columns = "job_id, name, tenant_id, number, kind, result, bytes, attempt"
    world.run(
        f"insert into tickwork.steps ({columns}) select id, 'a', tenant_id, 1, 'step', %s, 1, 1 {jobs}", result, tenant
    )
    columns = "job_id, name, tenant_id, event_name, ends_at"
    world.run(f"insert into tickwork.waits ({columns}) select id, 'b', tenant_id, %s, now() {jobs}", word, tenant)
    world.run(f"insert into tickwork.arrivals select tenants.number, id, 'b', %s {jobs}", result, tenant)


def populate_passports(world: World, tenant: UUID, word: str) -> None:
    """A sealed snapshot, published rules, and a passport with an active version and one that could follow it."""
    snapshot = world.value(
        "insert into snapshots (tenant_id, name, status, snapshot_canonical, sealed_at) "
        "values (%s, %s, 'sealed', %s, now()) returning id",
        *(tenant, word, word.encode()),
    )
    package = world.value("insert into rule_packages (tenant_id, name) values (%s, %s) returning id", tenant, word)
    rules = world.value(
        "insert into rule_package_versions (tenant_id, rule_package_id, version, status, dsl_source, rules_hash) "
        "values (%s, %s, '1', 'published', jsonb_build_object('of', %s::text), sha256('x')) returning id",
        *(tenant, package, word),
    )
    passport = world.value(
        "insert into passports (tenant_id, battery_identifier, model, category, gtin, serial) "
        "values (%s, %s, %s, 'ev', '09506000134352', '1') returning id",
        *(tenant, word, word),
    )
    world.run("select set_resolver(%s, 'id.example.com')", tenant)
    leaf = {"access": "public", "kind": "attribute", "path": "a.b", "value": word}
    proof = json.dumps({"leaves": [leaf]})
    for number, status in enumerate(("active", "signed"), 1):
        world.run(
            "insert into passport_versions (id, tenant_id, passport_id, snapshot_id, rule_package_version_id, number, "
            "payload_canonical, payload_hash, proof_canonical, proof_root_hash, leaf_count, receipt_canonical, "
            "receipt_hash, compiler_build_id, issued_at, status, signature, signing_key_id, signing_key_public, "
            "qr_payload, qr_png, activated_at) values (gen_random_uuid(), %s, %s, %s, %s, %s, %s, sha256(%s), %s, "
            "sha256('x'), 1, '{}', sha256('{}'), %s, '2027-02-18Z', %s, %s, %s, %s, %s, 'x', now())",
            *(tenant, passport, snapshot, rules, number, word.encode(), word.encode(), proof.encode()),
            *(f"{word} {number}", status, bytes(64), word, bytes(32), word),
        )
    world.run(
        "insert into passport_exports (tenant_id, passport_version_id, format, template, audience, vault_path, sha256, "
        "size) select tenant_id, id, 'xml', 'standard', 'public', format('tenant/%%s/derived/passports/%%s/%%s.xml', "
        "tenant_id, id, repeat('0', 64)), repeat('0', 64), 1 from passport_versions where tenant_id = %s",
        tenant,
    )


def populate_secrets(world: World, tenant: UUID, word: str) -> None:
    world.run("select tickwork.store_secret(%s, 'tenant', 'a_name', %s, true)", tenant, f"secret {word}")


def populate_schedules(world: World, tenant: UUID, word: str) -> None:
    row = world.service.schedules.create_schedule(tenant, word, f"do_{word}", "@yearly", payload_template={"is": word})
    world.service.schedules.run_schedule(row["id"])


def populate_connectors(world: World, tenant: UUID, word: str) -> None:
    connector = world.value(
        "insert into connectors (tenant_id, provider, name, account_id) values (%s, 'dropbox', %s, %s) returning id",
        tenant,
        word,
        word,
    )
    world.run(
        "insert into connector_folders (connector_id, tenant_id, remote_path, cursor) values (%s, %s, '', %s)",
        connector,
        tenant,
        word,
    )
    world.run(
        "insert into imported_items (connector_id, tenant_id, item_id, folder, path, name, revision) "
        "values (%s, %s, 'an id', '', %s, %s, '1')",
        connector,
        tenant,
        f"/{word}",
        word,
    )


def populate_documents(world: World, tenant: UUID, word: str) -> None:
    document, _ = (
        world.value(
            "insert into documents (tenant_id, name, vault_path, mime_type, size) values (%s, %s, %s, 'text/plain', 1) "
            "returning id",
            tenant,
            name,
            f"tenant/{tenant}/{name}",
        )
        for name in (word, f"{word}_to_spare")
    )
    extraction = world.value(
        "insert into extractions (tenant_id, document_id, engine) values (%s, %s, 'local') returning id",
        tenant,
        document,
    )
    world.run(
        "insert into document_chunks (tenant_id, document_id, extraction_id, chunk_index, element_type, text) "
        "values (%s, %s, %s, 0, 'NarrativeText', %s)",
        tenant,
        document,
        extraction,
        f"secret {word}",
    )
    world.run(
        "insert into document_words (tenant_id, document_id, words) values (%s, %s, %s)", tenant, document, [word]
    )
    world.run("insert into document_types (tenant_id, key, label) values (%s, %s, 'own')", tenant, f"own_{word}")
    world.run("select correct_document_type(%s, %s)", document, f"own_{word}")

    populate_signatures(world, tenant, word)


def populate_signatures(world: World, tenant: UUID, word: str) -> None:
    """The status list of the tenant, signed by a key that is everybody's."""
    key = world.value("select id from register_signing_key(%s, 'alpha beta')", b64encode(bytes(32)).decode())
    world.run(
        "insert into passport_status_lists (tenant_id, document, as_of, signing_key_id) values (%s, %s, now(), %s)",
        *(tenant, json.dumps({"of": word}), key),
    )


def populate_facts(world: World, tenant: UUID, word: str) -> None:
    """One fact to spare, and one of a document, in a snapshot."""
    world.run("select map_fact_label(%s, 'bom', %s, 'name')", tenant, word)
    document = world.value("select id from create_passport_document(%s, %s, 'bom')", tenant, word)
    version = world.value(
        "insert into document_versions (tenant_id, passport_document_id, version, document_id, status, fact_count) "
        "select tenant_id, %s, 1, id, 'validated', 1 from documents where tenant_id = %s and name = %s returning id",
        document,
        tenant,
        word,
    )
    for key in (f"{word}_to_spare", word):
        fact = world.value(
            "insert into facts (tenant_id, document_version_id, fact_type, fact_key, schema_version, payload, "
            "payload_canonical) values (%s, %s, 'attribute', %s, '1', '{}', '{}') returning id",
            tenant,
            version,
            key,
        )
        if key == word:
            world.run(
                "insert into fact_sources (fact_id, document_version_id, tenant_id) values (%s, %s, %s)",
                fact,
                version,
                tenant,
            )
    snapshot = world.value("select id from create_snapshot(%s, %s)", tenant, word)
    world.run("select add_snapshot_items(%s, document_version_id => %s)", snapshot, version)


def populate_webhooks(world: World, tenant: UUID, word: str) -> None:
    """A delivery that has failed, of the tenant's running job, as if that were its own."""
    emit(world, tenant, "spare")
    endpoint(world, tenant, description=word)
    # However long the matrix takes, the same event starts nothing more.
    world.service.triggers.create_event_trigger(
        tenant, word, "invoice.*", f"do_{word}", payload_template={"is": word}, dedupe_window_seconds=3600
    )
    emit(world, tenant, secret=word)
    world.run(
        "update webhook_deliveries set status = 'failed', job_id = ("
        "select id from jobs where status = 'running' and tenant_id = webhook_deliveries.tenant_id limit 1"
        ") where tenant_id = %s",
        tenant,
    )
