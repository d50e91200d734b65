import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Sends what waits in the outbox: receipts in batches, read marks one by one. Sending an item again is harmless, so app and extension
/// may do it at once.
struct OutboxDelivery: Sendable {
    /// As `ReceiptBatch` allows.
    static let batchSize = 100

    let client: BackendClient
    let outbox: Outbox
    let clock: any ServiceClock
    let log: any EventLog

    /// Sends everything. Stops at the first transient failure; what the server refuses permanently is dropped. A server that fails over
    /// receipts may still accept the rest: that failure is thrown when everything else was tried.
    func flush(of session: Session, as authorization: Authorization, within deadline: Deadline) async throws(RichPushError) {
        let items = try storing { () throws(StorageError) in try outbox.items(of: session, now: clock.now) }
        var failure: RichPushError?
        do throws(RichPushError) {
            try await sendReceipts(items, of: session, as: authorization, within: deadline)
        } catch {
            guard case .serverFailed = error else { throw error }
            failure = error
        }
        for item in items {
            guard case .read(let id) = item.work else { continue }
            _ = try await deliver(Self.readMark(id), as: authorization, within: deadline)
            try forget([item], of: session)
        }
        if let failure { throw failure }
    }

    private func sendReceipts(
        _ items: [OutboxItem], of session: Session, as authorization: Authorization, within deadline: Deadline
    ) async throws(RichPushError) {
        let receipts = items.compactMap { item in
            if case .receipt(let receipt) = item.work { (item: item, receipt: receipt) } else { nil }
        }
        for start in stride(from: 0, to: receipts.count, by: Self.batchSize) {
            let batch = receipts[start..<min(start + Self.batchSize, receipts.count)]
            try await deliverEach(batch.map(\.receipt), as: authorization, within: deadline)
            try forget(batch.map(\.item), of: session)
        }
    }

    static func readMark(_ id: RichID) throws(RichPushError) -> BackendCall {
        try BackendCall.json("PATCH", APIRoute.notification(id), ["read": true])
    }

    /// Sends a batch; when the server refuses it, one by one, because one bad receipt must not take the others with it.
    func deliverEach(
        _ receipts: [Receipt], as authorization: Authorization, within deadline: Deadline
    ) async throws(RichPushError) {
        let isTaken = try await deliver(receipts, as: authorization, within: deadline)
        guard !isTaken, receipts.count > 1 else { return }
        for single in receipts { _ = try await deliver([single], as: authorization, within: deadline) }
    }

    private func deliver(
        _ receipts: [Receipt], as authorization: Authorization, within deadline: Deadline
    ) async throws(RichPushError) -> Bool {
        let call = try BackendCall.json("POST", APIRoute.receipts, ReceiptBatch(receipts: receipts))
        let isTaken = try await deliver(call, as: authorization, within: deadline)
        if isTaken { log(receipts) }
        return isTaken
    }

    /// Whether the server accepted it; `false` when it never will.
    func deliver(
        _ call: BackendCall, as authorization: Authorization, within deadline: Deadline
    ) async throws(RichPushError) -> Bool {
        do {
            _ = try await client.call(call, as: authorization, within: deadline)
            return true
        } catch .notFound {
            return false
        } catch .refused {
            return false
        } catch {
            throw error
        }
    }

    func forget(_ items: [OutboxItem], of session: Session) throws(RichPushError) {
        try storing { () throws(StorageError) in
            for item in items { try outbox.remove(item, of: session) }
        }
    }

    private func log(_ receipts: [Receipt]) {
        for receipt in receipts {
            var detail = ["kind": receipt.kind.rawValue]
            detail["action"] = receipt.action
            log.record(DeviceEvent(.receiptsSent, receipt.richID, detail))
        }
    }

    // MARK: Replies are sent by the app alone, because only the app can inform its user that one was refused

    /// Sends the user's replies, and returns those that failed permanently: refused, or too old. Stops at the first transient failure
    /// and changes nothing then.
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

    // MARK: What waited when its user signed out. It is sent from memory: nothing of it is on the device any more.

    /// One call, and what is lost when the server does not accept it.
    private enum LastCall {
        case reply(RichID, Reply)
        case receipts([Receipt])
        case read(RichID)
    }

    /// Sends `items`, replies first, and returns what the server has not got by `deadline`.
    ///
    /// A server that fails over one item may accept the next. One that cannot be reached, or refuses the credential, is not tried
    /// again.
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

    /// A reply that the server refuses permanently is lost too; a refused receipt is not needed by the server.
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

/// Runs storage work inside a function that throws `RichPushError`.
func storing<Value>(_ work: () throws(StorageError) -> Value) throws(RichPushError) -> Value {
    do {
        return try work()
    } catch {
        throw .storage(error)
    }
}

/// What waits to be sent to the server. Stored first and sent afterwards, so that a process that ends in between loses nothing.
struct Outbox: Sendable {
    let store: any SharedStore
    let limits: DeviceLimits

    /// Notes a receipt; its id is a hash of installation, notification, kind and action (Reference/IOSClient.md#8).
    func add(_ receipt: Receipt, of session: Session) throws(StorageError) {
        let parts = [session.installation.text, "\(receipt.richID)", receipt.kind.rawValue, receipt.action ?? ""]
        try add(.receipt(receipt), id: DigestText.digest(parts.joined(separator: "\n")), at: receipt.at, of: session)
    }

    /// Notes that the user opened a notification.
    func addRead(_ id: RichID, at moment: Timestamp, of session: Session) throws(StorageError) {
        try add(.read(id), id: "read \(id)", at: moment, of: session)
    }

    /// Notes the user's reply.
    func addReply(_ reply: Reply, to id: RichID, at moment: Timestamp, of session: Session) throws(StorageError) {
        try add(.reply(id, reply), id: "reply \(reply.id)", at: moment, of: session)
    }

    private func add(
        _ work: OutboxItem.Work, id: String, at moment: Timestamp, of session: Session
    ) throws(StorageError) {
        guard let data = try? JSONEncoder().encode(OutboxItem(id: id, createdAt: moment, work: work)) else { throw .failed }
        try store.setRecord(data, for: RecordKey(.outbox, id, of: session.id))
    }

    /// What waits, oldest first. Items that are too old or too many are dropped here; but a reply that is too old is returned once
    /// more, so that its user is informed.
    func items(of session: Session, now: Timestamp) throws(StorageError) -> [OutboxItem] {
        let all = try store.records(.outbox, of: session.id, limit: limits.outboxCount * 4)
            .compactMap { try? JSONDecoder().decode(OutboxItem.self, from: $0) }
            .sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }
        // The user's own replies are not dropped for automatic items: receipts and read marks share the rest of the room, and have at
        // least half of it however many replies there are.
        let replies = all.count { $0.reply != nil }
        let room = max(limits.outboxCount / 2, limits.outboxCount - replies)
        let noted = all.filter { $0.reply == nil && !isOld($0, now: now) }.suffix(room)
        let kept = Set(noted.map(\.id))
        let (staying, going) = (all.filter { $0.reply != nil || kept.contains($0.id) }, all.filter { $0.reply == nil })
        for item in going where !kept.contains(item.id) { try remove(item, of: session) }
        return staying
    }

    func isOld(_ item: OutboxItem, now: Timestamp) -> Bool { now - item.createdAt >= limits.outboxAge }

    func remove(_ item: OutboxItem, of session: Session) throws(StorageError) {
        try store.removeRecord(RecordKey(.outbox, item.id, of: session.id))
    }

    /// The notifications whose read marks still wait here.
    func reads(of session: Session, now: Timestamp) throws(StorageError) -> Set<RichID> {
        Set(
            try items(of: session, now: now).compactMap { item in
                if case .read(let id) = item.work { id } else { nil }
            })
    }
}

/// Something to be sent to the server as soon as it can be reached.
struct OutboxItem: Hashable, Sendable, Codable {
    enum Work: Hashable, Sendable, Codable {
        case receipt(Receipt)
        /// The user opened it.
        case read(RichID)
        /// The user answered it.
        case reply(RichID, Reply)
    }

    /// The same for the same fact, so that noting it twice stores it once.
    var id: String
    var createdAt: Timestamp
    var work: Work

    /// The reply, if it is one, and the notification that it answers.
    var reply: (id: RichID, reply: Reply)? {
        if case .reply(let id, let reply) = work { (id, reply) } else { nil }
    }
}
