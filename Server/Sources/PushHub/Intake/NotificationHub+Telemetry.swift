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

    /// The errors of a send: targets that got no push. Of those that a push service called gone or wrong all are kept, of the others
    /// the first 100 of each slice, of which 1,000 are read; 100,000 errors in all.
    public func errors(of send: NotificationTelemetry) -> SendErrorPages {
        SendErrorPages(stores.telemetry, id, send.id, moment: send.endedAt ?? send.startedAt ?? send.enqueuedAt)
    }

    /// Whether a send has errors.
    public func hasErrors(_ send: NotificationTelemetry) async throws -> Bool {
        let failed = SendError.outcomes.union([.gone, .badToken])
        guard send.outcomes.contains(where: { $0.value > 0 && failed.contains($0.key) }) else { return false }
        if try await !stores.telemetry.feedback(of: send.id, after: 0, limit: 1, in: id).isEmpty { return true }
        return try await !stores.telemetry.errors(of: send.id, notedAt: send.enqueuedAt, limit: 1, in: id).isEmpty
    }
}
