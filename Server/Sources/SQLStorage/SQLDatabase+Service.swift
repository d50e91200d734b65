import ServiceErrors

extension SQLFault {
    /// What a caller of a storage port is told: the one place where storage faults become service errors.
    public var serviceError: ServiceError {
        switch self {
        case .unavailable, .misconfigured, .lockedByAnotherProcess:
            ServiceError(.storageUnavailable, "the storage cannot be used now; nothing was written", retryAfter: 1)
        case .damaged(let reason):
            ServiceError(
                .storageUnavailable, "the database file is damaged (\(reason)); a backup has to be restored", retryAfter: 60)
        case .outcomeUnknown:
            ServiceError(.outcomeUnknown, "the storage broke while writing; the change may or may not be kept", retryAfter: 1)
        case .duplicate:
            ServiceError(.conflict, "it exists already")
        case .unstorable:
            ServiceError(.invalidField, "a text has a zero byte, or is longer than the database can keep it in an index")
        case .newerSchema:
            ServiceError(.notReady, "the database belongs to a newer version of this program")
        case .olderSchema:
            ServiceError(.notReady, "the database belongs to an older version of this program")
        case .unreleasedSchema:
            ServiceError(.notReady, "the database was made by a development version of this program")
        case .unexpectedColumn, .refused:
            ServiceError(.internal, "the storage refused a statement")
        }
    }
}

extension SQLDatabase {
    /// `read` for a storage port: faults arrive as `ServiceError`.
    public func reading<Result: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Result
    ) async throws -> Result {
        do { return try await read(body) } catch let fault as SQLFault { throw fault.serviceError }
    }

    /// `write` for a storage port: faults arrive as `ServiceError`.
    public func writing<Result: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Result
    ) async throws -> Result {
        do { return try await write(body) } catch let fault as SQLFault { throw fault.serviceError }
    }
}
