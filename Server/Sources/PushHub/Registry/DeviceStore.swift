import RichPushModel
import ServiceErrors
import TagExpressions

/// Looks at the record that a change replaces or removes and at the installation that it belongs to, in the transaction of the change, and
/// throws to refuse it. May run more than once and does nothing else.
public typealias ReplacementCheck = @Sendable (_ record: DeviceRecord, _ installation: DeviceInstallation?) throws -> Void

/// Keeps the devices of hubs. Errors are `ServiceError` (`storage-unavailable`, `outcome-unknown`, and those of preconditions).
public protocol DeviceStore: Sendable {
    /// Creates or replaces a record and its tags; returns it as stored. A replaced record keeps `createdAt` and its slice
    /// key, counts `version` up, makes an inactive record active, and has `registeredAt` set to now. If the request says so, other
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

    /// How many records a send of this format would reach at this moment, without those that another record of their handle stands
    /// for. Counting stops above `limit`, and when it has read about 100,000 entries of the index.
    func count(
        _ audience: TagExpression?, format: SendFormat, in hub: HubID, at now: Timestamp, limit: Int
    ) async throws -> AudienceCount

    /// Removes records that expired before the moment, at most `limit`; returns how many. Call it again until it returns 0.
    func sweep(expiredBefore moment: Timestamp, limit: Int) async throws -> Int

    /// Gives devices the time zone that they reported too soon after another, where that is long enough ago by now, at most `limit`;
    /// returns how many were looked at. Call it again until it returns 0.
    func settleZones(at now: Timestamp, limit: Int) async throws -> Int

    /// Records with this handle, lowest slice key first, at most `limit`.
    func devices(with handle: DeviceToken, platform: Platform, in hub: HubID, limit: Int) async throws -> [DeviceRecord]

    /// How many records the hub has, without those of the kinds of `InstallationToken`.
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

    public init(record: DeviceRecord, replaced: [RecordID] = []) {
        self.record = record
        self.replaced = replaced
    }
}

/// What has to be so of a record for a change to be made. Decided in the transaction of the change.
public enum DevicePrecondition: Hashable, Sendable {
    case none
    /// There is such a record, else `not-found`.
    case exists
    /// There is no such record, else `conflict`.
    case absent
    /// There is such a record, else `not-found`, and this is its version, else `precondition-failed`.
    case version(Int64)

    /// Throws `ServiceError` as above. `current` is the record's version, `nil` when there is no record.
    public func check(_ current: Int64?) throws {
        switch (self, current) {
        case (.none, _), (.exists, .some), (.absent, nil): return
        case (.exists, nil), (.version, nil): throw ServiceError(.notFound, "there is no such device")
        case (.absent, .some): throw ServiceError(.conflict, "there is such a device already")
        case (.version(let wanted), .some(let current)):
            guard wanted == current else { throw ServiceError(.preconditionFailed, "the device was changed meanwhile") }
        }
    }
}

/// A question for a page of records, in order of slice key.
public struct DeviceListRequest: Hashable, Sendable {
    /// Which records.
    public enum Selection: Hashable, Sendable {
        case all
        /// Those that have the tag; `$InstallationId:{…}` and `$UserId:{…}` work as well.
        case tag(Tag)
        /// Those whose handle is one of these spellings, on the platform or on any. At most `maximumHandles`.
        case handles([DeviceToken], platform: Platform?)
    }

    /// The most records of a page.
    public static let maximumLimit = 1_000
    /// About how many bytes of text a page has at most: it lies in memory until it is sent. A page ends before the record that would
    /// be too much, so one with short templates is never cut by it at the 100 records that Azure gives.
    public static let maximumBytes = 2 << 20
    /// The most spellings of a handle.
    public static let maximumHandles = 16

    public var selection: Selection
    /// Only records after this key: the `next` of the page before.
    public var after: SliceKey
    /// At most so many records, 1 to 1,000.
    public var limit: Int
    /// A page has fewer records where they have more text than this together, but always one.
    public var byteLimit = Self.maximumBytes
    /// Whether templates are read; a count needs none.
    public var readsTemplates = true

    public init(_ selection: Selection, after: SliceKey = .beforeAll, limit: Int = 100) {
        self.selection = selection
        self.after = after
        self.limit = limit
    }
}

/// A page of records: native targets and templates, those of installations too. Records without a handle are in no list. It may have
/// fewer records than were asked for and not be the last: `next` alone says that.
public struct DevicePage: Hashable, Sendable {
    public var records: [DeviceRecord]
    /// Where the next page begins; `nil` when this is the last one, also when it is exactly full
    /// (Reference/AzureNotificationHubs.md#2-5).
    public var next: SliceKey?

    public init(records: [DeviceRecord], next: SliceKey?) {
        self.records = records
        self.next = next
    }
}
