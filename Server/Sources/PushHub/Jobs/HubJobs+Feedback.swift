import Logging
import RichPushModel
import ServiceErrors

extension HubJobs {
    /// How many files one call lays down at most; the next call goes on.
    private static let filesAtOnce = 100
    /// A row younger than this may have younger ones committed before it, so it is left for the next call.
    private static let settling: Duration = .seconds(5)

    /// Lays the feedback of a hub that is new since the last call into files of its feedback container, at most 1,000 documents in
    /// each. A file is named after its first row, so that one whose mark was lost is written again as it was.
    ///
    /// Where there is no room for more, what lies there can be read all the same.
    public func layDownFeedback(of hub: NotificationHub) async throws {
        do { try await layDownNewFeedback(of: hub) } catch let error as ServiceError where error.code == .quotaExceeded {
            logger.warning("There is no room for a hub's feedback", metadata: ["hub": "\(hub.id.number)"])
        }
    }

    private func layDownNewFeedback(of hub: NotificationHub) async throws {
        var mark = try await store.feedbackMark(in: hub.id)
        let limit = clock.now - Self.settling
        for _ in 0..<Self.filesAtOnce {
            let rows = try await hub.feedback(after: mark).prefix { $0.notedAt <= limit }
            guard let first = rows.first, let last = rows.last else { return }
            try await write(Array(rows), first, hub.id)
            mark = last.number
            try await store.setFeedbackMark(mark, in: hub.id)
        }
    }

    private func write(_ rows: [DeviceFeedback], _ first: DeviceFeedback, _ hub: HubID) async throws {
        let digits = String(first.number)
        let padded = String(repeating: "0", count: max(0, 19 - digits.count)) + digits
        guard let name = BlobName("feedback-\(padded).xml") else { return }
        let blob = BlobReference(hub: hub, container: .feedback, name: name)
        let upload = try await containers.put(blob, limit: .max)
        var text = ""
        for row in rows { text += format.document(for: row) }
        try await upload.write(Array(text.utf8))
        try await upload.finish()
    }
}
