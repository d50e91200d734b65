/// Who may sign in, and with what: keys, tokens, sessions and identities.
extension FirstSchema {
    var accessTables: [String] {
        [
            // One key of a service, as SHA-256 of its secret, and the user (`account_id`) for whom it acts. `scopes` and `networks` are texts with
            // blanks between.
            """
            CREATE TABLE service_keys (
                app_id \(integer) NOT NULL,
                key_id \(integer) NOT NULL,
                account_id \(integer) NOT NULL,
                name \(text) NOT NULL,
                digest \(bytes) NOT NULL,
                hint \(text) NOT NULL,
                scopes \(text) NOT NULL,
                networks \(text) NOT NULL,
                requests_per_minute \(integer),
                created_by \(text) NOT NULL,
                created_at \(integer) NOT NULL,
                expires_at \(integer) NOT NULL,
                revoked_at \(integer),
                last_used_at \(integer),
                last_used_from \(text),
                PRIMARY KEY (app_id, key_id));
            CREATE UNIQUE INDEX service_keys_by_digest ON service_keys (app_id, digest);
            CREATE INDEX service_keys_by_account ON service_keys (app_id, account_id, expires_at);
            """,
            // One one-time sign-in token, as SHA-256 of its text, for the user of this name. `tags` are those that it gives, with blanks between;
            // NULL keeps the user's. `used_by` is the installation that used it, and may again until `expires_at`.
            """
            CREATE TABLE sign_in_tokens (
                app_id \(integer) NOT NULL,
                digest \(bytes) NOT NULL,
                name \(text) NOT NULL,
                folded_name \(text) NOT NULL,
                installation_id \(text),
                tags \(text),
                creates_user \(integer) NOT NULL,
                created_by \(text) NOT NULL,
                created_at \(integer) NOT NULL,
                expires_at \(integer) NOT NULL,
                used_by \(text),
                used_at \(integer),
                PRIMARY KEY (app_id, digest));
            CREATE INDEX sign_in_tokens_by_name ON sign_in_tokens (app_id, folded_name);
            CREATE INDEX sign_in_tokens_by_expiry ON sign_in_tokens (app_id, expires_at);
            """,
            // One session of a user in the console, or one link (`kind`) that begins one. `session_key` is SHA-256 of its secret. It holds while
            // the user has this role and this credential version.
            """
            CREATE TABLE console_sessions (
                app_id \(integer) NOT NULL,
                session_key \(text) NOT NULL,
                kind \(text) NOT NULL,
                user_id \(integer) NOT NULL,
                role \(text) NOT NULL,
                credential_version \(integer) NOT NULL,
                created_at \(integer) NOT NULL,
                expires_at \(integer) NOT NULL,
                ends_at \(integer) NOT NULL,
                PRIMARY KEY (app_id, session_key));
            CREATE INDEX console_sessions_by_user ON console_sessions (app_id, user_id, created_at);
            CREATE INDEX console_sessions_by_expiry ON console_sessions (app_id, expires_at);
            """,
            // The second factor of a user. The secret of the codes is derived from `salt` and the master key. Nothing is asked for until it is
            // confirmed. A code of `last_step` or an earlier step does not count. `recovery_codes` are digests of those that are left.
            """
            CREATE TABLE second_factors (
                app_id \(integer) NOT NULL,
                user_id \(integer) NOT NULL,
                salt \(bytes) NOT NULL,
                created_at \(integer) NOT NULL,
                confirmed_at \(integer),
                last_step \(integer) NOT NULL,
                recovery_codes \(text) NOT NULL,
                PRIMARY KEY (app_id, user_id));
            """,
            // One identity that an issuer gave a user. `identity_key` is a digest of issuer and subject. When the user is removed,
            // `removed_at` says when, and issuer, subject and user go: tokens that were issued before make no user for it.
            """
            CREATE TABLE identities (
                app_id \(integer) NOT NULL,
                identity_key \(text) NOT NULL,
                issuer \(text),
                subject \(text),
                user_id \(integer) NOT NULL,
                created_at \(integer) NOT NULL,
                removed_at \(integer),
                PRIMARY KEY (app_id, identity_key));
            CREATE INDEX identities_by_user ON identities (app_id, user_id, identity_key);
            CREATE INDEX identities_by_removal ON identities (app_id, removed_at) WHERE removed_at IS NOT NULL;
            """,
            // The last good key set of one issuer, and where it was found.
            """
            CREATE TABLE key_sets (
                app_id \(integer) NOT NULL,
                issuer \(text) NOT NULL,
                source \(text) NOT NULL,
                document \(bytes) NOT NULL,
                fetched_at \(integer) NOT NULL,
                life \(integer) NOT NULL,
                PRIMARY KEY (app_id, issuer));
            """,
        ]
    }
}
