import RichPushDevice
import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Whether files and secrets of the class "until first unlock" can be read. A file stands for it, because every process of the
/// phone has to see it (Reference/IOSClient.md#5).
struct ProtectedData: Sendable {
    private let marker: URL

    init(folder: URL) { marker = folder.appendingPathComponent("before-first-unlock") }

    var isAvailable: Bool { !FileManager.default.fileExists(atPath: marker.path) }

    func lock() { _ = FileManager.default.createFile(atPath: marker.path, contents: Data()) }

    func unlock() { try? FileManager.default.removeItem(at: marker) }

    func check() throws(StorageError) {
        guard isAvailable else { throw .locked }
    }
}

/// Records that nobody reads or writes before the first unlock.
struct ProtectedStore: SharedStore {
    let store: any SharedStore
    let data: ProtectedData

    func session() throws(StorageError) -> Session? {
        try data.check()
        return try store.session()
    }

    func begin(_ session: Session) throws(StorageError) {
        try data.check()
        try store.begin(session)
    }

    func update(_ session: Session) throws(StorageError) {
        try data.check()
        try store.update(session)
    }

    func wipe() throws(StorageError) {
        try data.check()
        try store.wipe()
    }

    func record(_ key: RecordKey) throws(StorageError) -> Data? {
        try data.check()
        return try store.record(key)
    }

    func setRecord(_ data: Data, for key: RecordKey) throws(StorageError) {
        try self.data.check()
        try store.setRecord(data, for: key)
    }

    func removeRecord(_ key: RecordKey) throws(StorageError) {
        try data.check()
        try store.removeRecord(key)
    }

    func records(
        _ collection: RecordKey.Collection, of session: SessionID, limit: Int
    ) throws(StorageError) -> [Data] {
        try data.check()
        return try store.records(collection, of: session, limit: limit)
    }

    func claim(_ key: RecordKey, until expiry: Timestamp, now: Timestamp) throws(StorageError) -> HeldClaim? {
        try data.check()
        return try store.claim(key, until: expiry, now: now)
    }

    func release(_ claim: HeldClaim) throws(StorageError) {
        try data.check()
        try store.release(claim)
    }
}

/// Content that nobody reads or writes before the first unlock.
struct ProtectedCache: ContentCache {
    let cache: any ContentCache
    let data: ProtectedData

    func begin(_ session: SessionID) throws(StorageError) {
        try data.check()
        try cache.begin(session)
    }

    func wipe() throws(StorageError) {
        try data.check()
        try cache.wipe()
    }

    func newDownload(for session: SessionID, now: Timestamp) throws(StorageError) -> URL {
        try data.check()
        return try cache.newDownload(for: session, now: now)
    }

    func adopt(
        _ file: URL, as key: ContentKey, descriptor: ContentDescriptor, now: Timestamp
    ) throws(StorageError) -> CachedContent {
        try data.check()
        return try cache.adopt(file, as: key, descriptor: descriptor, now: now)
    }

    func content(_ key: ContentKey, now: Timestamp) throws(StorageError) -> CachedContent? {
        try data.check()
        return try cache.content(key, now: now)
    }

    func contains(_ key: ContentKey) -> Bool { data.isAvailable && cache.contains(key) }

    func remove(_ key: ContentKey) throws(StorageError) {
        try data.check()
        try cache.remove(key)
    }

    func handedOut(
        _ content: CachedContent, named name: String?, of session: SessionID
    ) throws(StorageError) -> CachedContent {
        try data.check()
        return try cache.handedOut(content, named: name, of: session)
    }

    func copyForSystem(
        _ content: CachedContent, of session: SessionID, now: Timestamp
    ) throws(StorageError) -> URL {
        try data.check()
        return try cache.copyForSystem(content, of: session, now: now)
    }
}
