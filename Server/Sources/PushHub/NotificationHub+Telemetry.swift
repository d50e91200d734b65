import RichPushModel
import ServiceErrors

extension NotificationHub {
    /// The most rows of a page of feedback.
    public static let maximumFeedback = 1_000

    /// What push services said of handles that are of no use any more, after the number, oldest first; at most 1,000 rows.
    public func feedback(after number: Int64 = 0, limit: Int = maximumFeedback) async throws -> [DeviceFeedback] {
        guard (1...Self.maximumFeedback).contains(limit) else {
            throw ServiceError(.invalidField, "a page has 1 to \(Self.maximumFeedback) rows of feedback")
        }
        return try await stores.telemetry.feedback(after: number, limit: limit, in: id)
    }
}
