import RichPushModel
import ServiceErrors

extension NotificationHub {
    /// Creates or replaces an installation with its templates and tiles. Throws `invalid-field` for what a hub does not keep,
    /// and `conflict` for the id of a registration, and what `allowing` throws of what is replaced.
    @discardableResult
    public func put(_ installation: InstallationUpsert, allowing: ReplacementCheck? = nil) async throws -> DeviceInstallation {
        let now = clock.now
        var checked = try installation.checked(limits: settings.limits)
        checked.expiresAt = checked.expiresAt ?? defaultExpiry(at: now)
        return try await stores.devices.put(checked, in: id, at: now, allowing: allowing)
    }

    /// The installation, or `nil`.
    public func installation(_ id: RecordID) async throws -> DeviceInstallation? {
        try await stores.devices.installation(id, in: self.id)
    }

    /// Changes an installation in one transaction, which is repeated when another change came between; `not-found` when
    /// there is none. The closure may run more than once; what it throws leaves all as it was. Unless the handle changes, or
    /// the closure sets `confirmsHandle`, the handle counts as no fresher than before.
    @discardableResult
    public func update(
        installation id: RecordID, _ transform: @escaping @Sendable (inout InstallationUpsert) throws -> Void
    ) async throws -> DeviceInstallation {
        let now = clock.now
        let limits = settings.limits
        let updated = try await stores.devices.update(id, in: self.id, at: now) { current in
            var content = current.content
            content.confirmsHandle = false
            try transform(&content)
            guard content.id == id else { throw ServiceError(.invalidField, "the id of an installation cannot be changed") }
            return try content.checked(limits: limits)
        }
        guard let updated else { throw ServiceError(.notFound, "there is no such installation") }
        return updated
    }

    /// Removes an installation with all that belongs to it; whether there was one. A registration with this id is none. What `allowing`
    /// throws is thrown, and nothing is removed then.
    public func removeInstallation(_ id: RecordID, allowing: ReplacementCheck? = nil) async throws -> Bool {
        try await stores.devices.removeInstallation(id, in: self.id, allowing: allowing)
    }
}
