import ServiceErrors

/// What has to be so of a record for a change to be made. Decided in the transaction of the change.
public enum DevicePrecondition: Hashable, Sendable {
    case none
    /// There is such a record, else `not-found`.
    case exists
    /// There is no such record, else `conflict`.
    case absent
    /// There is such a record, else `not-found`, and this is its version, else `precondition-failed`.
    case version(Int64)

    /// Throws `ServiceError` as above. `current` is the record's version, `nil` when there is no record.
    public func check(_ current: Int64?) throws {
        switch (self, current) {
        case (.none, _), (.exists, .some), (.absent, nil): return
        case (.exists, nil), (.version, nil): throw ServiceError(.notFound, "there is no such device")
        case (.absent, .some): throw ServiceError(.conflict, "there is such a device already")
        case (.version(let wanted), .some(let current)):
            guard wanted == current else { throw ServiceError(.preconditionFailed, "the device was changed meanwhile") }
        }
    }
}
