/// The app backend: users and their devices, contents, rich notifications, and what users did with them. Every row belongs to one app.
extension FirstSchema {
    var backendTables: [String] {
        [
            // One counter (`user`, `binding`, `content`, `notification`, `audit`) with the last number that it gave. A number is never
            // given again, also when its row is gone.
            """
            CREATE TABLE backend_counters (
                app_id \(integer) NOT NULL,
                name \(text) NOT NULL,
                last_number \(integer) NOT NULL,
                PRIMARY KEY (app_id, name));
            """,
            // One user. `folded_name` is the name in lower case, by which users sign in. A user without a password hash signs in by no
            // password. `credential_version` goes up with each new password: credentials of an earlier version hold no longer. `tags` are
            // those that the app's backend gave them, with blanks between; from `disabled_at` on they cannot sign in. Tokens of issuers
            // that were issued before `tokens_since` do not sign them in. Since `second_factor_at` the password needs a code beside it.
            """
            CREATE TABLE users (
                app_id \(integer) NOT NULL,
                user_id \(integer) NOT NULL,
                name \(text) NOT NULL,
                folded_name \(text) NOT NULL,
                role \(text) NOT NULL,
                password_hash \(text),
                credential_version \(integer) NOT NULL,
                created_at \(integer) NOT NULL,
                order_number \(integer) NOT NULL DEFAULT 0,
                tags \(text) NOT NULL DEFAULT '',
                disabled_at \(integer),
                tokens_since \(integer),
                second_factor_at \(integer),
                quiet_hours \(text),
                PRIMARY KEY (app_id, user_id),
                UNIQUE (app_id, folded_name));
            """,
            // The credential of one installation, as a digest, and the user who signed in with it.
            """
            CREATE TABLE installation_credentials (
                app_id \(integer) NOT NULL,
                installation_id \(text) NOT NULL,
                user_id \(integer) NOT NULL,
                digest \(bytes) NOT NULL,
                credential_version \(integer) NOT NULL,
                expires_at \(integer) NOT NULL,
                PRIMARY KEY (app_id, installation_id));
            CREATE INDEX installation_credentials_by_user ON installation_credentials (app_id, user_id);
            CREATE INDEX installation_credentials_by_expiry ON installation_credentials (app_id, expires_at);
            """,
            // Failed sign-ins: of an account in a network, of an account (empty `source`), or of a network (empty `account`). `account` is
            // a digest of the name. From `idle_at` on the row says nothing any more.
            """
            CREATE TABLE sign_in_counts (
                app_id \(integer) NOT NULL,
                account \(text) NOT NULL,
                source \(text) NOT NULL,
                failures \(integer) NOT NULL,
                last_at \(integer) NOT NULL,
                blocked_until \(integer) NOT NULL,
                known_until \(integer) NOT NULL,
                idle_at \(integer) NOT NULL,
                PRIMARY KEY (app_id, account, source));
            CREATE INDEX sign_in_counts_by_age ON sign_in_counts (app_id, idle_at);
            """,
            // One binding: that a device belonged to a user with these tags from one order number to another. A binding without `until_at`
            // holds, and a record has at most one of those. `sealing_key` is the public key for which senders seal, and `facts` are what
            // the installation said of itself.
            """
            CREATE TABLE bindings (
                app_id \(integer) NOT NULL,
                binding_id \(integer) NOT NULL,
                user_id \(integer) NOT NULL,
                record_id \(text) NOT NULL,
                kind \(text) NOT NULL,
                platform \(text) NOT NULL,
                handle \(text),
                environment \(text),
                topic \(text),
                tags \(text) NOT NULL,
                sealing_key \(text),
                facts \(text),
                from_at \(integer) NOT NULL,
                until_at \(integer),
                from_order \(integer) NOT NULL DEFAULT 0,
                until_order \(integer),
                PRIMARY KEY (app_id, binding_id));
            CREATE UNIQUE INDEX bindings_that_hold ON bindings (app_id, record_id) WHERE until_at IS NULL;
            CREATE INDEX bindings_by_record ON bindings (app_id, record_id, binding_id);
            CREATE INDEX bindings_by_handle ON bindings (app_id, platform, handle) WHERE until_at IS NULL;
            CREATE INDEX bindings_by_user ON bindings (app_id, user_id, binding_id);
            CREATE INDEX bindings_by_end ON bindings (app_id, until_at) WHERE until_at IS NOT NULL;
            """,
            // One tag that a device of the user has or had, as a key of `audience_index`: an inbox is found by these.
            """
            CREATE TABLE user_tags (
                app_id \(integer) NOT NULL,
                user_id \(integer) NOT NULL,
                audience_key \(text) NOT NULL,
                PRIMARY KEY (app_id, user_id, audience_key));
            """,
            // One change of a device that has begun, and of which it is not known yet that the hub has it. `mark` distinguishes the changes
            // of one record.
            """
            CREATE TABLE device_changes (
                app_id \(integer) NOT NULL,
                record_id \(text) NOT NULL,
                mark \(integer) NOT NULL,
                begun_at \(integer) NOT NULL,
                PRIMARY KEY (app_id, record_id, mark));
            CREATE INDEX device_changes_by_age ON device_changes (app_id, begun_at, record_id);
            """,
            // One upload, by its content id. Its bytes lie in the content store under `digest`, their SHA-256. A content without
            // `expires_at` was sent, or is kept.
            """
            CREATE TABLE contents (
                app_id \(integer) NOT NULL,
                content_id \(text) NOT NULL,
                owner_id \(integer) NOT NULL,
                digest \(text) NOT NULL,
                media_type \(text) NOT NULL,
                byte_count \(integer) NOT NULL,
                file_name \(text),
                created_at \(integer) NOT NULL,
                expires_at \(integer),
                PRIMARY KEY (app_id, content_id));
            CREATE INDEX contents_by_digest ON contents (digest);
            CREATE INDEX contents_by_expiry ON contents (expires_at);
            CREATE INDEX contents_by_owner ON contents (app_id, owner_id, expires_at, byte_count);
            """,
            // One digest that lost its last content: its bytes are to be removed.
            "CREATE TABLE content_orphans (digest \(text) PRIMARY KEY);",
            // One rich notification, by its rich id. It is readable for those whom `audience` meant between `start_order` and `end_order`.
            // `completed_at` is the moment at which the hub was done with it, `ended_at` that at which it was completed, recalled or refused.
            //
            // The columns from `push_body` on are the outbox: the push for the hub, the local time at which it is due (`LocalDelivery` in
            // JSON), its frequency cap, the groups of an A/B test (`SendSplit` in JSON), the idempotency key under which the hub gets it, the notification id that the hub gave, and what is left to do from
            // `work_at` on.
            """
            CREATE TABLE rich_notifications (
                app_id \(integer) NOT NULL,
                rich_id \(integer) NOT NULL,
                sender_id \(integer) NOT NULL,
                sender_name \(text) NOT NULL,
                kind \(text) NOT NULL,
                style \(text) NOT NULL,
                title \(text),
                subtitle \(text),
                message \(text) NOT NULL,
                alt_text \(text),
                content_id \(text),
                thumb_id \(text),
                audience \(text) NOT NULL,
                due_at \(integer) NOT NULL,
                expires_at \(integer),
                completed_at \(integer),
                recalled_at \(integer),
                refused \(integer) NOT NULL,
                languages \(text),
                ended_at \(integer),
                start_order \(integer) NOT NULL DEFAULT 0,
                end_order \(integer),
                push_body \(bytes) NOT NULL,
                push_type \(text) NOT NULL,
                priority \(integer) NOT NULL,
                collapse_id \(text),
                pushes_per_second \(integer),
                local_time \(text),
                frequency_cap \(text),
                split \(text),
                hub_key \(text) NOT NULL,
                tracking_id \(text),
                work \(text),
                work_at \(integer),
                PRIMARY KEY (app_id, rich_id));
            CREATE INDEX rich_notifications_by_work ON rich_notifications (app_id, work_at) WHERE work IS NOT NULL;
            CREATE INDEX rich_notifications_by_end ON rich_notifications (app_id, ended_at) WHERE ended_at IS NOT NULL;
            CREATE INDEX rich_notifications_by_expiry ON rich_notifications (app_id, expires_at) WHERE expires_at IS NOT NULL;
            CREATE INDEX rich_notifications_by_due ON rich_notifications (app_id, due_at, rich_id);
            CREATE INDEX rich_notifications_by_sender ON rich_notifications (app_id, sender_id, rich_id);
            CREATE INDEX rich_notifications_by_sender_due ON rich_notifications (app_id, sender_id, due_at, rich_id);
            """,
            // What a rich notification is in one language. The number is 64 times the rich id, and the place among the `languages` of the
            // notification. `push_body` is absent where the push is the same in all languages.
            """
            CREATE TABLE rich_translations (
                app_id \(integer) NOT NULL,
                translation_id \(integer) NOT NULL,
                sender_id \(integer) NOT NULL,
                title \(text),
                subtitle \(text),
                message \(text) NOT NULL,
                alt_text \(text),
                content_id \(text),
                thumb_id \(text),
                push_body \(bytes),
                PRIMARY KEY (app_id, translation_id));
            CREATE INDEX rich_translations_by_sender ON rich_translations (app_id, sender_id, translation_id);
            """,
            // That a send, a schedule that waits, or a template needs a content: `send 12`, `schedule 5` or `template offers 3`. A content expires when its last row goes.
            """
            CREATE TABLE content_claims (
                app_id \(integer) NOT NULL,
                content_id \(text) NOT NULL,
                holder \(text) NOT NULL,
                PRIMARY KEY (app_id, content_id, holder))\(clustered);
            CREATE INDEX content_claims_by_holder ON content_claims (app_id, holder);
            """,
            // One key under which a rich notification may be found in an inbox: a tag of its audience, its sender, or all users.
            """
            CREATE TABLE audience_index (
                app_id \(integer) NOT NULL,
                audience_key \(text) NOT NULL,
                rich_id \(integer) NOT NULL,
                PRIMARY KEY (app_id, audience_key, rich_id));
            CREATE INDEX audience_index_by_notification ON audience_index (app_id, rich_id);
            """,
            // One idempotency key that a sender gave, with a digest of the request and the rich notification that it made.
            """
            CREATE TABLE repeat_keys (
                app_id \(integer) NOT NULL,
                user_id \(integer) NOT NULL,
                repeat_key \(text) NOT NULL,
                digest \(bytes) NOT NULL,
                rich_id \(integer) NOT NULL,
                created_at \(integer) NOT NULL,
                PRIMARY KEY (app_id, user_id, repeat_key));
            CREATE INDEX repeat_keys_by_age ON repeat_keys (app_id, created_at);
            """,
            // One send that is due later: `request` is a `ScheduleRequest` in JSON without its audience. While it waits it is due at
            // `due_at`, for the date `occurrence` of its rule, and tried at `attempt_at`. `revision` counts its changes, of which the
            // sender made the last at `asked_at`. A proposal is not tried until another user has approved it (`approved_by`).
            """
            CREATE TABLE schedules (
                app_id \(integer) NOT NULL,
                schedule_id \(integer) NOT NULL,
                revision \(integer) NOT NULL,
                owner_id \(integer) NOT NULL,
                owner_name \(text) NOT NULL,
                request \(text) NOT NULL,
                audience \(text) NOT NULL,
                state \(text) NOT NULL,
                occurrence \(integer) NOT NULL,
                due_at \(integer),
                attempt_at \(integer),
                sent \(integer) NOT NULL,
                missed \(integer) NOT NULL,
                last_rich_id \(integer),
                fault \(text),
                repeat_key \(text),
                repeat_digest \(bytes),
                created_at \(integer) NOT NULL,
                asked_at \(integer) NOT NULL,
                approved_by \(text),
                ended_at \(integer),
                PRIMARY KEY (app_id, schedule_id));
            CREATE INDEX schedules_by_attempt ON schedules (app_id, attempt_at, schedule_id) WHERE attempt_at IS NOT NULL;
            CREATE INDEX schedules_by_owner ON schedules (app_id, owner_id, schedule_id);
            CREATE INDEX schedules_that_wait ON schedules (app_id, owner_id) WHERE state IN ('waiting', 'proposed');
            CREATE INDEX schedules_that_are_proposed ON schedules (app_id, schedule_id) WHERE state = 'proposed';
            CREATE UNIQUE INDEX schedules_by_repeat_key ON schedules (app_id, owner_id, repeat_key) WHERE repeat_key IS NOT NULL;
            CREATE INDEX schedules_by_end ON schedules (app_id, ended_at) WHERE ended_at IS NOT NULL;
            """,
            // One Live Activity. `content` is the newest revision (`ActivityContent` in JSON), `published` the latest one that the hub has taken,
            // and `stamp` the `timestamp` of the latest push. What is left to do is due at `work_at`, unless a node does it until
            // `claimed_until`.
            """
            CREATE TABLE activities (
                app_id \(integer) NOT NULL,
                activity_id \(integer) NOT NULL,
                owner_id \(integer) NOT NULL,
                owner_name \(text) NOT NULL,
                attributes_type \(text) NOT NULL,
                attributes \(text) NOT NULL,
                starts_by_push \(integer) NOT NULL,
                audience \(text) NOT NULL,
                content \(text) NOT NULL,
                phase \(text) NOT NULL,
                revision \(integer) NOT NULL,
                published \(integer) NOT NULL,
                stamp \(integer) NOT NULL,
                start_send \(text),
                update_send \(text),
                fault \(text),
                repeat_key \(text),
                repeat_digest \(bytes),
                created_at \(integer) NOT NULL,
                ended_at \(integer),
                work_at \(integer),
                claimed_until \(integer),
                channel_id \(integer),
                urgent_full_at \(integer) NOT NULL,
                demoted \(integer) NOT NULL,
                PRIMARY KEY (app_id, activity_id));
            CREATE INDEX activities_by_work ON activities (app_id, work_at, activity_id) WHERE work_at IS NOT NULL;
            CREATE INDEX activities_by_owner ON activities (app_id, owner_id, activity_id);
            CREATE INDEX activities_that_go_on ON activities (app_id, created_at, activity_id) WHERE phase = 'active';
            CREATE INDEX activities_of_owner_that_go_on ON activities (app_id, owner_id) WHERE phase = 'active';
            CREATE UNIQUE INDEX activities_by_repeat_key ON activities (app_id, owner_id, repeat_key) WHERE repeat_key IS NOT NULL;
            CREATE INDEX activities_by_end ON activities (app_id, ended_at, activity_id) WHERE ended_at IS NOT NULL;
            CREATE INDEX activities_by_channel ON activities (app_id, channel_id, activity_id) WHERE channel_id IS NOT NULL;
            """,
            // One broadcast channel that exists at APNs under the id `apns_channel`. From `remove_at` on it is deleted there, and here after that.
            """
            CREATE TABLE channels (
                app_id \(integer) NOT NULL,
                channel_id \(integer) NOT NULL,
                owner_id \(integer) NOT NULL,
                name \(text),
                apns_channel \(text) NOT NULL,
                keeps_latest \(integer) NOT NULL,
                created_at \(integer) NOT NULL,
                remove_at \(integer),
                PRIMARY KEY (app_id, channel_id));
            CREATE INDEX channels_by_owner ON channels (app_id, owner_id, channel_id);
            CREATE INDEX channels_to_remove ON channels (app_id, remove_at, channel_id) WHERE remove_at IS NOT NULL;
            """,
            // One token that an installation has beside its own (`InstallationToken`), as its user reported it; one of an activity is here
            // before the system has given its `handle`. `token_key` is the record with the kind. `revision` is the one that the device
            // shows. From `catch_up_at` on the device is sent the newest one, for the report `catch_up_mark`.
            """
            CREATE TABLE installation_tokens (
                app_id \(integer) NOT NULL,
                token_key \(text) NOT NULL,
                record_id \(text) NOT NULL,
                kind \(text) NOT NULL,
                user_id \(integer) NOT NULL,
                handle \(text),
                state \(text) NOT NULL,
                revision \(integer),
                activity_id \(integer),
                reported_at \(integer) NOT NULL,
                catch_up_at \(integer),
                catch_up_mark \(integer),
                PRIMARY KEY (app_id, token_key));
            CREATE UNIQUE INDEX installation_tokens_by_record ON installation_tokens (app_id, record_id, kind);
            CREATE INDEX installation_tokens_by_user ON installation_tokens (app_id, user_id, token_key);
            CREATE INDEX installation_tokens_by_activity ON installation_tokens (app_id, activity_id) WHERE activity_id IS NOT NULL;
            CREATE INDEX installation_tokens_to_catch_up ON installation_tokens (app_id, catch_up_at, token_key)
                WHERE catch_up_at IS NOT NULL;
            """,
            // One version of a message template: a notification without audience, and what stands for missing values, as JSON.
            """
            CREATE TABLE message_templates (
                app_id \(integer) NOT NULL,
                name \(text) NOT NULL,
                version \(integer) NOT NULL,
                content \(text) NOT NULL,
                created_by \(text) NOT NULL,
                created_at \(integer) NOT NULL,
                PRIMARY KEY (app_id, name, version));
            """,
            // One webhook: `events` are the types that it gets, with blanks around each. Its secret is derived from `salt`, and until
            // `former_until` requests are signed with that of `former_salt` too.
            """
            CREATE TABLE webhooks (
                app_id \(integer) NOT NULL,
                webhook_id \(integer) NOT NULL,
                url \(text) NOT NULL,
                events \(text) NOT NULL,
                description \(text) NOT NULL,
                state \(text) NOT NULL,
                fault \(text),
                salt \(bytes) NOT NULL,
                former_salt \(bytes),
                former_until \(integer),
                created_at \(integer) NOT NULL,
                PRIMARY KEY (app_id, webhook_id));
            """,
            // Which node delivers to a webhook, and how that goes. Apart from the webhook, which every transaction reads that stores an
            // event.
            """
            CREATE TABLE webhook_leases (
                app_id \(integer) NOT NULL,
                webhook_id \(integer) NOT NULL,
                owner \(text),
                leased_until \(integer) NOT NULL,
                paused_until \(integer),
                pauses \(integer) NOT NULL,
                failures \(integer) NOT NULL,
                PRIMARY KEY (app_id, webhook_id));
            """,
            // One event for one webhook, by a number that counts over all. While it waits it is due at `due_at`; of one `subject` only the
            // first that waits is delivered. The columns from `tried_at` on are those of the last attempt.
            """
            CREATE TABLE webhook_deliveries (
                number \(serial),
                app_id \(integer) NOT NULL,
                webhook_id \(integer) NOT NULL,
                event_id \(text) NOT NULL,
                kind \(text) NOT NULL,
                subject \(text) NOT NULL,
                user_name \(text),
                data \(text) NOT NULL,
                happened_at \(integer) NOT NULL,
                state \(text) NOT NULL,
                due_at \(integer),
                attempts \(integer) NOT NULL,
                tried_at \(integer),
                status \(integer),
                duration \(integer),
                answer \(text));
            CREATE INDEX webhook_deliveries_due ON webhook_deliveries (app_id, webhook_id, due_at, number) WHERE due_at IS NOT NULL;
            CREATE INDEX webhook_deliveries_by_subject ON webhook_deliveries (app_id, webhook_id, subject, number)
                WHERE due_at IS NOT NULL;
            CREATE INDEX webhook_deliveries_by_state ON webhook_deliveries (app_id, webhook_id, state, number);
            CREATE INDEX webhook_deliveries_by_age ON webhook_deliveries (app_id, happened_at);
            CREATE INDEX webhook_deliveries_by_user ON webhook_deliveries (app_id, user_name, number) WHERE user_name IS NOT NULL;
            CREATE INDEX webhook_deliveries_by_event ON webhook_deliveries (app_id, webhook_id, event_id);
            """,
            // That one user has read one rich notification.
            """
            CREATE TABLE read_marks (
                app_id \(integer) NOT NULL,
                user_id \(integer) NOT NULL,
                rich_id \(integer) NOT NULL,
                read_at \(integer) NOT NULL,
                PRIMARY KEY (app_id, user_id, rich_id));
            CREATE INDEX read_marks_by_notification ON read_marks (app_id, rich_id);
            """,
            // One receipt of an installation. `receipt_key` is a digest of what makes two receipts the same, so that a repeat counts once.
            // `group_number` is the user's group in a send with groups.
            """
            CREATE TABLE receipts (
                app_id \(integer) NOT NULL,
                receipt_key \(text) NOT NULL,
                rich_id \(integer) NOT NULL,
                user_id \(integer) NOT NULL,
                installation_id \(text) NOT NULL,
                kind \(text) NOT NULL,
                action \(text),
                happened_at \(integer) NOT NULL,
                received_at \(integer) NOT NULL,
                group_number \(integer),
                PRIMARY KEY (app_id, receipt_key));
            CREATE INDEX receipts_by_group ON receipts (app_id, rich_id, group_number, kind, installation_id)
                WHERE group_number IS NOT NULL;
            CREATE INDEX receipts_by_notification ON receipts (app_id, rich_id, kind, installation_id);
            """,
            // One entry of the audit (`AuditTrail`). It gets `number` and `hash`, its place in the chain, a moment after it was committed. Texts
            // that name a person can be erased, together with the salt of their commitment (`…_hash`). `actor_name` and `subject_name` are
            // names in lower case, for filters and erasure.
            //
            // `audit_heads` has one row for an app: where the chain ends, and the anchor to which it was pruned. `audit_checkpoints` are signed
            // heads.
            """
            CREATE TABLE audit_entries (
                app_id \(integer) NOT NULL,
                entry_id \(text) NOT NULL,
                happened_at \(integer) NOT NULL,
                action \(text) NOT NULL,
                actor_kind \(text) NOT NULL,
                actor_name \(text),
                subject_name \(text),
                object \(text) NOT NULL,
                actor \(text),
                actor_salt \(bytes),
                actor_hash \(bytes) NOT NULL,
                subject \(text),
                subject_salt \(bytes),
                subject_hash \(bytes) NOT NULL,
                details \(text),
                details_salt \(bytes),
                details_hash \(bytes) NOT NULL,
                number \(integer),
                hash \(bytes),
                PRIMARY KEY (app_id, entry_id));
            CREATE UNIQUE INDEX audit_entries_by_number ON audit_entries (app_id, number) WHERE number IS NOT NULL;
            CREATE INDEX audit_entries_without_number ON audit_entries (app_id, happened_at, entry_id) WHERE number IS NULL;
            CREATE INDEX audit_entries_by_actor ON audit_entries (app_id, actor_name, number) WHERE actor_name IS NOT NULL;
            CREATE INDEX audit_entries_by_subject ON audit_entries (app_id, subject_name, number) WHERE subject_name IS NOT NULL;
            CREATE TABLE audit_heads (
                app_id \(integer) NOT NULL,
                size \(integer) NOT NULL,
                hash \(bytes) NOT NULL,
                anchor_size \(integer) NOT NULL,
                anchor_hash \(bytes) NOT NULL,
                PRIMARY KEY (app_id));
            CREATE TABLE audit_checkpoints (
                app_id \(integer) NOT NULL,
                size \(integer) NOT NULL,
                note \(text) NOT NULL,
                made_at \(integer) NOT NULL,
                PRIMARY KEY (app_id, size));
            CREATE INDEX audit_checkpoints_by_age ON audit_checkpoints (app_id, made_at);
            """,
        ]
    }
}
