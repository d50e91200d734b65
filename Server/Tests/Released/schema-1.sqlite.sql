-- What step 1 leaves on SQLite, with the counter where the rows need it.
CREATE TABLE schema_steps (
    number INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL);
CREATE TABLE hubs (
    hub_id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    title TEXT,
    user_metadata TEXT,
    registration_lifetime INTEGER,
    allows_protected_tags INTEGER NOT NULL DEFAULT 0,
    apns_credential TEXT,
    browser_credential TEXT,
    fcm_credential TEXT,
    version INTEGER NOT NULL DEFAULT 1,
    created_at INTEGER NOT NULL,
    updated_at INTEGER,
    removed_at INTEGER,
    is_cleared INTEGER NOT NULL DEFAULT 0);
CREATE TABLE hub_rules (
    hub_id INTEGER NOT NULL,
    name TEXT NOT NULL,
    rights TEXT NOT NULL,
    primary_key TEXT NOT NULL,
    secondary_key TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (hub_id, name));
CREATE TABLE devices (
    hub_id INTEGER NOT NULL,
    slice_key INTEGER NOT NULL,
    record_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    platform TEXT NOT NULL,
    handle TEXT,
    environment TEXT,
    topic TEXT,
    tags TEXT NOT NULL,
    user_id TEXT,
    order_number INTEGER NOT NULL,
    registered_at INTEGER NOT NULL,
    expires_at INTEGER,
    inactive_at INTEGER,
    version INTEGER NOT NULL,
    form INTEGER NOT NULL,
    template_id INTEGER,
    parent TEXT,
    shares_handle INTEGER NOT NULL,
    own_tags TEXT,
    push_variables TEXT,
    details TEXT,
    created_at INTEGER,
    time_zone TEXT NOT NULL DEFAULT '',
    former_zone TEXT,
    zone_changed_at INTEGER,
    next_zone TEXT,
    languages TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (hub_id, slice_key),
    UNIQUE (hub_id, record_id)) WITHOUT ROWID;
CREATE INDEX devices_by_handle ON devices (handle, platform, form, hub_id, slice_key);
CREATE INDEX devices_by_parent ON devices (parent, hub_id) WHERE parent IS NOT NULL;
CREATE INDEX devices_by_template ON devices (template_id, hub_id) WHERE template_id IS NOT NULL;
CREATE INDEX devices_by_expiry ON devices (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX devices_by_next_zone ON devices (zone_changed_at) WHERE next_zone IS NOT NULL;
CREATE TABLE device_tags (
    hub_id INTEGER NOT NULL,
    tag TEXT NOT NULL,
    slice_key INTEGER NOT NULL,
    PRIMARY KEY (hub_id, tag, slice_key)) WITHOUT ROWID;
CREATE TABLE device_templates (
    hub_id INTEGER NOT NULL,
    template_id INTEGER NOT NULL,
    name TEXT,
    body TEXT NOT NULL,
    headers TEXT NOT NULL,
    expiry TEXT,
    priority TEXT,
    PRIMARY KEY (hub_id, template_id));
CREATE TABLE feedback (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    hub_id INTEGER NOT NULL,
    platform TEXT NOT NULL,
    handle TEXT NOT NULL,
    record_id TEXT,
    installation_id TEXT,
    notification_id TEXT NOT NULL,
    reason TEXT NOT NULL,
    noted_at INTEGER NOT NULL);
CREATE INDEX feedback_by_hub ON feedback (hub_id, number);
CREATE INDEX feedback_by_age ON feedback (noted_at);
CREATE INDEX feedback_by_send ON feedback (hub_id, notification_id, number);
CREATE TABLE jobs (
    hub_id INTEGER NOT NULL,
    number INTEGER NOT NULL,
    kind TEXT NOT NULL,
    state TEXT NOT NULL,
    output TEXT NOT NULL,
    folder TEXT NOT NULL,
    inputs TEXT NOT NULL,
    total INTEGER NOT NULL,
    done INTEGER NOT NULL,
    file INTEGER NOT NULL,
    line INTEGER NOT NULL,
    file_offset INTEGER NOT NULL,
    cursor_key INTEGER NOT NULL,
    succeeded INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    output_size INTEGER NOT NULL,
    failed_size INTEGER NOT NULL,
    pending_output TEXT NOT NULL,
    pending_failed TEXT NOT NULL,
    failure TEXT,
    owner TEXT,
    leased_until INTEGER,
    ready_at INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (hub_id, number));
CREATE INDEX jobs_to_do ON jobs (ready_at) WHERE state IN ('waiting', 'running');
CREATE TABLE hub_files (
    hub_id INTEGER PRIMARY KEY,
    last_job INTEGER NOT NULL,
    feedback_mark INTEGER NOT NULL);
CREATE TABLE order_numbers (last_value INTEGER NOT NULL);
INSERT INTO order_numbers (last_value) VALUES (4398046511104);
CREATE TABLE notifications (
    hub_id INTEGER NOT NULL,
    notification_id TEXT NOT NULL,
    format TEXT NOT NULL DEFAULT 'apns',
    body BLOB NOT NULL,
    push_type TEXT NOT NULL,
    priority INTEGER NOT NULL,
    collapse_id TEXT,
    topic TEXT,
    expires_at INTEGER,
    audience TEXT,
    audience_query TEXT,
    is_direct INTEGER NOT NULL DEFAULT 0,
    targets INTEGER,
    pushes_per_second INTEGER,
    state TEXT NOT NULL,
    open_slices INTEGER NOT NULL,
    enqueued_at INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    started_at INTEGER,
    ended_at INTEGER,
    order_mark INTEGER,
    end_order INTEGER,
    languages TEXT,
    frequency_cap TEXT,
    split TEXT,
    reports_outcomes INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (hub_id, notification_id));
CREATE INDEX notifications_by_end ON notifications (ended_at);
CREATE TABLE notification_zones (
    hub_id INTEGER NOT NULL,
    notification_id TEXT NOT NULL,
    time_zone TEXT NOT NULL,
    moment INTEGER NOT NULL,
    PRIMARY KEY (hub_id, notification_id, time_zone)) WITHOUT ROWID;
CREATE TABLE notification_translations (
    hub_id INTEGER NOT NULL,
    notification_id TEXT NOT NULL,
    number INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (hub_id, notification_id, number));
CREATE TABLE frequency_counts (
    hub_id INTEGER NOT NULL,
    cap TEXT NOT NULL,
    recipient TEXT NOT NULL,
    notification_id TEXT NOT NULL,
    counted_at INTEGER NOT NULL,
    counts_until INTEGER NOT NULL,
    PRIMARY KEY (hub_id, cap, recipient, notification_id)) WITHOUT ROWID;
CREATE INDEX frequency_counts_by_end ON frequency_counts (counts_until);
CREATE INDEX frequency_counts_by_recipient ON frequency_counts (hub_id, recipient);
CREATE TABLE direct_handles (
    hub_id INTEGER NOT NULL,
    notification_id TEXT NOT NULL,
    position INTEGER NOT NULL,
    handle TEXT NOT NULL,
    PRIMARY KEY (hub_id, notification_id, position)) WITHOUT ROWID;
CREATE TABLE idempotency_keys (
    hub_id INTEGER NOT NULL,
    idempotency_key TEXT NOT NULL,
    digest BLOB NOT NULL,
    notification_id TEXT NOT NULL,
    due_at INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    answer BLOB,
    PRIMARY KEY (hub_id, idempotency_key));
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);
CREATE TABLE slices (
    hub_id INTEGER NOT NULL,
    notification_id TEXT NOT NULL,
    slice INTEGER NOT NULL,
    cursor_key INTEGER NOT NULL,
    last_key INTEGER NOT NULL,
    weight INTEGER NOT NULL,
    pushes_per_second INTEGER,
    walked INTEGER NOT NULL,
    failures INTEGER NOT NULL,
    stalled_since INTEGER,
    wait TEXT,
    ready_at INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    owner TEXT,
    leased_until INTEGER,
    moment INTEGER,
    expires_at INTEGER,
    audience_query TEXT,
    platform TEXT,
    PRIMARY KEY (hub_id, notification_id, slice));
CREATE INDEX slices_by_hub_turn ON slices (weight, hub_id, ready_at);
CREATE INDEX slices_free ON slices (weight, ready_at) WHERE owner IS NULL;
CREATE INDEX slices_leased ON slices (owner) WHERE owner IS NOT NULL;
CREATE TABLE pending_targets (
    hub_id INTEGER NOT NULL,
    notification_id TEXT NOT NULL,
    slice INTEGER NOT NULL,
    slice_key INTEGER NOT NULL,
    cause TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    unanswered INTEGER NOT NULL DEFAULT 0,
    reason TEXT,
    first_at INTEGER NOT NULL,
    not_before INTEGER NOT NULL,
    PRIMARY KEY (hub_id, notification_id, slice, slice_key));
CREATE TABLE tallies (
    hub_id INTEGER NOT NULL,
    notification_id TEXT NOT NULL,
    slice INTEGER NOT NULL,
    platform TEXT NOT NULL,
    outcome TEXT NOT NULL,
    targets INTEGER NOT NULL,
    PRIMARY KEY (hub_id, notification_id, slice, platform, outcome));
CREATE TABLE group_tallies (
    hub_id INTEGER NOT NULL,
    notification_id TEXT NOT NULL,
    slice INTEGER NOT NULL,
    group_number INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    targets INTEGER NOT NULL,
    PRIMARY KEY (hub_id, notification_id, slice, group_number, outcome));
CREATE TABLE outcome_reports (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    hub_id INTEGER NOT NULL,
    notification_id TEXT NOT NULL,
    noted_at INTEGER NOT NULL,
    body TEXT NOT NULL);
CREATE INDEX outcome_reports_by_send ON outcome_reports (hub_id, notification_id, number);
CREATE TABLE outcome_reasons (
    hub_id INTEGER NOT NULL,
    notification_id TEXT NOT NULL,
    slice INTEGER NOT NULL,
    platform TEXT NOT NULL,
    outcome TEXT NOT NULL,
    reason TEXT NOT NULL,
    targets INTEGER NOT NULL,
    PRIMARY KEY (hub_id, notification_id, slice, platform, outcome, reason));
CREATE TABLE target_failures (
    hub_id INTEGER NOT NULL,
    notification_id TEXT NOT NULL,
    slice INTEGER NOT NULL,
    slice_key INTEGER NOT NULL,
    platform TEXT NOT NULL,
    record_id TEXT,
    outcome TEXT NOT NULL,
    reason TEXT,
    PRIMARY KEY (hub_id, notification_id, slice, slice_key));
CREATE TABLE backend_counters (
    app_id INTEGER NOT NULL,
    name TEXT NOT NULL,
    last_number INTEGER NOT NULL,
    PRIMARY KEY (app_id, name));
CREATE TABLE users (
    app_id INTEGER NOT NULL,
    user_id INTEGER NOT NULL,
    name TEXT NOT NULL,
    folded_name TEXT NOT NULL,
    role TEXT NOT NULL,
    password_hash TEXT,
    credential_version INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    order_number INTEGER NOT NULL DEFAULT 0,
    tags TEXT NOT NULL DEFAULT '',
    disabled_at INTEGER,
    tokens_since INTEGER,
    second_factor_at INTEGER,
    quiet_hours TEXT,
    PRIMARY KEY (app_id, user_id),
    UNIQUE (app_id, folded_name));
CREATE TABLE installation_credentials (
    app_id INTEGER NOT NULL,
    installation_id TEXT NOT NULL,
    user_id INTEGER NOT NULL,
    digest BLOB NOT NULL,
    credential_version INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (app_id, installation_id));
CREATE INDEX installation_credentials_by_user ON installation_credentials (app_id, user_id);
CREATE INDEX installation_credentials_by_expiry ON installation_credentials (app_id, expires_at);
CREATE TABLE sign_in_counts (
    app_id INTEGER NOT NULL,
    account TEXT NOT NULL,
    source TEXT NOT NULL,
    failures INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    blocked_until INTEGER NOT NULL,
    known_until INTEGER NOT NULL,
    idle_at INTEGER NOT NULL,
    PRIMARY KEY (app_id, account, source));
CREATE INDEX sign_in_counts_by_age ON sign_in_counts (app_id, idle_at);
CREATE TABLE bindings (
    app_id INTEGER NOT NULL,
    binding_id INTEGER NOT NULL,
    user_id INTEGER NOT NULL,
    record_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    platform TEXT NOT NULL,
    handle TEXT,
    environment TEXT,
    topic TEXT,
    tags TEXT NOT NULL,
    sealing_key TEXT,
    facts TEXT,
    from_at INTEGER NOT NULL,
    until_at INTEGER,
    from_order INTEGER NOT NULL DEFAULT 0,
    until_order INTEGER,
    PRIMARY KEY (app_id, binding_id));
CREATE UNIQUE INDEX bindings_that_hold ON bindings (app_id, record_id) WHERE until_at IS NULL;
CREATE INDEX bindings_by_record ON bindings (app_id, record_id, binding_id);
CREATE INDEX bindings_by_handle ON bindings (app_id, platform, handle) WHERE until_at IS NULL;
CREATE INDEX bindings_by_user ON bindings (app_id, user_id, binding_id);
CREATE INDEX bindings_by_end ON bindings (app_id, until_at) WHERE until_at IS NOT NULL;
CREATE TABLE user_tags (
    app_id INTEGER NOT NULL,
    user_id INTEGER NOT NULL,
    audience_key TEXT NOT NULL,
    PRIMARY KEY (app_id, user_id, audience_key));
CREATE TABLE device_changes (
    app_id INTEGER NOT NULL,
    record_id TEXT NOT NULL,
    mark INTEGER NOT NULL,
    begun_at INTEGER NOT NULL,
    PRIMARY KEY (app_id, record_id, mark));
CREATE INDEX device_changes_by_age ON device_changes (app_id, begun_at, record_id);
CREATE TABLE contents (
    app_id INTEGER NOT NULL,
    content_id TEXT NOT NULL,
    owner_id INTEGER NOT NULL,
    digest TEXT NOT NULL,
    media_type TEXT NOT NULL,
    byte_count INTEGER NOT NULL,
    file_name TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    PRIMARY KEY (app_id, content_id));
CREATE INDEX contents_by_digest ON contents (digest);
CREATE INDEX contents_by_expiry ON contents (expires_at);
CREATE INDEX contents_by_owner ON contents (app_id, owner_id, expires_at, byte_count);
CREATE TABLE content_orphans (digest TEXT PRIMARY KEY);
CREATE TABLE rich_notifications (
    app_id INTEGER NOT NULL,
    rich_id INTEGER NOT NULL,
    sender_id INTEGER NOT NULL,
    sender_name TEXT NOT NULL,
    kind TEXT NOT NULL,
    style TEXT NOT NULL,
    title TEXT,
    subtitle TEXT,
    message TEXT NOT NULL,
    alt_text TEXT,
    content_id TEXT,
    thumb_id TEXT,
    audience TEXT NOT NULL,
    due_at INTEGER NOT NULL,
    expires_at INTEGER,
    completed_at INTEGER,
    recalled_at INTEGER,
    refused INTEGER NOT NULL,
    languages TEXT,
    ended_at INTEGER,
    start_order INTEGER NOT NULL DEFAULT 0,
    end_order INTEGER,
    push_body BLOB NOT NULL,
    push_type TEXT NOT NULL,
    priority INTEGER NOT NULL,
    collapse_id TEXT,
    pushes_per_second INTEGER,
    local_time TEXT,
    frequency_cap TEXT,
    split TEXT,
    hub_key TEXT NOT NULL,
    tracking_id TEXT,
    work TEXT,
    work_at INTEGER,
    PRIMARY KEY (app_id, rich_id));
CREATE INDEX rich_notifications_by_work ON rich_notifications (app_id, work_at) WHERE work IS NOT NULL;
CREATE INDEX rich_notifications_by_end ON rich_notifications (app_id, ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX rich_notifications_by_expiry ON rich_notifications (app_id, expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX rich_notifications_by_due ON rich_notifications (app_id, due_at, rich_id);
CREATE INDEX rich_notifications_by_sender ON rich_notifications (app_id, sender_id, rich_id);
CREATE INDEX rich_notifications_by_sender_due ON rich_notifications (app_id, sender_id, due_at, rich_id);
CREATE TABLE rich_translations (
    app_id INTEGER NOT NULL,
    translation_id INTEGER NOT NULL,
    sender_id INTEGER NOT NULL,
    title TEXT,
    subtitle TEXT,
    message TEXT NOT NULL,
    alt_text TEXT,
    content_id TEXT,
    thumb_id TEXT,
    push_body BLOB,
    PRIMARY KEY (app_id, translation_id));
CREATE INDEX rich_translations_by_sender ON rich_translations (app_id, sender_id, translation_id);
CREATE TABLE content_claims (
    app_id INTEGER NOT NULL,
    content_id TEXT NOT NULL,
    holder TEXT NOT NULL,
    PRIMARY KEY (app_id, content_id, holder)) WITHOUT ROWID;
CREATE INDEX content_claims_by_holder ON content_claims (app_id, holder);
CREATE TABLE audience_index (
    app_id INTEGER NOT NULL,
    audience_key TEXT NOT NULL,
    rich_id INTEGER NOT NULL,
    PRIMARY KEY (app_id, audience_key, rich_id));
CREATE INDEX audience_index_by_notification ON audience_index (app_id, rich_id);
CREATE TABLE repeat_keys (
    app_id INTEGER NOT NULL,
    user_id INTEGER NOT NULL,
    repeat_key TEXT NOT NULL,
    digest BLOB NOT NULL,
    rich_id INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (app_id, user_id, repeat_key));
CREATE INDEX repeat_keys_by_age ON repeat_keys (app_id, created_at);
CREATE TABLE schedules (
    app_id INTEGER NOT NULL,
    schedule_id INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    owner_id INTEGER NOT NULL,
    owner_name TEXT NOT NULL,
    request TEXT NOT NULL,
    audience TEXT NOT NULL,
    state TEXT NOT NULL,
    occurrence INTEGER NOT NULL,
    due_at INTEGER,
    attempt_at INTEGER,
    sent INTEGER NOT NULL,
    missed INTEGER NOT NULL,
    last_rich_id INTEGER,
    fault TEXT,
    repeat_key TEXT,
    repeat_digest BLOB,
    created_at INTEGER NOT NULL,
    asked_at INTEGER NOT NULL,
    approved_by TEXT,
    ended_at INTEGER,
    PRIMARY KEY (app_id, schedule_id));
CREATE INDEX schedules_by_attempt ON schedules (app_id, attempt_at, schedule_id) WHERE attempt_at IS NOT NULL;
CREATE INDEX schedules_by_owner ON schedules (app_id, owner_id, schedule_id);
CREATE INDEX schedules_that_wait ON schedules (app_id, owner_id) WHERE state IN ('waiting', 'proposed');
CREATE INDEX schedules_that_are_proposed ON schedules (app_id, schedule_id) WHERE state = 'proposed';
CREATE UNIQUE INDEX schedules_by_repeat_key ON schedules (app_id, owner_id, repeat_key) WHERE repeat_key IS NOT NULL;
CREATE INDEX schedules_by_end ON schedules (app_id, ended_at) WHERE ended_at IS NOT NULL;
CREATE TABLE activities (
    app_id INTEGER NOT NULL,
    activity_id INTEGER NOT NULL,
    owner_id INTEGER NOT NULL,
    owner_name TEXT NOT NULL,
    attributes_type TEXT NOT NULL,
    attributes TEXT NOT NULL,
    starts_by_push INTEGER NOT NULL,
    audience TEXT NOT NULL,
    content TEXT NOT NULL,
    phase TEXT NOT NULL,
    revision INTEGER NOT NULL,
    published INTEGER NOT NULL,
    stamp INTEGER NOT NULL,
    start_send TEXT,
    update_send TEXT,
    fault TEXT,
    repeat_key TEXT,
    repeat_digest BLOB,
    created_at INTEGER NOT NULL,
    ended_at INTEGER,
    work_at INTEGER,
    claimed_until INTEGER,
    channel_id INTEGER,
    urgent_full_at INTEGER NOT NULL,
    demoted INTEGER NOT NULL,
    PRIMARY KEY (app_id, activity_id));
CREATE INDEX activities_by_work ON activities (app_id, work_at, activity_id) WHERE work_at IS NOT NULL;
CREATE INDEX activities_by_owner ON activities (app_id, owner_id, activity_id);
CREATE INDEX activities_that_go_on ON activities (app_id, created_at, activity_id) WHERE phase = 'active';
CREATE INDEX activities_of_owner_that_go_on ON activities (app_id, owner_id) WHERE phase = 'active';
CREATE UNIQUE INDEX activities_by_repeat_key ON activities (app_id, owner_id, repeat_key) WHERE repeat_key IS NOT NULL;
CREATE INDEX activities_by_end ON activities (app_id, ended_at, activity_id) WHERE ended_at IS NOT NULL;
CREATE INDEX activities_by_channel ON activities (app_id, channel_id, activity_id) WHERE channel_id IS NOT NULL;
CREATE TABLE channels (
    app_id INTEGER NOT NULL,
    channel_id INTEGER NOT NULL,
    owner_id INTEGER NOT NULL,
    name TEXT,
    apns_channel TEXT NOT NULL,
    keeps_latest INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    remove_at INTEGER,
    PRIMARY KEY (app_id, channel_id));
CREATE INDEX channels_by_owner ON channels (app_id, owner_id, channel_id);
CREATE INDEX channels_to_remove ON channels (app_id, remove_at, channel_id) WHERE remove_at IS NOT NULL;
CREATE TABLE installation_tokens (
    app_id INTEGER NOT NULL,
    token_key TEXT NOT NULL,
    record_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    user_id INTEGER NOT NULL,
    handle TEXT,
    state TEXT NOT NULL,
    revision INTEGER,
    activity_id INTEGER,
    reported_at INTEGER NOT NULL,
    catch_up_at INTEGER,
    catch_up_mark INTEGER,
    PRIMARY KEY (app_id, token_key));
CREATE UNIQUE INDEX installation_tokens_by_record ON installation_tokens (app_id, record_id, kind);
CREATE INDEX installation_tokens_by_user ON installation_tokens (app_id, user_id, token_key);
CREATE INDEX installation_tokens_by_activity ON installation_tokens (app_id, activity_id) WHERE activity_id IS NOT NULL;
CREATE INDEX installation_tokens_to_catch_up ON installation_tokens (app_id, catch_up_at, token_key)
    WHERE catch_up_at IS NOT NULL;
CREATE TABLE message_templates (
    app_id INTEGER NOT NULL,
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    content TEXT NOT NULL,
    created_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (app_id, name, version));
CREATE TABLE webhooks (
    app_id INTEGER NOT NULL,
    webhook_id INTEGER NOT NULL,
    url TEXT NOT NULL,
    events TEXT NOT NULL,
    description TEXT NOT NULL,
    state TEXT NOT NULL,
    fault TEXT,
    salt BLOB NOT NULL,
    former_salt BLOB,
    former_until INTEGER,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (app_id, webhook_id));
CREATE TABLE webhook_leases (
    app_id INTEGER NOT NULL,
    webhook_id INTEGER NOT NULL,
    owner TEXT,
    leased_until INTEGER NOT NULL,
    paused_until INTEGER,
    pauses INTEGER NOT NULL,
    failures INTEGER NOT NULL,
    PRIMARY KEY (app_id, webhook_id));
CREATE TABLE webhook_deliveries (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    app_id INTEGER NOT NULL,
    webhook_id INTEGER NOT NULL,
    event_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    user_name TEXT,
    data TEXT NOT NULL,
    happened_at INTEGER NOT NULL,
    state TEXT NOT NULL,
    due_at INTEGER,
    attempts INTEGER NOT NULL,
    tried_at INTEGER,
    status INTEGER,
    duration INTEGER,
    answer TEXT);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (app_id, webhook_id, due_at, number) WHERE due_at IS NOT NULL;
CREATE INDEX webhook_deliveries_by_subject ON webhook_deliveries (app_id, webhook_id, subject, number)
    WHERE due_at IS NOT NULL;
CREATE INDEX webhook_deliveries_by_state ON webhook_deliveries (app_id, webhook_id, state, number);
CREATE INDEX webhook_deliveries_by_age ON webhook_deliveries (app_id, happened_at);
CREATE INDEX webhook_deliveries_by_user ON webhook_deliveries (app_id, user_name, number) WHERE user_name IS NOT NULL;
CREATE INDEX webhook_deliveries_by_event ON webhook_deliveries (app_id, webhook_id, event_id);
CREATE TABLE read_marks (
    app_id INTEGER NOT NULL,
    user_id INTEGER NOT NULL,
    rich_id INTEGER NOT NULL,
    read_at INTEGER NOT NULL,
    PRIMARY KEY (app_id, user_id, rich_id));
CREATE INDEX read_marks_by_notification ON read_marks (app_id, rich_id);
CREATE TABLE receipts (
    app_id INTEGER NOT NULL,
    receipt_key TEXT NOT NULL,
    rich_id INTEGER NOT NULL,
    user_id INTEGER NOT NULL,
    installation_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    action TEXT,
    happened_at INTEGER NOT NULL,
    received_at INTEGER NOT NULL,
    group_number INTEGER,
    PRIMARY KEY (app_id, receipt_key));
CREATE INDEX receipts_by_notification ON receipts (app_id, rich_id, kind, installation_id);
CREATE INDEX receipts_by_group ON receipts (app_id, rich_id, group_number, kind, installation_id)
    WHERE group_number IS NOT NULL;
CREATE TABLE service_keys (
    app_id INTEGER NOT NULL,
    key_id INTEGER NOT NULL,
    account_id INTEGER NOT NULL,
    name TEXT NOT NULL,
    digest BLOB NOT NULL,
    hint TEXT NOT NULL,
    scopes TEXT NOT NULL,
    networks TEXT NOT NULL,
    requests_per_minute INTEGER,
    created_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    revoked_at INTEGER,
    last_used_at INTEGER,
    last_used_from TEXT,
    PRIMARY KEY (app_id, key_id));
CREATE UNIQUE INDEX service_keys_by_digest ON service_keys (app_id, digest);
CREATE INDEX service_keys_by_account ON service_keys (app_id, account_id, expires_at);
CREATE TABLE sign_in_tokens (
    app_id INTEGER NOT NULL,
    digest BLOB NOT NULL,
    name TEXT NOT NULL,
    folded_name TEXT NOT NULL,
    installation_id TEXT,
    tags TEXT,
    creates_user INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    used_by TEXT,
    used_at INTEGER,
    PRIMARY KEY (app_id, digest));
CREATE INDEX sign_in_tokens_by_name ON sign_in_tokens (app_id, folded_name);
CREATE INDEX sign_in_tokens_by_expiry ON sign_in_tokens (app_id, expires_at);
CREATE TABLE console_sessions (
    app_id INTEGER NOT NULL,
    session_key TEXT NOT NULL,
    kind TEXT NOT NULL,
    user_id INTEGER NOT NULL,
    role TEXT NOT NULL,
    credential_version INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    ends_at INTEGER NOT NULL,
    PRIMARY KEY (app_id, session_key));
CREATE INDEX console_sessions_by_user ON console_sessions (app_id, user_id, created_at);
CREATE INDEX console_sessions_by_expiry ON console_sessions (app_id, expires_at);
CREATE TABLE second_factors (
    app_id INTEGER NOT NULL,
    user_id INTEGER NOT NULL,
    salt BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    confirmed_at INTEGER,
    last_step INTEGER NOT NULL,
    recovery_codes TEXT NOT NULL,
    PRIMARY KEY (app_id, user_id));
CREATE TABLE identities (
    app_id INTEGER NOT NULL,
    identity_key TEXT NOT NULL,
    issuer TEXT,
    subject TEXT,
    user_id INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    removed_at INTEGER,
    PRIMARY KEY (app_id, identity_key));
CREATE INDEX identities_by_user ON identities (app_id, user_id, identity_key);
CREATE INDEX identities_by_removal ON identities (app_id, removed_at) WHERE removed_at IS NOT NULL;
CREATE TABLE key_sets (
    app_id INTEGER NOT NULL,
    issuer TEXT NOT NULL,
    source TEXT NOT NULL,
    document BLOB NOT NULL,
    fetched_at INTEGER NOT NULL,
    life INTEGER NOT NULL,
    PRIMARY KEY (app_id, issuer));
CREATE TABLE audit_entries (
    app_id INTEGER NOT NULL,
    entry_id TEXT NOT NULL,
    happened_at INTEGER NOT NULL,
    action TEXT NOT NULL,
    actor_kind TEXT NOT NULL,
    actor_name TEXT,
    subject_name TEXT,
    object TEXT NOT NULL,
    actor TEXT,
    actor_salt BLOB,
    actor_hash BLOB NOT NULL,
    subject TEXT,
    subject_salt BLOB,
    subject_hash BLOB NOT NULL,
    details TEXT,
    details_salt BLOB,
    details_hash BLOB NOT NULL,
    number INTEGER,
    hash BLOB,
    PRIMARY KEY (app_id, entry_id));
CREATE UNIQUE INDEX audit_entries_by_number ON audit_entries (app_id, number) WHERE number IS NOT NULL;
CREATE INDEX audit_entries_without_number ON audit_entries (app_id, happened_at, entry_id) WHERE number IS NULL;
CREATE INDEX audit_entries_by_actor ON audit_entries (app_id, actor_name, number) WHERE actor_name IS NOT NULL;
CREATE INDEX audit_entries_by_subject ON audit_entries (app_id, subject_name, number) WHERE subject_name IS NOT NULL;
CREATE TABLE audit_heads (
    app_id INTEGER NOT NULL,
    size INTEGER NOT NULL,
    hash BLOB NOT NULL,
    anchor_size INTEGER NOT NULL,
    anchor_hash BLOB NOT NULL,
    PRIMARY KEY (app_id));
CREATE TABLE audit_checkpoints (
    app_id INTEGER NOT NULL,
    size INTEGER NOT NULL,
    note TEXT NOT NULL,
    made_at INTEGER NOT NULL,
    PRIMARY KEY (app_id, size));
CREATE INDEX audit_checkpoints_by_age ON audit_checkpoints (app_id, made_at);
CREATE TABLE nodes (
    node_id TEXT PRIMARY KEY,
    role TEXT NOT NULL,
    version TEXT NOT NULL,
    schema_step INTEGER,
    started_at INTEGER NOT NULL,
    seen_at INTEGER NOT NULL);
CREATE TABLE schema_fence (
    fence_id INTEGER PRIMARY KEY,
    oldest_step INTEGER NOT NULL);
CREATE TABLE content_owner (
    owner_id INTEGER PRIMARY KEY,
    mark TEXT NOT NULL,
    place TEXT NOT NULL);
CREATE TABLE write_turns (turn INTEGER PRIMARY KEY);
