import RichPushModel
import TagExpressions

/// Looks at the record that a change replaces or removes and at the installation that it belongs to, in the transaction of the change, and
/// throws to refuse it. May run more than once and does nothing else.
public typealias ReplacementCheck = @Sendable (_ record: DeviceRecord, _ installation: DeviceInstallation?) throws -> Void

/// Keeps the devices of hubs. Errors are `ServiceError` (`storage-unavailable`, `outcome-unknown`, and those of preconditions).
public protocol DeviceStore: Sendable {
    /// Creates or replaces a record and its tags; returns it as stored. A replaced record keeps `createdAt` and its slice
    /// key, counts `version` up, leaves the parked state, and has `registeredAt` set to now. If the request says so, other
    /// records with its handle go in the same transaction. What an installation of that name had besides goes, too.
    /// `conflict` for a record that belongs to an installation.
    ///
    /// Here and below `allowing` is asked first, when there is such a record; what it throws leaves all as it was.
    func upsert(
        _ request: DeviceUpsert, in hub: HubID, at now: Timestamp, allowing: ReplacementCheck?
    ) async throws -> StoredDevice

    /// The record, or `nil`.
    func device(_ id: RecordID, in hub: HubID) async throws -> DeviceRecord?

    /// Removes a record, and with an installation all that belongs to it; whether there was one.
    func remove(
        _ id: RecordID, expecting precondition: DevicePrecondition, in hub: HubID, allowing: ReplacementCheck?
    ) async throws -> Bool

    /// A page of records. The request's limit is at least 1.
    func devices(_ request: DeviceListRequest, in hub: HubID) async throws -> DevicePage

    /// Creates or replaces an installation: its native record and those derived from it, in one transaction. Derived records
    /// that stay keep their slice keys; all have the same version, registration time and expiry. `conflict` for the id of a
    /// registration.
    func put(
        _ installation: InstallationUpsert, in hub: HubID, at now: Timestamp, allowing: ReplacementCheck?
    ) async throws -> DeviceInstallation

    /// The installation, or `nil`; a record of another kind is none.
    func installation(_ id: RecordID, in hub: HubID) async throws -> DeviceInstallation?

    /// Removes an installation and all that belongs to it; whether there was one. A record of another kind is none and stays.
    func removeInstallation(_ id: RecordID, in hub: HubID, allowing: ReplacementCheck?) async throws -> Bool

    /// Reads an installation, asks what it is to become and stores that, all in one transaction. The closure may run more
    /// than once and does nothing else. `nil` when there is no such installation; what the closure throws undoes all.
    func update(
        _ id: RecordID, in hub: HubID, at now: Timestamp,
        _ transform: @escaping @Sendable (DeviceInstallation) throws -> InstallationUpsert
    ) async throws -> DeviceInstallation?

    /// Records that a send of this format may mean at this moment, at most `limit`, from any place in the order of keys on and
    /// around its end.
    func sample(
        _ audience: TagExpression?, format: SendFormat, in hub: HubID, at now: Timestamp, limit: Int
    ) async throws -> [DeviceRecord]

    /// Removes records that expired before the moment, at most `limit`; returns how many. Call it again until it returns 0.
    func sweep(expiredBefore moment: Timestamp, limit: Int) async throws -> Int

    /// Records with this handle, lowest slice key first, at most `limit`.
    func devices(with handle: DeviceHandle, platform: Platform, in hub: HubID, limit: Int) async throws -> [DeviceRecord]

    /// How many records the hub has.
    func count(in hub: HubID) async throws -> Int
}

/// Changes that replace and remove whatever is there.
extension DeviceStore {
    /// Removes a record whatever its version; whether there was one.
    public func remove(_ id: RecordID, in hub: HubID) async throws -> Bool { try await remove(id, expecting: .none, in: hub) }

    /// Removes a record that meets the precondition; whether there was one.
    public func remove(_ id: RecordID, expecting precondition: DevicePrecondition, in hub: HubID) async throws -> Bool {
        try await remove(id, expecting: precondition, in: hub, allowing: nil)
    }

    /// Creates or replaces a record; returns it as stored.
    public func upsert(_ request: DeviceUpsert, in hub: HubID, at now: Timestamp) async throws -> StoredDevice {
        try await upsert(request, in: hub, at: now, allowing: nil)
    }

    /// Creates or replaces an installation; returns it as stored.
    public func put(_ installation: InstallationUpsert, in hub: HubID, at now: Timestamp) async throws -> DeviceInstallation {
        try await put(installation, in: hub, at: now, allowing: nil)
    }

    /// Removes an installation; whether there was one.
    public func removeInstallation(_ id: RecordID, in hub: HubID) async throws -> Bool {
        try await removeInstallation(id, in: hub, allowing: nil)
    }
}

/// A record as it was stored, and what went for it.
public struct StoredDevice: Hashable, Sendable {
    public var record: DeviceRecord
    /// Records that had the same handle and are gone.
    public var replaced: [RecordID]

    /// Creates an answer.
    public init(record: DeviceRecord, replaced: [RecordID] = []) {
        self.record = record
        self.replaced = replaced
    }
}
