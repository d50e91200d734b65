import Logging
import RichPushModel
import ServiceErrors
import TagExpressions

extension NotificationHub {
    public func upsert(_ request: DeviceUpsert) async throws -> DeviceRecord { try await upsert(request, allowing: nil) }

    /// The same if `allowing` does not refuse to replace the record that is there; what it throws is thrown.
    public func upsert(_ request: DeviceUpsert, allowing: ReplacementCheck?) async throws -> DeviceRecord {
        let now = clock.now
        var checked = try request.checked(at: now, limits: settings.limits)
        if request.expiresByDefault { checked.expiresAt = request.expiresAt ?? defaultExpiry(at: now) }
        let stored = try await stores.devices.upsert(checked, in: id, at: now, allowing: allowing)
        for replaced in stored.replaced {
            logger.notice(
                "A device record went because another one registered its handle",
                metadata: ["record": "\(replaced)", "by": "\(stored.record.id)"])
        }
        return stored.record
    }

    public func device(_ id: RecordID) async throws -> DeviceRecord? { try await stores.devices.device(id, in: self.id) }

    public func removeDevice(_ id: RecordID) async throws -> Bool { try await removeDevice(id, expecting: .none) }

    /// Removes a record, and with an installation all that belongs to it; whether there was one. Throws `not-found` and
    /// `precondition-failed` as the precondition says.
    ///
    /// A record of an installation goes with it, and clients that list a handle and then remove each hit may ask for it
    /// afterwards: one that is gone counts as removed. What `allowing` throws is thrown, and nothing is removed then.
    public func removeDevice(
        _ id: RecordID, expecting precondition: DevicePrecondition, allowing: ReplacementCheck? = nil
    ) async throws -> Bool {
        do {
            return try await stores.devices.remove(id, expecting: precondition, in: self.id, allowing: allowing)
        } catch let error as ServiceError where error.code == .notFound && id.isDerived {
            return false
        }
    }

    /// A page of records: all, those with a tag, or those with a handle. Throws `invalid-field` for a limit out of range.
    public func devices(_ request: DeviceListRequest) async throws -> DevicePage {
        guard (1...DeviceListRequest.maximumLimit).contains(request.limit) else {
            throw ServiceError(.invalidField, "a page has 1 to \(DeviceListRequest.maximumLimit) devices")
        }
        if case .handles(let handles, _) = request.selection, handles.count > DeviceListRequest.maximumHandles {
            throw ServiceError(.invalidField, "a list is asked for at most \(DeviceListRequest.maximumHandles) handles at once")
        }
        return try await stores.devices.devices(request, in: id)
    }

    /// Up to `limit` records, from a random place on, that a send of this format would reach now.
    public func sample(_ audience: TagExpression?, format: SendFormat, limit: Int = 10) async throws -> [DeviceRecord] {
        try await stores.devices.sample(audience, format: format, in: id, at: clock.now, limit: max(limit, 0))
    }

    /// When something ends that says no expiry and lives as long as the hub's registrations.
    func defaultExpiry(at now: Timestamp) -> Timestamp? { settings.registrationTTL.map { now + $0 } }
}
