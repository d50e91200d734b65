import Logging
import RichPushModel
import ServiceErrors

extension HubJobs {
    /// How many files one call lays down at most; the next call goes on.
    private static let filesAtOnce = 100

    /// Lays the feedback of a hub that is new since the last call into files of its feedback container, at most 1,000 documents in
    /// each. A file is named after its first row and its last: nobody who stalls between reading and writing takes rows out of a file
    /// that another has written meanwhile. Where that happens, or a mark is lost, rows are in two files.
    ///
    /// Where there is no room for more, what lies there can be read all the same.
    public func layDownFeedback(of hub: NotificationHub) async throws {
        do { try await layDownNewFeedback(of: hub) } catch let error as ServiceError where error.code == .quotaExceeded {
            logger.warning("There is no room for a hub's feedback", metadata: ["hub": "\(hub.id.number)"])
        }
    }

    private func layDownNewFeedback(of hub: NotificationHub) async throws {
        var mark = try await store.feedbackMark(in: hub.id)
        // What is younger may have others before it whose transaction is still open.
        let limit = clock.now - store.feedbackSettling
        for _ in 0..<Self.filesAtOnce {
            let rows = try await hub.feedback(after: mark).prefix { $0.notedAt <= limit }
            guard let first = rows.first, let last = rows.last else { return }
            try await write(Array(rows), "\(Self.padded(first.number))-\(Self.padded(last.number))", hub.id)
            guard try await store.moveFeedbackMark(from: mark, to: last.number, in: hub.id) else { return }
            mark = last.number
        }
    }

    private static func padded(_ number: Int64) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, 19 - digits.count)) + digits
    }

    private func write(_ rows: [DeviceFeedback], _ numbers: String, _ hub: HubID) async throws {
        guard let name = BlobName("feedback-\(numbers).xml") else { return }
        let blob = BlobReference(hub: hub, container: .feedback, name: name)
        let upload = try await containers.put(blob, limit: .max)
        var text = ""
        for row in rows { text += format.document(for: row) }
        try await upload.write(Array(text.utf8))
        try await upload.finish()
    }
}
