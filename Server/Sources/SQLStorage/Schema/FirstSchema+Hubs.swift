/// Hubs, their devices, and what clients of the hub protocol read in bulk.
extension FirstSchema {
    var hubTables: [String] {
        [
            // One hub. `hub_id` counts up from 1 and is never given again, so the row of a removed hub stays, under a name that no hub can
            // have. `name` is in lower case and `title` as the owner wrote it.
            //
            // `apns_credential` is sealed. `version` goes up with every change of the hub or of its rules. `is_cleared` says that nothing
            // of a removed hub is left in other tables.
            """
            CREATE TABLE hubs (
                hub_id \(integer) PRIMARY KEY,
                name \(text) NOT NULL UNIQUE,
                title \(text),
                user_metadata \(text),
                registration_lifetime \(integer),
                allows_protected_tags \(integer) NOT NULL DEFAULT 0,
                apns_credential \(text),
                browser_credential \(text),
                fcm_credential \(text),
                version \(integer) NOT NULL DEFAULT 1,
                created_at \(integer) NOT NULL,
                updated_at \(integer),
                removed_at \(integer),
                is_cleared \(integer) NOT NULL DEFAULT 0);
            """,
            // One access rule of a hub, by its name; the rules of hub 0 hold for all hubs. Both keys are sealed. `rights` are words,
            // separated by commas.
            """
            CREATE TABLE hub_rules (
                hub_id \(integer) NOT NULL,
                name \(text) NOT NULL,
                rights \(text) NOT NULL,
                primary_key \(text) NOT NULL,
                secondary_key \(text) NOT NULL,
                created_at \(integer) NOT NULL,
                updated_at \(integer) NOT NULL,
                PRIMARY KEY (hub_id, name));
            """,
            // One record: a registration, or one part of an installation. `slice_key` is a hash of `record_id`, so that records spread
            // evenly over the slices of a send; a walk reads the rows of a slice one after the other, which is why they lie in this order.
            //
            // `form` is 0 for a native target, else it stands for the name of a template. `shares_handle` says that another record has, or
            // had, the same handle and form. `parent` is the installation of a part. `tags` are the tags as given, `own_tags` those of a
            // part without the tags of its installation. `inactive_at` is the moment at which the token became inactive.
            //
            // `time_zone` is empty while it is not known. `former_zone` held until `zone_changed_at`, and `next_zone` was reported too soon
            // after that to hold yet.
            //
            // What only a look at one device needs comes last, so that a walk need not read that far.
            """
            CREATE TABLE devices (
                hub_id \(integer) NOT NULL,
                slice_key \(integer) NOT NULL,
                record_id \(text) NOT NULL,
                kind \(text) NOT NULL,
                platform \(text) NOT NULL,
                handle \(text),
                environment \(text),
                topic \(text),
                tags \(text) NOT NULL,
                user_id \(text),
                order_number \(integer) NOT NULL,
                registered_at \(integer) NOT NULL,
                expires_at \(integer),
                inactive_at \(integer),
                version \(integer) NOT NULL,
                form \(integer) NOT NULL,
                template_id \(integer),
                parent \(text),
                shares_handle \(integer) NOT NULL,
                own_tags \(text),
                push_variables \(text),
                details \(text),
                created_at \(integer),
                time_zone \(text) NOT NULL DEFAULT '',
                former_zone \(text),
                zone_changed_at \(integer),
                next_zone \(text),
                languages \(text) NOT NULL DEFAULT '',
                PRIMARY KEY (hub_id, slice_key),
                UNIQUE (hub_id, record_id))\(clustered);
            CREATE INDEX devices_by_handle ON devices (handle, platform, form, hub_id, slice_key);
            CREATE INDEX devices_by_parent ON devices (parent, hub_id) WHERE parent IS NOT NULL;
            CREATE INDEX devices_by_template ON devices (template_id, hub_id) WHERE template_id IS NOT NULL;
            CREATE INDEX devices_by_expiry ON devices (expires_at) WHERE expires_at IS NOT NULL;
            CREATE INDEX devices_by_next_zone ON devices (zone_changed_at) WHERE next_zone IS NOT NULL;
            """,
            // One tag of one record: the tag in lower case, and the record by its `slice_key`. The tags by which an installation or a user
            // is addressed are among them, and so are the time zones.
            """
            CREATE TABLE device_tags (
                hub_id \(integer) NOT NULL,
                tag \(text) NOT NULL,
                slice_key \(integer) NOT NULL,
                PRIMARY KEY (hub_id, tag, slice_key))\(clustered);
            """,
            // One content of a template: many records have the same. `template_id` is a hash of the content. The row goes with the last
            // record that refers to it.
            """
            CREATE TABLE device_templates (
                hub_id \(integer) NOT NULL,
                template_id \(integer) NOT NULL,
                name \(text),
                body \(text) NOT NULL,
                headers \(text) NOT NULL,
                expiry \(text),
                priority \(text),
                PRIMARY KEY (hub_id, template_id));
            """,
            // One piece of feedback: what a push service said of a device token that is of no use any more. `number` counts over all hubs,
            // and a reader goes on after the last number that it has read.
            """
            CREATE TABLE feedback (
                number \(serial),
                hub_id \(integer) NOT NULL,
                platform \(text) NOT NULL,
                handle \(text) NOT NULL,
                record_id \(text),
                installation_id \(text),
                notification_id \(text) NOT NULL,
                reason \(text) NOT NULL,
                noted_at \(integer) NOT NULL);
            CREATE INDEX feedback_by_hub ON feedback (hub_id, number);
            CREATE INDEX feedback_by_age ON feedback (noted_at);
            CREATE INDEX feedback_by_send ON feedback (hub_id, notification_id, number);
            """,
            // One import or export of a hub, by its number, which counts the hub's jobs from 1. The columns from `total` on say how far it
            // has come (`JobProgress`); a node that holds the lease `epoch` goes on from there.
            """
            CREATE TABLE jobs (
                hub_id \(integer) NOT NULL,
                number \(integer) NOT NULL,
                kind \(text) NOT NULL,
                state \(text) NOT NULL,
                output \(text) NOT NULL,
                folder \(text) NOT NULL,
                inputs \(text) NOT NULL,
                total \(integer) NOT NULL,
                done \(integer) NOT NULL,
                file \(integer) NOT NULL,
                line \(integer) NOT NULL,
                file_offset \(integer) NOT NULL,
                cursor_key \(integer) NOT NULL,
                succeeded \(integer) NOT NULL,
                failed \(integer) NOT NULL,
                output_size \(integer) NOT NULL,
                failed_size \(integer) NOT NULL,
                pending_output \(text) NOT NULL,
                pending_failed \(text) NOT NULL,
                failure \(text),
                owner \(text),
                leased_until \(integer),
                ready_at \(integer) NOT NULL,
                epoch \(integer) NOT NULL,
                attempts \(integer) NOT NULL,
                created_at \(integer) NOT NULL,
                updated_at \(integer) NOT NULL,
                PRIMARY KEY (hub_id, number));
            CREATE INDEX jobs_to_do ON jobs (ready_at) WHERE state IN ('waiting', 'running');
            """,
            // The files of one hub: the number of its last job, and up to which number its feedback lies in files.
            """
            CREATE TABLE hub_files (
                hub_id \(integer) PRIMARY KEY,
                last_job \(integer) NOT NULL,
                feedback_mark \(integer) NOT NULL);
            """,
        ]
    }
}
