-- The rows, for both engines. The master key is 32 bytes of 7. Passwords are "password of ann" and "password of bob".
INSERT INTO schema_steps (number, name, applied_at) VALUES
(1, 'first release', 1795000000000);
INSERT INTO hubs (hub_id, name, title, user_metadata, registration_lifetime, allows_protected_tags, apns_credential, version, created_at, updated_at, removed_at, is_cleared) VALUES
(1, 'hub', 'hub', NULL, NULL, 0, NULL, 1, 1795000000000, NULL, NULL, 0),
(2, 'shop', 'Shop', 'owner: ops', 7776000000, 1, 'v1.fc6282ff.Glo0k6Ur57MpDnZRdAngGz2X5ZNNbw39z_rH_kIujLHMIxwu8187dml6BSFuKDvfr8f4nEf4UmBgZGAP1ubYaP9So4cnCZQ0IYAyWIhgPH_YybjN5N1ddl_ZoUexWrstOHVzJ7Ka3Gy3Hx4lEyLShGgIaGeUnPW9xVkSU8cMKBfHyCihqMfuM56WT7NSsjbhV0VxZZeU-OuN5isPN0Xk_n-qVdZsX7EG1swPuQmWRkIv0iBa_MRWTD3UrATh0QDm7s5WP4wz-55x9MQkfS8XeaK5vXNg7UWeLPIKFwo_GA5A4EwwwORtxiBrBc95_209127_dm2ajRGOcc6hOK6p8xR6MEBnqD337XVJUwk0_X2UyEup0G_nvo2SYCvmvlTyO9Fb1BZ-yZk1zFoWlTITSoIfc5zzeE6kgDeX8hEdpmXotzZ7e0Hk6Md-69K9_wsLI3K3E7sZrI3eqd6Le4V2sOz8DBMlu78gpOcBH9T4cd2IjQUthrkxLsrxZfWsIdi4ZO2yTrUM3gko1nEjAJwrHcamx_FZLdGlAXYRnw', 3, 1795000000000, 1795000001000, NULL, 0),
(3, 'removed:3', NULL, NULL, NULL, 0, NULL, 2, 1795000000000, 1795000002000, 1795000002000, 1);
INSERT INTO hub_rules (hub_id, name, rights, primary_key, secondary_key, created_at, updated_at) VALUES
(0, 'RootManageSharedAccessKey', 'Listen,Send,Manage', 'v1.fc6282ff.EBRGdfeWdLvelU6RY3mwXamQGIFctkdLIwQC8D76nc4vSvOKwefw3jPxx3SQ5A7gGp4EH14ACPZmxBNcuj8CaAuuCoZuQrKv', 'v1.fc6282ff.4cYZtWso6aOe2Prh6M9X7cB09TL7fghpdF57k0IqefqnEJeG3O6pc-mPrbhdr37XabnM1kekn1qjaGWdnNtryz_eTMI9Drui', 1795000000000, 1795000000000),
(1, 'DefaultFullSharedAccessSignature', 'Listen,Send,Manage', 'v1.fc6282ff.RnbR5s_3cu7yjGAlBLEqSyUKmt9hVq9CMrAND5OL70LoTAoUH1Fss6Y6o8X7V-QdJ5CGPMYlggScQKe8nYIdANXYfGG81OcH', 'v1.fc6282ff.O1dMRKevYwA8gdUyR5Fciv_yvS-ot98BhNaX3dnQxlREEKDWiTy9o25-_Gcksuv0E2sdgk1tplHcZ9wiPzhKXCTjPiOYeXzF', 1795000000000, 1795000000000),
(1, 'DefaultListenSharedAccessSignature', 'Listen', 'v1.fc6282ff.oz7O0I0bRZfuaZ4_ZQFkz_XyiHTR31TdNfcZ-K3dClextxKX1-7lsg7aDj_rXo_ECpH1DXdOX_gzryv2yxR4u4oIkMHBPD33', 'v1.fc6282ff.tLNoxqRx05BNqw-sB10P4B2uQC8yhNUC4Dt98GgLKOsIyjJPoBXuF4kjzGYZDj13lOXzAl3HxBNLhID4BpYJ4SunKcOv1KBh', 1795000000000, 1795000000000),
(2, 'sender', 'Send', 'v1.fc6282ff.9n0i6vLVsVKubZncl6uksGRPXwb-VtOb9rb9EpziqWhwSMZpVwjIbzR6rbVxtH9leALA8jUSIwtP5XT5qZzz1cBgHxea3VBJ', 'v1.fc6282ff.LrlsicxJ2-MFejC1ehs-HzAAJ-zVwGP7o6bHE5Qx1n2Uq0yIgnfpNxDqoEjk3xFG3TZ_w7Ekrg5sUYmHiPKaAQthOAWwma66', 1795000000000, 1795000000000);
INSERT INTO devices (hub_id, slice_key, record_id, kind, platform, handle, environment, topic, tags, user_id, order_number, registered_at, expires_at, inactive_at, version, form, template_id, parent, shares_handle, own_tags, push_variables, details, created_at) VALUES
(1, -5236052237169450037, 'phone-of-ann', 'installation', 'apns', '00000000000000000000000000000000000000000000000000000000000000A1', 'sandbox', 'org.example.app', 'username:ann', NULL, 4398046511105, 1795000000000, NULL, NULL, 2, 0, NULL, NULL, 0, NULL, NULL, NULL, 1795000000000),
(1, 7926179217202046685, 'twin-1', 'registration', 'apns', '00000000000000000000000000000000000000000000000000000000000000B2', NULL, NULL, 'news', NULL, 4398046511104, 1795000000000, NULL, NULL, 1, 0, NULL, NULL, 1, NULL, NULL, NULL, 1795000000000),
(1, -6358234242600775585, 'twin-2', 'registration', 'apns', '00000000000000000000000000000000000000000000000000000000000000B2', NULL, NULL, 'Sports', NULL, 4398046511104, 1795000000000, NULL, NULL, 1, 0, NULL, NULL, 1, NULL, NULL, NULL, 1795000000000),
(1, -3386102082194204853, 'inactive', 'installation', 'apns', '00000000000000000000000000000000000000000000000000000000000000C3', NULL, NULL, '', 'Bob-at-work', 4398046511104, 1795000000000, NULL, 1795000009000, 1, 0, NULL, NULL, 0, NULL, NULL, NULL, 1795000000000),
(1, 1735864142464835201, 'expiring', 'registration', 'apns', '00000000000000000000000000000000000000000000000000000000000000D4', NULL, NULL, '', NULL, 4398046511104, 1795000000000, 4102444800000, NULL, 1, 0, NULL, NULL, 0, NULL, NULL, NULL, 1795000000000),
(1, 6528987770063866927, 'silent', 'installation', 'apns', NULL, NULL, NULL, '', NULL, 4398046511104, 1795000000000, NULL, NULL, 1, 0, NULL, NULL, 0, NULL, NULL, NULL, 1795000000000),
(1, 8631080389501274157, 'templated', 'registration', 'apns', '00000000000000000000000000000000000000000000000000000000000000E5', NULL, NULL, 'news', NULL, 4398046511104, 1795000000000, NULL, NULL, 1, -9139628879584813743, 3270490450728804312, NULL, 0, NULL, NULL, '{"deviceModel":"phone"}', 1795000000000),
(1, 6624097675499622442, 'tablet', 'installation', 'apns', '00000000000000000000000000000000000000000000000000000000000000F6', NULL, NULL, 'news', NULL, 4398046511104, 1795000000000, NULL, NULL, 1, 0, NULL, NULL, 0, NULL, '{"name":"Tablet"}', NULL, 1795000000000),
(1, 223394517268192585, '~55d569b702058d349ade5b72f7612cd3', 'installation', 'apns', '00000000000000000000000000000000000000000000000000000000000000F6', NULL, NULL, 'news,evening,greeting', NULL, 4398046511104, 1795000000000, NULL, NULL, 1, -9139628879584813743, 3270490450728804312, 'tablet', 0, 'evening', NULL, NULL, 1795000000000);
INSERT INTO device_tags (hub_id, tag, slice_key) VALUES
(1, '$installationid:{phone-of-ann}', -5236052237169450037),
(1, 'username:ann', -5236052237169450037),
(1, 'news', 7926179217202046685),
(1, 'sports', -6358234242600775585),
(1, '$installationid:{inactive}', -3386102082194204853),
(1, '$userid:{bob-at-work}', -3386102082194204853),
(1, '$installationid:{silent}', 6528987770063866927),
(1, 'news', 8631080389501274157),
(1, '$installationid:{tablet}', 6624097675499622442),
(1, 'news', 6624097675499622442),
(1, '$installationid:{tablet}', 223394517268192585),
(1, 'evening', 223394517268192585),
(1, 'greeting', 223394517268192585),
(1, 'news', 223394517268192585);
INSERT INTO device_templates (hub_id, template_id, name, body, headers, expiry, priority) VALUES
(1, 3270490450728804312, 'greeting', '{"aps":{"alert":"$(message)"}}', '[["apns-priority", "10"]]', NULL, NULL);
INSERT INTO feedback (hub_id, platform, handle, record_id, installation_id, notification_id, reason, noted_at) VALUES
(1, 'apns', '00000000000000000000000000000000000000000000000000000000000000C3', 'inactive', 'inactive', '00000000-0000-4000-8000-000000000001', 'bad-token', 1795000009000);
INSERT INTO jobs (hub_id, number, kind, state, output, folder, inputs, total, done, file, line, file_offset, cursor_key, succeeded, failed, output_size, failed_size, pending_output, pending_failed, failure, owner, leased_until, ready_at, epoch, attempts, created_at, updated_at) VALUES
(1, 1, 'export', 'completed', 'exports', 'hub', '', 9, 9, 0, 0, 0, 6624097675499622442, 9, 0, 1234, 0, '', '', NULL, NULL, NULL, 1795000000000, 1, 0, 1795000000000, 1795000000100),
(1, 2, 'import-upsert', 'failed', 'imports', 'hub', 'imports/registrations.txt', 80, 40, 0, 1, 40, -9223372036854775808, 1, 0, 40, 0, '', '', 'the file to import is gone', NULL, NULL, 1795000000000, 2, 5, 1795000000000, 1795000000200);
INSERT INTO hub_files (hub_id, last_job, feedback_mark) VALUES
(1, 2, 1);
INSERT INTO notifications (hub_id, notification_id, format, body, push_type, priority, collapse_id, topic, expires_at, audience, is_direct, targets, pushes_per_second, state, open_slices, enqueued_at, due_at, started_at, ended_at, order_mark, end_order, languages) VALUES
(1, '00000000-0000-4000-8000-000000000001', 'apns', X'7B22617073223A7B22616C657274223A22596F7520686176652061206E6577206D657373616765222C226D757461626C652D636F6E74656E74223A317D7D', 'alert', 10, NULL, NULL, NULL, 'username:ann', 0, 1, NULL, 'completed', 0, 1795000001000, 1795000001000, 1795000001100, 1795000003000, 4398046511106, 4398046511107, NULL),
(1, '00000000-0000-4000-8000-000000000004', 'apns', X'7B22617073223A7B22616C657274223A22596F7520686176652061206E6577206D657373616765222C226D757461626C652D636F6E74656E74223A317D7D', 'alert', 10, NULL, NULL, NULL, 'username:ann', 0, 1, NULL, 'completed', 0, 1795000004000, 1795000004000, 1795000004100, 1795000004500, 4398046511109, 4398046511110, NULL),
(1, '00000000-0000-4000-8000-000000000005', 'template', X'7B226D657373616765223A22476F6F64206D6F726E696E67227D', 'alert', 10, 'greeting', NULL, 1795086400000, 'greeting', 0, 2, NULL, 'completed', 0, 1795000005000, 1795000005000, 1795000005100, 1795000005500, 4398046511111, 4398046511112, NULL),
(1, '00000000-0000-4000-8000-000000000006', 'apns', X'7B22617073223A7B22616C657274223A22596F7520686176652061206E6577206D657373616765222C226D757461626C652D636F6E74656E74223A317D7D', 'alert', 10, NULL, NULL, NULL, NULL, 0, 8, 100, 'dispatching', 2, 1795000006000, 1795000006000, 1795000006100, NULL, 4398046511113, NULL, 'de'),
(1, '00000000-0000-4000-8000-000000000007', 'apns', X'7B22617073223A7B22616C657274223A22596F7520686176652061206E6577206D657373616765222C226D757461626C652D636F6E74656E74223A317D7D', 'alert', 10, NULL, NULL, NULL, NULL, 1, 2, NULL, 'scheduled', 1, 1795000006500, 4102444800000, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tallies (hub_id, notification_id, slice, platform, outcome, targets) VALUES
(1, '00000000-0000-4000-8000-000000000001', 0, 'apns', 'accepted', 1),
(1, '00000000-0000-4000-8000-000000000004', 0, 'apns', 'accepted', 1),
(1, '00000000-0000-4000-8000-000000000005', 0, 'apns', 'rejected', 1),
(1, '00000000-0000-4000-8000-000000000005', 0, 'apns', 'accepted', 1),
(1, '00000000-0000-4000-8000-000000000006', 0, 'apns', 'accepted', 1);
INSERT INTO group_tallies (hub_id, notification_id, slice, group_number, outcome, targets) VALUES
(1, '00000000-0000-4000-8000-000000000001', 0, 1, 'accepted', 1);
INSERT INTO outcome_reports (hub_id, notification_id, noted_at, body) VALUES
(1, '00000000-0000-4000-8000-000000000006', 1795000006200, 'accepted		templated');
INSERT INTO outcome_reasons (hub_id, notification_id, slice, platform, outcome, reason, targets) VALUES
(1, '00000000-0000-4000-8000-000000000005', 0, 'apns', 'rejected', 'TopicDisallowed', 1);
INSERT INTO target_failures (hub_id, notification_id, slice, slice_key, platform, record_id, outcome, reason) VALUES
(1, '00000000-0000-4000-8000-000000000005', 0, 8631080389501274157, 'apns', 'templated', 'rejected', 'TopicDisallowed');
INSERT INTO slices (hub_id, notification_id, slice, cursor_key, last_key, weight, pushes_per_second, walked, failures, stalled_since, wait, ready_at, epoch, owner, leased_until) VALUES
(1, '00000000-0000-4000-8000-000000000006', 0, -5236052237169450037, -1, 0, 50, 2, 1, 1795000006200, 'push-service TooManyRequests', 1795000007000, 1, NULL, NULL),
(1, '00000000-0000-4000-8000-000000000006', 1, -1, 9223372036854775807, 0, 50, 0, 0, NULL, NULL, 1795000006000, 1, 'old-node', 1795000066000),
(1, '00000000-0000-4000-8000-000000000007', 0, 0, 2, -1, NULL, 0, 0, NULL, NULL, 4102444800000, 0, NULL, NULL);
INSERT INTO pending_targets (hub_id, notification_id, slice, slice_key, cause, attempts, unanswered, reason, first_at, not_before) VALUES
(1, '00000000-0000-4000-8000-000000000006', 0, -5236052237169450037, 'retry', 1, 0, 'TooManyRequests', 1795000006200, 1795000007000);
INSERT INTO notification_zones (hub_id, notification_id, time_zone, moment) VALUES
(1, '00000000-0000-4000-8000-000000000006', '', 1795000006000),
(1, '00000000-0000-4000-8000-000000000006', 'Europe/Berlin', 1795000006000);
INSERT INTO notification_translations (hub_id, notification_id, number, body) VALUES
(1, '00000000-0000-4000-8000-000000000006', 1, X'7B22617073223A7B22616C657274223A22486A227D7D');
INSERT INTO direct_handles (hub_id, notification_id, position, handle) VALUES
(1, '00000000-0000-4000-8000-000000000007', 1, '00000000000000000000000000000000000000000000000000000000000000A1'),
(1, '00000000-0000-4000-8000-000000000007', 2, '00000000000000000000000000000000000000000000000000000000000000B2');
INSERT INTO frequency_counts (hub_id, cap, recipient, notification_id, counted_at, counts_until) VALUES
(1, 'marketing', 'username:ann', '00000000-0000-4000-8000-000000000001', 1795000001100, 1795604801100);
INSERT INTO idempotency_keys (hub_id, idempotency_key, digest, notification_id, due_at, created_at, answer) VALUES
(1, 'rich:1:0a0b', X'25FB250F94690AE555ECA14555BDC11D12CE37124AF43C59222467686169A85D', '00000000-0000-4000-8000-000000000001', 1795000001000, 1795000001000, NULL),
(1, 'rich:4:0a0b', X'F7997065F8FAA62117D54247D7E61A60DBCDFF5EFA70DFD5E470D756B14B31AF', '00000000-0000-4000-8000-000000000004', 1795000004000, 1795000004000, NULL),
(1, 'test:1', X'01', '00000000-0000-4000-8000-000000000009', 1795000000000, 1795000000000, X'7B22726573756C7473223A5B5D7D');
INSERT INTO backend_counters (app_id, name, last_number) VALUES
(1, 'user', 4),
(1, 'binding', 3),
(1, 'content', 4),
(1, 'notification', 4),
(1, 'activity', 1),
(1, 'channel', 1),
(1, 'service-key', 1);
INSERT INTO users (app_id, user_id, name, folded_name, role, password_hash, credential_version, created_at, order_number) VALUES
(1, 1, 'ann', 'ann', 'user', '$scrypt$ln=14,r=8,p=5$pdOvzu1JgyavqegChXPcNg$oS3w4_6HsEXgjF-6qyTAVYHwh_6JOx4WzlFr5ZMxL70', 1, 1795000000000, 4398046511104),
(1, 2, 'Bob', 'bob', 'sender', '$scrypt$ln=14,r=8,p=5$-WD1n4fxoGWu8NWa23b_cg$hfvTryVDu5IyhE5YZndilFmQ4ywZ35Udy-i9omgT9NU', 2, 1795000000000, 4398046511104),
(1, 4, '@shop', '@shop', 'service', NULL, 1, 1795000000000, 4398046511104);
INSERT INTO installation_credentials (app_id, installation_id, user_id, digest, credential_version, expires_at) VALUES
(1, 'phone-of-ann', 1, X'4E3E9D396B7B5AE998F79D2F851343E807BBA0C045FCC1F5C95E1BE8B4198A0E', 1, 4102444800000);
INSERT INTO sign_in_counts (app_id, account, source, failures, last_at, blocked_until, known_until, idle_at) VALUES
(1, '0ef7df9e364acb4b07f2bf7490989c5e', '192.0.2.0/24', 2, 1795000000000, 0, 1797592000000, 1797592000000),
(1, '0ef7df9e364acb4b07f2bf7490989c5e', '', 2, 1795000000000, 0, 0, 1795003600000),
(1, '', '192.0.2.0/24', 2, 1795000000000, 0, 0, 1795003600000);
INSERT INTO bindings (app_id, binding_id, user_id, record_id, kind, platform, handle, environment, topic, tags, sealing_key, facts, from_at, until_at, from_order, until_order) VALUES
(1, 1, 1, 'phone-of-ann', 'installation', 'apns', '00000000000000000000000000000000000000000000000000000000000000A1', 'sandbox', 'org.example.app', 'username:ann,news', NULL, NULL, 1795000000000, 1795000000500, 4398046511104, 4398046511105),
(1, 2, 1, 'phone-of-ann', 'installation', 'apns', '00000000000000000000000000000000000000000000000000000000000000A1', 'sandbox', 'org.example.app', 'username:ann', 'JX2BiNOYF1sgK15Mw+KZV6ZtuzWMl9lY3g+15Zi29nU=', '{"appVersion":"1.0","locale":"en_GB"}', 1795000000500, NULL, 4398046511105, NULL),
(1, 3, 2, 'old-registration', 'registration', 'apns', '0000000000000000000000000000000000000000000000000000000000000077', NULL, NULL, 'username:Bob', NULL, NULL, 1795000000000, 1795000000600, 4398046511104, 4398046511105);
INSERT INTO user_tags (app_id, user_id, audience_key) VALUES
(1, 1, 't:news'),
(1, 1, 't:username:ann'),
(1, 2, 't:username:bob');
INSERT INTO device_changes (app_id, record_id, mark, begun_at) VALUES
(1, 'old-registration', 77, 1795000000600);
INSERT INTO contents (app_id, content_id, owner_id, digest, media_type, byte_count, file_name, created_at, expires_at) VALUES
(1, 'd0f631ca1ddba8db3bcfcb9e057cdc98', 2, '0c3abdffe9c110bc31b3240e4264806fca0c9a0d2d6371e71eb2182909d23162', 'image/png', 24, 'one.png', 1795000000000, NULL),
(1, '9c0abe51c6e6655d81de2d044d4fb194', 2, 'dbd14d0aea9763dd5b790b461595a7768db1a55bf283c715c2225251e01a33b0', 'image/png', 24, NULL, 1795000000000, NULL),
(1, '7c1c97df17c066924822b0af09a65251', 2, '76da3a0dcc0ef52eaa60ed53bf589a5af69a7392070860f02f7631fa3c5badb1', 'image/png', 24, NULL, 1795000000000, 1795086400000),
(1, '0012a3fa000c5dc26ee658c3c58e12ce', 2, '9d62127269f4971a20f4229a6e365cf05b3b1661ce1f55b501c33e5f43d7d735', 'image/png', 24, 'thumb.png', 1795000000000, NULL);
INSERT INTO content_orphans (digest) VALUES
('88f6811ab5d8fc6d3177f9b7609ae0fcebfda187e5046b62d38bb539e88b74d7');
INSERT INTO rich_notifications (app_id, rich_id, sender_id, sender_name, kind, style, title, subtitle, message, alt_text, content_id, thumb_id, audience, due_at, expires_at, completed_at, recalled_at, refused, ended_at, start_order, end_order, push_body, push_type, priority, collapse_id, pushes_per_second, hub_key, tracking_id, work, work_at, languages) VALUES
(1, 1, 2, 'Bob', 'img', 'alert', 'Title', NULL, 'Message 1', 'A picture', 'd0f631ca1ddba8db3bcfcb9e057cdc98', '0012a3fa000c5dc26ee658c3c58e12ce', 'username:ann', 1795000001000, NULL, 1795000003000, NULL, 0, 1795000003000, 4398046511106, 4398046511107, X'7B22617073223A7B22616C657274223A22596F7520686176652061206E6577206D657373616765222C226D757461626C652D636F6E74656E74223A317D2C22726963684964223A317D', 'alert', 10, NULL, 100, 'rich:1:0a0b', '00000000-0000-4000-8000-000000000001', NULL, NULL, NULL),
(1, 2, 2, 'Bob', 'img', 'alert', 'Title', NULL, 'Message 2', NULL, '9c0abe51c6e6655d81de2d044d4fb194', NULL, 'username:ann', 1795000002000, NULL, NULL, NULL, 1, 1795000002000, 4398046511107, NULL, X'7B22617073223A7B22616C657274223A22596F7520686176652061206E6577206D657373616765222C226D757461626C652D636F6E74656E74223A317D2C22726963684964223A327D', 'alert', 10, NULL, NULL, 'rich:2:0a0b', NULL, NULL, NULL, NULL),
(1, 3, 2, 'Bob', 'img', 'alert', 'Title', NULL, 'Message 3', NULL, '7c1c97df17c066924822b0af09a65251', NULL, 'username:ann', 1795000003000, 4102444800000, NULL, 1795000005000, 0, 1795000005000, 4398046511108, NULL, X'7B22617073223A7B22616C657274223A22596F7520686176652061206E6577206D657373616765222C226D757461626C652D636F6E74656E74223A317D2C22726963684964223A337D', 'alert', 10, NULL, NULL, 'rich:3:0a0b', '00000000-0000-4000-8000-000000000003', NULL, NULL, NULL),
(1, 4, 2, 'Bob', 'img', 'alert', 'Title', NULL, 'Message 4', NULL, 'd0f631ca1ddba8db3bcfcb9e057cdc98', NULL, 'username:ann', 1795000004000, NULL, NULL, NULL, 0, NULL, 4398046511109, NULL, X'7B22617073223A7B22616C657274223A22596F7520686176652061206E6577206D657373616765222C226D757461626C652D636F6E74656E74223A317D2C22726963684964223A347D', 'alert', 10, NULL, NULL, 'rich:4:0a0b', '00000000-0000-4000-8000-000000000004', 'track', 1795000006000, 'de');
INSERT INTO rich_translations (app_id, translation_id, sender_id, title, subtitle, message, alt_text, content_id, thumb_id, push_body) VALUES
(1, 256, 2, 'Titel', NULL, 'Nachricht 4', NULL, 'd0f631ca1ddba8db3bcfcb9e057cdc98', NULL, X'7B22617073223A7B22616C657274223A22486A227D7D');
INSERT INTO content_claims (app_id, content_id, holder) VALUES
(1, 'd0f631ca1ddba8db3bcfcb9e057cdc98', 'send 1'),
(1, '0012a3fa000c5dc26ee658c3c58e12ce', 'send 1'),
(1, 'd0f631ca1ddba8db3bcfcb9e057cdc98', 'send 4');
INSERT INTO audience_index (app_id, audience_key, rich_id) VALUES
(1, 's:2', 1),
(1, 't:username:ann', 1),
(1, 's:2', 2),
(1, 't:username:ann', 2),
(1, 's:2', 3),
(1, 't:username:ann', 3),
(1, 's:2', 4),
(1, 't:username:ann', 4);
INSERT INTO repeat_keys (app_id, user_id, repeat_key, digest, rich_id, created_at) VALUES
(1, 2, 'key-1', X'AD1B9DE910513527B407147D7A05569066C1A50CCEABA3E118DF6B13F49E749C', 1, 1795000001000);
INSERT INTO schedules (app_id, schedule_id, revision, owner_id, owner_name, request, audience, state, occurrence, due_at, attempt_at, sent, missed, last_rich_id, fault, repeat_key, repeat_digest, created_at, asked_at, ended_at) VALUES
(1, 1, 3, 2, 'bob', '{"localTime":"2026-12-24T18:00","notification":{"message":"Every week"},"repeat":"FREQ=WEEKLY","timeZone":"Europe/Berlin"}', 'username:ann', 'waiting', 2, 4102444800000, 4102444800000, 2, 0, 4, NULL, 'key-2', X'AD1B9DE910513527B407147D7A05569066C1A50CCEABA3E118DF6B13F49E749C', 1795000001000, 1795000001000, NULL);
INSERT INTO activities (app_id, activity_id, owner_id, owner_name, attributes_type, attributes, starts_by_push, audience, content, phase, revision, published, stamp, start_send, update_send, fault, repeat_key, repeat_digest, created_at, ended_at, work_at, claimed_until, channel_id, urgent_full_at, demoted) VALUES
(1, 1, 2, 'bob', 'DeliveryAttributes', '{"order":"4711"}', 1, 'username:ann', '{"priority":5,"state":{"stage":"on the way"}}', 'active', 2, 2, 1795000001, NULL, NULL, NULL, 'key-3', X'AD1B9DE910513527B407147D7A05569066C1A50CCEABA3E118DF6B13F49E749C', 1795000001000, NULL, NULL, NULL, 1, 0, 3);
INSERT INTO channels (app_id, channel_id, owner_id, name, apns_channel, keeps_latest, created_at, remove_at) VALUES
(1, 1, 2, 'the match', 'dGhlIG1hdGNo', 1, 1795000000000, NULL);
INSERT INTO installation_tokens (app_id, token_key, record_id, kind, user_id, handle, state, revision, activity_id, reported_at, catch_up_at, catch_up_mark) VALUES
(1, 'phone-of-ann activity:1', 'phone-of-ann', 'activity:1', 1, 'AB01CD', 'active', 2, 1, 1795000001000, NULL, NULL),
(1, 'phone-of-ann start:DeliveryAttributes', 'phone-of-ann', 'start:DeliveryAttributes', 1, 'AB01CE', '', NULL, NULL, 1795000001000, NULL, NULL);
INSERT INTO message_templates (app_id, name, version, content, created_by, created_at) VALUES
(1, 'order-shipped', 1, '{"defaults":{},"notification":{"message":"Order {{order}} is on its way."}}', 'user Bob', 1795000000000),
(1, 'order-shipped', 2, '{"defaults":{"order":"4711"},"notification":{"message":"Your order {{order}} is on its way."}}', 'user Bob', 1795000001000);
INSERT INTO webhooks (app_id, webhook_id, url, events, description, state, fault, salt, former_salt, former_until, created_at) VALUES
(1, 1, 'https://shop.example.org/events', ' send.ended receipts.recorded ', 'The shop', 'enabled', NULL, X'07070707070707070707070707070707', X'08080808080808080808080808080808', 4102444800000, 1795000000000);
INSERT INTO webhook_leases (app_id, webhook_id, owner, leased_until, paused_until, pauses, failures) VALUES
(1, 1, NULL, 0, 4102444800000, 2, 21);
INSERT INTO webhook_deliveries (app_id, webhook_id, event_id, kind, subject, user_name, data, happened_at, state, due_at, attempts, tried_at, status, duration, answer) VALUES
(1, 1, 'evt_00000000000000000000000000000001', 'receipts.recorded', 'phone-of-ann', 'ann', '{"installation":"phone-of-ann","receipts":[{"at":1795000004000,"kind":"opened","send":"1"}],"user":"ann"}', 1795000004100, 'waiting', 4102444800000, 1, 1795000004200, 500, 12, 'out of order');
INSERT INTO read_marks (app_id, user_id, rich_id, read_at) VALUES
(1, 1, 1, 1795000004000);
INSERT INTO receipts (app_id, receipt_key, rich_id, user_id, installation_id, kind, action, happened_at, received_at) VALUES
(1, 'd546526a208fff130f819e8f85a8ec382d1c8dc0422865960cf2450257e1d3ce', 1, 1, 'phone-of-ann', 'opened', NULL, 1795000004000, 1795000004100);
INSERT INTO service_keys (app_id, key_id, account_id, name, digest, hint, scopes, networks, requests_per_minute, created_by, created_at, expires_at, revoked_at, last_used_at, last_used_from) VALUES
(1, 1, 4, 'shop', X'97BE80E882F9141F894BBF9095F5286417FBCE5C82F4AA0C1D853C0B84DBF7CA', 'clk_…cghw', 'send', '', NULL, 'a command', 1795654854449, 1827190853906, NULL, NULL, NULL);
INSERT INTO audit_entries (app_id, entry_id, happened_at, action, actor_kind, actor_name, subject_name, object, actor, actor_salt, actor_hash, subject, subject_salt, subject_hash, details, details_salt, details_hash, number, hash) VALUES
(1, 'b1a6f0840cfe4850470e2d56399aac37', 1795654854449, 'key.created', 'command', NULL, 'shop', '1', '', X'56770A249C2CE7748C77A65A4923A981', X'AF489C778CE92F363DCBE1C5BF56E4319CC4E5C54A260FC199BA8BFE6FAA2936', 'shop', X'60439D48A530560B9BB2F58D1D7624E4', X'9A3082BAE06F0978446C98975D4533E6B6837111769A7951B1029917D36162E5', 'scopes=send', X'A16D84120C3298B61DA50DDE9D01DD2C', X'91D4A85702B161B1EA7F51DE43D447534F06F3EEFB0B9BE7CEBF5A5F80A2A9A0', 1, X'1BEB0A870564F6E7B399363EA84A96A5F352D936DDC692A8FA6FCA54B2B20D09'),
(1, 'c9a683a276a67a47889ae9de4367bedc', 1795654855280, 'send.ended', 'server', NULL, NULL, '4', '', X'218E1887AE3A4DE52FC3DBC1819A1959', X'9A96BE975A28F79729D0142F3FD78D134B59E7CD34E12A62FA0E4F088A7F0561', '', X'7A4A90C66592E2987E4CC3D9FA117DE8', X'2AE82B1DE20B532698998E35D79158FA73305744FF84E565BDBC1D3081338F6F', 'state=completed targets=1 accepted=1', X'EA3B9DD346872761E43FA27F9095991C', X'D5DB3E2EFEAFCB08A9C485303CF100DB7445C55D98A07AD87B9222F2C120FC25', 2, X'2981FBFE76B06819835FDF6C83A7A06907935EA7964E5B53BDD7BB07CEC1E5B7');
INSERT INTO audit_heads (app_id, size, hash, anchor_size, anchor_hash) VALUES
(1, 2, X'2981FBFE76B06819835FDF6C83A7A06907935EA7964E5B53BDD7BB07CEC1E5B7', 0, X'0000000000000000000000000000000000000000000000000000000000000000');
INSERT INTO audit_checkpoints (app_id, size, note, made_at) VALUES
(1, 2, 'a checkpoint of an earlier time', 1795000000900);
INSERT INTO sign_in_tokens (app_id, digest, name, folded_name, installation_id, tags, creates_user, created_by, created_at, expires_at, used_by, used_at) VALUES
(1, X'4E3E9D396B7B5AE998F79D2F851343E807BBA0C045FCC1F5C95E1BE8B4198A0F', 'Bob', 'bob', NULL, 'gold', 0, 'a command', 1795000000000, 4102444800000, NULL, NULL);
INSERT INTO console_sessions (app_id, session_key, kind, user_id, role, credential_version, created_at, expires_at, ends_at) VALUES
(1, '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae', 'session', 1, 'admin', 1, 1795000000000, 4102444800000, 4102444800000);
INSERT INTO second_factors (app_id, user_id, salt, created_at, confirmed_at, last_step, recovery_codes) VALUES
(1, 1, X'000102030405060708090A0B0C0D0E0F', 1795000000000, 1795000000100, 59833333, 'aa bb');
INSERT INTO identities (app_id, identity_key, issuer, subject, user_id, created_at, removed_at) VALUES
(1, '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08', 'https://issuer.example.com', 'subject-1', 1, 1795000000000, NULL);
INSERT INTO key_sets (app_id, issuer, source, document, fetched_at, life) VALUES
(1, 'https://issuer.example.com', 'https://issuer.example.com/keys', X'7B226B657973223A5B5D7D', 1795000000000, 86400);
INSERT INTO nodes (node_id, role, version, schema_step, started_at, seen_at) VALUES
('old-node', 'all', '1.0.0', 1, 1795000000000, 1795000006000);
INSERT INTO schema_fence (fence_id, oldest_step) VALUES
(1, 1);
INSERT INTO content_owner (owner_id, mark, place) VALUES
(1, '4f6e65206275636b6574', 'sqlite old-place');
