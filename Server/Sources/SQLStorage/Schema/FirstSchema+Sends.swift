/// What a hub is to send, how far it has come, and what became of it.
extension FirstSchema {
    var sendTables: [String] {
        [
            orderNumbers,
            // One send, by its notification id. `format` is a platform or `template`. `audience` is a tag expression; NULL means every
            // record, or the handles of `direct_handles` where `is_direct` is 1. `targets` is the number of records that the send was
            // planned for.
            //
            // `audience_query` is the compiled audience. It is absent for every record or for handles, and in sends that are over. A send
            // that is dispatched without it is compiled when it is read.
            //
            // A record belongs to the audience if its order number is at most `order_mark`, which is absent while a send waits for its
            // time. `open_slices` counts the slices that are not done. `languages` are those of `notification_translations`, in the
            // order of their numbers from 1. `frequency_cap` is the cap as the settings say it, such as `marketing=3/7d`.
            // `split` has the groups (`PushSplit`), and then the keys in `languages` name them.
            """
            CREATE TABLE notifications (
                hub_id \(integer) NOT NULL,
                notification_id \(text) NOT NULL,
                format \(text) NOT NULL DEFAULT 'apns',
                body \(bytes) NOT NULL,
                push_type \(text) NOT NULL,
                priority \(integer) NOT NULL,
                collapse_id \(text),
                topic \(text),
                expires_at \(integer),
                audience \(text),
                audience_query \(text),
                is_direct \(integer) NOT NULL DEFAULT 0,
                targets \(integer),
                pushes_per_second \(integer),
                state \(text) NOT NULL,
                open_slices \(integer) NOT NULL,
                enqueued_at \(integer) NOT NULL,
                due_at \(integer) NOT NULL,
                started_at \(integer),
                ended_at \(integer),
                order_mark \(integer),
                end_order \(integer),
                languages \(text),
                frequency_cap \(text),
                split \(text),
                reports_outcomes \(integer) NOT NULL DEFAULT 0,
                PRIMARY KEY (hub_id, notification_id));
            CREATE INDEX notifications_by_end ON notifications (ended_at);
            """,
            // When a send by local time is due in one time zone. The empty zone stands for all others.
            """
            CREATE TABLE notification_zones (
                hub_id \(integer) NOT NULL,
                notification_id \(text) NOT NULL,
                time_zone \(text) NOT NULL,
                moment \(integer) NOT NULL,
                PRIMARY KEY (hub_id, notification_id, time_zone))\(clustered);
            """,
            // What devices in one language get in place of the body of a send.
            """
            CREATE TABLE notification_translations (
                hub_id \(integer) NOT NULL,
                notification_id \(text) NOT NULL,
                number \(integer) NOT NULL,
                body \(bytes) NOT NULL,
                PRIMARY KEY (hub_id, notification_id, number));
            """,
            // That a send with a frequency cap was counted for a recipient: the tag of the user in lower case, or the name of a device without
            // one. The row goes some time after `counts_until`.
            """
            CREATE TABLE frequency_counts (
                hub_id \(integer) NOT NULL,
                cap \(text) NOT NULL,
                recipient \(text) NOT NULL,
                notification_id \(text) NOT NULL,
                counted_at \(integer) NOT NULL,
                counts_until \(integer) NOT NULL,
                PRIMARY KEY (hub_id, cap, recipient, notification_id))\(clustered);
            CREATE INDEX frequency_counts_by_end ON frequency_counts (counts_until);
            CREATE INDEX frequency_counts_by_recipient ON frequency_counts (hub_id, recipient);
            """,
            // One target of a send to handles, by its position from 1.
            """
            CREATE TABLE direct_handles (
                hub_id \(integer) NOT NULL,
                notification_id \(text) NOT NULL,
                position \(integer) NOT NULL,
                handle \(text) NOT NULL,
                PRIMARY KEY (hub_id, notification_id, position))\(clustered);
            """,
            // One idempotency key that a caller of the hub gave, with a digest of what it asked for and the send that it got. `answer` is
            // the answer of a test send, for a caller that repeats it.
            """
            CREATE TABLE idempotency_keys (
                hub_id \(integer) NOT NULL,
                idempotency_key \(text) NOT NULL,
                digest \(bytes) NOT NULL,
                notification_id \(text) NOT NULL,
                due_at \(integer) NOT NULL,
                created_at \(integer) NOT NULL,
                answer \(bytes),
                PRIMARY KEY (hub_id, idempotency_key));
            CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);
            """,
            // One slice of a send, by its number from 0. It has the records whose slice key lies after `cursor_key` and up to `last_key`.
            // The row goes when the slice is done.
            //
            // From `ready_at` on a node may lease it, the earliest first; `epoch` counts the leases, so that a node whose lease has run out
            // writes nothing more. `pushes_per_second` is the share of the send's pace, and `wait` says what the slice waits for.
            //
            // Of a send by local time a slice has only the devices that are due at its `moment`. Of a send to every platform it has only
            // those of its `platform`; absent is that of the send's format. `expires_at` and `audience_query` stand in place of those of
            // the send.
            """
            CREATE TABLE slices (
                hub_id \(integer) NOT NULL,
                notification_id \(text) NOT NULL,
                slice \(integer) NOT NULL,
                cursor_key \(integer) NOT NULL,
                last_key \(integer) NOT NULL,
                weight \(integer) NOT NULL,
                pushes_per_second \(integer),
                walked \(integer) NOT NULL,
                failures \(integer) NOT NULL,
                stalled_since \(integer),
                wait \(text),
                ready_at \(integer) NOT NULL,
                epoch \(integer) NOT NULL,
                owner \(text),
                leased_until \(integer),
                moment \(integer),
                expires_at \(integer),
                audience_query \(text),
                platform \(text),
                PRIMARY KEY (hub_id, notification_id, slice));
            CREATE INDEX slices_by_hub_turn ON slices (weight, hub_id, ready_at);
            CREATE INDEX slices_free ON slices (weight, ready_at) WHERE owner IS NULL;
            CREATE INDEX slices_leased ON slices (owner) WHERE owner IS NOT NULL;
            """,
            // One target that a slice has passed and that has no outcome yet, by the slice key of its record or its position among the
            // handles. `unanswered` counts the tries that left and got no answer. `reason` is what the push service or the transport said
            // last.
            """
            CREATE TABLE pending_targets (
                hub_id \(integer) NOT NULL,
                notification_id \(text) NOT NULL,
                slice \(integer) NOT NULL,
                slice_key \(integer) NOT NULL,
                cause \(text) NOT NULL,
                attempts \(integer) NOT NULL,
                unanswered \(integer) NOT NULL DEFAULT 0,
                reason \(text),
                first_at \(integer) NOT NULL,
                not_before \(integer) NOT NULL,
                PRIMARY KEY (hub_id, notification_id, slice, slice_key));
            """,
            // How many targets of one slice had one outcome on one platform. Each slice has counts of its own, so that no two nodes write
            // the same row.
            """
            CREATE TABLE tallies (
                hub_id \(integer) NOT NULL,
                notification_id \(text) NOT NULL,
                slice \(integer) NOT NULL,
                platform \(text) NOT NULL,
                outcome \(text) NOT NULL,
                targets \(integer) NOT NULL,
                PRIMARY KEY (hub_id, notification_id, slice, platform, outcome));
            """,
            // The same counts for one group of a send with groups, over all platforms; 0 is the rest.
            """
            CREATE TABLE group_tallies (
                hub_id \(integer) NOT NULL,
                notification_id \(text) NOT NULL,
                slice \(integer) NOT NULL,
                group_number \(integer) NOT NULL,
                outcome \(text) NOT NULL,
                targets \(integer) NOT NULL,
                PRIMARY KEY (hub_id, notification_id, slice, group_number, outcome));
            """,
            // What became of devices of a send that reports it, until it is passed on. `body` has a line for each outcome and reason.
            """
            CREATE TABLE outcome_reports (
                number \(serial),
                hub_id \(integer) NOT NULL,
                notification_id \(text) NOT NULL,
                noted_at \(integer) NOT NULL,
                body \(text) NOT NULL);
            CREATE INDEX outcome_reports_by_send ON outcome_reports (hub_id, notification_id, number);
            """,
            // How many targets of one slice had an outcome for one reason of the push service.
            """
            CREATE TABLE outcome_reasons (
                hub_id \(integer) NOT NULL,
                notification_id \(text) NOT NULL,
                slice \(integer) NOT NULL,
                platform \(text) NOT NULL,
                outcome \(text) NOT NULL,
                reason \(text) NOT NULL,
                targets \(integer) NOT NULL,
                PRIMARY KEY (hub_id, notification_id, slice, platform, outcome, reason));
            """,
            // One target that got no push, and why. A slice keeps the first of them.
            """
            CREATE TABLE target_failures (
                hub_id \(integer) NOT NULL,
                notification_id \(text) NOT NULL,
                slice \(integer) NOT NULL,
                slice_key \(integer) NOT NULL,
                platform \(text) NOT NULL,
                record_id \(text),
                outcome \(text) NOT NULL,
                reason \(text),
                PRIMARY KEY (hub_id, notification_id, slice, slice_key));
            """,
        ]
    }
}
