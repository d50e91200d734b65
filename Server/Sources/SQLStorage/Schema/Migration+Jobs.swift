extension Migration {
    /// Import and export jobs, the last number of a hub's jobs, and how much of its feedback lies in files.
    static let jobs = Migration(number: 7, name: "jobs") { dialect in
        let (integer, text) = (dialect.integer, dialect.text)
        return """
            CREATE TABLE jobs (
                hub_id \(integer) NOT NULL, number \(integer) NOT NULL, kind \(text) NOT NULL, state \(text) NOT NULL,
                output \(text) NOT NULL, folder \(text) NOT NULL, inputs \(text) NOT NULL, total \(integer) NOT NULL,
                done \(integer) NOT NULL, file \(integer) NOT NULL, line \(integer) NOT NULL, file_offset \(integer) NOT NULL,
                cursor_key \(integer) NOT NULL, succeeded \(integer) NOT NULL, failed \(integer) NOT NULL,
                output_size \(integer) NOT NULL, failed_size \(integer) NOT NULL, pending_output \(text) NOT NULL,
                pending_failed \(text) NOT NULL, failure \(text), owner \(text), leased_until \(integer),
                ready_at \(integer) NOT NULL, epoch \(integer) NOT NULL, attempts \(integer) NOT NULL,
                created_at \(integer) NOT NULL, updated_at \(integer) NOT NULL, PRIMARY KEY (hub_id, number));
            CREATE INDEX jobs_to_do ON jobs (ready_at) WHERE state IN ('waiting', 'running');
            CREATE TABLE hub_files (
                hub_id \(integer) PRIMARY KEY, last_job \(integer) NOT NULL, feedback_mark \(integer) NOT NULL);
            """
    }
}
