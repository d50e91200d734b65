import PushHub
import RichPushModel
import ServiceErrors

/// Import and export jobs.
public struct SQLJobStore: JobStore {
    private let database: any SQLDatabase
    private let claimStatement: SQLStatement

    /// With one writer rows come in the order of their numbers. With many, a row has the time at which the store received it. After that a
    /// checkpoint waits for at most one other write. Each is committed within a minute and the time of an answer, under 80 seconds, or
    /// never.
    public var feedbackSettling: Duration

    public init(_ database: any SQLDatabase) {
        self.database = database
        claimStatement = Self.claim(database.dialect)
        feedbackSettling = database.dialect == .sqlite ? .seconds(5) : .seconds(180)
    }

    public func create(_ job: NewJob, limit: Int, in hub: HubID, at now: Timestamp) async throws -> HubJob {
        try await database.writing { connection in
            let unfinished = try connection.row(Self.countUnfinished, [.integer(hub.number)])?.integer(0) ?? 0
            guard unfinished < Int64(limit) else {
                throw ServiceError(.quotaExceeded, "the hub has \(limit) jobs that are not over", retryAfter: 60)
            }
            guard let number = try connection.row(Self.nextNumber, [.integer(hub.number)])?.integer(0) else {
                throw SQLFault.unexpectedColumn(0)
            }
            try connection.run(Self.insert, JobRows.values(job, number: number, hub, now))
            guard let stored = try connection.row(Self.select, [.integer(hub.number), .integer(number)]) else {
                throw SQLFault.unexpectedColumn(0)
            }
            return try JobRows.job(stored)
        }
    }

    public func job(_ number: Int64, in hub: HubID) async throws -> HubJob? {
        try await database.reading { try $0.row(Self.select, [.integer(hub.number), .integer(number)]).map(JobRows.job) }
    }

    public func jobs(in hub: HubID, limit: Int) async throws -> [HubJob] {
        try await database.reading { connection in
            try connection.rows(Self.list, [.integer(hub.number), .integer(Int64(limit))]).map(JobRows.job)
        }
    }

    public func claim(owner: String, until: Timestamp, at now: Timestamp) async throws -> JobLease? {
        let statement = claimStatement
        return try await database.writing { connection in
            let values: [SQLValue] = [.text(owner), .integer(until.milliseconds), .integer(now.milliseconds)]
            return try connection.row(statement, values).map(JobRows.lease)
        }
    }

    public func checkpoint(
        _ lease: JobLease, _ progress: JobProgress, state: HubJob.State, failure: String?, until: Timestamp, at now: Timestamp
    ) async throws -> Bool {
        try await database.writing { connection in
            try Self.write(lease, progress, state, failure, until, now, connection)
        }
    }

    public func apply(
        _ changes: [RegistrationChange], for lease: JobLease, until: Timestamp, at now: Timestamp,
        report: @escaping @Sendable ([Result<DeviceRecord?, ServiceError>]) -> JobProgress
    ) async throws -> JobProgress? {
        try await database.writing { connection in
            // First, so that two nodes that believe they hold the lease cannot both change anything.
            guard try connection.run(Self.hold, Self.key(lease)) > 0 else { return nil }
            let results = try changes.map { try Self.result(of: $0, in: lease.job.hub, at: now, connection) }
            let progress = report(results)
            guard try Self.write(lease, progress, .running, nil, until, now, connection) else { return nil }
            return progress
        }
    }

    public func release(_ lease: JobLease, until: Timestamp, at now: Timestamp) async throws {
        _ = try await database.writing { connection in
            try connection.run(
                Self.release, Self.key(lease) + [.integer(until.milliseconds), .integer(now.milliseconds)])
        }
    }

    public func releaseAll(of owner: String?, at now: Timestamp) async throws -> Int {
        try await database.writing { connection in
            let now = SQLValue.integer(now.milliseconds)
            guard let owner else { return try connection.run(Self.releaseAll, [now]) }
            return try connection.run(Self.releaseOwn, [now, .text(owner)])
        }
    }

    public func sweep(endedBefore moment: Timestamp, limit: Int) async throws -> Int {
        try await database.writing { try $0.run(Self.sweep, [.integer(moment.milliseconds), .integer(Int64(limit))]) }
    }

    public func feedbackMark(in hub: HubID) async throws -> Int64 {
        try await database.reading { try $0.row(Self.selectMark, [.integer(hub.number)])?.integer(0) ?? 0 }
    }

    public func moveFeedbackMark(from old: Int64, to new: Int64, in hub: HubID) async throws -> Bool {
        try await database.writing { try $0.run(Self.moveMark, [.integer(hub.number), .integer(old), .integer(new)]) > 0 }
    }
}

extension SQLJobStore {
    private static func key(_ lease: JobLease) -> [SQLValue] {
        [.integer(lease.job.hub.number), .integer(lease.job.number), .integer(lease.epoch)]
    }

    /// A refusal is a result; a fault of the database ends the transaction.
    private static func result(
        of change: RegistrationChange, in hub: HubID, at now: Timestamp, _ connection: any SQLConnection
    ) throws -> Result<DeviceRecord?, ServiceError> {
        do {
            switch change {
            case .put(let request):
                return .success(try SQLDeviceStore.upsert(request, in: hub, at: now, connection).record)
            case .merge(let part):
                return .success(try SQLDeviceStore.merge(part, in: hub, at: now, connection))
            case .remove(let id, let precondition):
                _ = try SQLDeviceStore.remove(id, expecting: precondition, in: hub, connection)
                return .success(nil)
            }
        } catch let refusal as ServiceError {
            return .failure(refusal)
        }
    }

    private static func write(
        _ lease: JobLease, _ progress: JobProgress, _ state: HubJob.State, _ failure: String?, _ until: Timestamp,
        _ now: Timestamp, _ connection: any SQLConnection
    ) throws -> Bool {
        let values: [SQLValue] = [
            .text(state.rawValue), .optional(failure), .integer(until.milliseconds), .integer(now.milliseconds),
            .integer(state.isFinal ? 1 : 0),
        ]
        return try connection.run(checkpoint, key(lease) + JobRows.values(progress) + values) > 0
    }
}

extension SQLJobStore {
    static func all(_ dialect: SQLDialect) -> [SQLStatement] {
        [
            countUnfinished, nextNumber, insert, select, list, claim(dialect), hold, checkpoint, release, releaseAll, releaseOwn,
            sweep, selectMark, moveMark,
        ]
    }

    private static let countUnfinished = SQLStatement(
        "SELECT COUNT(*) FROM jobs WHERE hub_id = $1 AND state IN ('waiting', 'running')")
    /// Numbers are never given twice: the files of a job are named after its number.
    private static let nextNumber = SQLStatement(
        """
        INSERT INTO hub_files (hub_id, last_job, feedback_mark) VALUES ($1, 1, 0)
        ON CONFLICT (hub_id) DO UPDATE SET last_job = hub_files.last_job + 1 RETURNING last_job
        """)
    private static let insert = SQLStatement(
        """
        INSERT INTO jobs (hub_id, number, kind, state, output, folder, inputs, created_at, updated_at, ready_at, total, done,
            file, line, file_offset, cursor_key, succeeded, failed, output_size, failed_size, pending_output, pending_failed,
            epoch, attempts)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, 0, 0)
        """)
    private static let select = SQLStatement(composed: "SELECT \(JobRows.columns) FROM jobs WHERE hub_id = $1 AND number = $2")
    private static let list = SQLStatement(
        composed: "SELECT \(JobRows.columns) FROM jobs WHERE hub_id = $1 ORDER BY number DESC LIMIT $2")

    /// The oldest job of a hub goes first, and the others of that hub wait until it is over.
    private static func claim(_ dialect: SQLDialect) -> SQLStatement {
        SQLStatement(
            composed: """
                WITH next AS MATERIALIZED (
                    SELECT hub_id, number FROM jobs j
                    WHERE state IN ('waiting', 'running') AND ready_at <= $3 AND (owner IS NULL OR leased_until <= $3)
                        AND NOT EXISTS (SELECT 1 FROM jobs o
                            WHERE o.hub_id = j.hub_id AND o.number < j.number AND o.state IN ('waiting', 'running'))
                    ORDER BY ready_at, hub_id LIMIT 1\(dialect.skipLocked))
                UPDATE jobs SET owner = $1, leased_until = $2, epoch = epoch + 1, state = 'running'
                WHERE (hub_id, number) IN (SELECT hub_id, number FROM next)
                RETURNING \(JobRows.columns)
                """)
    }

    /// Locks the row of a lease that still holds.
    private static let hold = SQLStatement(
        "UPDATE jobs SET epoch = epoch WHERE hub_id = $1 AND number = $2 AND epoch = $3 AND owner IS NOT NULL")
    private static let checkpoint = SQLStatement(
        """
        UPDATE jobs SET total = $4, done = $5, file = $6, line = $7, file_offset = $8, cursor_key = $9, succeeded = $10,
            failed = $11, output_size = $12, failed_size = $13, pending_output = $14, pending_failed = $15, state = $16,
            failure = $17, leased_until = $18, updated_at = $19, attempts = 0,
            owner = CASE WHEN $20 = 1 THEN NULL ELSE owner END
        WHERE hub_id = $1 AND number = $2 AND epoch = $3 AND owner IS NOT NULL
        """)
    private static let release = SQLStatement(
        """
        UPDATE jobs SET owner = NULL, leased_until = NULL, ready_at = $4, updated_at = $5, attempts = attempts + 1
        WHERE hub_id = $1 AND number = $2 AND epoch = $3 AND owner IS NOT NULL
        """)
    /// A process that died counts as no attempt. The moment makes the job ready also after the clock was set back.
    private static let freed = "UPDATE jobs SET owner = NULL, leased_until = NULL, ready_at = $1"
    private static let releaseAll = SQLStatement(composed: freed + " WHERE owner IS NOT NULL")
    private static let releaseOwn = SQLStatement(composed: freed + " WHERE owner = $2")
    private static let sweep = SQLStatement(
        """
        DELETE FROM jobs WHERE (hub_id, number) IN (
            SELECT hub_id, number FROM jobs WHERE state IN ('completed', 'failed') AND updated_at < $1 LIMIT $2)
        """)
    private static let selectMark = SQLStatement("SELECT feedback_mark FROM hub_files WHERE hub_id = $1")
    private static let moveMark = SQLStatement(
        """
        INSERT INTO hub_files (hub_id, last_job, feedback_mark) VALUES ($1, 0, $3)
        ON CONFLICT (hub_id) DO UPDATE SET feedback_mark = excluded.feedback_mark WHERE hub_files.feedback_mark = $2
        """)
}

/// Jobs as rows.
private enum JobRows {
    /// The columns in the order in which `job` and `lease` read them.
    static let columns = """
        hub_id, number, kind, state, output, folder, inputs, failure, created_at, updated_at, total, done, file, line, \
        file_offset, cursor_key, succeeded, failed, output_size, failed_size, pending_output, pending_failed, epoch, attempts
        """

    static func lease(_ row: SQLRow) throws -> JobLease {
        JobLease(job: try job(row), epoch: try row.integer(22), attempts: Int(try row.integer(23)))
    }

    static func job(_ row: SQLRow) throws -> HubJob {
        let hub = HubID(try row.integer(0))
        guard let kind = HubJob.Kind(rawValue: try row.text(2)) else { throw SQLFault.unexpectedColumn(2) }
        guard let state = HubJob.State(rawValue: try row.text(3)) else { throw SQLFault.unexpectedColumn(3) }
        guard let output = ContainerName(try row.text(4)) else { throw SQLFault.unexpectedColumn(4) }
        return HubJob(
            hub: hub, number: try row.integer(1), kind: kind, state: state, output: output, folder: try row.text(5),
            inputs: try inputs(try row.text(6), hub), progress: try progress(row), failure: try row.optionalText(7),
            createdAt: Timestamp(milliseconds: try row.integer(8)), updatedAt: Timestamp(milliseconds: try row.integer(9)))
    }

    private static func progress(_ row: SQLRow) throws -> JobProgress {
        var progress = JobProgress(total: try row.integer(10))
        progress.done = try row.integer(11)
        progress.file = Int(try row.integer(12))
        progress.line = Int(try row.integer(13))
        progress.offset = try row.integer(14)
        progress.cursor = SliceKey(try row.integer(15))
        progress.succeeded = try row.integer(16)
        progress.failed = try row.integer(17)
        progress.outputSize = try row.integer(18)
        progress.failedSize = try row.integer(19)
        progress.pendingOutput = try row.text(20)
        progress.pendingFailed = try row.text(21)
        return progress
    }

    /// The values of a progress in the order of its columns.
    static func values(_ progress: JobProgress) -> [SQLValue] {
        [
            .integer(progress.total), .integer(progress.done), .integer(Int64(progress.file)), .integer(Int64(progress.line)),
            .integer(progress.offset), .integer(progress.cursor.number), .integer(progress.succeeded), .integer(progress.failed),
            .integer(progress.outputSize), .integer(progress.failedSize), .text(progress.pendingOutput),
            .text(progress.pendingFailed),
        ]
    }

    /// The values of a new row.
    static func values(_ job: NewJob, number: Int64, _ hub: HubID, _ now: Timestamp) -> [SQLValue] {
        // Neither part of a file's name has a line end, and that of a container has no slash.
        let inputs = job.inputs.map { "\($0.container.text)/\($0.name.text)" }.joined(separator: "\n")
        let state = HubJob.State.waiting.rawValue
        return [
            .integer(hub.number), .integer(number), .text(job.kind.rawValue), .text(state), .text(job.output.text),
            .text(job.folder), .text(inputs), .integer(now.milliseconds),
        ] + values(JobProgress(total: job.total))
    }

    private static func inputs(_ text: String, _ hub: HubID) throws -> [BlobReference] {
        try text.split(separator: "\n").map { line in
            guard let slash = line.firstIndex(of: "/"), let container = ContainerName(String(line[..<slash])),
                let name = BlobName(String(line[line.index(after: slash)...]))
            else { throw SQLFault.unexpectedColumn(6) }
            return BlobReference(hub: hub, container: container, name: name)
        }
    }
}
