import RichPushModel
import TagExpressions

/// Keeps the devices of hubs. Errors are `ServiceError` (`storage-unavailable`, `outcome-unknown`).
public protocol DeviceStore: Sendable {
    /// Creates or replaces a record and its tags; returns it as stored. A replaced record keeps `createdAt` and its slice
    /// key, counts `version` up, leaves the parked state, and has `registeredAt` set to now. If the request says so, other
    /// records with its handle go in the same transaction.
    func upsert(_ request: DeviceUpsert, in hub: HubID, at now: Timestamp) async throws -> StoredDevice

    /// The record, or `nil`.
    func device(_ id: RecordID, in hub: HubID) async throws -> DeviceRecord?

    /// Removes a record; whether there was one.
    func remove(_ id: RecordID, in hub: HubID) async throws -> Bool

    /// Records with this handle, lowest slice key first, at most `limit`.
    func devices(with handle: DeviceHandle, platform: Platform, in hub: HubID, limit: Int) async throws -> [DeviceRecord]

    /// How many records the hub has.
    func count(in hub: HubID) async throws -> Int
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
