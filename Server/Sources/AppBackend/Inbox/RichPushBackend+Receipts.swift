import RichPushModel
import ServiceErrors

extension RichPushBackend {
    /// Records what an installation reports, at most 100 receipts. Repeats change nothing. Receipts of what the caller may not
    /// read are passed over in silence, so that nothing can be learnt and one stale receipt blocks no others. `opened` also
    /// marks the entry read.
    ///
    /// Throws `forbidden` unless signed with an installation credential, `invalid-field` for a malformed receipt.
    public func record(_ batch: ReceiptBatch, for principal: Principal) async throws {
        guard let installation = principal.installation else {
            throw ServiceError(.forbidden, "receipts are signed with the credential of the installation that sends them")
        }
        guard batch.receipts.count <= Self.receiptLimit else {
            throw ServiceError(.invalidField, "receipts: at most \(Self.receiptLimit) in one request")
        }
        for (index, receipt) in batch.receipts.enumerated() { try Self.check(receipt, index) }
        let readable = try await readableIDs(Set(batch.receipts.map(\.richID)), for: principal)
        let accepted = batch.receipts.filter { readable.contains($0.richID) }.map {
            StoredReceipt(receipt: $0, user: principal.userID, installation: installation)
        }
        let new = try await parts.stores.receipts.record(accepted, at: parts.clock.now)
        for id in Set(accepted.filter { $0.receipt.kind == .opened }.map(\.receipt.richID)) {
            try await parts.stores.readMarks.setRead(true, of: id, for: principal.userID, at: parts.clock.now)
        }
        for stored in new {
            parts.observer?.observed(.receipt(stored.receipt, user: principal.name, installation: installation))
        }
    }

    private static let receiptLimit = 100

    private func readableIDs(_ ids: Set<RichID>, for principal: Principal) async throws -> Set<RichID> {
        var readable: Set<RichID> = []
        for id in ids {
            do {
                _ = try await self.readable(id, for: principal)
                readable.insert(id)
            } catch let error as ServiceError where error.code == .notFound {
                continue
            }
        }
        return readable
    }

    private static func check(_ receipt: Receipt, _ index: Int) throws {
        switch (receipt.kind, receipt.action) {
        case (.action, nil):
            throw ServiceError(.invalidField, "receipts[\(index)].action: the kind action names an action")
        case (.action, let action?), (.failed, let action?):
            guard (1...64).contains(action.utf8.count), action.utf8.allSatisfy(isActionByte) else {
                throw ServiceError(.invalidField, "receipts[\(index)].action: it has 1 to 64 of A-Z a-z 0-9 . _ -")
            }
        case (_, nil): break
        case (_, _?):
            throw ServiceError(.invalidField, "receipts[\(index)].action: only the kinds action and failed have one")
        }
    }

    private static func isActionByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}
