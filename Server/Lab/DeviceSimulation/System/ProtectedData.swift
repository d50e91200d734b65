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

/// Records that cannot be read or written before the first unlock.
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

/// Content that cannot be read or written before the first unlock.
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

    func share(_ content: CachedContent, as id: RichID, of session: SessionID) throws(StorageError) {
        try data.check()
        try cache.share(content, as: id, of: session)
    }

    func keepShared(_ ids: Set<RichID>) throws(StorageError) -> Set<RichID> {
        try data.check()
        return try cache.keepShared(ids)
    }
}

/// The phone's key chain: one file per secret, readable by the owner of this process only. What is for the app alone lies in a
/// folder that the extension's key chain is not given. It survives a sign-out and the removal of the app, as the real one does; before
/// the first unlock nothing of it can be read, since every secret is of the class "after first unlock, this device only".
struct SimulatedKeychain: SecretStore {
    private let group: URL
    private let app: URL?
    private let data: ProtectedData

    /// Opens the key chain of a phone for one of its processes.
    init(folder: URL, isForApp: Bool, data: ProtectedData) throws {
        self.data = data
        group = folder.appendingPathComponent("group")
        app = isForApp ? folder.appendingPathComponent("app") : nil
        for folder in [group, app].compactMap(\.self) {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
    }

    private func file(_ key: SecretKey) -> URL? {
        (key.isForAppOnly ? app : group)?.appendingPathComponent(key.rawValue)
    }

    func secret(_ key: SecretKey) throws(StorageError) -> String? {
        try data.check()
        guard let file = file(key), FileManager.default.fileExists(atPath: file.path) else { return nil }
        guard let data = try? Data(contentsOf: file) else { throw .failed }
        return String(decoding: data, as: UTF8.self)
    }

    func setSecret(_ secret: String, for key: SecretKey) throws(StorageError) {
        try data.check()
        guard let file = file(key) else { throw .failed }
        do { try Data(secret.utf8).write(to: file, options: .atomic) } catch { throw .failed }
        do {
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        } catch {
            // Unless it has been removed since: an app that was ended may not have heard of it yet.
            if FileManager.default.fileExists(atPath: file.path) { throw .failed }
        }
    }

    func removeSecret(_ key: SecretKey) throws(StorageError) {
        try data.check()
        guard let file = file(key), FileManager.default.fileExists(atPath: file.path) else { return }
        do {
            try FileManager.default.removeItem(at: file)
        } catch {
            // Another process may have removed it.
            if FileManager.default.fileExists(atPath: file.path) { throw .failed }
        }
    }
}
