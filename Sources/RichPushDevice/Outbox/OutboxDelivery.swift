import RichPushModel

/// Sends what waits in the outbox: receipts in batches, read marks one by one. Repeats are harmless, so app and extension may
/// do it at once.
struct OutboxDelivery: Sendable {
    /// As `ReceiptBatch` allows.
    static let batchSize = 100

    let client: BackendClient
    let outbox: Outbox
    let clock: any ServiceClock
    let log: any EventLog

    /// Sends all there is. Stops at the first failure that may pass; what the server refuses for good is dropped. A server that
    /// fails over receipts may still take the rest: that failure is thrown when everything else was tried.
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

    /// Sends a batch; when the server refuses it, one by one, because one bad receipt shall not take the others with it.
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
        if isTaken { tell(receipts) }
        return isTaken
    }

    /// Whether the server took it; `false` when it never will.
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

    private func tell(_ receipts: [Receipt]) {
        for receipt in receipts {
            var detail = ["kind": receipt.kind.rawValue]
            detail["action"] = receipt.action
            log.record(DeviceEvent(.receiptsSent, receipt.richID, detail))
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
