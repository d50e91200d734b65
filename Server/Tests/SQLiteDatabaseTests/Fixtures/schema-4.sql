BEGIN TRANSACTION;
CREATE TABLE audience_index (
    app_id INTEGER NOT NULL, audience_key TEXT NOT NULL, rich_id INTEGER NOT NULL,
    PRIMARY KEY (app_id, audience_key, rich_id));
INSERT INTO "audience_index" VALUES(1,'t:username:ann',1);
INSERT INTO "audience_index" VALUES(1,'s:2',1);
INSERT INTO "audience_index" VALUES(1,'t:username:ann',2);
INSERT INTO "audience_index" VALUES(1,'s:2',2);
INSERT INTO "audience_index" VALUES(1,'t:username:ann',3);
INSERT INTO "audience_index" VALUES(1,'s:2',3);
INSERT INTO "audience_index" VALUES(1,'t:username:ann',4);
INSERT INTO "audience_index" VALUES(1,'s:2',4);
CREATE TABLE backend_audit (
    app_id INTEGER NOT NULL, entry_id INTEGER NOT NULL, happened_at INTEGER NOT NULL,
    event TEXT NOT NULL, user_id INTEGER NOT NULL, other_user_id INTEGER, record_id TEXT,
    PRIMARY KEY (app_id, entry_id));
INSERT INTO "backend_audit" VALUES(1,1,1780000000000,'registration-replaced',1,NULL,'old-phone');
CREATE TABLE backend_counters (
    app_id INTEGER NOT NULL, name TEXT NOT NULL, last_number INTEGER NOT NULL,
    PRIMARY KEY (app_id, name));
INSERT INTO "backend_counters" VALUES(1,'user',2);
INSERT INTO "backend_counters" VALUES(1,'binding',2);
INSERT INTO "backend_counters" VALUES(1,'content',3);
INSERT INTO "backend_counters" VALUES(1,'notification',4);
INSERT INTO "backend_counters" VALUES(1,'audit',1);
CREATE TABLE bindings (
    app_id INTEGER NOT NULL, binding_id INTEGER NOT NULL, user_id INTEGER NOT NULL,
    record_id TEXT NOT NULL, kind TEXT NOT NULL, platform TEXT NOT NULL, handle TEXT,
    environment TEXT, topic TEXT, tags TEXT NOT NULL, from_at INTEGER NOT NULL, until_at INTEGER,
    PRIMARY KEY (app_id, binding_id));
INSERT INTO "bindings" VALUES(1,1,1,'phone-of-ann','installation','apns','00000000000000000000000000000000000000000000000000000000000000A1','sandbox',NULL,'username:ann,news',1780000000000,1780000001000);
INSERT INTO "bindings" VALUES(1,2,1,'phone-of-ann','installation','apns','00000000000000000000000000000000000000000000000000000000000000A1','sandbox',NULL,'username:ann',1780000001000,NULL);
CREATE TABLE content_orphans (digest TEXT PRIMARY KEY);
INSERT INTO "content_orphans" VALUES('d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4');
CREATE TABLE contents (
    app_id INTEGER NOT NULL, content_id TEXT NOT NULL, owner_id INTEGER NOT NULL, digest TEXT NOT NULL,
    media_type TEXT NOT NULL, byte_count INTEGER NOT NULL, file_name TEXT, created_at INTEGER NOT NULL,
    expires_at INTEGER,
    PRIMARY KEY (app_id, content_id));
INSERT INTO "contents" VALUES(1,'c1',2,'a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1','image/png',24,'a.png',1780000000000,NULL);
INSERT INTO "contents" VALUES(1,'c2',2,'b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2','image/png',25,NULL,1780000000000,NULL);
INSERT INTO "contents" VALUES(1,'c3',2,'c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3','image/png',26,NULL,1780000000000,1780000005000);
CREATE TABLE device_tags (
    hub_id INTEGER NOT NULL, tag TEXT NOT NULL, slice_key INTEGER NOT NULL,
    PRIMARY KEY (hub_id, tag, slice_key));
INSERT INTO "device_tags" VALUES(1,'username:ann',4242);
INSERT INTO "device_tags" VALUES(1,'$installationid:{phone-of-ann}',4242);
INSERT INTO "device_tags" VALUES(1,'news',-77);
INSERT INTO "device_tags" VALUES(1,'sports',99);
INSERT INTO "device_tags" VALUES(1,'$installationid:{parked}',5);
INSERT INTO "device_tags" VALUES(1,'$userid:{bob}',5);
INSERT INTO "device_tags" VALUES(1,'$installationid:{silent}',7);
CREATE TABLE devices (
    hub_id INTEGER NOT NULL, slice_key INTEGER NOT NULL, record_id TEXT NOT NULL, kind TEXT NOT NULL,
    platform TEXT NOT NULL, handle TEXT, environment TEXT, topic TEXT, tags TEXT NOT NULL,
    user_id TEXT, created_at INTEGER NOT NULL, registered_at INTEGER NOT NULL, expires_at INTEGER,
    parked_at INTEGER, version INTEGER NOT NULL,
    PRIMARY KEY (hub_id, slice_key), UNIQUE (hub_id, record_id));
INSERT INTO "devices" VALUES(1,4242,'phone-of-ann','installation','apns','00000000000000000000000000000000000000000000000000000000000000A1','sandbox',NULL,'username:ann',NULL,1780000000000,1780000000000,NULL,NULL,1);
INSERT INTO "devices" VALUES(1,-77,'twin-1','registration','apns','00000000000000000000000000000000000000000000000000000000000000B2',NULL,NULL,'news',NULL,1780000000000,1780000000000,NULL,NULL,1);
INSERT INTO "devices" VALUES(1,99,'twin-2','registration','apns','00000000000000000000000000000000000000000000000000000000000000B2',NULL,NULL,'sports',NULL,1780000000000,1780000000000,NULL,NULL,1);
INSERT INTO "devices" VALUES(1,5,'parked','installation','apns','00000000000000000000000000000000000000000000000000000000000000C3',NULL,NULL,'','bob',1780000000000,1780000000000,NULL,1780000009000,1);
INSERT INTO "devices" VALUES(1,6,'expiring','registration','apns','00000000000000000000000000000000000000000000000000000000000000D4',NULL,NULL,'',NULL,1780000000000,1780000000000,1790000000000,NULL,1);
INSERT INTO "devices" VALUES(1,7,'silent','installation','apns',NULL,NULL,NULL,'',NULL,1780000000000,1780000000000,NULL,NULL,1);
CREATE TABLE hubs (
    hub_id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, created_at INTEGER NOT NULL);
INSERT INTO "hubs" VALUES(1,'hub',1780000000000);
CREATE TABLE idempotency_keys (
    hub_id INTEGER NOT NULL, idempotency_key TEXT NOT NULL, digest BLOB NOT NULL,
    notification_id TEXT NOT NULL, due_at INTEGER NOT NULL, created_at INTEGER NOT NULL,
    PRIMARY KEY (hub_id, idempotency_key));
INSERT INTO "idempotency_keys" VALUES(1,'rich:1:00',X'0000000000000000000000000000000000000000000000000000000000000000','00000000-0000-4000-8000-000000000001',1780000001000,1780000001000);
CREATE TABLE installation_credentials (
    app_id INTEGER NOT NULL, installation_id TEXT NOT NULL, user_id INTEGER NOT NULL,
    digest BLOB NOT NULL, credential_version INTEGER NOT NULL, expires_at INTEGER NOT NULL,
    PRIMARY KEY (app_id, installation_id));
INSERT INTO "installation_credentials" VALUES(1,'phone-of-ann',1,X'0000000000000000000000000000000000000000000000000000000000000000',1,1787776000000);
CREATE TABLE notifications (
    hub_id INTEGER NOT NULL, notification_id TEXT NOT NULL, body BLOB NOT NULL,
    push_type TEXT NOT NULL, priority INTEGER NOT NULL, collapse_id TEXT, topic TEXT,
    expires_at INTEGER, audience TEXT, state TEXT NOT NULL, enqueued_at INTEGER NOT NULL,
    due_at INTEGER NOT NULL, started_at INTEGER, ended_at INTEGER, open_slices INTEGER NOT NULL, pushes_per_second INTEGER,
    PRIMARY KEY (hub_id, notification_id));
INSERT INTO "notifications" VALUES(1,'00000000-0000-4000-8000-000000000001',X'7B22617073223A7B7D7D','alert',10,NULL,NULL,NULL,'username:ann','completed',1780000001000,1780000001000,1780000001500,1780000003000,0,NULL);
CREATE TABLE pending_targets (
    hub_id INTEGER NOT NULL, notification_id TEXT NOT NULL, slice INTEGER NOT NULL,
    slice_key INTEGER NOT NULL, cause TEXT NOT NULL, attempts INTEGER NOT NULL,
    first_at INTEGER NOT NULL, not_before INTEGER NOT NULL,
    PRIMARY KEY (hub_id, notification_id, slice, slice_key));
CREATE TABLE read_marks (
    app_id INTEGER NOT NULL, user_id INTEGER NOT NULL, rich_id INTEGER NOT NULL,
    read_at INTEGER NOT NULL,
    PRIMARY KEY (app_id, user_id, rich_id));
INSERT INTO "read_marks" VALUES(1,1,1,1780000004000);
CREATE TABLE receipts (
    app_id INTEGER NOT NULL, receipt_key TEXT NOT NULL, rich_id INTEGER NOT NULL,
    user_id INTEGER NOT NULL, installation_id TEXT NOT NULL, kind TEXT NOT NULL, action TEXT,
    happened_at INTEGER NOT NULL, received_at INTEGER NOT NULL,
    PRIMARY KEY (app_id, receipt_key));
INSERT INTO "receipts" VALUES(1,'e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1',1,1,'phone-of-ann','opened',NULL,1780000004000,1780000004100);
CREATE TABLE repeat_keys (
    app_id INTEGER NOT NULL, user_id INTEGER NOT NULL, repeat_key TEXT NOT NULL,
    digest BLOB NOT NULL, rich_id INTEGER NOT NULL, created_at INTEGER NOT NULL,
    PRIMARY KEY (app_id, user_id, repeat_key));
INSERT INTO "repeat_keys" VALUES(1,2,'key-1',X'0000000000000000000000000000000000000000000000000000000000000000',1,1780000000000);
CREATE TABLE rich_notifications (
    app_id INTEGER NOT NULL, rich_id INTEGER NOT NULL, sender_id INTEGER NOT NULL,
    sender_name TEXT NOT NULL, kind TEXT NOT NULL, style TEXT NOT NULL, title TEXT, subtitle TEXT,
    message TEXT NOT NULL, alt_text TEXT, content_id TEXT, thumb_id TEXT, audience TEXT NOT NULL,
    due_at INTEGER NOT NULL, expires_at INTEGER, completed_at INTEGER, recalled_at INTEGER,
    tracking_id TEXT, refused INTEGER NOT NULL, push_body BLOB NOT NULL,
    push_type TEXT NOT NULL, priority INTEGER NOT NULL, collapse_id TEXT, hub_key TEXT NOT NULL,
    work TEXT, work_at INTEGER, ended_at INTEGER, pushes_per_second INTEGER,
    PRIMARY KEY (app_id, rich_id));
INSERT INTO "rich_notifications" VALUES(1,1,2,'Bob','img','alert','Title',NULL,'Message 1',NULL,'c1',NULL,'username:ann',1780000001000,NULL,1780000003000,NULL,'00000000-0000-4000-8000-000000000001',0,X'7B22617073223A7B22616C657274223A22596F7520686176652061206E6577206D657373616765222C226D757461626C652D636F6E74656E74223A317D7D','alert',10,NULL,'rich:1:00',NULL,NULL,1780000003000,NULL);
INSERT INTO "rich_notifications" VALUES(1,2,2,'Bob','img','alert','Title',NULL,'Message 2',NULL,'c2',NULL,'username:ann',1780000002000,NULL,NULL,NULL,NULL,1,X'7B22617073223A7B22616C657274223A22596F7520686176652061206E6577206D657373616765222C226D757461626C652D636F6E74656E74223A317D7D','alert',10,NULL,'rich:2:00',NULL,NULL,1780000002000,NULL);
INSERT INTO "rich_notifications" VALUES(1,3,2,'Bob','img','alert','Title',NULL,'Message 3',NULL,'c3',NULL,'username:ann',1780000003000,NULL,NULL,1780000005000,'00000000-0000-4000-8000-000000000003',0,X'7B22617073223A7B22616C657274223A22596F7520686176652061206E6577206D657373616765222C226D757461626C652D636F6E74656E74223A317D7D','alert',10,NULL,'rich:3:00',NULL,NULL,1780000005000,NULL);
INSERT INTO "rich_notifications" VALUES(1,4,2,'Bob','img','alert','Title',NULL,'Message 4',NULL,'c1',NULL,'username:ann',1780000004000,NULL,NULL,NULL,'00000000-0000-4000-8000-000000000004',0,X'7B22617073223A7B22616C657274223A22596F7520686176652061206E6577206D657373616765222C226D757461626C652D636F6E74656E74223A317D7D','alert',10,NULL,'rich:4:00','track',1780000006000,NULL,NULL);
CREATE TABLE schema_steps (
    number INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL);
INSERT INTO "schema_steps" VALUES(1,'hub tables',1780000000000);
INSERT INTO "schema_steps" VALUES(2,'backend tables',1780000000000);
INSERT INTO "schema_steps" VALUES(3,'retention',1780000000000);
INSERT INTO "schema_steps" VALUES(4,'pace of a send',1780000000000);
CREATE TABLE slices (
    hub_id INTEGER NOT NULL, notification_id TEXT NOT NULL, slice INTEGER NOT NULL,
    cursor_key INTEGER NOT NULL, last_key INTEGER NOT NULL, weight INTEGER NOT NULL,
    walked INTEGER NOT NULL, failures INTEGER NOT NULL, stalled_since INTEGER,
    ready_at INTEGER NOT NULL, epoch INTEGER NOT NULL, owner TEXT, leased_until INTEGER,
    PRIMARY KEY (hub_id, notification_id, slice));
CREATE TABLE tallies (
    hub_id INTEGER NOT NULL, notification_id TEXT NOT NULL, slice INTEGER NOT NULL,
    outcome TEXT NOT NULL, targets INTEGER NOT NULL,
    PRIMARY KEY (hub_id, notification_id, slice, outcome));
INSERT INTO "tallies" VALUES(1,'00000000-0000-4000-8000-000000000001',0,'accepted',1);
CREATE TABLE user_tags (
    app_id INTEGER NOT NULL, user_id INTEGER NOT NULL, audience_key TEXT NOT NULL,
    PRIMARY KEY (app_id, user_id, audience_key));
INSERT INTO "user_tags" VALUES(1,1,'t:username:ann');
INSERT INTO "user_tags" VALUES(1,1,'t:news');
CREATE TABLE users (
    app_id INTEGER NOT NULL, user_id INTEGER NOT NULL, name TEXT NOT NULL, folded_name TEXT NOT NULL,
    role TEXT NOT NULL, password_hash TEXT, credential_version INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (app_id, user_id), UNIQUE (app_id, folded_name));
INSERT INTO "users" VALUES(1,1,'ann','ann','user','$scrypt$ln=14,r=8,p=1$ZbWJhKUuzMdWk3gdnHLAHQ$IbbVUMwnszGR0PJa5ey2M1AyXkPAtGXk1-fMRDwFOzg',1,1780000000000);
INSERT INTO "users" VALUES(1,2,'Bob','bob','sender',NULL,1,1780000000000);
CREATE INDEX devices_by_handle ON devices (hub_id, platform, handle, slice_key);
CREATE INDEX notifications_by_end ON notifications (ended_at);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);
CREATE INDEX slices_by_turn ON slices (weight, ready_at);
CREATE INDEX installation_credentials_by_user ON installation_credentials (app_id, user_id);
CREATE INDEX installation_credentials_by_expiry ON installation_credentials (app_id, expires_at);
CREATE UNIQUE INDEX bindings_that_hold ON bindings (app_id, record_id) WHERE until_at IS NULL;
CREATE INDEX bindings_by_record ON bindings (app_id, record_id, binding_id);
CREATE INDEX bindings_by_handle ON bindings (app_id, platform, handle) WHERE until_at IS NULL;
CREATE INDEX bindings_by_user ON bindings (app_id, user_id, binding_id);
CREATE INDEX contents_by_digest ON contents (digest);
CREATE INDEX contents_by_expiry ON contents (expires_at);
CREATE INDEX rich_notifications_by_work ON rich_notifications (app_id, work_at) WHERE work IS NOT NULL;
CREATE INDEX rich_notifications_by_content ON rich_notifications (app_id, content_id);
CREATE INDEX rich_notifications_by_thumb ON rich_notifications (app_id, thumb_id);
CREATE INDEX repeat_keys_by_age ON repeat_keys (app_id, created_at);
CREATE INDEX receipts_by_notification ON receipts (app_id, rich_id, kind, installation_id);
CREATE INDEX rich_notifications_by_end ON rich_notifications (app_id, ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX rich_notifications_by_expiry ON rich_notifications (app_id, expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX rich_notifications_by_due ON rich_notifications (app_id, due_at);
CREATE INDEX audience_index_by_notification ON audience_index (app_id, rich_id);
CREATE INDEX read_marks_by_notification ON read_marks (app_id, rich_id);
CREATE INDEX bindings_by_end ON bindings (app_id, until_at) WHERE until_at IS NOT NULL;
CREATE INDEX backend_audit_by_age ON backend_audit (app_id, happened_at);
CREATE INDEX contents_by_owner ON contents (app_id, owner_id, expires_at, byte_count);
COMMIT;
