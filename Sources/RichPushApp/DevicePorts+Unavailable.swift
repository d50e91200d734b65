#if canImport(UIKit) && canImport(UserNotifications)
    import Foundation
    import RichPushDevice
    import RichPushModel
    import RichPushPlatform

    extension DevicePorts {
        /// When the app can write to no folder at all: every call says so, nobody is signed in, and `diagnose()` names it.
        static func unavailable(_ configuration: RichPushConfiguration, log: any EventLog) -> DevicePorts {
            DevicePorts(
                transport: URLSessionTransport(), secrets: secrets(configuration, isForApp: true), store: NoStore(),
                cache: NoCache(), clock: SystemClock(), identifiers: SystemIdentifierSource(), log: log)
        }
    }

    private struct NoStore: SharedStore {
        func session() throws(StorageError) -> Session? { throw .failed }
        func begin(_ session: Session) throws(StorageError) { throw .failed }
        func update(_ session: Session) throws(StorageError) { throw .failed }
        func wipe() throws(StorageError) { throw .failed }
        func record(_ key: RecordKey) throws(StorageError) -> Data? { throw .failed }
        func setRecord(_ data: Data, for key: RecordKey) throws(StorageError) { throw .failed }
        func removeRecord(_ key: RecordKey) throws(StorageError) { throw .failed }
        func records(
            _ collection: RecordKey.Collection, of session: SessionID, limit: Int
        ) throws(StorageError) -> [Data] { throw .failed }
        func claim(_ key: RecordKey, until expiry: Timestamp, now: Timestamp) throws(StorageError) -> HeldClaim? { throw .failed }
        func release(_ claim: HeldClaim) throws(StorageError) { throw .failed }
    }

    private struct NoCache: ContentCache {
        func begin(_ session: SessionID) throws(StorageError) { throw .failed }
        func wipe() throws(StorageError) { throw .failed }
        func newDownload(for session: SessionID, now: Timestamp) throws(StorageError) -> URL { throw .failed }
        func adopt(
            _ file: URL, as key: ContentKey, descriptor: ContentDescriptor, now: Timestamp
        ) throws(StorageError) -> CachedContent { throw .failed }
        func content(_ key: ContentKey, now: Timestamp) throws(StorageError) -> CachedContent? { throw .failed }
        func contains(_ key: ContentKey) -> Bool { false }
        func remove(_ key: ContentKey) throws(StorageError) { throw .failed }
        func handedOut(
            _ content: CachedContent, named name: String?, of session: SessionID
        ) throws(StorageError) -> CachedContent { throw .failed }
        func copyForSystem(
            _ content: CachedContent, of session: SessionID, now: Timestamp
        ) throws(StorageError) -> URL { throw .failed }
    }
#endif
