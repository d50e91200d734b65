import RichPushModel

extension RichPushEngine {
    /// Sends what waits, without making anybody wait.
    func startFlush() {
        needsFlush = true
        guard flushing == nil, let session = activeSession else { return }
        let deadline = Deadline(device.clock, after: configuration.limits.receiptDeadline)
        flushing = Task { await sendOutbox(in: session, within: deadline) }
    }

    /// Sends what waits, for as long as `deadline` allows; what does not get through stays.
    func flush(within deadline: Deadline) async {
        if let flushing { _ = await deadline.run { await flushing.value } }
        guard let session = activeSession, deadline.remaining > .zero else { return }
        let running = flushing ?? Task { await sendOutbox(in: session, within: deadline) }
        flushing = running
        _ = await deadline.run { await running.value }
    }

    private func sendOutbox(in session: Session, within deadline: Deadline) async {
        let delivery = OutboxDelivery(client: client, outbox: outbox, clock: device.clock, log: device.log)
        repeat {
            needsFlush = false
            let refused: [RichID]? = try? await authorized(in: session, within: deadline) { authorization throws(RichPushError) in
                do throws(RichPushError) {
                    try await delivery.flush(of: session, as: authorization, within: deadline)
                } catch {
                    // What a server cannot do with receipts is no reason to keep an answer from its reader.
                    guard case .serverFailed = error else { throw error }
                }
                return try await delivery.sendReplies(of: session, as: authorization, within: deadline)
            }
            guard let refused else { break }
            for id in refused { await tellFailedReply(to: id, in: session) }
        } while needsFlush && !Task.isCancelled
        if !Task.isCancelled { flushing = nil }
    }
}
