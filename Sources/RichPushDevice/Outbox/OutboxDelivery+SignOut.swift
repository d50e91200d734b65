import RichPushModel

/// What waited when its user signed out. It is sent from memory: on the device there is nothing of it any more.
extension OutboxDelivery {
    /// One call, and what is lost when the server does not take it.
    private enum LastCall {
        case reply(RichID, Reply)
        case receipts([Receipt])
        case read(RichID)
    }

    /// Sends `items`, what a person wrote first, and returns what the server has not got by `deadline`.
    ///
    /// A server that fails over one of them may take the next. One that cannot be reached, or no longer takes the credential, is not
    /// asked again.
    func sendLast(
        _ items: [OutboxItem], as authorization: Authorization, within deadline: Deadline
    ) async -> SignOutResult {
        var result = Self.loss(of: items.filter { $0.reply != nil && outbox.isOld($0, now: clock.now) })
        var isReachable = true
        for call in Self.calls(for: items.filter { !outbox.isOld($0, now: clock.now) }) {
            guard isReachable, deadline.remaining > .zero else {
                Self.add(call, to: &result)
                continue
            }
            do throws(RichPushError) {
                try await make(call, as: authorization, within: deadline, result: &result)
            } catch {
                Self.add(call, to: &result)
                if case .serverFailed = error { continue }
                isReachable = false
            }
        }
        return result
    }

    /// What is lost when none of `items` can be sent.
    static func loss(of items: [OutboxItem]) -> SignOutResult {
        let replies = items.count { $0.reply != nil }
        return SignOutResult(lostReplies: replies, lostNotes: items.count - replies)
    }

    private static func calls(for items: [OutboxItem]) -> [LastCall] {
        var replies: [LastCall] = []
        var reads: [LastCall] = []
        var receipts: [Receipt] = []
        for item in items {
            switch item.work {
            case .reply(let id, let reply): replies.append(.reply(id, reply))
            case .read(let id): reads.append(.read(id))
            case .receipt(let receipt): receipts.append(receipt)
            }
        }
        let batches = stride(from: 0, to: receipts.count, by: batchSize).map { start in
            LastCall.receipts(Array(receipts[start..<min(start + batchSize, receipts.count)]))
        }
        return replies + batches + reads
    }

    private static func add(_ call: LastCall, to result: inout SignOutResult) {
        switch call {
        case .reply: result.lostReplies += 1
        case .receipts(let receipts): result.lostNotes += receipts.count
        case .read: result.lostNotes += 1
        }
    }

    /// An answer that the server refuses for good is lost too; a receipt that it refuses is one that it has no use for.
    private func make(
        _ call: LastCall, as authorization: Authorization, within deadline: Deadline, result: inout SignOutResult
    ) async throws(RichPushError) {
        switch call {
        case .reply(let id, let reply):
            if try await !deliver(reply, to: id, as: authorization, within: deadline) { result.lostReplies += 1 }
        case .receipts(let receipts): try await deliverEach(receipts, as: authorization, within: deadline)
        case .read(let id): _ = try await deliver(Self.readMark(id), as: authorization, within: deadline)
        }
    }
}
