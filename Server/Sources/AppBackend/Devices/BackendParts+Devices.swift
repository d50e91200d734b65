import AuditTrail
import PushHub
import RichPushModel
import ServiceErrors

/// What the backend and its upkeep both do with devices.
extension BackendParts {
    /// Notes that a device is about to change. The caller ends the change with `synchronise`, or with `end` if nothing changed.
    func begin(_ record: RecordID) async throws -> DeviceChange {
        let change = DeviceChange(record)
        try await store.begin(change, at: clock.now)
        return change
    }

    /// Ends a change. If this fails, the upkeep only checks the device once more.
    func end(_ change: DeviceChange) async { try? await store.end(change) }

    /// Makes the hub agree with the current binding of a record, as part of the given change or a new one.
    ///
    /// A permanent refusal of the hub ends the change too: it is thrown, and the hub keeps nothing of another user.
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

    /// Updates the hub from the current binding of a record. A late update of this record, by this or an ended process, may have taken the
    /// device from another record that now has its device token; `thoroughly` checks those in any case.
    private func settle(_ record: RecordID, thoroughly: Bool) async throws {
        guard try await settleAlone(record) || thoroughly else { return }
        for sharer in try await store.sharers(of: record) {
            let change = try await begin(sharer)
            do { _ = try await settleAlone(sharer) } catch let refusal as DeviceRefusal {
                logger.warning("The hub refused a device", metadata: ["error_code": "\(refusal.error.code.rawValue)"])
            }
            await end(change)
        }
    }

    /// Updates the hub from a record's last binding and checks again, because of two concurrent changes the last binding must win at
    /// the hub too. Returns whether other records may be affected: no binding holds, or it took more than one update.
    private func settleAlone(_ record: RecordID) async throws -> Bool {
        for round in 0..<Self.synchroniseLimit {
            let last = try await store.lastBinding(of: record)
            var refusal: DeviceRefusal?
            if let last, last.until == nil {
                do { _ = try await hub.upsert(last.device.upsert) } catch let error as ServiceError where error.refusesDevice {
                    refusal = DeviceRefusal(error: error)
                    try await removeFormer(of: last.device)
                }
            } else {
                // Also if the user was erased during the hub update.
                _ = try await hub.removeDevice(record)
            }
            let now = try await store.lastBinding(of: record)
            guard now?.number == last?.number, (now?.until == nil) == (last?.until == nil) else { continue }
            if let refusal { throw refusal }
            return round > 0 || last?.until != nil
        }
        throw ServiceError(.conflict, "the registration is being changed by others; try again")
    }

    /// The hub rejects the binding's device. The hub's old record stays only if it names the same user and device.
    private func removeFormer(of device: BoundDevice) async throws {
        guard let known = try await hub.device(device.record) else { return }
        let isOfSameUser = known.tags.allSatisfy { !$0.namesUser || device.tags.contains($0) }
        if !isOfSameUser || known.handle != device.handle { _ = try await hub.removeDevice(device.record) }
    }

    private static let synchroniseLimit = 5

    /// Signs a device out whose credential counts no more: it could not do so itself, and must not be sent anything for a user who
    /// leaves it. The hub comes first, as when a device signs itself out. What was bound since `seen` stays.
    func signOut(
        _ record: RecordID, of user: UserID, ifStill seen: BindingState, audit entry: AuditEntry? = nil
    ) async throws {
        guard let binding = try await store.currentBinding(of: record), binding.user == user, binding.number == seen.binding,
            try await store.bindingState(of: record) == seen
        else { return }
        _ = try await hub.removeDevice(record)
        let change = DeviceChange(record)
        let outcome = try await store.unbind(
            record, from: user, if: .unchanged(seen), mark: change.mark, at: clock.now, audit: entry)
        // Also if nothing ended: a user bound meanwhile has just lost the device at the hub.
        try await synchronise(record, in: outcome == .unbound ? change : nil)
    }
}

extension RichPushBackend {
    /// Binds a device and makes the hub know it. The binding comes first: if the process dies between the two, access is
    /// right, and the upkeep of any node repairs the hub.
    ///
    /// Throws `unauthenticated` when the credential that the caller presented was replaced meanwhile.
    func register(_ device: BoundDevice, with credential: BindingCredential, for principal: Principal) async throws {
        try await refuseForeignHubRecord(device)
        let change = DeviceChange(device.record)
        let outcome = try await parts.store.bind(
            device, to: principal.userID, with: credential, devices: parts.settings.userDevices, mark: change.mark,
            at: parts.clock.now,
            audit: principal.entry(
                .signedIn, at: parts.clock.now, subject: principal.name.text,
                details: AuditEntry.installation(device.record.text) + (principal.token.map { " \($0.details)" } ?? "")))
        if outcome == .credentialReplaced { throw BearerAuthenticator.notValid }
        guard case .bound(_, let replaced, let taken) = outcome else { throw Self.gone }
        for record in [device.record] + replaced { bearers.forget(record.text) }
        try await parts.synchronise(device.record, in: change)
        for record in replaced { try await parts.synchronise(record, in: DeviceChange(record, mark: change.mark)) }
        if !replaced.isEmpty {
            parts.logger.notice("A registration replaced others of the same handle", metadata: ["count": "\(replaced.count)"])
        }
        if !taken.isEmpty {
            parts.logger.notice(
                "A user registered a device token of another user and took the device over",
                metadata: ["record": "\(device.record)", "count": "\(taken.count)"]
            )
        }
        parts.observer?.observed(.registered(device.record, user: principal.name))
    }

    /// Ends a device of the caller. Can be retried.
    ///
    /// The hub comes first: if the process dies between the two, nothing is pushed to the device any more, and its credential
    /// still works for the retry that ends the binding. No change is noted before, because it would bring the device back. It is
    /// noted with the end of the binding, in case an earlier registration reaches the hub late.
    /// Only what was seen at the start ends: a sign-in that comes meanwhile stays, at the hub too.
    func unregister(_ record: RecordID, for principal: Principal) async throws {
        let store = parts.store
        let seen = try await store.bindingState(of: record)
        if principal.installation != nil, seen.credential != principal.credentialDigest { throw BearerAuthenticator.notValid }
        let condition = principal.credentialDigest.map(UnbindingCondition.credential) ?? .unchanged(seen)
        let isOwn = try await store.currentBinding(of: record)?.user == principal.userID
        if isOwn { _ = try await parts.hub.removeDevice(record) }
        let change = DeviceChange(record)
        let outcome = try await store.unbind(
            record, from: principal.userID, if: condition, mark: change.mark, at: parts.clock.now,
            audit: principal.entry(
                .signedOut, at: parts.clock.now, subject: principal.name.text, details: AuditEntry.installation(record.text)))
        bearers.forget(record.text)
        // Also if nothing ended: a user bound meanwhile has just lost the device at the hub.
        if outcome == .unbound { try await parts.synchronise(record, in: change) } else if isOwn { try await synchronise(record) }
        switch outcome {
        case .unbound: break
        case .foreign: throw ServiceError(.notFound, "there is no such registration")
        case .superseded where principal.installation != nil: throw BearerAuthenticator.notValid
        case .superseded: throw ServiceError(.conflict, "the device was registered again meanwhile; this sign-out ended nothing")
        }
        parts.observer?.observed(.signedOut(record, user: principal.name))
    }

    /// Signs a device of any user out, for a caller who may.
    func signOut(_ record: RecordID, by principal: Principal) async throws {
        let seen = try await parts.store.bindingState(of: record)
        guard let binding = try await parts.store.currentBinding(of: record), binding.number == seen.binding else {
            throw ServiceError(.notFound, "there is no such registration")
        }
        bearers.forget(record.text)
        let name = try await parts.store.user(binding.user)?.name.text ?? ""
        try await parts.signOut(
            record, of: binding.user, ifStill: seen,
            audit: principal.entry(
                .signedOut, at: parts.clock.now, subject: name, details: AuditEntry.installation(record.text)))
        bearers.forget(record.text)
    }

    func synchronise(_ record: RecordID) async throws { try await parts.synchronise(record) }

    static let gone = ServiceError(.registrationGone, "this registration belongs to another device; ask for a new id")

    /// A record that was written with a hub key belongs to no user; it is taken over only with the same handle.
    private func refuseForeignHubRecord(_ device: BoundDevice) async throws {
        guard try await parts.store.currentBinding(of: device.record) == nil,
            let known = try await parts.hub.device(device.record), let handle = known.handle
        else { return }
        guard handle == device.handle, known.platform == device.platform else { throw Self.gone }
    }
}

/// A hub does not take a device as its user registered it, however often it is asked.
private struct DeviceRefusal: Error {
    var error: ServiceError
}

extension ServiceError {
    /// Whether an answer to a device is about the device. Everything else may be otherwise the next time.
    var refusesDevice: Bool { [.invalidField, .conflict, .quotaExceeded, .payloadTooLarge, .registrationGone].contains(code) }
}
