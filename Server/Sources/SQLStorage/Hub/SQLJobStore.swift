import PushHub
import RichPushModel
import ServiceErrors

/// Import and export jobs.
public struct SQLJobStore: JobStore {
    private let database: any SQLDatabase
    private let claimStatement: SQLStatement

    /// With one writer rows come in the order of their numbers. With many, a row bears when it was handed to the store; from then on a
    /// checkpoint waits for another's write at most before its own, and a write is committed within a minute and the time of an answer, or
    /// never: less than 80 seconds each.
    public var feedbackSettling: Duration

    /// Creates the store.
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
            // First, so that two who believe to hold the lease cannot both change anything.
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
