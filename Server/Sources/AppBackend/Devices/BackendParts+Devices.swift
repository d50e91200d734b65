import PushHub
import RichPushModel
import ServiceErrors

/// What the backend and its upkeep both do with devices.
extension BackendParts {
    /// Notes that a device is about to be changed. Whoever begins ends it with `synchronise`, or with `end` when nothing was changed.
    func begin(_ record: RecordID) async throws -> DeviceChange {
        let change = DeviceChange(record)
        try await stores.bindings.begin(change, at: clock.now)
        return change
    }

    /// Ends a change. One that stays noted is looked at once more, and no more than that.
    func end(_ change: DeviceChange) async { try? await stores.bindings.end(change) }

    /// Makes the hub say what the current binding of a record says, as a change that was begun before, or one of its own.
    func synchronise(_ record: RecordID, in begun: DeviceChange? = nil) async throws {
        let change = if let begun { begun } else { try await begin(record) }
        try await settle(record)
        await end(change)
    }

    /// Tells the hub what the current binding of a record says, and looks again: of two changes at the same moment the one
    /// that was bound last must win at the hub too.
    private func settle(_ record: RecordID) async throws {
        guard let last = try await settleAlone(record), last.until != nil else { return }
        // What this record was told late may have taken the device from the record that has its handle now.
        for sharer in try await stores.bindings.sharers(of: last.device) { _ = try await settleAlone(sharer) }
    }

    /// Returns the binding that was made last. A record that never had one belongs to whoever wrote it at the hub.
    private func settleAlone(_ record: RecordID) async throws -> Binding? {
        for _ in 0..<Self.synchroniseLimit {
            guard let last = try await stores.bindings.last(record) else { return nil }
            if last.until == nil {
                _ = try await hub.upsert(last.device.upsert)
            } else {
                _ = try await hub.removeDevice(record)
            }
            let now = try await stores.bindings.last(record)
            if now?.number == last.number, (now?.until == nil) == (last.until == nil) { return now }
        }
        throw ServiceError(.conflict, "the registration is being changed by others; try again")
    }

    private static let synchroniseLimit = 5

    /// Signs a device out whose credential counts no more: it could not do so itself, and must not be sent anything for a user who
    /// leaves it. The hub comes first, as when a device signs itself out. What was bound since `seen` stays.
    func signOut(_ record: RecordID, of user: UserID, ifStill seen: BindingState) async throws {
        guard let binding = try await stores.bindings.current(record), binding.user == user, binding.number == seen.binding,
            try await stores.bindings.state(of: record) == seen
        else { return }
        _ = try await hub.removeDevice(record)
        _ = try await stores.bindings.unbind(record, from: user, if: .unchanged(seen), at: clock.now)
        // Also when nothing ended: whoever was bound meanwhile has just lost their device at the hub.
        try await synchronise(record)
    }
}
