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
    ///
    /// What the hub refuses for good is over as well: it is thrown, and the hub keeps nothing of another user.
    func synchronise(_ record: RecordID, in begun: DeviceChange? = nil, thoroughly: Bool = false) async throws {
        let change = if let begun { begun } else { try await begin(record) }
        do {
            try await settle(record, thoroughly: thoroughly)
        } catch let refusal as DeviceRefusal {
            await end(change)
            throw refusal.error
        }
        await end(change)
    }

    /// Tells the hub what the current binding of a record says. What this record was told late, here or by a process that has ended since,
    /// may have taken the device from another record that has its handle now; `thoroughly` looks for those in any case.
    private func settle(_ record: RecordID, thoroughly: Bool) async throws {
        guard try await settleAlone(record) || thoroughly else { return }
        for sharer in try await stores.bindings.sharers(of: record) {
            let change = try await begin(sharer)
            do { _ = try await settleAlone(sharer) } catch let refusal as DeviceRefusal {
                logger.warning("The hub refused a device", metadata: ["error_code": "\(refusal.error.code.rawValue)"])
            }
            await end(change)
        }
    }

    /// Tells the hub what a record's last binding says, and looks again: of two changes at the same moment the one that was bound last must
    /// win at the hub too. Returns whether other records can have been touched: nothing holds, or there was more than one thing to say.
    private func settleAlone(_ record: RecordID) async throws -> Bool {
        for round in 0..<Self.synchroniseLimit {
            let last = try await stores.bindings.last(record)
            var refusal: DeviceRefusal?
            if let last, last.until == nil {
                do { _ = try await hub.upsert(last.device.upsert) } catch let error as ServiceError where error.refusesDevice {
                    refusal = DeviceRefusal(error: error)
                    try await removeFormer(of: last.device)
                }
            } else {
                // Also when nobody has it any more: its user was erased while it was told to the hub.
                _ = try await hub.removeDevice(record)
            }
            let now = try await stores.bindings.last(record)
            guard now?.number == last?.number, (now?.until == nil) == (last?.until == nil) else { continue }
            if let refusal { throw refusal }
            return round > 0 || last?.until != nil
        }
        throw ServiceError(.conflict, "the registration is being changed by others; try again")
    }

    /// The hub does not take what the binding says. What it says instead stays as long as it names nobody else and no other device.
    private func removeFormer(of device: BoundDevice) async throws {
        guard let known = try await hub.device(device.record) else { return }
        let isOfSameUser = known.tags.allSatisfy { !$0.namesUser || device.tags.contains($0) }
        if !isOfSameUser || known.handle != device.handle { _ = try await hub.removeDevice(device.record) }
    }

    private static let synchroniseLimit = 5

    /// Signs a device out whose credential counts no more: it could not do so itself, and must not be sent anything for a user who
    /// leaves it. The hub comes first, as when a device signs itself out. What was bound since `seen` stays.
    func signOut(_ record: RecordID, of user: UserID, ifStill seen: BindingState) async throws {
        guard let binding = try await stores.bindings.current(record), binding.user == user, binding.number == seen.binding,
            try await stores.bindings.state(of: record) == seen
        else { return }
        _ = try await hub.removeDevice(record)
        let change = DeviceChange(record)
        let outcome = try await stores.bindings.unbind(
            record, from: user, if: .unchanged(seen), mark: change.mark, at: clock.now)
        // Also when nothing ended: whoever was bound meanwhile has just lost their device at the hub.
        try await synchronise(record, in: outcome == .unbound ? change : nil)
    }
}
