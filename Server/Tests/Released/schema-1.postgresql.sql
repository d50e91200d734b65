-- What step 1 leaves on PostgreSQL, with the counter where the rows need it.
CREATE TABLE schema_steps (
    number BIGINT PRIMARY KEY, name TEXT COLLATE "C" NOT NULL, applied_at BIGINT NOT NULL);
CREATE TABLE hubs (
    hub_id BIGINT PRIMARY KEY,
    name TEXT COLLATE "C" NOT NULL UNIQUE,
    title TEXT COLLATE "C",
    user_metadata TEXT COLLATE "C",
    registration_lifetime BIGINT,
    allows_protected_tags BIGINT NOT NULL DEFAULT 0,
    apns_credential TEXT COLLATE "C",
    browser_credential TEXT COLLATE "C",
    fcm_credential TEXT COLLATE "C",
    version BIGINT NOT NULL DEFAULT 1,
    created_at BIGINT NOT NULL,
    updated_at BIGINT,
    removed_at BIGINT,
    is_cleared BIGINT NOT NULL DEFAULT 0);
CREATE TABLE hub_rules (
    hub_id BIGINT NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    rights TEXT COLLATE "C" NOT NULL,
    primary_key TEXT COLLATE "C" NOT NULL,
    secondary_key TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (hub_id, name));
CREATE TABLE devices (
    hub_id BIGINT NOT NULL,
    slice_key BIGINT NOT NULL,
    record_id TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    platform TEXT COLLATE "C" NOT NULL,
    handle TEXT COLLATE "C",
    environment TEXT COLLATE "C",
    topic TEXT COLLATE "C",
    tags TEXT COLLATE "C" NOT NULL,
    user_id TEXT COLLATE "C",
    order_number BIGINT NOT NULL,
    registered_at BIGINT NOT NULL,
    expires_at BIGINT,
    inactive_at BIGINT,
    version BIGINT NOT NULL,
    form BIGINT NOT NULL,
    template_id BIGINT,
    parent TEXT COLLATE "C",
    shares_handle BIGINT NOT NULL,
    own_tags TEXT COLLATE "C",
    push_variables TEXT COLLATE "C",
    details TEXT COLLATE "C",
    created_at BIGINT,
    time_zone TEXT COLLATE "C" NOT NULL DEFAULT '',
    former_zone TEXT COLLATE "C",
    zone_changed_at BIGINT,
    next_zone TEXT COLLATE "C",
    languages TEXT COLLATE "C" NOT NULL DEFAULT '',
    PRIMARY KEY (hub_id, slice_key),
    UNIQUE (hub_id, record_id));
CREATE INDEX devices_by_handle ON devices (handle, platform, form, hub_id, slice_key);
CREATE INDEX devices_by_parent ON devices (parent, hub_id) WHERE parent IS NOT NULL;
CREATE INDEX devices_by_template ON devices (template_id, hub_id) WHERE template_id IS NOT NULL;
CREATE INDEX devices_by_expiry ON devices (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX devices_by_next_zone ON devices (zone_changed_at) WHERE next_zone IS NOT NULL;
CREATE TABLE device_tags (
    hub_id BIGINT NOT NULL,
    tag TEXT COLLATE "C" NOT NULL,
    slice_key BIGINT NOT NULL,
    PRIMARY KEY (hub_id, tag, slice_key));
CREATE TABLE device_templates (
    hub_id BIGINT NOT NULL,
    template_id BIGINT NOT NULL,
    name TEXT COLLATE "C",
    body TEXT COLLATE "C" NOT NULL,
    headers TEXT COLLATE "C" NOT NULL,
    expiry TEXT COLLATE "C",
    priority TEXT COLLATE "C",
    PRIMARY KEY (hub_id, template_id));
CREATE TABLE feedback (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    hub_id BIGINT NOT NULL,
    platform TEXT COLLATE "C" NOT NULL,
    handle TEXT COLLATE "C" NOT NULL,
    record_id TEXT COLLATE "C",
    installation_id TEXT COLLATE "C",
    notification_id TEXT COLLATE "C" NOT NULL,
    reason TEXT COLLATE "C" NOT NULL,
    noted_at BIGINT NOT NULL);
CREATE INDEX feedback_by_hub ON feedback (hub_id, number);
CREATE INDEX feedback_by_age ON feedback (noted_at);
CREATE INDEX feedback_by_send ON feedback (hub_id, notification_id, number);
CREATE TABLE jobs (
    hub_id BIGINT NOT NULL,
    number BIGINT NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    state TEXT COLLATE "C" NOT NULL,
    output TEXT COLLATE "C" NOT NULL,
    folder TEXT COLLATE "C" NOT NULL,
    inputs TEXT COLLATE "C" NOT NULL,
    total BIGINT NOT NULL,
    done BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    file_offset BIGINT NOT NULL,
    cursor_key BIGINT NOT NULL,
    succeeded BIGINT NOT NULL,
    failed BIGINT NOT NULL,
    output_size BIGINT NOT NULL,
    failed_size BIGINT NOT NULL,
    pending_output TEXT COLLATE "C" NOT NULL,
    pending_failed TEXT COLLATE "C" NOT NULL,
    failure TEXT COLLATE "C",
    owner TEXT COLLATE "C",
    leased_until BIGINT,
    ready_at BIGINT NOT NULL,
    epoch BIGINT NOT NULL,
    attempts BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (hub_id, number));
CREATE INDEX jobs_to_do ON jobs (ready_at) WHERE state IN ('waiting', 'running');
CREATE TABLE hub_files (
    hub_id BIGINT PRIMARY KEY,
    last_job BIGINT NOT NULL,
    feedback_mark BIGINT NOT NULL);
CREATE SEQUENCE order_numbers AS BIGINT START WITH 4398046511104;
SELECT nextval('order_numbers');
CREATE TABLE notifications (
    hub_id BIGINT NOT NULL,
    notification_id TEXT COLLATE "C" NOT NULL,
    format TEXT COLLATE "C" NOT NULL DEFAULT 'apns',
    body BYTEA NOT NULL,
    push_type TEXT COLLATE "C" NOT NULL,
    priority BIGINT NOT NULL,
    collapse_id TEXT COLLATE "C",
    topic TEXT COLLATE "C",
    expires_at BIGINT,
    audience TEXT COLLATE "C",
    audience_query TEXT COLLATE "C",
    is_direct BIGINT NOT NULL DEFAULT 0,
    targets BIGINT,
    pushes_per_second BIGINT,
    state TEXT COLLATE "C" NOT NULL,
    open_slices BIGINT NOT NULL,
    enqueued_at BIGINT NOT NULL,
    due_at BIGINT NOT NULL,
    started_at BIGINT,
    ended_at BIGINT,
    order_mark BIGINT,
    end_order BIGINT,
    languages TEXT COLLATE "C",
    frequency_cap TEXT COLLATE "C",
    split TEXT COLLATE "C",
    reports_outcomes BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (hub_id, notification_id));
CREATE INDEX notifications_by_end ON notifications (ended_at);
CREATE TABLE notification_zones (
    hub_id BIGINT NOT NULL,
    notification_id TEXT COLLATE "C" NOT NULL,
    time_zone TEXT COLLATE "C" NOT NULL,
    moment BIGINT NOT NULL,
    PRIMARY KEY (hub_id, notification_id, time_zone));
CREATE TABLE notification_translations (
    hub_id BIGINT NOT NULL,
    notification_id TEXT COLLATE "C" NOT NULL,
    number BIGINT NOT NULL,
    body BYTEA NOT NULL,
    PRIMARY KEY (hub_id, notification_id, number));
CREATE TABLE frequency_counts (
    hub_id BIGINT NOT NULL,
    cap TEXT COLLATE "C" NOT NULL,
    recipient TEXT COLLATE "C" NOT NULL,
    notification_id TEXT COLLATE "C" NOT NULL,
    counted_at BIGINT NOT NULL,
    counts_until BIGINT NOT NULL,
    PRIMARY KEY (hub_id, cap, recipient, notification_id));
CREATE INDEX frequency_counts_by_end ON frequency_counts (counts_until);
CREATE INDEX frequency_counts_by_recipient ON frequency_counts (hub_id, recipient);
CREATE TABLE direct_handles (
    hub_id BIGINT NOT NULL,
    notification_id TEXT COLLATE "C" NOT NULL,
    position BIGINT NOT NULL,
    handle TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (hub_id, notification_id, position));
CREATE TABLE idempotency_keys (
    hub_id BIGINT NOT NULL,
    idempotency_key TEXT COLLATE "C" NOT NULL,
    digest BYTEA NOT NULL,
    notification_id TEXT COLLATE "C" NOT NULL,
    due_at BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    answer BYTEA,
    PRIMARY KEY (hub_id, idempotency_key));
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);
CREATE TABLE slices (
    hub_id BIGINT NOT NULL,
    notification_id TEXT COLLATE "C" NOT NULL,
    slice BIGINT NOT NULL,
    cursor_key BIGINT NOT NULL,
    last_key BIGINT NOT NULL,
    weight BIGINT NOT NULL,
    pushes_per_second BIGINT,
    walked BIGINT NOT NULL,
    failures BIGINT NOT NULL,
    stalled_since BIGINT,
    wait TEXT COLLATE "C",
    ready_at BIGINT NOT NULL,
    epoch BIGINT NOT NULL,
    owner TEXT COLLATE "C",
    leased_until BIGINT,
    moment BIGINT,
    expires_at BIGINT,
    audience_query TEXT COLLATE "C",
    platform TEXT COLLATE "C",
    PRIMARY KEY (hub_id, notification_id, slice));
CREATE INDEX slices_by_hub_turn ON slices (weight, hub_id, ready_at);
CREATE INDEX slices_free ON slices (weight, ready_at) WHERE owner IS NULL;
CREATE INDEX slices_leased ON slices (owner) WHERE owner IS NOT NULL;
CREATE TABLE pending_targets (
    hub_id BIGINT NOT NULL,
    notification_id TEXT COLLATE "C" NOT NULL,
    slice BIGINT NOT NULL,
    slice_key BIGINT NOT NULL,
    cause TEXT COLLATE "C" NOT NULL,
    attempts BIGINT NOT NULL,
    unanswered BIGINT NOT NULL DEFAULT 0,
    reason TEXT COLLATE "C",
    first_at BIGINT NOT NULL,
    not_before BIGINT NOT NULL,
    PRIMARY KEY (hub_id, notification_id, slice, slice_key));
CREATE TABLE tallies (
    hub_id BIGINT NOT NULL,
    notification_id TEXT COLLATE "C" NOT NULL,
    slice BIGINT NOT NULL,
    platform TEXT COLLATE "C" NOT NULL,
    outcome TEXT COLLATE "C" NOT NULL,
    targets BIGINT NOT NULL,
    PRIMARY KEY (hub_id, notification_id, slice, platform, outcome));
CREATE TABLE group_tallies (
    hub_id BIGINT NOT NULL,
    notification_id TEXT COLLATE "C" NOT NULL,
    slice BIGINT NOT NULL,
    group_number BIGINT NOT NULL,
    outcome TEXT COLLATE "C" NOT NULL,
    targets BIGINT NOT NULL,
    PRIMARY KEY (hub_id, notification_id, slice, group_number, outcome));
CREATE TABLE outcome_reports (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    hub_id BIGINT NOT NULL,
    notification_id TEXT COLLATE "C" NOT NULL,
    noted_at BIGINT NOT NULL,
    body TEXT COLLATE "C" NOT NULL);
CREATE INDEX outcome_reports_by_send ON outcome_reports (hub_id, notification_id, number);
CREATE TABLE outcome_reasons (
    hub_id BIGINT NOT NULL,
    notification_id TEXT COLLATE "C" NOT NULL,
    slice BIGINT NOT NULL,
    platform TEXT COLLATE "C" NOT NULL,
    outcome TEXT COLLATE "C" NOT NULL,
    reason TEXT COLLATE "C" NOT NULL,
    targets BIGINT NOT NULL,
    PRIMARY KEY (hub_id, notification_id, slice, platform, outcome, reason));
CREATE TABLE target_failures (
    hub_id BIGINT NOT NULL,
    notification_id TEXT COLLATE "C" NOT NULL,
    slice BIGINT NOT NULL,
    slice_key BIGINT NOT NULL,
    platform TEXT COLLATE "C" NOT NULL,
    record_id TEXT COLLATE "C",
    outcome TEXT COLLATE "C" NOT NULL,
    reason TEXT COLLATE "C",
    PRIMARY KEY (hub_id, notification_id, slice, slice_key));
CREATE TABLE backend_counters (
    app_id BIGINT NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    last_number BIGINT NOT NULL,
    PRIMARY KEY (app_id, name));
CREATE TABLE users (
    app_id BIGINT NOT NULL,
    user_id BIGINT NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    folded_name TEXT COLLATE "C" NOT NULL,
    role TEXT COLLATE "C" NOT NULL,
    password_hash TEXT COLLATE "C",
    credential_version BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    order_number BIGINT NOT NULL DEFAULT 0,
    tags TEXT COLLATE "C" NOT NULL DEFAULT '',
    disabled_at BIGINT,
    tokens_since BIGINT,
    second_factor_at BIGINT,
    quiet_hours TEXT COLLATE "C",
    PRIMARY KEY (app_id, user_id),
    UNIQUE (app_id, folded_name));
CREATE TABLE installation_credentials (
    app_id BIGINT NOT NULL,
    installation_id TEXT COLLATE "C" NOT NULL,
    user_id BIGINT NOT NULL,
    digest BYTEA NOT NULL,
    credential_version BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (app_id, installation_id));
CREATE INDEX installation_credentials_by_user ON installation_credentials (app_id, user_id);
CREATE INDEX installation_credentials_by_expiry ON installation_credentials (app_id, expires_at);
CREATE TABLE sign_in_counts (
    app_id BIGINT NOT NULL,
    account TEXT COLLATE "C" NOT NULL,
    source TEXT COLLATE "C" NOT NULL,
    failures BIGINT NOT NULL,
    last_at BIGINT NOT NULL,
    blocked_until BIGINT NOT NULL,
    known_until BIGINT NOT NULL,
    idle_at BIGINT NOT NULL,
    PRIMARY KEY (app_id, account, source));
CREATE INDEX sign_in_counts_by_age ON sign_in_counts (app_id, idle_at);
CREATE TABLE bindings (
    app_id BIGINT NOT NULL,
    binding_id BIGINT NOT NULL,
    user_id BIGINT NOT NULL,
    record_id TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    platform TEXT COLLATE "C" NOT NULL,
    handle TEXT COLLATE "C",
    environment TEXT COLLATE "C",
    topic TEXT COLLATE "C",
    tags TEXT COLLATE "C" NOT NULL,
    sealing_key TEXT COLLATE "C",
    facts TEXT COLLATE "C",
    from_at BIGINT NOT NULL,
    until_at BIGINT,
    from_order BIGINT NOT NULL DEFAULT 0,
    until_order BIGINT,
    PRIMARY KEY (app_id, binding_id));
CREATE UNIQUE INDEX bindings_that_hold ON bindings (app_id, record_id) WHERE until_at IS NULL;
CREATE INDEX bindings_by_record ON bindings (app_id, record_id, binding_id);
CREATE INDEX bindings_by_handle ON bindings (app_id, platform, handle) WHERE until_at IS NULL;
CREATE INDEX bindings_by_user ON bindings (app_id, user_id, binding_id);
CREATE INDEX bindings_by_end ON bindings (app_id, until_at) WHERE until_at IS NOT NULL;
CREATE TABLE user_tags (
    app_id BIGINT NOT NULL,
    user_id BIGINT NOT NULL,
    audience_key TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (app_id, user_id, audience_key));
CREATE TABLE device_changes (
    app_id BIGINT NOT NULL,
    record_id TEXT COLLATE "C" NOT NULL,
    mark BIGINT NOT NULL,
    begun_at BIGINT NOT NULL,
    PRIMARY KEY (app_id, record_id, mark));
CREATE INDEX device_changes_by_age ON device_changes (app_id, begun_at, record_id);
CREATE TABLE contents (
    app_id BIGINT NOT NULL,
    content_id TEXT COLLATE "C" NOT NULL,
    owner_id BIGINT NOT NULL,
    digest TEXT COLLATE "C" NOT NULL,
    media_type TEXT COLLATE "C" NOT NULL,
    byte_count BIGINT NOT NULL,
    file_name TEXT COLLATE "C",
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    PRIMARY KEY (app_id, content_id));
CREATE INDEX contents_by_digest ON contents (digest);
CREATE INDEX contents_by_expiry ON contents (expires_at);
CREATE INDEX contents_by_owner ON contents (app_id, owner_id, expires_at, byte_count);
CREATE TABLE content_orphans (digest TEXT COLLATE "C" PRIMARY KEY);
CREATE TABLE rich_notifications (
    app_id BIGINT NOT NULL,
    rich_id BIGINT NOT NULL,
    sender_id BIGINT NOT NULL,
    sender_name TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    style TEXT COLLATE "C" NOT NULL,
    title TEXT COLLATE "C",
    subtitle TEXT COLLATE "C",
    message TEXT COLLATE "C" NOT NULL,
    alt_text TEXT COLLATE "C",
    content_id TEXT COLLATE "C",
    thumb_id TEXT COLLATE "C",
    audience TEXT COLLATE "C" NOT NULL,
    due_at BIGINT NOT NULL,
    expires_at BIGINT,
    completed_at BIGINT,
    recalled_at BIGINT,
    refused BIGINT NOT NULL,
    languages TEXT COLLATE "C",
    ended_at BIGINT,
    start_order BIGINT NOT NULL DEFAULT 0,
    end_order BIGINT,
    push_body BYTEA NOT NULL,
    push_type TEXT COLLATE "C" NOT NULL,
    priority BIGINT NOT NULL,
    collapse_id TEXT COLLATE "C",
    pushes_per_second BIGINT,
    local_time TEXT COLLATE "C",
    frequency_cap TEXT COLLATE "C",
    split TEXT COLLATE "C",
    hub_key TEXT COLLATE "C" NOT NULL,
    tracking_id TEXT COLLATE "C",
    work TEXT COLLATE "C",
    work_at BIGINT,
    PRIMARY KEY (app_id, rich_id));
CREATE INDEX rich_notifications_by_work ON rich_notifications (app_id, work_at) WHERE work IS NOT NULL;
CREATE INDEX rich_notifications_by_end ON rich_notifications (app_id, ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX rich_notifications_by_expiry ON rich_notifications (app_id, expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX rich_notifications_by_due ON rich_notifications (app_id, due_at, rich_id);
CREATE INDEX rich_notifications_by_sender ON rich_notifications (app_id, sender_id, rich_id);
CREATE INDEX rich_notifications_by_sender_due ON rich_notifications (app_id, sender_id, due_at, rich_id);
CREATE TABLE rich_translations (
    app_id BIGINT NOT NULL,
    translation_id BIGINT NOT NULL,
    sender_id BIGINT NOT NULL,
    title TEXT COLLATE "C",
    subtitle TEXT COLLATE "C",
    message TEXT COLLATE "C" NOT NULL,
    alt_text TEXT COLLATE "C",
    content_id TEXT COLLATE "C",
    thumb_id TEXT COLLATE "C",
    push_body BYTEA,
    PRIMARY KEY (app_id, translation_id));
CREATE INDEX rich_translations_by_sender ON rich_translations (app_id, sender_id, translation_id);
CREATE TABLE content_claims (
    app_id BIGINT NOT NULL,
    content_id TEXT COLLATE "C" NOT NULL,
    holder TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (app_id, content_id, holder));
CREATE INDEX content_claims_by_holder ON content_claims (app_id, holder);
CREATE TABLE audience_index (
    app_id BIGINT NOT NULL,
    audience_key TEXT COLLATE "C" NOT NULL,
    rich_id BIGINT NOT NULL,
    PRIMARY KEY (app_id, audience_key, rich_id));
CREATE INDEX audience_index_by_notification ON audience_index (app_id, rich_id);
CREATE TABLE repeat_keys (
    app_id BIGINT NOT NULL,
    user_id BIGINT NOT NULL,
    repeat_key TEXT COLLATE "C" NOT NULL,
    digest BYTEA NOT NULL,
    rich_id BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (app_id, user_id, repeat_key));
CREATE INDEX repeat_keys_by_age ON repeat_keys (app_id, created_at);
CREATE TABLE schedules (
    app_id BIGINT NOT NULL,
    schedule_id BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    owner_id BIGINT NOT NULL,
    owner_name TEXT COLLATE "C" NOT NULL,
    request TEXT COLLATE "C" NOT NULL,
    audience TEXT COLLATE "C" NOT NULL,
    state TEXT COLLATE "C" NOT NULL,
    occurrence BIGINT NOT NULL,
    due_at BIGINT,
    attempt_at BIGINT,
    sent BIGINT NOT NULL,
    missed BIGINT NOT NULL,
    last_rich_id BIGINT,
    fault TEXT COLLATE "C",
    repeat_key TEXT COLLATE "C",
    repeat_digest BYTEA,
    created_at BIGINT NOT NULL,
    asked_at BIGINT NOT NULL,
    approved_by TEXT COLLATE "C",
    ended_at BIGINT,
    PRIMARY KEY (app_id, schedule_id));
CREATE INDEX schedules_by_attempt ON schedules (app_id, attempt_at, schedule_id) WHERE attempt_at IS NOT NULL;
CREATE INDEX schedules_by_owner ON schedules (app_id, owner_id, schedule_id);
CREATE INDEX schedules_that_wait ON schedules (app_id, owner_id) WHERE state IN ('waiting', 'proposed');
CREATE INDEX schedules_that_are_proposed ON schedules (app_id, schedule_id) WHERE state = 'proposed';
CREATE UNIQUE INDEX schedules_by_repeat_key ON schedules (app_id, owner_id, repeat_key) WHERE repeat_key IS NOT NULL;
CREATE INDEX schedules_by_end ON schedules (app_id, ended_at) WHERE ended_at IS NOT NULL;
CREATE TABLE activities (
    app_id BIGINT NOT NULL,
    activity_id BIGINT NOT NULL,
    owner_id BIGINT NOT NULL,
    owner_name TEXT COLLATE "C" NOT NULL,
    attributes_type TEXT COLLATE "C" NOT NULL,
    attributes TEXT COLLATE "C" NOT NULL,
    starts_by_push BIGINT NOT NULL,
    audience TEXT COLLATE "C" NOT NULL,
    content TEXT COLLATE "C" NOT NULL,
    phase TEXT COLLATE "C" NOT NULL,
    revision BIGINT NOT NULL,
    published BIGINT NOT NULL,
    stamp BIGINT NOT NULL,
    start_send TEXT COLLATE "C",
    update_send TEXT COLLATE "C",
    fault TEXT COLLATE "C",
    repeat_key TEXT COLLATE "C",
    repeat_digest BYTEA,
    created_at BIGINT NOT NULL,
    ended_at BIGINT,
    work_at BIGINT,
    claimed_until BIGINT,
    channel_id BIGINT,
    urgent_full_at BIGINT NOT NULL,
    demoted BIGINT NOT NULL,
    PRIMARY KEY (app_id, activity_id));
CREATE INDEX activities_by_work ON activities (app_id, work_at, activity_id) WHERE work_at IS NOT NULL;
CREATE INDEX activities_by_owner ON activities (app_id, owner_id, activity_id);
CREATE INDEX activities_that_go_on ON activities (app_id, created_at, activity_id) WHERE phase = 'active';
CREATE INDEX activities_of_owner_that_go_on ON activities (app_id, owner_id) WHERE phase = 'active';
CREATE UNIQUE INDEX activities_by_repeat_key ON activities (app_id, owner_id, repeat_key) WHERE repeat_key IS NOT NULL;
CREATE INDEX activities_by_end ON activities (app_id, ended_at, activity_id) WHERE ended_at IS NOT NULL;
CREATE INDEX activities_by_channel ON activities (app_id, channel_id, activity_id) WHERE channel_id IS NOT NULL;
CREATE TABLE channels (
    app_id BIGINT NOT NULL,
    channel_id BIGINT NOT NULL,
    owner_id BIGINT NOT NULL,
    name TEXT COLLATE "C",
    apns_channel TEXT COLLATE "C" NOT NULL,
    keeps_latest BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    remove_at BIGINT,
    PRIMARY KEY (app_id, channel_id));
CREATE INDEX channels_by_owner ON channels (app_id, owner_id, channel_id);
CREATE INDEX channels_to_remove ON channels (app_id, remove_at, channel_id) WHERE remove_at IS NOT NULL;
CREATE TABLE installation_tokens (
    app_id BIGINT NOT NULL,
    token_key TEXT COLLATE "C" NOT NULL,
    record_id TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    user_id BIGINT NOT NULL,
    handle TEXT COLLATE "C",
    state TEXT COLLATE "C" NOT NULL,
    revision BIGINT,
    activity_id BIGINT,
    reported_at BIGINT NOT NULL,
    catch_up_at BIGINT,
    catch_up_mark BIGINT,
    PRIMARY KEY (app_id, token_key));
CREATE UNIQUE INDEX installation_tokens_by_record ON installation_tokens (app_id, record_id, kind);
CREATE INDEX installation_tokens_by_user ON installation_tokens (app_id, user_id, token_key);
CREATE INDEX installation_tokens_by_activity ON installation_tokens (app_id, activity_id) WHERE activity_id IS NOT NULL;
CREATE INDEX installation_tokens_to_catch_up ON installation_tokens (app_id, catch_up_at, token_key)
    WHERE catch_up_at IS NOT NULL;
CREATE TABLE message_templates (
    app_id BIGINT NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL,
    content TEXT COLLATE "C" NOT NULL,
    created_by TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (app_id, name, version));
CREATE TABLE webhooks (
    app_id BIGINT NOT NULL,
    webhook_id BIGINT NOT NULL,
    url TEXT COLLATE "C" NOT NULL,
    events TEXT COLLATE "C" NOT NULL,
    description TEXT COLLATE "C" NOT NULL,
    state TEXT COLLATE "C" NOT NULL,
    fault TEXT COLLATE "C",
    salt BYTEA NOT NULL,
    former_salt BYTEA,
    former_until BIGINT,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (app_id, webhook_id));
CREATE TABLE webhook_leases (
    app_id BIGINT NOT NULL,
    webhook_id BIGINT NOT NULL,
    owner TEXT COLLATE "C",
    leased_until BIGINT NOT NULL,
    paused_until BIGINT,
    pauses BIGINT NOT NULL,
    failures BIGINT NOT NULL,
    PRIMARY KEY (app_id, webhook_id));
CREATE TABLE webhook_deliveries (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    app_id BIGINT NOT NULL,
    webhook_id BIGINT NOT NULL,
    event_id TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    subject TEXT COLLATE "C" NOT NULL,
    user_name TEXT COLLATE "C",
    data TEXT COLLATE "C" NOT NULL,
    happened_at BIGINT NOT NULL,
    state TEXT COLLATE "C" NOT NULL,
    due_at BIGINT,
    attempts BIGINT NOT NULL,
    tried_at BIGINT,
    status BIGINT,
    duration BIGINT,
    answer TEXT COLLATE "C");
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (app_id, webhook_id, due_at, number) WHERE due_at IS NOT NULL;
CREATE INDEX webhook_deliveries_by_subject ON webhook_deliveries (app_id, webhook_id, subject, number)
    WHERE due_at IS NOT NULL;
CREATE INDEX webhook_deliveries_by_state ON webhook_deliveries (app_id, webhook_id, state, number);
CREATE INDEX webhook_deliveries_by_age ON webhook_deliveries (app_id, happened_at);
CREATE INDEX webhook_deliveries_by_user ON webhook_deliveries (app_id, user_name, number) WHERE user_name IS NOT NULL;
CREATE INDEX webhook_deliveries_by_event ON webhook_deliveries (app_id, webhook_id, event_id);
CREATE TABLE read_marks (
    app_id BIGINT NOT NULL,
    user_id BIGINT NOT NULL,
    rich_id BIGINT NOT NULL,
    read_at BIGINT NOT NULL,
    PRIMARY KEY (app_id, user_id, rich_id));
CREATE INDEX read_marks_by_notification ON read_marks (app_id, rich_id);
CREATE TABLE receipts (
    app_id BIGINT NOT NULL,
    receipt_key TEXT COLLATE "C" NOT NULL,
    rich_id BIGINT NOT NULL,
    user_id BIGINT NOT NULL,
    installation_id TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    action TEXT COLLATE "C",
    happened_at BIGINT NOT NULL,
    received_at BIGINT NOT NULL,
    group_number BIGINT,
    PRIMARY KEY (app_id, receipt_key));
CREATE INDEX receipts_by_notification ON receipts (app_id, rich_id, kind, installation_id);
CREATE INDEX receipts_by_group ON receipts (app_id, rich_id, group_number, kind, installation_id)
    WHERE group_number IS NOT NULL;
CREATE TABLE service_keys (
    app_id BIGINT NOT NULL,
    key_id BIGINT NOT NULL,
    account_id BIGINT NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    digest BYTEA NOT NULL,
    hint TEXT COLLATE "C" NOT NULL,
    scopes TEXT COLLATE "C" NOT NULL,
    networks TEXT COLLATE "C" NOT NULL,
    requests_per_minute BIGINT,
    created_by TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    revoked_at BIGINT,
    last_used_at BIGINT,
    last_used_from TEXT COLLATE "C",
    PRIMARY KEY (app_id, key_id));
CREATE UNIQUE INDEX service_keys_by_digest ON service_keys (app_id, digest);
CREATE INDEX service_keys_by_account ON service_keys (app_id, account_id, expires_at);
CREATE TABLE sign_in_tokens (
    app_id BIGINT NOT NULL,
    digest BYTEA NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    folded_name TEXT COLLATE "C" NOT NULL,
    installation_id TEXT COLLATE "C",
    tags TEXT COLLATE "C",
    creates_user BIGINT NOT NULL,
    created_by TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    used_by TEXT COLLATE "C",
    used_at BIGINT,
    PRIMARY KEY (app_id, digest));
CREATE INDEX sign_in_tokens_by_name ON sign_in_tokens (app_id, folded_name);
CREATE INDEX sign_in_tokens_by_expiry ON sign_in_tokens (app_id, expires_at);
CREATE TABLE console_sessions (
    app_id BIGINT NOT NULL,
    session_key TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    user_id BIGINT NOT NULL,
    role TEXT COLLATE "C" NOT NULL,
    credential_version BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    ends_at BIGINT NOT NULL,
    PRIMARY KEY (app_id, session_key));
CREATE INDEX console_sessions_by_user ON console_sessions (app_id, user_id, created_at);
CREATE INDEX console_sessions_by_expiry ON console_sessions (app_id, expires_at);
CREATE TABLE second_factors (
    app_id BIGINT NOT NULL,
    user_id BIGINT NOT NULL,
    salt BYTEA NOT NULL,
    created_at BIGINT NOT NULL,
    confirmed_at BIGINT,
    last_step BIGINT NOT NULL,
    recovery_codes TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (app_id, user_id));
CREATE TABLE identities (
    app_id BIGINT NOT NULL,
    identity_key TEXT COLLATE "C" NOT NULL,
    issuer TEXT COLLATE "C",
    subject TEXT COLLATE "C",
    user_id BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    removed_at BIGINT,
    PRIMARY KEY (app_id, identity_key));
CREATE INDEX identities_by_user ON identities (app_id, user_id, identity_key);
CREATE INDEX identities_by_removal ON identities (app_id, removed_at) WHERE removed_at IS NOT NULL;
CREATE TABLE key_sets (
    app_id BIGINT NOT NULL,
    issuer TEXT COLLATE "C" NOT NULL,
    source TEXT COLLATE "C" NOT NULL,
    document BYTEA NOT NULL,
    fetched_at BIGINT NOT NULL,
    life BIGINT NOT NULL,
    PRIMARY KEY (app_id, issuer));
CREATE TABLE audit_entries (
    app_id BIGINT NOT NULL,
    entry_id TEXT COLLATE "C" NOT NULL,
    happened_at BIGINT NOT NULL,
    action TEXT COLLATE "C" NOT NULL,
    actor_kind TEXT COLLATE "C" NOT NULL,
    actor_name TEXT COLLATE "C",
    subject_name TEXT COLLATE "C",
    object TEXT COLLATE "C" NOT NULL,
    actor TEXT COLLATE "C",
    actor_salt BYTEA,
    actor_hash BYTEA NOT NULL,
    subject TEXT COLLATE "C",
    subject_salt BYTEA,
    subject_hash BYTEA NOT NULL,
    details TEXT COLLATE "C",
    details_salt BYTEA,
    details_hash BYTEA NOT NULL,
    number BIGINT,
    hash BYTEA,
    PRIMARY KEY (app_id, entry_id));
CREATE UNIQUE INDEX audit_entries_by_number ON audit_entries (app_id, number) WHERE number IS NOT NULL;
CREATE INDEX audit_entries_without_number ON audit_entries (app_id, happened_at, entry_id) WHERE number IS NULL;
CREATE INDEX audit_entries_by_actor ON audit_entries (app_id, actor_name, number) WHERE actor_name IS NOT NULL;
CREATE INDEX audit_entries_by_subject ON audit_entries (app_id, subject_name, number) WHERE subject_name IS NOT NULL;
CREATE TABLE audit_heads (
    app_id BIGINT NOT NULL,
    size BIGINT NOT NULL,
    hash BYTEA NOT NULL,
    anchor_size BIGINT NOT NULL,
    anchor_hash BYTEA NOT NULL,
    PRIMARY KEY (app_id));
CREATE TABLE audit_checkpoints (
    app_id BIGINT NOT NULL,
    size BIGINT NOT NULL,
    note TEXT COLLATE "C" NOT NULL,
    made_at BIGINT NOT NULL,
    PRIMARY KEY (app_id, size));
CREATE INDEX audit_checkpoints_by_age ON audit_checkpoints (app_id, made_at);
CREATE TABLE nodes (
    node_id TEXT COLLATE "C" PRIMARY KEY,
    role TEXT COLLATE "C" NOT NULL,
    version TEXT COLLATE "C" NOT NULL,
    schema_step BIGINT,
    started_at BIGINT NOT NULL,
    seen_at BIGINT NOT NULL);
CREATE TABLE schema_fence (
    fence_id BIGINT PRIMARY KEY,
    oldest_step BIGINT NOT NULL);
CREATE TABLE content_owner (
    owner_id BIGINT PRIMARY KEY,
    mark TEXT COLLATE "C" NOT NULL,
    place TEXT COLLATE "C" NOT NULL);
CREATE TABLE write_turns (turn BIGINT PRIMARY KEY);
