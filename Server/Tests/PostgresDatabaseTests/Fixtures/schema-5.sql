\restrict kB9Z1HfLS4bdg9y6SwgDtulTWv7b0E0yXrhtyla4CfOUvVLt2f4Fmw9DbvRVR2p
CREATE TABLE public.audience_index (
    app_id bigint NOT NULL,
    audience_key text NOT NULL COLLATE pg_catalog."C",
    rich_id bigint NOT NULL
);
CREATE TABLE public.backend_audit (
    app_id bigint NOT NULL,
    entry_id bigint NOT NULL,
    happened_at bigint NOT NULL,
    event text NOT NULL COLLATE pg_catalog."C",
    user_id bigint NOT NULL,
    other_user_id bigint,
    record_id text COLLATE pg_catalog."C"
);
CREATE TABLE public.backend_counters (
    app_id bigint NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    last_number bigint NOT NULL
);
CREATE TABLE public.bindings (
    app_id bigint NOT NULL,
    binding_id bigint NOT NULL,
    user_id bigint NOT NULL,
    record_id text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    platform text NOT NULL COLLATE pg_catalog."C",
    handle text COLLATE pg_catalog."C",
    environment text COLLATE pg_catalog."C",
    topic text COLLATE pg_catalog."C",
    tags text NOT NULL COLLATE pg_catalog."C",
    from_at bigint NOT NULL,
    until_at bigint
);
CREATE TABLE public.content_orphans (
    digest text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.contents (
    app_id bigint NOT NULL,
    content_id text NOT NULL COLLATE pg_catalog."C",
    owner_id bigint NOT NULL,
    digest text NOT NULL COLLATE pg_catalog."C",
    media_type text NOT NULL COLLATE pg_catalog."C",
    byte_count bigint NOT NULL,
    file_name text COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    expires_at bigint
);
CREATE TABLE public.device_tags (
    hub_id bigint NOT NULL,
    tag text NOT NULL COLLATE pg_catalog."C",
    slice_key bigint NOT NULL
);
CREATE TABLE public.devices (
    hub_id bigint NOT NULL,
    slice_key bigint NOT NULL,
    record_id text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    platform text NOT NULL COLLATE pg_catalog."C",
    handle text COLLATE pg_catalog."C",
    environment text COLLATE pg_catalog."C",
    topic text COLLATE pg_catalog."C",
    tags text NOT NULL COLLATE pg_catalog."C",
    user_id text COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    registered_at bigint NOT NULL,
    expires_at bigint,
    parked_at bigint,
    version bigint NOT NULL
);
CREATE TABLE public.hub_rules (
    hub_id bigint NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    rights text NOT NULL COLLATE pg_catalog."C",
    primary_key text NOT NULL COLLATE pg_catalog."C",
    secondary_key text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL
);
CREATE TABLE public.hubs (
    hub_id bigint NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    title text COLLATE pg_catalog."C",
    user_metadata text COLLATE pg_catalog."C",
    registration_lifetime bigint,
    allows_protected_tags bigint DEFAULT 0 NOT NULL,
    apns_credential text COLLATE pg_catalog."C",
    updated_at bigint,
    version bigint DEFAULT 1 NOT NULL,
    removed_at bigint,
    is_cleared bigint DEFAULT 0 NOT NULL
);
CREATE TABLE public.idempotency_keys (
    hub_id bigint NOT NULL,
    idempotency_key text NOT NULL COLLATE pg_catalog."C",
    digest bytea NOT NULL,
    notification_id text NOT NULL COLLATE pg_catalog."C",
    due_at bigint NOT NULL,
    created_at bigint NOT NULL
);
CREATE TABLE public.installation_credentials (
    app_id bigint NOT NULL,
    installation_id text NOT NULL COLLATE pg_catalog."C",
    user_id bigint NOT NULL,
    digest bytea NOT NULL,
    credential_version bigint NOT NULL,
    expires_at bigint NOT NULL
);
CREATE TABLE public.notifications (
    hub_id bigint NOT NULL,
    notification_id text NOT NULL COLLATE pg_catalog."C",
    body bytea NOT NULL,
    push_type text NOT NULL COLLATE pg_catalog."C",
    priority bigint NOT NULL,
    collapse_id text COLLATE pg_catalog."C",
    topic text COLLATE pg_catalog."C",
    expires_at bigint,
    audience text COLLATE pg_catalog."C",
    state text NOT NULL COLLATE pg_catalog."C",
    enqueued_at bigint NOT NULL,
    due_at bigint NOT NULL,
    started_at bigint,
    ended_at bigint,
    open_slices bigint NOT NULL,
    pushes_per_second bigint
);
CREATE TABLE public.pending_targets (
    hub_id bigint NOT NULL,
    notification_id text NOT NULL COLLATE pg_catalog."C",
    slice bigint NOT NULL,
    slice_key bigint NOT NULL,
    cause text NOT NULL COLLATE pg_catalog."C",
    attempts bigint NOT NULL,
    first_at bigint NOT NULL,
    not_before bigint NOT NULL
);
CREATE TABLE public.read_marks (
    app_id bigint NOT NULL,
    user_id bigint NOT NULL,
    rich_id bigint NOT NULL,
    read_at bigint NOT NULL
);
CREATE TABLE public.receipts (
    app_id bigint NOT NULL,
    receipt_key text NOT NULL COLLATE pg_catalog."C",
    rich_id bigint NOT NULL,
    user_id bigint NOT NULL,
    installation_id text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    action text COLLATE pg_catalog."C",
    happened_at bigint NOT NULL,
    received_at bigint NOT NULL
);
CREATE TABLE public.repeat_keys (
    app_id bigint NOT NULL,
    user_id bigint NOT NULL,
    repeat_key text NOT NULL COLLATE pg_catalog."C",
    digest bytea NOT NULL,
    rich_id bigint NOT NULL,
    created_at bigint NOT NULL
);
CREATE TABLE public.rich_notifications (
    app_id bigint NOT NULL,
    rich_id bigint NOT NULL,
    sender_id bigint NOT NULL,
    sender_name text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    style text NOT NULL COLLATE pg_catalog."C",
    title text COLLATE pg_catalog."C",
    subtitle text COLLATE pg_catalog."C",
    message text NOT NULL COLLATE pg_catalog."C",
    alt_text text COLLATE pg_catalog."C",
    content_id text COLLATE pg_catalog."C",
    thumb_id text COLLATE pg_catalog."C",
    audience text NOT NULL COLLATE pg_catalog."C",
    due_at bigint NOT NULL,
    expires_at bigint,
    completed_at bigint,
    recalled_at bigint,
    tracking_id text COLLATE pg_catalog."C",
    refused bigint NOT NULL,
    push_body bytea NOT NULL,
    push_type text NOT NULL COLLATE pg_catalog."C",
    priority bigint NOT NULL,
    collapse_id text COLLATE pg_catalog."C",
    hub_key text NOT NULL COLLATE pg_catalog."C",
    work text COLLATE pg_catalog."C",
    work_at bigint,
    ended_at bigint,
    pushes_per_second bigint
);
CREATE TABLE public.schema_steps (
    number bigint NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    applied_at bigint NOT NULL
);
CREATE TABLE public.slices (
    hub_id bigint NOT NULL,
    notification_id text NOT NULL COLLATE pg_catalog."C",
    slice bigint NOT NULL,
    cursor_key bigint NOT NULL,
    last_key bigint NOT NULL,
    weight bigint NOT NULL,
    walked bigint NOT NULL,
    failures bigint NOT NULL,
    stalled_since bigint,
    ready_at bigint NOT NULL,
    epoch bigint NOT NULL,
    owner text COLLATE pg_catalog."C",
    leased_until bigint
);
CREATE TABLE public.tallies (
    hub_id bigint NOT NULL,
    notification_id text NOT NULL COLLATE pg_catalog."C",
    slice bigint NOT NULL,
    outcome text NOT NULL COLLATE pg_catalog."C",
    targets bigint NOT NULL
);
CREATE TABLE public.user_tags (
    app_id bigint NOT NULL,
    user_id bigint NOT NULL,
    audience_key text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.users (
    app_id bigint NOT NULL,
    user_id bigint NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    folded_name text NOT NULL COLLATE pg_catalog."C",
    role text NOT NULL COLLATE pg_catalog."C",
    password_hash text COLLATE pg_catalog."C",
    credential_version bigint NOT NULL,
    created_at bigint NOT NULL
);
INSERT INTO public.audience_index VALUES (1, 't:username:ann', 1);
INSERT INTO public.audience_index VALUES (1, 's:2', 1);
INSERT INTO public.audience_index VALUES (1, 't:username:ann', 2);
INSERT INTO public.audience_index VALUES (1, 's:2', 2);
INSERT INTO public.audience_index VALUES (1, 't:username:ann', 3);
INSERT INTO public.audience_index VALUES (1, 's:2', 3);
INSERT INTO public.audience_index VALUES (1, 't:username:ann', 4);
INSERT INTO public.audience_index VALUES (1, 's:2', 4);
INSERT INTO public.backend_audit VALUES (1, 1, 1780000000000, 'registration-replaced', 1, NULL, 'old-phone');
INSERT INTO public.backend_counters VALUES (1, 'user', 2);
INSERT INTO public.backend_counters VALUES (1, 'binding', 2);
INSERT INTO public.backend_counters VALUES (1, 'content', 3);
INSERT INTO public.backend_counters VALUES (1, 'notification', 4);
INSERT INTO public.backend_counters VALUES (1, 'audit', 1);
INSERT INTO public.bindings VALUES (1, 1, 1, 'phone-of-ann', 'installation', 'apns', '00000000000000000000000000000000000000000000000000000000000000A1', 'sandbox', NULL, 'username:ann,news', 1780000000000, 1780000001000);
INSERT INTO public.bindings VALUES (1, 2, 1, 'phone-of-ann', 'installation', 'apns', '00000000000000000000000000000000000000000000000000000000000000A1', 'sandbox', NULL, 'username:ann', 1780000001000, NULL);
INSERT INTO public.content_orphans VALUES ('d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4');
INSERT INTO public.contents VALUES (1, 'c1', 2, 'a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1', 'image/png', 24, 'a.png', 1780000000000, NULL);
INSERT INTO public.contents VALUES (1, 'c2', 2, 'b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2', 'image/png', 25, NULL, 1780000000000, NULL);
INSERT INTO public.contents VALUES (1, 'c3', 2, 'c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3', 'image/png', 26, NULL, 1780000000000, 1780000005000);
INSERT INTO public.device_tags VALUES (1, 'username:ann', 4242);
INSERT INTO public.device_tags VALUES (1, '$installationid:{phone-of-ann}', 4242);
INSERT INTO public.device_tags VALUES (1, 'news', -77);
INSERT INTO public.device_tags VALUES (1, 'sports', 99);
INSERT INTO public.device_tags VALUES (1, '$installationid:{parked}', 5);
INSERT INTO public.device_tags VALUES (1, '$userid:{bob}', 5);
INSERT INTO public.device_tags VALUES (1, '$installationid:{silent}', 7);
INSERT INTO public.devices VALUES (1, 4242, 'phone-of-ann', 'installation', 'apns', '00000000000000000000000000000000000000000000000000000000000000A1', 'sandbox', NULL, 'username:ann', NULL, 1780000000000, 1780000000000, NULL, NULL, 1);
INSERT INTO public.devices VALUES (1, -77, 'twin-1', 'registration', 'apns', '00000000000000000000000000000000000000000000000000000000000000B2', NULL, NULL, 'news', NULL, 1780000000000, 1780000000000, NULL, NULL, 1);
INSERT INTO public.devices VALUES (1, 99, 'twin-2', 'registration', 'apns', '00000000000000000000000000000000000000000000000000000000000000B2', NULL, NULL, 'sports', NULL, 1780000000000, 1780000000000, NULL, NULL, 1);
INSERT INTO public.devices VALUES (1, 5, 'parked', 'installation', 'apns', '00000000000000000000000000000000000000000000000000000000000000C3', NULL, NULL, '', 'bob', 1780000000000, 1780000000000, NULL, 1780000009000, 1);
INSERT INTO public.devices VALUES (1, 6, 'expiring', 'registration', 'apns', '00000000000000000000000000000000000000000000000000000000000000D4', NULL, NULL, '', NULL, 1780000000000, 1780000000000, 1790000000000, NULL, 1);
INSERT INTO public.devices VALUES (1, 7, 'silent', 'installation', 'apns', NULL, NULL, NULL, '', NULL, 1780000000000, 1780000000000, NULL, NULL, 1);
INSERT INTO public.hub_rules VALUES (1, 'listen', 'Listen', 'sealed-1', 'sealed-2', 1780000000000, 1780000000000);
INSERT INTO public.hubs VALUES (1, 'hub', 1780000000000, 'Hub', 'ours', 7776000000, 0, NULL, 1780000000000, 1, NULL, 0);
INSERT INTO public.idempotency_keys VALUES (1, 'rich:1:00', '\x0000000000000000000000000000000000000000000000000000000000000000', '00000000-0000-4000-8000-000000000001', 1780000001000, 1780000001000);
INSERT INTO public.installation_credentials VALUES (1, 'phone-of-ann', 1, '\x0000000000000000000000000000000000000000000000000000000000000000', 1, 1787776000000);
INSERT INTO public.notifications VALUES (1, '00000000-0000-4000-8000-000000000001', '\x7b22617073223a7b7d7d', 'alert', 10, NULL, NULL, NULL, 'username:ann', 'completed', 1780000001000, 1780000001000, 1780000001500, 1780000003000, 0, NULL);
INSERT INTO public.read_marks VALUES (1, 1, 1, 1780000004000);
INSERT INTO public.receipts VALUES (1, 'e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1', 1, 1, 'phone-of-ann', 'opened', NULL, 1780000004000, 1780000004100);
INSERT INTO public.repeat_keys VALUES (1, 2, 'key-1', '\x0000000000000000000000000000000000000000000000000000000000000000', 1, 1780000000000);
INSERT INTO public.rich_notifications VALUES (1, 1, 2, 'Bob', 'img', 'alert', 'Title', NULL, 'Message 1', NULL, 'c1', NULL, 'username:ann', 1780000001000, NULL, 1780000003000, NULL, '00000000-0000-4000-8000-000000000001', 0, '\x7b22617073223a7b22616c657274223a22596f7520686176652061206e6577206d657373616765222c226d757461626c652d636f6e74656e74223a317d7d', 'alert', 10, NULL, 'rich:1:00', NULL, NULL, 1780000003000, NULL);
INSERT INTO public.rich_notifications VALUES (1, 2, 2, 'Bob', 'img', 'alert', 'Title', NULL, 'Message 2', NULL, 'c2', NULL, 'username:ann', 1780000002000, NULL, NULL, NULL, NULL, 1, '\x7b22617073223a7b22616c657274223a22596f7520686176652061206e6577206d657373616765222c226d757461626c652d636f6e74656e74223a317d7d', 'alert', 10, NULL, 'rich:2:00', NULL, NULL, 1780000002000, NULL);
INSERT INTO public.rich_notifications VALUES (1, 3, 2, 'Bob', 'img', 'alert', 'Title', NULL, 'Message 3', NULL, 'c3', NULL, 'username:ann', 1780000003000, NULL, NULL, 1780000005000, '00000000-0000-4000-8000-000000000003', 0, '\x7b22617073223a7b22616c657274223a22596f7520686176652061206e6577206d657373616765222c226d757461626c652d636f6e74656e74223a317d7d', 'alert', 10, NULL, 'rich:3:00', NULL, NULL, 1780000005000, NULL);
INSERT INTO public.rich_notifications VALUES (1, 4, 2, 'Bob', 'img', 'alert', 'Title', NULL, 'Message 4', NULL, 'c1', NULL, 'username:ann', 1780000004000, NULL, NULL, NULL, '00000000-0000-4000-8000-000000000004', 0, '\x7b22617073223a7b22616c657274223a22596f7520686176652061206e6577206d657373616765222c226d757461626c652d636f6e74656e74223a317d7d', 'alert', 10, NULL, 'rich:4:00', 'track', 1780000006000, NULL, NULL);
INSERT INTO public.schema_steps VALUES (1, 'hub tables', 1000);
INSERT INTO public.schema_steps VALUES (2, 'backend tables', 1000);
INSERT INTO public.schema_steps VALUES (3, 'retention', 1000);
INSERT INTO public.schema_steps VALUES (4, 'pace of a send', 1000);
INSERT INTO public.schema_steps VALUES (5, 'hub rules', 1000);
INSERT INTO public.tallies VALUES (1, '00000000-0000-4000-8000-000000000001', 0, 'accepted', 1);
INSERT INTO public.user_tags VALUES (1, 1, 't:username:ann');
INSERT INTO public.user_tags VALUES (1, 1, 't:news');
INSERT INTO public.users VALUES (1, 1, 'ann', 'ann', 'user', '$scrypt$ln=14,r=8,p=1$ZbWJhKUuzMdWk3gdnHLAHQ$IbbVUMwnszGR0PJa5ey2M1AyXkPAtGXk1-fMRDwFOzg', 1, 1780000000000);
INSERT INTO public.users VALUES (1, 2, 'Bob', 'bob', 'sender', NULL, 1, 1780000000000);
ALTER TABLE ONLY public.audience_index
    ADD CONSTRAINT audience_index_pkey PRIMARY KEY (app_id, audience_key, rich_id);
ALTER TABLE ONLY public.backend_audit
    ADD CONSTRAINT backend_audit_pkey PRIMARY KEY (app_id, entry_id);
ALTER TABLE ONLY public.backend_counters
    ADD CONSTRAINT backend_counters_pkey PRIMARY KEY (app_id, name);
ALTER TABLE ONLY public.bindings
    ADD CONSTRAINT bindings_pkey PRIMARY KEY (app_id, binding_id);
ALTER TABLE ONLY public.content_orphans
    ADD CONSTRAINT content_orphans_pkey PRIMARY KEY (digest);
ALTER TABLE ONLY public.contents
    ADD CONSTRAINT contents_pkey PRIMARY KEY (app_id, content_id);
ALTER TABLE ONLY public.device_tags
    ADD CONSTRAINT device_tags_pkey PRIMARY KEY (hub_id, tag, slice_key);
ALTER TABLE ONLY public.devices
    ADD CONSTRAINT devices_hub_id_record_id_key UNIQUE (hub_id, record_id);
ALTER TABLE ONLY public.devices
    ADD CONSTRAINT devices_pkey PRIMARY KEY (hub_id, slice_key);
ALTER TABLE ONLY public.hub_rules
    ADD CONSTRAINT hub_rules_pkey PRIMARY KEY (hub_id, name);
ALTER TABLE ONLY public.hubs
    ADD CONSTRAINT hubs_name_key UNIQUE (name);
ALTER TABLE ONLY public.hubs
    ADD CONSTRAINT hubs_pkey PRIMARY KEY (hub_id);
ALTER TABLE ONLY public.idempotency_keys
    ADD CONSTRAINT idempotency_keys_pkey PRIMARY KEY (hub_id, idempotency_key);
ALTER TABLE ONLY public.installation_credentials
    ADD CONSTRAINT installation_credentials_pkey PRIMARY KEY (app_id, installation_id);
ALTER TABLE ONLY public.notifications
    ADD CONSTRAINT notifications_pkey PRIMARY KEY (hub_id, notification_id);
ALTER TABLE ONLY public.pending_targets
    ADD CONSTRAINT pending_targets_pkey PRIMARY KEY (hub_id, notification_id, slice, slice_key);
ALTER TABLE ONLY public.read_marks
    ADD CONSTRAINT read_marks_pkey PRIMARY KEY (app_id, user_id, rich_id);
ALTER TABLE ONLY public.receipts
    ADD CONSTRAINT receipts_pkey PRIMARY KEY (app_id, receipt_key);
ALTER TABLE ONLY public.repeat_keys
    ADD CONSTRAINT repeat_keys_pkey PRIMARY KEY (app_id, user_id, repeat_key);
ALTER TABLE ONLY public.rich_notifications
    ADD CONSTRAINT rich_notifications_pkey PRIMARY KEY (app_id, rich_id);
ALTER TABLE ONLY public.schema_steps
    ADD CONSTRAINT schema_steps_pkey PRIMARY KEY (number);
ALTER TABLE ONLY public.slices
    ADD CONSTRAINT slices_pkey PRIMARY KEY (hub_id, notification_id, slice);
ALTER TABLE ONLY public.tallies
    ADD CONSTRAINT tallies_pkey PRIMARY KEY (hub_id, notification_id, slice, outcome);
ALTER TABLE ONLY public.user_tags
    ADD CONSTRAINT user_tags_pkey PRIMARY KEY (app_id, user_id, audience_key);
ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_app_id_folded_name_key UNIQUE (app_id, folded_name);
ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_pkey PRIMARY KEY (app_id, user_id);
CREATE INDEX audience_index_by_notification ON public.audience_index USING btree (app_id, rich_id);
CREATE INDEX backend_audit_by_age ON public.backend_audit USING btree (app_id, happened_at);
CREATE INDEX bindings_by_end ON public.bindings USING btree (app_id, until_at) WHERE (until_at IS NOT NULL);
CREATE INDEX bindings_by_handle ON public.bindings USING btree (app_id, platform, handle) WHERE (until_at IS NULL);
CREATE INDEX bindings_by_record ON public.bindings USING btree (app_id, record_id, binding_id);
CREATE INDEX bindings_by_user ON public.bindings USING btree (app_id, user_id, binding_id);
CREATE UNIQUE INDEX bindings_that_hold ON public.bindings USING btree (app_id, record_id) WHERE (until_at IS NULL);
CREATE INDEX contents_by_digest ON public.contents USING btree (digest);
CREATE INDEX contents_by_expiry ON public.contents USING btree (expires_at);
CREATE INDEX contents_by_owner ON public.contents USING btree (app_id, owner_id, expires_at, byte_count);
CREATE INDEX devices_by_handle ON public.devices USING btree (hub_id, platform, handle, slice_key);
CREATE INDEX idempotency_keys_by_age ON public.idempotency_keys USING btree (created_at);
CREATE INDEX installation_credentials_by_expiry ON public.installation_credentials USING btree (app_id, expires_at);
CREATE INDEX installation_credentials_by_user ON public.installation_credentials USING btree (app_id, user_id);
CREATE INDEX notifications_by_end ON public.notifications USING btree (ended_at);
CREATE INDEX read_marks_by_notification ON public.read_marks USING btree (app_id, rich_id);
CREATE INDEX receipts_by_notification ON public.receipts USING btree (app_id, rich_id, kind, installation_id);
CREATE INDEX repeat_keys_by_age ON public.repeat_keys USING btree (app_id, created_at);
CREATE INDEX rich_notifications_by_content ON public.rich_notifications USING btree (app_id, content_id);
CREATE INDEX rich_notifications_by_due ON public.rich_notifications USING btree (app_id, due_at);
CREATE INDEX rich_notifications_by_end ON public.rich_notifications USING btree (app_id, ended_at) WHERE (ended_at IS NOT NULL);
CREATE INDEX rich_notifications_by_expiry ON public.rich_notifications USING btree (app_id, expires_at) WHERE (expires_at IS NOT NULL);
CREATE INDEX rich_notifications_by_thumb ON public.rich_notifications USING btree (app_id, thumb_id);
CREATE INDEX rich_notifications_by_work ON public.rich_notifications USING btree (app_id, work_at) WHERE (work IS NOT NULL);
CREATE INDEX slices_by_turn ON public.slices USING btree (weight, ready_at);
\unrestrict kB9Z1HfLS4bdg9y6SwgDtulTWv7b0E0yXrhtyla4CfOUvVLt2f4Fmw9DbvRVR2p
