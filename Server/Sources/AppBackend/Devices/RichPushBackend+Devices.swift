import PushHub
import RichPushModel
import ServiceErrors

extension RichPushBackend {
    /// Binds a device and makes the hub know it. The binding comes first: if the process dies between the two, access is
    /// right, and the upkeep of any node mends the hub.
    ///
    /// Throws `unauthenticated` when the credential that the caller presented was replaced meanwhile.
    func register(_ device: BoundDevice, with credential: BindingCredential, for principal: Principal) async throws {
        try await refuseForeignHubRecord(device)
        let change = DeviceChange(device.record)
        let outcome = try await parts.stores.bindings.bind(
            device, to: principal.userID, with: credential, devices: parts.settings.userDevices, mark: change.mark,
            at: parts.clock.now)
        if outcome == .credentialReplaced { throw BearerAuthenticator.notValid }
        guard case .bound(_, let replaced, let taken) = outcome else { throw Self.gone }
        for record in [device.record] + replaced { bearers.forget(record.text) }
        try await parts.synchronise(device.record, in: change)
        for record in replaced { try await parts.synchronise(record, in: DeviceChange(record, mark: change.mark)) }
        if !replaced.isEmpty {
            parts.logger.notice(
                "A registration replaced others of the same handle", metadata: ["count": "\(replaced.count)"])
        }
        if !taken.isEmpty {
            parts.logger.notice(
                "A user registered a device token of another user and took the device over",
                metadata: ["record": "\(device.record)", "count": "\(taken.count)"]
            )
        }
        parts.observer?.observed(.registered(device.record, user: principal.name))
    }

    /// Ends a device of the caller. Can be repeated.
    ///
    /// The hub comes first: if the process dies between the two, nothing is pushed to the device any more, and its credential
    /// still works for the repeat that ends the binding. For that reason no change is noted before: it would bring the device back. It is
    /// noted with the end of the binding, for a hub that hears of an earlier registration late.
    /// Only what was seen at the start ends: a sign-in that comes meanwhile stays, at the hub too.
    func unregister(_ record: RecordID, for principal: Principal) async throws {
        let bindings = parts.stores.bindings
        let seen = try await bindings.state(of: record)
        if principal.installation != nil, seen.credential != principal.credentialDigest { throw BearerAuthenticator.notValid }
        let condition = principal.credentialDigest.map(UnbindingCondition.credential) ?? .unchanged(seen)
        let isOwn = try await bindings.current(record)?.user == principal.userID
        if isOwn { _ = try await parts.hub.removeDevice(record) }
        let change = DeviceChange(record)
        let outcome = try await bindings.unbind(
            record, from: principal.userID, if: condition, mark: change.mark, at: parts.clock.now)
        bearers.forget(record.text)
        // Also when nothing ended: whoever was bound meanwhile has just lost their device at the hub.
        if outcome == .unbound { try await parts.synchronise(record, in: change) } else if isOwn { try await synchronise(record) }
        switch outcome {
        case .unbound: break
        case .foreign: throw ServiceError(.notFound, "there is no such registration")
        case .superseded where principal.installation != nil: throw BearerAuthenticator.notValid
        case .superseded: throw ServiceError(.conflict, "the device was registered again meanwhile; this sign-out ended nothing")
        }
        parts.observer?.observed(.signedOut(record, user: principal.name))
    }

    func synchronise(_ record: RecordID) async throws { try await parts.synchronise(record) }

    static let gone = ServiceError(.registrationGone, "this registration belongs to another device; ask for a new id")

    /// A record that was written with a hub key belongs to no user; it is taken over only with the same handle.
    private func refuseForeignHubRecord(_ device: BoundDevice) async throws {
        guard try await parts.stores.bindings.current(device.record) == nil,
            let known = try await parts.hub.device(device.record), let handle = known.handle
        else { return }
        guard handle == device.handle, known.platform == device.platform else { throw Self.gone }
    }
}
