import RichPushModel
import TagExpressions

/// Says of a record whether a send means it. Storage finds candidates by index; this decides.
public struct AudienceFilter: Sendable {
    private let audience: TagExpression?
    private let format: SendFormat
    private let mark: OrderNumber
    private let now: Timestamp

    /// Creates a filter for a send; no expression means all. `mark` is the order number of the send; `now` decides about expiry.
    public init(audience: TagExpression?, format: SendFormat = .native(.apns), mark: OrderNumber, now: Timestamp) {
        self.audience = audience
        self.format = format
        self.mark = mark
        self.now = now
    }

    /// Whether the record is in the audience: it has a handle, was registered before the send began, is of the send's kind,
    /// neither parked nor expired, and matches. The record has its template if it is one.
    public func means(_ record: DeviceRecord) -> Bool {
        guard record.handle != nil, record.parkedAt == nil, record.order <= mark else { return false }
        guard record.isTarget(of: format) else { return false }
        if let expiresAt = record.expiresAt, expiresAt <= now { return false }
        return audience?.matches(record.matchingTags) ?? true
    }
}
