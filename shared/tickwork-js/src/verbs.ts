// Written by `make client` from the database.

export type Status = "queued" | "running" | "done" | "failed" | "dead" | "cancelled";

/** What is returned, by table, type or function. Ids and times are strings; numbers are exact up to 2^53. */
export interface Rows {
  alert_rules: {
    key: string;
    description: string;
    threshold: number;
    closes_at: number;
    for_seconds: number;
    severity: string;
    is_on: boolean;
    value: number | null;
    checked_at: string | null;
    turned_at: string | null;
  };
  alerts: {
    id: string;
    rule: string;
    severity: string;
    message: string;
    opened_at: string;
    closed_at: string | null;
    value: number;
    worst: number;
  };
  artifacts: {
    id: string;
    tenant_id: string;
    job_id: string | null;
    name: string;
    vault_path: string;
    mime_type: string;
    size: number | null;
    sha256: string | null;
    created_at: string;
    remove_at: string | null;
    is_being_removed: boolean;
  };
  audit_log: {
    id: number;
    at: string;
    tenant_id: string | null;
    actor_kind: string;
    actor_id: string | null;
    actor_name: string | null;
    action: string;
    target: string | null;
    before: unknown;
    after: unknown;
    code: string | null;
    detail: string | null;
    request_id: string | null;
    ip: string | null;
    user_agent: string | null;
  };
  caller: {
    kind: string;
    id: string | null;
    name: string | null;
    tenants: unknown;
    scopes: readonly string[];
    is_platform_admin: boolean;
    expires_at: string | null;
  };
  cancel_jobs: {
    changed: number;
    has_more: boolean;
  };
  claimed_job: {
    id: string;
    tenant_id: string;
    type: string;
    family: string;
    lane: string | null;
    payload: Record<string, unknown>;
    attempts: number;
    max_attempts: number;
    lease_token: string;
    lease_seconds: number | null;
    timeout_seconds: number | null;
    worker_id: string | null;
    correlation_id: string | null;
    trace: string | null;
    wait_ms: number | null;
  };
  connectors: {
    id: string;
    tenant_id: string;
    provider: string;
    name: string;
    status: string;
    scopes: readonly string[];
    account_id: string | null;
    extract: string | null;
    consent_given_at: string | null;
    consent_given_by: string | null;
    watch_url: string | null;
    watched_until: string | null;
    created_by: string | null;
    created_at: string;
    updated_at: string;
  };
  document_overview: {
    id: string;
    tenant_id: string;
    name: string;
    vault_path: string;
    mime_type: string;
    size: number;
    sha256: string | null;
    page_count: number | null;
    doc_type: string | null;
    doc_type_confidence: number | null;
    doc_type_source: string | null;
    doc_type_runner_up: string | null;
    doc_type_runner_up_confidence: number | null;
    node: string | null;
    created_by: string | null;
    created_at: string;
    updated_at: string;
    extraction_id: string | null;
    engine: string | null;
    extraction_status: string | null;
    error_code: string | null;
    error_message: string | null;
    progress: number | null;
    progress_message: string | null;
    chunk_count: number | null;
    not_read: unknown;
  };
  document_versions: {
    id: string;
    tenant_id: string;
    passport_document_id: string;
    version: number;
    document_id: string;
    sha256: string | null;
    schema_version: string;
    status: string;
    fact_count: number | null;
    error_code: string | null;
    error_message: string | null;
    job_id: string | null;
    created_by: string | null;
    created_at: string;
  };
  documents: {
    id: string;
    tenant_id: string;
    name: string;
    vault_path: string;
    mime_type: string;
    size: number;
    sha256: string | null;
    page_count: number | null;
    doc_type: string | null;
    doc_type_confidence: number | null;
    doc_type_source: string | null;
    doc_type_runner_up: string | null;
    doc_type_runner_up_confidence: number | null;
    node: string | null;
    created_by: string | null;
    created_at: string;
    updated_at: string;
  };
  endpoint_secret: {
    webhook_endpoint_id: string | null;
    tenant_id: string | null;
    secret: string | null;
    previous_until: string | null;
  };
  enqueued_jobs: {
    id: string;
    tenant_id: string;
    type: string;
    family: string;
    lane: string | null;
    after: readonly string[] | null;
    after_when: string | null;
    priority: number;
    payload: Record<string, unknown>;
    max_attempts: number;
    idempotency_key: string | null;
    dedupe_key: string | null;
    correlation_id: string | null;
    traceparent: string | null;
    trace_link: string | null;
    source: string;
    source_ref: string | null;
    notify: boolean;
    is_redacted: boolean;
    is_awaited: boolean;
    created_by: string | null;
    created_at: string;
    run_at: string;
    ready_at: string | null;
    cancel_requested_at: string | null;
    lease_seconds: number | null;
    timeout_seconds: number | null;
    worker_id: string | null;
    attempts: number;
    started_at: string | null;
    status: Status;
    lease_expires_at: string | null;
    progress: number | null;
    progress_message: string | null;
    updated_at: string;
    finished_at: string | null;
    error_code: string | null;
    error_message: string | null;
    result: unknown;
    deduplicated: boolean;
  };
  estimate_extraction: {
    pages: number | null;
    cost_cents: number | null;
    needs_consent: boolean;
    is_exact: boolean;
  };
  estimate_start: {
    ahead: number | null;
    per_minute: number | null;
    starts_at: string | null;
  };
  event_triggers: {
    id: string;
    tenant_id: string;
    label: string;
    event_name: string;
    type: string;
    condition: string | null;
    payload_template: unknown;
    dedupe_key: string | null;
    dedupe_window_seconds: number;
    debounce_seconds: number | null;
    debounce_max_seconds: number;
    max_per_minute: number | null;
    delay_seconds: number;
    priority: number | null;
    lane: string | null;
    paused_at: string | null;
    paused_by: string | null;
    pause_note: string | null;
    created_by: string | null;
    created_at: string;
    updated_at: string;
  };
  events: {
    id: string;
    tenant_id: string;
    type: string;
    aggregate: string | null;
    payload: unknown;
    occurred_at: string;
  };
  extractions: {
    id: string;
    tenant_id: string;
    document_id: string;
    job_id: string | null;
    engine: string;
    status: string;
    consent_given_at: string | null;
    consent_given_by: string | null;
    estimated_pages: number | null;
    estimated_cost_cents: number | null;
    actual_pages: number | null;
    actual_cost_cents: number | null;
    result_json: unknown;
    error_code: string | null;
    error_message: string | null;
    created_at: string;
    updated_at: string;
    started_at: string | null;
    finished_at: string | null;
  };
  fact_mappings: {
    id: string;
    tenant_id: string;
    kind: string;
    label: string;
    field: string;
    unit: string | null;
    created_by: string | null;
    created_at: string;
  };
  facts: {
    id: string;
    tenant_id: string;
    document_version_id: string;
    fact_type: string;
    fact_key: string;
    schema_version: string;
    payload: unknown;
    payload_canonical: string;
    payload_hash: string;
    source: unknown;
    confirmed_by: string | null;
    confirmed_at: string | null;
    created_at: string;
    confidence: number | null;
  };
  find_tenants: {
    tenant_id: string | null;
    name: string | null;
  };
  heartbeat_jobs: {
    job_id: string;
    is_held: boolean;
    cancel_requested: boolean;
  };
  job_attempts: {
    job_id: string;
    number: number;
    tenant_id: string;
    worker_id: string | null;
    started_at: string | null;
    finished_at: string | null;
    status: string;
    error_code: string | null;
    error_message: string | null;
    error: unknown;
    pid: number | null;
    exit_code: number | null;
    stdout_tail: string | null;
    stderr_tail: string | null;
    logs: string | null;
  };
  job_triggers: {
    id: string;
    tenant_id: string;
    label: string;
    is_enabled: boolean;
    trigger_type: string;
    event_name: string;
    cron_expr: string | null;
    timezone: string | null;
    type: string;
    payload_template: unknown;
    dedupe_window_seconds: number;
    created_by: string | null;
    created_at: string;
    updated_at: string;
  };
  job_types: {
    key: string;
    family: string;
    description: string;
    payload_schema: unknown;
    result_schema: unknown;
    timeout_seconds: number;
    max_attempts: number;
    backoff: unknown;
    lease_seconds: number;
    priority: number;
    enqueued_by: string;
    max_running: number | null;
    max_running_per_tenant: number | null;
    starts_per_minute: number | null;
    follow_ups: readonly string[];
    keep_days: unknown;
    is_active: boolean;
    created_at: string;
    updated_at: string;
    redacted: readonly string[];
    not_redacted: readonly string[];
  };
  jobs: {
    id: string;
    tenant_id: string;
    type: string;
    family: string;
    lane: string | null;
    after: readonly string[] | null;
    after_when: string | null;
    priority: number;
    payload: Record<string, unknown>;
    max_attempts: number;
    idempotency_key: string | null;
    dedupe_key: string | null;
    correlation_id: string | null;
    traceparent: string | null;
    trace_link: string | null;
    source: string;
    source_ref: string | null;
    notify: boolean;
    is_redacted: boolean;
    is_awaited: boolean;
    created_by: string | null;
    created_at: string;
    run_at: string;
    ready_at: string | null;
    cancel_requested_at: string | null;
    lease_seconds: number | null;
    timeout_seconds: number | null;
    worker_id: string | null;
    attempts: number;
    started_at: string | null;
    status: Status;
    lease_expires_at: string | null;
    progress: number | null;
    progress_message: string | null;
    updated_at: string;
    finished_at: string | null;
    error_code: string | null;
    error_message: string | null;
    result: unknown;
  };
  latency: {
    family: string | null;
    type: string | null;
    jobs: number | null;
    wait_p50: number | null;
    wait_p95: number | null;
    wait_p99: number | null;
    run_p50: number | null;
    run_p95: number | null;
    run_p99: number | null;
    average_wait: number | null;
    average_run: number | null;
  };
  list_errors: {
    error_code: string | null;
    error_message: string | null;
    jobs: number | null;
    types: readonly string[] | null;
    first_at: string | null;
    last_at: string | null;
    last_job_id: string | null;
    per_step: readonly number[] | null;
  };
  list_event_triggers: {
    id: string;
    tenant_id: string;
    label: string;
    event_name: string;
    type: string;
    condition: string | null;
    is_enabled: boolean;
    pause_note: string | null;
    last_decided_at: string | null;
    last_event_type: string | null;
    last_outcome: string | null;
    last_error: string | null;
    last_job_id: string | null;
    last_job_status: string | null;
  };
  list_holds: {
    scope: string;
    held_until: string | null;
    reason: string | null;
    created_at: string;
    waiting: number;
  };
  list_lanes: {
    tenant_id: string;
    family: string;
    lane: string;
    max_running: number | null;
    starts_per_minute: number | null;
    is_held: boolean;
    held_until: string | null;
    reason: string | null;
  };
  list_members: {
    tenant_id: string;
    user_id: string;
    role: string;
  };
  list_rules: {
    id: string | null;
    tenant_id: string | null;
    rule_package_id: string | null;
    package: string | null;
    version: string | null;
    status: string | null;
    rules_hash: string | null;
    revision: number | null;
    valid_from: string | null;
    created_at: string | null;
    updated_at: string | null;
    published_at: string | null;
  };
  list_schedule_fires: {
    nominal_at: string | null;
    run_at: string | null;
    outcome: string | null;
    error: string | null;
    decided_at: string | null;
    job_id: string | null;
    job_status: string | null;
  };
  list_schedules: {
    id: string;
    tenant_id: string;
    label: string;
    type: string;
    cron_expr: string;
    timezone: string;
    is_enabled: boolean;
    pause_note: string | null;
    next_run_at: string | null;
    last_nominal_at: string | null;
    last_outcome: string | null;
    last_job_id: string | null;
    last_job_status: string | null;
  };
  list_trigger_fires: {
    decided_at: string | null;
    event_id: string | null;
    event_type: string | null;
    outcome: string | null;
    error: string | null;
    depth: number | null;
    job_id: string | null;
    job_status: string | null;
  };
  list_workers: {
    worker_id: string | null;
    hostname: string | null;
    version: string | null;
    families: readonly string[];
    started_at: string | null;
    last_seen_at: string | null;
    is_stale: boolean | null;
    running: number;
    oldest_started_at: string | null;
    expired: number;
    metadata: unknown;
  };
  listed_step: {
    number: number | null;
    name: string | null;
    kind: string | null;
    is_stored: boolean | null;
    result: unknown;
    attempt: number | null;
    stored_at: string | null;
    event_name: string | null;
    ends_at: string | null;
  };
  memberships: {
    tenant_id: string;
    user_id: string;
    role: string;
    created_at: string;
  };
  passport_documents: {
    id: string;
    tenant_id: string;
    name: string;
    kind: string;
    created_by: string | null;
    created_at: string;
  };
  passport_exports: {
    id: string;
    tenant_id: string;
    passport_version_id: string;
    format: string;
    template: string;
    audience: string;
    vault_path: string;
    sha256: string;
    size: number;
    job_id: string | null;
    created_at: string;
    updated_at: string;
  };
  passport_overview: {
    id: string | null;
    tenant_id: string | null;
    battery_identifier: string | null;
    model: string | null;
    category: string | null;
    gtin: string | null;
    serial: string | null;
    link_qr_payload: string | null;
    created_at: string | null;
    active_version_id: string | null;
    active_number: number | null;
    activated_at: string | null;
    latest_version_id: string | null;
    latest_number: number | null;
    latest_status: string | null;
    latest_issued_at: string | null;
    compile_job_id: string | null;
    compile_status: string | null;
    compile_error_code: string | null;
    compile_error_message: string | null;
  };
  passport_status_lists: {
    tenant_id: string;
    number: number;
    document: unknown;
    as_of: string;
    signing_key_id: string;
    created_at: string;
    updated_at: string;
  };
  passport_version_overview: {
    id: string | null;
    tenant_id: string | null;
    passport_id: string | null;
    battery_identifier: string | null;
    snapshot_id: string | null;
    rule_package_version_id: string | null;
    number: number | null;
    status: string | null;
    issued_at: string | null;
    payload_hash: string | null;
    proof_root_hash: string | null;
    receipt_hash: string | null;
    leaf_count: number | null;
    compiler_build_id: string | null;
    signing_key_id: string | null;
    qr_payload: string | null;
    link_qr_payload: string | null;
    activated_at: string | null;
    superseded_at: string | null;
    revoked_at: string | null;
    revocation_reason: string | null;
    created_at: string | null;
  };
  percentiles: {
    at: string | null;
    jobs: number | null;
    wait_p50: number | null;
    wait_p95: number | null;
    wait_p99: number | null;
    run_p50: number | null;
    run_p95: number | null;
    run_p99: number | null;
  };
  preview_schedule: {
    nominal_at: string;
    local_time: string;
    note: string | null;
  };
  queue_by_tenant: {
    tenant_id: string | null;
    name: string | null;
    queued: number | null;
    due: number | null;
    running: number | null;
    oldest_due_at: string | null;
  };
  queue_by_type: {
    family: string | null;
    type: string | null;
    queued: number | null;
    due: number | null;
    running: number | null;
    done: number | null;
    failed: number | null;
    dead: number | null;
    cancelled: number | null;
    oldest_due_at: string | null;
  };
  queue_health: {
    name: string | null;
    is_ok: boolean | null;
    detail: string | null;
  };
  queue_summary: {
    family: string;
    type: string;
    queued: number;
    due: number;
    running: number;
    done: number;
    failed: number;
    dead: number;
    cancelled: number;
    oldest_due_at: string | null;
  };
  queue_widgets: {
    jobs_in_queue: number | null;
    dead_in_24_hours: number | null;
    average_processing_seconds: number | null;
  };
  reschedule_jobs: {
    changed: number;
    has_more: boolean;
  };
  retry_jobs: {
    changed: number;
    has_more: boolean;
  };
  revealed_job: {
    payload: unknown;
    result: unknown;
  };
  rule_package_versions: {
    id: string;
    tenant_id: string | null;
    rule_package_id: string;
    version: string;
    status: string;
    dsl_source: unknown;
    tests_source: unknown;
    rules_hash: string | null;
    revision: number;
    publish_when_validated: boolean;
    valid_from: string | null;
    created_by: string | null;
    created_at: string;
    updated_at: string;
    published_by: string | null;
    published_at: string | null;
    retired_at: string | null;
  };
  rule_tests_runs: {
    id: string;
    tenant_id: string | null;
    rule_package_version_id: string;
    revision: number;
    rules_hash: string | null;
    seed: number;
    status: string;
    total_cases: number;
    passed_count: number;
    failed_count: number;
    first_failure: unknown;
    mutants: number;
    mutants_caught: number;
    compiler_build_id: string | null;
    job_id: string | null;
    created_at: string;
  };
  schedule_fires: {
    schedule_id: string;
    nominal_at: string;
    tenant_id: string;
    run_at: string;
    outcome: string;
    job_id: string | null;
    error: string | null;
    decided_at: string;
  };
  schedules: {
    id: string;
    tenant_id: string;
    label: string;
    type: string;
    cron_expr: string;
    timezone: string;
    payload_template: unknown;
    overlap: string;
    missed: string;
    catch_up_seconds: number;
    spread_seconds: number;
    starts_at: string | null;
    ends_at: string | null;
    priority: number | null;
    lane: string | null;
    pause_after_failures: number | null;
    paused_at: string | null;
    paused_by: string | null;
    pause_note: string | null;
    failures_since: string | null;
    created_by: string | null;
    created_at: string;
    updated_at: string;
    next_nominal_at: string | null;
    look_at: string | null;
  };
  search_hit: {
    document_id: string;
    name: string;
    doc_type: string | null;
    chunk_index: number;
    page_number: number | null;
    element_type: string;
    snippet: string;
    rank: number;
    total: number;
  };
  settle_jobs: {
    job_id: string;
    is_held: boolean;
    status: string | null;
  };
  settled_and_claimed: {
    settled: unknown;
    claimed: unknown;
  };
  shown_key: {
    id: string;
    tenant_id: string | null;
    name: string;
    prefix: string | null;
    account: string | null;
    scopes: readonly string[];
    created_by: string | null;
    created_at: string;
    expires_at: string | null;
    revoked_at: string | null;
    last_used_at: string | null;
    key: string | null;
  };
  sign_artifact: {
    tenant_id: string;
    vault_path: string;
    size: number;
    sha256: string;
  };
  sign_document: {
    tenant_id: string;
    vault_path: string;
  };
  signing_keys: {
    id: string;
    name: string;
    public_key: string;
    status: string;
    valid_from: string;
    retired_at: string | null;
    revoked_at: string | null;
    created_at: string;
    updated_at: string;
  };
  snapshot_overview: {
    id: string | null;
    tenant_id: string | null;
    name: string | null;
    status: string | null;
    item_count: number | null;
    snapshot_hash: string | null;
    sealed_at: string | null;
    sealed_by: string | null;
    created_by: string | null;
    created_at: string | null;
    updated_at: string | null;
  };
  snapshots: {
    id: string;
    tenant_id: string;
    name: string;
    item_count: number;
    snapshot_canonical: string | null;
    snapshot_hash: string | null;
    sealed_at: string | null;
    sealed_by: string | null;
    created_by: string | null;
    created_at: string;
    updated_at: string;
    status: string;
  };
  summarize_jobs: {
    queued: number;
    due: number;
    running: number;
    done: number;
    failed: number;
    dead: number;
    cancelled: number;
    oldest_due_at: string | null;
  };
  test_event: {
    trigger_id: string;
    label: string;
    job_type: string;
    outcome: string;
    job_payload: unknown;
    error: string | null;
  };
  throughput: {
    at: string | null;
    outcome: string | null;
    jobs: number | null;
  };
  webhook_deliveries: {
    id: string;
    tenant_id: string;
    webhook_endpoint_id: string;
    event_id: string;
    job_id: string | null;
    status: string;
    attempts: number;
    http_status: number | null;
    response_headers: unknown;
    response_body: string | null;
    latency_ms: number | null;
    error_code: string | null;
    error_message: string | null;
    created_at: string;
    attempted_at: string | null;
    delivered_at: string | null;
  };
  webhook_endpoints: {
    id: string;
    tenant_id: string;
    url: string;
    description: string;
    event_types: readonly string[];
    header_prefix: string;
    format: string;
    timeout_seconds: number;
    status: string;
    disabled_reason: string | null;
    breaker: string;
    failures: number;
    failing_since: string | null;
    probes: number;
    probe_at: string | null;
    successes: number;
    hears_of_jobs: boolean;
    created_at: string;
    updated_at: string;
  };
  worked_job: {
    statuses: readonly string[] | null;
    id: string | null;
    tenant_id: string | null;
    type: string | null;
    lane: string | null;
    payload: unknown;
    attempts: number | null;
    max_attempts: number | null;
    lease_token: string | null;
    lease_seconds: number | null;
    timeout_seconds: number | null;
    correlation_id: string | null;
    trace: string | null;
    wait_ms: number | null;
  };
}

/** The arguments of each verb, and what it returns: a row, one of several rows, or a value. */
export interface Verbs {
  activate_passport: {
    arguments: {
      passport_version_id: string;
    };
    row: Rows["passport_version_overview"];
  };
  add_artifact: {
    arguments: {
      tenant_id?: string | null;
      size: number;
      sha256: string;
      name?: string;
      mime_type?: string;
    };
    row: Rows["artifacts"];
  };
  add_document: {
    arguments: {
      tenant_id?: string | null;
      name: string;
      vault_path: string;
      mime_type: string;
      size: number;
      sha256?: string | null;
    };
    row: Rows["documents"];
  };
  add_document_version: {
    arguments: {
      passport_document_id: string;
      document_id: string;
      schema_version?: string;
    };
    row: Rows["document_versions"];
  };
  add_snapshot_items: {
    arguments: {
      snapshot_id: string;
      fact_ids?: readonly string[];
      document_version_id?: string | null;
    };
    row: Rows["snapshots"];
  };
  backfill_schedule: {
    arguments: {
      schedule_id: string;
      since: string;
      until: string;
      dry_run?: boolean;
    };
    row: Rows["schedule_fires"];
  };
  bury_job: {
    arguments: {
      job_id: string;
      reason?: string | null;
    };
    row: Rows["jobs"];
  };
  cancel_job: {
    arguments: {
      job_id: string;
    };
    row: Rows["jobs"];
  };
  cancel_jobs: {
    arguments: {
      tenant_id?: string | null;
      family?: string | null;
      type?: string | null;
      status?: string | null;
      lane?: string | null;
      error_code?: string | null;
      created_after?: string | null;
      created_before?: string | null;
      max_jobs?: number;
      correlation_id?: string | null;
    };
    row: Rows["cancel_jobs"];
  };
  change_alert_rule: {
    arguments: {
      key: string;
      threshold?: number | null;
      closes_at?: number | null;
      for_seconds?: number | null;
      severity?: string | null;
      is_on?: boolean | null;
    };
    row: Rows["alert_rules"];
  };
  change_connector: {
    arguments: {
      connector_id: string;
      changes: Record<string, unknown>;
    };
    row: Rows["connectors"];
  };
  change_event_trigger: {
    arguments: {
      trigger_id: string;
      changes: Record<string, unknown>;
      sample?: unknown;
    };
    row: Rows["event_triggers"];
  };
  change_job_trigger: {
    arguments: {
      trigger_id: string;
      changes: Record<string, unknown>;
    };
    row: Rows["job_triggers"];
  };
  change_job_type: {
    arguments: {
      type: string;
      changes: Record<string, unknown>;
    };
    row: Rows["job_types"];
  };
  change_matching_jobs: {
    arguments: {
      action: string;
      filter: unknown;
      reason: string;
      run_at?: string | null;
      max_attempts?: number | null;
    };
    row: Rows["jobs"];
  };
  change_schedule: {
    arguments: {
      schedule_id: string;
      changes: Record<string, unknown>;
    };
    row: Rows["schedules"];
  };
  change_webhook_endpoint: {
    arguments: {
      webhook_endpoint_id: string;
      changes: Record<string, unknown>;
    };
    row: Rows["webhook_endpoints"];
  };
  claim_jobs: {
    arguments: {
      family: string;
      worker_id: string;
      max_jobs: number;
      lease_seconds?: number | null;
      types?: readonly string[] | null;
    };
    row: Rows["claimed_job"];
  };
  claim_next_job: {
    arguments: {
      family: string;
      worker_id: string;
      lease_seconds?: number | null;
      types?: readonly string[] | null;
    };
    row: Rows["claimed_job"];
  };
  complete_job: {
    arguments: {
      job_id: string;
      lease_token: string;
      result?: unknown;
      follow_ups?: unknown;
      logs?: string | null;
    };
    row: Rows["jobs"];
  };
  confirm_facts: {
    arguments: {
      fact_ids: readonly string[];
    };
    row: Rows["facts"];
  };
  correct_document_type: {
    arguments: {
      document_id: string;
      doc_type: string;
    };
    row: Rows["documents"];
  };
  count_matching_jobs: {
    arguments: {
      filter?: unknown;
      at_most?: number;
    };
    row: number;
  };
  create_api_key: {
    arguments: {
      name: string;
      scopes: readonly string[];
      tenant_id?: string | null;
      expires_at?: string | null;
      account?: string | null;
    };
    row: Rows["shown_key"];
  };
  create_connector: {
    arguments: {
      tenant_id?: string | null;
      provider: string;
      name: string;
      engine?: string | null;
      consent?: boolean;
    };
    row: Rows["connectors"];
  };
  create_event_trigger: {
    arguments: {
      tenant_id?: string | null;
      label: string;
      event_name: string;
      type: string;
      condition?: string | null;
      payload_template?: unknown;
      dedupe_key?: string | null;
      dedupe_window_seconds?: number;
      debounce_seconds?: number | null;
      debounce_max_seconds?: number;
      max_per_minute?: number | null;
      delay_seconds?: number;
      priority?: number | null;
      lane?: string | null;
      sample?: unknown;
    };
    row: Rows["event_triggers"];
  };
  create_job_trigger: {
    arguments: {
      tenant_id?: string | null;
      label: string;
      trigger_type: string;
      type: string;
      event_name?: string | null;
      cron_expr?: string | null;
      timezone?: string | null;
      payload_template?: unknown;
      dedupe_window_seconds?: number;
      is_enabled?: boolean;
    };
    row: Rows["job_triggers"];
  };
  create_job_type: {
    arguments: {
      key: string;
      family?: string;
      description?: string;
      payload_schema?: unknown;
      result_schema?: unknown;
      timeout_seconds?: number;
      max_attempts?: number;
      backoff?: unknown;
      lease_seconds?: number;
      priority?: number;
      enqueued_by?: string;
      max_running?: number | null;
      max_running_per_tenant?: number | null;
      starts_per_minute?: number | null;
      follow_ups?: readonly string[];
      keep_days?: unknown;
      redacted?: readonly string[];
      not_redacted?: readonly string[];
      is_active?: boolean;
    };
    row: Rows["job_types"];
  };
  create_passport: {
    arguments: {
      tenant_id?: string | null;
      battery_identifier: string;
      category: string;
      model?: string;
      gtin?: string | null;
      serial?: string | null;
    };
    row: Rows["passport_overview"];
  };
  create_passport_document: {
    arguments: {
      tenant_id?: string | null;
      name: string;
      kind: string;
    };
    row: Rows["passport_documents"];
  };
  create_schedule: {
    arguments: {
      tenant_id?: string | null;
      label: string;
      type: string;
      cron_expr: string;
      timezone?: string | null;
      payload_template?: unknown;
      overlap?: string;
      missed?: string;
      catch_up_seconds?: number;
      spread_seconds?: number;
      starts_at?: string | null;
      ends_at?: string | null;
      priority?: number | null;
      lane?: string | null;
      pause_after_failures?: number | null;
    };
    row: Rows["schedules"];
  };
  create_sign_in_link: {
    arguments: {
      user_id: string;
      valid_seconds?: number;
    };
    row: string;
  };
  create_snapshot: {
    arguments: {
      tenant_id?: string | null;
      name: string;
    };
    row: Rows["snapshots"];
  };
  create_webhook_endpoint: {
    arguments: {
      tenant_id?: string | null;
      url: string;
      event_types?: readonly string[];
      description?: string;
      header_prefix?: string;
      format?: string;
      timeout_seconds?: number;
      with_secret?: boolean;
    };
    row: Rows["endpoint_secret"];
  };
  delete_connector: {
    arguments: {
      connector_id: string;
    };
    row: void;
  };
  delete_event_trigger: {
    arguments: {
      trigger_id: string;
    };
    row: void;
  };
  delete_job_trigger: {
    arguments: {
      trigger_id: string;
    };
    row: void;
  };
  delete_schedule: {
    arguments: {
      schedule_id: string;
    };
    row: void;
  };
  delete_webhook_endpoint: {
    arguments: {
      webhook_endpoint_id: string;
    };
    row: void;
  };
  disclose: {
    arguments: {
      passport_version_id: string;
      audience?: string;
      paths?: readonly string[] | null;
    };
    row: unknown;
  };
  emit_event: {
    arguments: {
      tenant_id?: string | null;
      type: string;
      aggregate?: string | null;
      payload?: Record<string, unknown>;
    };
    row: string;
  };
  enqueue_job: {
    arguments: {
      tenant_id?: string | null;
      type: string;
      payload?: Record<string, unknown>;
      priority?: number | null;
      run_at?: string | null;
      idempotency_key?: string | null;
      dedupe_key?: string | null;
      lane?: string | null;
      max_attempts?: number | null;
      correlation_id?: string | null;
      notify?: boolean;
      after?: readonly string[] | null;
      after_when?: string;
      traceparent?: string | null;
    };
    row: Rows["enqueued_jobs"];
  };
  enqueue_jobs: {
    arguments: {
      jobs: unknown;
    };
    row: Rows["enqueued_jobs"];
  };
  estimate_extraction: {
    arguments: {
      document_id: string;
      engine?: string;
    };
    row: Rows["estimate_extraction"];
  };
  estimate_start: {
    arguments: {
      job_id: string;
    };
    row: Rows["estimate_start"];
  };
  explain_job: {
    arguments: {
      job_id: string;
    };
    row: string;
  };
  explain_passport: {
    arguments: {
      passport_id: string;
    };
    row: string;
  };
  fail_job: {
    arguments: {
      job_id: string;
      lease_token: string;
      error: unknown;
      retryable?: boolean;
      retry_after_seconds?: number | null;
      logs?: string | null;
      pid?: number | null;
      exit_code?: number | null;
      stdout_tail?: string | null;
      stderr_tail?: string | null;
      exception?: string | null;
    };
    row: Rows["jobs"];
  };
  find_matching_jobs: {
    arguments: {
      filter?: unknown;
      max_jobs?: number;
      after_id?: string | null;
      oldest_first?: boolean;
    };
    row: Rows["jobs"];
  };
  find_tenants: {
    arguments: {
      words?: string | null;
      max_tenants?: number;
    };
    row: Rows["find_tenants"];
  };
  get_document: {
    arguments: {
      document_id: string;
    };
    row: Rows["document_overview"];
  };
  get_event_trigger: {
    arguments: {
      trigger_id: string;
    };
    row: Rows["event_triggers"];
  };
  get_job: {
    arguments: {
      job_id: string;
    };
    row: Rows["jobs"];
  };
  get_passport: {
    arguments: {
      passport_id: string;
    };
    row: Rows["passport_overview"];
  };
  get_passport_version: {
    arguments: {
      passport_version_id: string;
    };
    row: Rows["passport_version_overview"];
  };
  get_resolver: {
    arguments: {
      tenant_id?: string | null;
    };
    row: string;
  };
  get_rules: {
    arguments: {
      rule_package_version_id: string;
    };
    row: Rows["rule_package_versions"];
  };
  get_schedule: {
    arguments: {
      schedule_id: string;
    };
    row: Rows["schedules"];
  };
  heartbeat_job: {
    arguments: {
      job_id: string;
      lease_token: string;
      progress?: number | null;
      message?: string | null;
    };
    row: boolean;
  };
  heartbeat_jobs: {
    arguments: {
      heartbeats: unknown;
    };
    row: Rows["heartbeat_jobs"];
  };
  hold_job: {
    arguments: {
      job_id: string;
      lease_token: string;
      traceparent?: string | null;
    };
    row: void;
  };
  hold_lane: {
    arguments: {
      family: string;
      tenant_id?: string | null;
      lane: string;
      held_until: string;
      reason?: string | null;
    };
    row: void;
  };
  hold_lane_of_job: {
    arguments: {
      job_id: string;
      lease_token: string;
      delay_seconds?: number;
      reason?: string | null;
    };
    row: void;
  };
  latency: {
    arguments: {
      tenant_id?: string | null;
      type?: string | null;
      since?: string;
      until?: string;
    };
    row: Rows["latency"];
  };
  limit_lane: {
    arguments: {
      family: string;
      tenant_id?: string | null;
      lane: string;
      max_running?: number | null;
      starts_per_minute?: number | null;
    };
    row: void;
  };
  list_alert_rules: {
    arguments: Record<string, never>;
    row: Rows["alert_rules"];
  };
  list_alerts: {
    arguments: {
      only_open?: boolean;
      max_alerts?: number;
      after_id?: string | null;
    };
    row: Rows["alerts"];
  };
  list_api_keys: {
    arguments: {
      tenant_id?: string | null;
      with_revoked?: boolean;
      max_keys?: number;
      after_id?: string | null;
    };
    row: Rows["shown_key"];
  };
  list_artifacts: {
    arguments: {
      tenant_id?: string | null;
      job_id?: string | null;
      max_rows?: number;
    };
    row: Rows["artifacts"];
  };
  list_attempts: {
    arguments: {
      job_id: string;
    };
    row: Rows["job_attempts"];
  };
  list_audit: {
    arguments: {
      tenant_id?: string | null;
      action?: string | null;
      target?: string | null;
      actor_id?: string | null;
      created_after?: string | null;
      created_before?: string | null;
      after_id?: number | null;
      max_rows?: number;
    };
    row: Rows["audit_log"];
  };
  list_connectors: {
    arguments: {
      tenant_id?: string | null;
    };
    row: Rows["connectors"];
  };
  list_document_versions: {
    arguments: {
      tenant_id?: string | null;
      passport_document_id?: string | null;
      after_document_version_id?: string | null;
      max_rows?: number;
    };
    row: Rows["document_versions"];
  };
  list_documents: {
    arguments: {
      tenant_id?: string | null;
      doc_type?: string | null;
      after_document_id?: string | null;
      max_rows?: number;
    };
    row: Rows["document_overview"];
  };
  list_errors: {
    arguments: {
      tenant_id?: string | null;
      since?: string;
      steps?: number;
    };
    row: Rows["list_errors"];
  };
  list_event_triggers: {
    arguments: {
      tenant_id?: string | null;
    };
    row: Rows["list_event_triggers"];
  };
  list_events: {
    arguments: {
      tenant_id?: string | null;
      only_type?: string | null;
      after_event_id?: string | null;
      max_rows?: number;
    };
    row: Rows["events"];
  };
  list_exports: {
    arguments: {
      tenant_id?: string | null;
      passport_version_id?: string | null;
      max_rows?: number;
    };
    row: Rows["passport_exports"];
  };
  list_fact_mappings: {
    arguments: {
      tenant_id?: string | null;
      max_rows?: number;
    };
    row: Rows["fact_mappings"];
  };
  list_facts: {
    arguments: {
      tenant_id?: string | null;
      document_version_id?: string | null;
      snapshot_id?: string | null;
      fact_type?: string | null;
      after_fact_id?: string | null;
      max_rows?: number;
    };
    row: Rows["facts"];
  };
  list_holds: {
    arguments: Record<string, never>;
    row: Rows["list_holds"];
  };
  list_job_triggers: {
    arguments: {
      tenant_id?: string | null;
    };
    row: Rows["job_triggers"];
  };
  list_job_types: {
    arguments: Record<string, never>;
    row: Rows["job_types"];
  };
  list_jobs: {
    arguments: {
      tenant_id?: string | null;
      family?: string | null;
      type?: string | null;
      status?: string | null;
      after_id?: string | null;
      max_jobs?: number;
      lane?: string | null;
      source?: string | null;
      error_code?: string | null;
      key_starts_with?: string | null;
      created_after?: string | null;
      created_before?: string | null;
      finished_after?: string | null;
      finished_before?: string | null;
      oldest_first?: boolean;
      correlation_id?: string | null;
    };
    row: Rows["jobs"];
  };
  list_lanes: {
    arguments: {
      tenant_id?: string | null;
    };
    row: Rows["list_lanes"];
  };
  list_members: {
    arguments: {
      tenant_id?: string | null;
    };
    row: Rows["list_members"];
  };
  list_passport_documents: {
    arguments: {
      tenant_id?: string | null;
      kind?: string | null;
      name?: string | null;
      after_document_id?: string | null;
      max_rows?: number;
    };
    row: Rows["passport_documents"];
  };
  list_passport_versions: {
    arguments: {
      tenant_id?: string | null;
      passport_id?: string | null;
      status?: string | null;
      after_passport_version_id?: string | null;
      max_rows?: number;
    };
    row: Rows["passport_version_overview"];
  };
  list_passports: {
    arguments: {
      tenant_id?: string | null;
      battery_identifier?: string | null;
      after_passport_id?: string | null;
      max_rows?: number;
    };
    row: Rows["passport_overview"];
  };
  list_rule_tests: {
    arguments: {
      rule_package_version_id: string;
      max_rows?: number;
    };
    row: Rows["rule_tests_runs"];
  };
  list_rules: {
    arguments: {
      tenant_id?: string | null;
      package?: string | null;
      max_rows?: number;
    };
    row: Rows["list_rules"];
  };
  list_schedule_fires: {
    arguments: {
      schedule_id: string;
      nominal_before?: string | null;
      max_rows?: number;
    };
    row: Rows["list_schedule_fires"];
  };
  list_schedules: {
    arguments: {
      tenant_id?: string | null;
    };
    row: Rows["list_schedules"];
  };
  list_signing_keys: {
    arguments: Record<string, never>;
    row: Rows["signing_keys"];
  };
  list_snapshots: {
    arguments: {
      tenant_id?: string | null;
      name?: string | null;
      status?: string | null;
      after_snapshot_id?: string | null;
      max_rows?: number;
    };
    row: Rows["snapshot_overview"];
  };
  list_steps: {
    arguments: {
      job_id: string;
    };
    row: Rows["listed_step"];
  };
  list_trigger_fires: {
    arguments: {
      trigger_id: string;
      decided_before?: string | null;
      max_rows?: number;
    };
    row: Rows["list_trigger_fires"];
  };
  list_webhook_deliveries: {
    arguments: {
      tenant_id?: string | null;
      webhook_endpoint_id?: string | null;
      delivery_status?: string | null;
      after_delivery_id?: string | null;
      max_rows?: number;
    };
    row: Rows["webhook_deliveries"];
  };
  list_webhook_endpoints: {
    arguments: {
      tenant_id?: string | null;
    };
    row: Rows["webhook_endpoints"];
  };
  list_workers: {
    arguments: {
      tenant_id?: string | null;
    };
    row: Rows["list_workers"];
  };
  maintain: {
    arguments: {
      every_seconds?: number;
    };
    row: number;
  };
  map_fact_label: {
    arguments: {
      tenant_id?: string | null;
      kind: string;
      label: string;
      field: string;
      unit?: string | null;
    };
    row: Rows["fact_mappings"];
  };
  metrics: {
    arguments: {
      tenant_id?: string | null;
      prefix?: string;
      tenant_label?: string | null;
      max_tenants?: number;
    };
    row: string;
  };
  note_changes: {
    arguments: {
      provider: string;
      account_ids?: readonly string[];
      connector_ids?: readonly string[];
    };
    row: void;
  };
  note_refusal: {
    arguments: {
      action: string;
      target?: string | null;
      code?: string | null;
      detail?: string | null;
    };
    row: void;
  };
  note_worker: {
    arguments: {
      worker_id: string;
      hostname: string;
      version?: string;
      families?: readonly string[];
      running_count?: number;
      uptime_seconds?: number;
      metadata?: unknown;
      is_stopped?: boolean;
    };
    row: void;
  };
  passport_status_list: {
    arguments: {
      tenant_id?: string | null;
    };
    row: Rows["passport_status_lists"];
  };
  pause_event_triggers: {
    arguments: {
      trigger_ids: readonly string[];
      note?: string | null;
    };
    row: Rows["event_triggers"];
  };
  pause_jobs: {
    arguments: {
      family?: string | null;
      type?: string | null;
      tenant_id?: string | null;
      reason?: string | null;
    };
    row: void;
  };
  pause_schedules: {
    arguments: {
      schedule_ids: readonly string[];
      note?: string | null;
    };
    row: Rows["schedules"];
  };
  percentiles: {
    arguments: {
      tenant_id?: string | null;
      type?: string | null;
      since?: string;
      until?: string;
      step?: string | null;
    };
    row: Rows["percentiles"];
  };
  preview_schedule: {
    arguments: {
      cron_expr: string;
      timezone?: string;
      after?: string | null;
      times?: number;
    };
    row: Rows["preview_schedule"];
  };
  publish_rules: {
    arguments: {
      rule_package_version_id: string;
    };
    row: Rows["rule_package_versions"];
  };
  purge_audit: {
    arguments: Record<string, never>;
    row: number;
  };
  purge_events: {
    arguments: {
      older_than: string;
      batch_size?: number;
    };
    row: number;
  };
  purge_jobs: {
    arguments: {
      older_than: string;
      batch_size?: number;
    };
    row: number;
  };
  queue_by_tenant: {
    arguments: {
      max_tenants?: number;
    };
    row: Rows["queue_by_tenant"];
  };
  queue_by_type: {
    arguments: {
      tenant_id?: string | null;
    };
    row: Rows["queue_by_type"];
  };
  queue_health: {
    arguments: Record<string, never>;
    row: Rows["queue_health"];
  };
  queue_summary: {
    arguments: {
      tenant_id?: string | null;
    };
    row: Rows["queue_summary"];
  };
  queue_widgets: {
    arguments: {
      tenant_id?: string | null;
    };
    row: Rows["queue_widgets"];
  };
  rebuild_queue: {
    arguments: Record<string, never>;
    row: number;
  };
  redeliver_webhook: {
    arguments: {
      webhook_delivery_id: string;
    };
    row: Rows["webhook_deliveries"];
  };
  redeliver_webhooks: {
    arguments: {
      webhook_endpoint_id: string;
      since: string;
      only_failed?: boolean;
    };
    row: number;
  };
  register_signing_key: {
    arguments: {
      public_key: string;
      name?: string;
    };
    row: Rows["signing_keys"];
  };
  release_job: {
    arguments: {
      job_id: string;
      lease_token: string;
      delay_seconds?: number;
    };
    row: Rows["jobs"];
  };
  release_lane: {
    arguments: {
      family: string;
      tenant_id?: string | null;
      lane: string;
    };
    row: void;
  };
  remove_member: {
    arguments: {
      tenant_id?: string | null;
      user_id: string;
    };
    row: boolean;
  };
  remove_snapshot_items: {
    arguments: {
      snapshot_id: string;
      fact_ids: readonly string[];
    };
    row: Rows["snapshots"];
  };
  request_build: {
    arguments: {
      snapshot_id: string;
    };
    row: Rows["enqueued_jobs"];
  };
  request_compile: {
    arguments: {
      passport_id: string;
      snapshot_id: string;
      rule_package_version_id: string;
      issued_at?: string | null;
    };
    row: Rows["enqueued_jobs"];
  };
  request_export: {
    arguments: {
      passport_version_id: string;
      format: string;
      template?: string;
      audience?: string;
    };
    row: Rows["enqueued_jobs"];
  };
  request_extraction: {
    arguments: {
      document_id: string;
      engine?: string;
      consent?: boolean;
      priority?: number | null;
    };
    row: Rows["extractions"];
  };
  request_import: {
    arguments: {
      connector_id: string;
      remote_path?: string;
      files?: unknown;
      priority?: number | null;
    };
    row: Rows["enqueued_jobs"];
  };
  request_link_qr: {
    arguments: {
      passport_id: string;
    };
    row: Rows["enqueued_jobs"];
  };
  request_rule_tests: {
    arguments: {
      rule_package_version_id: string;
      seed?: number | null;
    };
    row: Rows["enqueued_jobs"];
  };
  reschedule_job: {
    arguments: {
      job_id: string;
      run_at: string;
    };
    row: Rows["jobs"];
  };
  reschedule_jobs: {
    arguments: {
      run_at: string;
      tenant_id?: string | null;
      family?: string | null;
      type?: string | null;
      status?: string | null;
      lane?: string | null;
      error_code?: string | null;
      created_after?: string | null;
      created_before?: string | null;
      max_jobs?: number;
      correlation_id?: string | null;
    };
    row: Rows["reschedule_jobs"];
  };
  resume_event_triggers: {
    arguments: {
      trigger_ids: readonly string[];
    };
    row: Rows["event_triggers"];
  };
  resume_jobs: {
    arguments: {
      family?: string | null;
      type?: string | null;
      tenant_id?: string | null;
    };
    row: void;
  };
  resume_schedules: {
    arguments: {
      schedule_ids: readonly string[];
    };
    row: Rows["schedules"];
  };
  retire_rules: {
    arguments: {
      rule_package_version_id: string;
    };
    row: Rows["rule_package_versions"];
  };
  retire_signing_key: {
    arguments: {
      signing_key_id: string;
    };
    row: Rows["signing_keys"];
  };
  retry_job: {
    arguments: {
      job_id: string;
      run_at?: string | null;
      max_attempts?: number | null;
    };
    row: Rows["jobs"];
  };
  retry_jobs: {
    arguments: {
      tenant_id?: string | null;
      family?: string | null;
      type?: string | null;
      status?: string | null;
      lane?: string | null;
      error_code?: string | null;
      created_after?: string | null;
      created_before?: string | null;
      run_at?: string | null;
      max_attempts?: number | null;
      max_jobs?: number;
      correlation_id?: string | null;
    };
    row: Rows["retry_jobs"];
  };
  reveal_job: {
    arguments: {
      job_id: string;
      reason: string;
    };
    row: Rows["revealed_job"];
  };
  revoke_api_key: {
    arguments: {
      key_id: string;
    };
    row: Rows["shown_key"];
  };
  revoke_passport: {
    arguments: {
      passport_version_id: string;
      reason: string;
    };
    row: Rows["passport_version_overview"];
  };
  revoke_signing_key: {
    arguments: {
      signing_key_id: string;
      revoked_at?: string | null;
    };
    row: Rows["signing_keys"];
  };
  rotate_webhook_secret: {
    arguments: {
      webhook_endpoint_id: string;
      overlap_hours?: number;
      sealed_secret?: string | null;
    };
    row: Rows["endpoint_secret"];
  };
  run_schedule: {
    arguments: {
      schedule_id: string;
    };
    row: Rows["schedule_fires"];
  };
  save_rules: {
    arguments: {
      tenant_id?: string | null;
      package: string;
      version: string;
      dsl_source: unknown;
      tests_source?: unknown;
      valid_from?: string | null;
    };
    row: Rows["rule_package_versions"];
  };
  seal_snapshot: {
    arguments: {
      snapshot_id: string;
    };
    row: Rows["snapshots"];
  };
  search_chunks: {
    arguments: {
      tenant_id?: string | null;
      query: string;
      max_hits?: number;
      skip?: number;
      document_id?: string | null;
      doc_type?: string | null;
    };
    row: Rows["search_hit"];
  };
  set_connector_token: {
    arguments: {
      connector_id: string;
      refresh_token: string;
      is_sealed?: boolean;
    };
    row: void;
  };
  set_gtin: {
    arguments: {
      passport_id: string;
      gtin?: string | null;
      serial?: string | null;
    };
    row: Rows["passport_overview"];
  };
  set_member: {
    arguments: {
      tenant_id?: string | null;
      user_id: string;
      role?: string;
    };
    row: Rows["memberships"];
  };
  set_platform_tenant: {
    arguments: {
      tenant_id?: string | null;
    };
    row: void;
  };
  set_resolver: {
    arguments: {
      tenant_id?: string | null;
      resolver?: string | null;
    };
    row: string;
  };
  settle_and_claim: {
    arguments: {
      job_ids: readonly string[];
      lease_tokens: readonly string[];
      results: readonly unknown[];
      endings: unknown;
      family: string;
      worker_id: string;
      max_jobs?: number;
      lease_seconds?: number | null;
      types?: readonly string[] | null;
      new_token?: string | null;
    };
    row: Rows["worked_job"];
  };
  settle_jobs: {
    arguments: {
      outcomes: unknown;
    };
    row: Rows["settle_jobs"];
  };
  sign_artifact: {
    arguments: {
      artifact_id: string;
      seconds?: number;
    };
    row: Rows["sign_artifact"];
  };
  sign_document: {
    arguments: {
      document_id: string;
      seconds?: number;
    };
    row: Rows["sign_document"];
  };
  summarize_jobs: {
    arguments: {
      tenant_id?: string | null;
    };
    row: Rows["summarize_jobs"];
  };
  test_event: {
    arguments: {
      tenant_id?: string | null;
      type: string;
      payload?: Record<string, unknown>;
      aggregate?: string | null;
    };
    row: Rows["test_event"];
  };
  test_webhook: {
    arguments: {
      webhook_endpoint_id: string;
    };
    row: Rows["webhook_deliveries"];
  };
  throughput: {
    arguments: {
      tenant_id?: string | null;
      type?: string | null;
      since?: string;
      until?: string;
      step?: string;
    };
    row: Rows["throughput"];
  };
  use_sign_in_link: {
    arguments: {
      code: string;
    };
    row: string;
  };
  who_am_i: {
    arguments: Record<string, never>;
    row: Rows["caller"];
  };
  worker_claim_jobs: {
    arguments: {
      family: string;
      worker_id: string;
      max_jobs?: number;
      lease_seconds?: number | null;
      types?: readonly string[] | null;
    };
    row: Rows["claimed_job"];
  };
  worker_complete_job: {
    arguments: {
      job_id: string;
      lease_token: string;
      result?: unknown;
      follow_ups?: unknown;
      logs?: string | null;
    };
    row: Rows["jobs"];
  };
  worker_fail_job: {
    arguments: {
      job_id: string;
      lease_token: string;
      error: unknown;
      retryable?: boolean;
      retry_after_seconds?: number | null;
      logs?: string | null;
      pid?: number | null;
      exit_code?: number | null;
      stdout_tail?: string | null;
      stderr_tail?: string | null;
      exception?: string | null;
    };
    row: Rows["jobs"];
  };
  worker_heartbeat_job: {
    arguments: {
      job_id: string;
      lease_token: string;
      progress?: number | null;
      message?: string | null;
    };
    row: boolean;
  };
  worker_release_job: {
    arguments: {
      job_id: string;
      lease_token: string;
      delay_seconds?: number;
    };
    row: Rows["jobs"];
  };
  worker_settle_and_claim: {
    arguments: {
      outcomes: unknown;
      family: string;
      worker_id: string;
      max_jobs?: number;
      lease_seconds?: number | null;
      types?: readonly string[] | null;
    };
    row: Rows["settled_and_claimed"];
  };
}

/** The verbs that are for a tenant. */
export const OF_TENANT: ReadonlySet<string> = new Set<keyof Verbs>([
  "add_artifact",
  "add_document",
  "cancel_jobs",
  "create_api_key",
  "create_connector",
  "create_event_trigger",
  "create_job_trigger",
  "create_passport",
  "create_passport_document",
  "create_schedule",
  "create_snapshot",
  "create_webhook_endpoint",
  "emit_event",
  "enqueue_job",
  "get_resolver",
  "hold_lane",
  "latency",
  "limit_lane",
  "list_api_keys",
  "list_artifacts",
  "list_audit",
  "list_connectors",
  "list_document_versions",
  "list_documents",
  "list_errors",
  "list_event_triggers",
  "list_events",
  "list_exports",
  "list_fact_mappings",
  "list_facts",
  "list_job_triggers",
  "list_jobs",
  "list_lanes",
  "list_members",
  "list_passport_documents",
  "list_passport_versions",
  "list_passports",
  "list_rules",
  "list_schedules",
  "list_snapshots",
  "list_webhook_deliveries",
  "list_webhook_endpoints",
  "list_workers",
  "map_fact_label",
  "metrics",
  "passport_status_list",
  "pause_jobs",
  "percentiles",
  "queue_by_type",
  "queue_summary",
  "queue_widgets",
  "release_lane",
  "remove_member",
  "reschedule_jobs",
  "resume_jobs",
  "retry_jobs",
  "save_rules",
  "search_chunks",
  "set_member",
  "set_platform_tenant",
  "set_resolver",
  "summarize_jobs",
  "test_event",
  "throughput",
]);
