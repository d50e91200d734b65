import RichPushModel

/// Answers are sent by the app alone: it is the one who can tell its user that one was refused.
extension OutboxDelivery {
    /// Sends what the user answered, and returns what was answered in vain: refused for good, or too old. Stops at the first
    /// failure that may pass, with everything as it was.
    func sendReplies(
        of session: Session, as authorization: Authorization, within deadline: Deadline
    ) async throws(RichPushError) -> [RichID] {
        let now = clock.now
        let items = try storing { () throws(StorageError) in try outbox.items(of: session, now: now) }
        var refused: [(OutboxItem, RichID)] = []
        for item in items {
            guard let (id, reply) = item.reply else { continue }
            let isTaken =
                outbox.isOld(item, now: now) ? false : try await deliver(reply, to: id, as: authorization, within: deadline)
            if isTaken { try forget([item], of: session) } else { refused.append((item, id)) }
        }
        try forget(refused.map(\.0), of: session)
        return refused.map(\.1)
    }

    func deliver(
        _ reply: Reply, to id: RichID, as authorization: Authorization, within deadline: Deadline
    ) async throws(RichPushError) -> Bool {
        let isTaken = try await deliver(
            try BackendCall.json("POST", APIRoute.replies(id), reply), as: authorization, within: deadline)
        if isTaken { log.record(DeviceEvent(.sent, id, ["reply": "yes"])) }
        return isTaken
    }
}
