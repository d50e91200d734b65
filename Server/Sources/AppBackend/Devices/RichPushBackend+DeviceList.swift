import RichPushModel
import ServiceErrors

extension RichPushBackend {
    /// The devices on which a user is signed in, the newest first: one's own, and for an admin anybody's. Throws `forbidden`, and
    /// `not-found` to an admin.
    public func devices(ofUser name: String?, for principal: Principal) async throws -> DeviceList {
        try principal.requirePassword(to: "list devices")
        let isOwn = name.map { $0.lowercased() == principal.name.folded } ?? true
        guard isOwn || principal.role == .admin else {
            throw ServiceError(.forbidden, "user: your role lists your own devices only")
        }
        return try await devices(ofUser: isOwn ? principal.name.text : name ?? "")
    }

    /// How many devices that others took over are listed.
    private static let takenLimit = 20

    /// As above, for an operator. Throws `not-found`.
    public func devices(ofUser name: String) async throws -> DeviceList {
        let user = try await user(name)
        let bindings = try await parts.stores.bindings.bindings(of: user.id, since: .last, limit: Self.bindingLimit)
        let taken = try await parts.stores.bindings.taken(from: user.id, limit: Self.takenLimit)
        return DeviceList(
            devices: bindings.filter { $0.until == nil }.map { DeviceEntry($0, of: user) },
            takenOver: taken.isEmpty ? nil : taken.map { TakenDevice(id: $0.record, takenAt: $0.at) })
    }
}

extension DeviceEntry {
    fileprivate init(_ binding: Binding, of user: User) {
        let device = binding.device
        self.init(
            id: device.record.text, kind: device.kind.rawValue, user: user.name.text, platform: device.platform.rawValue,
            tags: device.tags.map(\.text), since: binding.from)
        handle = device.handle.map { String($0.text.prefix(6)) }
        (environment, topic) = (device.environment, device.topic)
        guard let facts = device.facts else { return }
        (locale, timeZone, permission) = (facts.locale, facts.timeZone, facts.permission)
        (appVersion, systemVersion, capabilities) = (facts.appVersion, facts.systemVersion, facts.capabilities)
    }
}
