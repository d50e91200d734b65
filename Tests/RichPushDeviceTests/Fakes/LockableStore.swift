import Foundation
import RichPushModel

@testable import RichPushDevice

/// A store that reads nothing while the system protects its files, as before the first unlock.
struct LockableStore: SharedStore {
    let base: FileSharedStore
    let isLocked: Locked<Bool>

    private func readable() throws(StorageError) -> FileSharedStore {
        if isLocked.with({ $0 }) { throw .locked }
        return base
    }

    func session() throws(StorageError) -> Session? { try readable().session() }
    func begin(_ session: Session) throws(StorageError) { try readable().begin(session) }
    func update(_ session: Session) throws(StorageError) { try readable().update(session) }
    func wipe() throws(StorageError) { try readable().wipe() }
    func record(_ key: RecordKey) throws(StorageError) -> Data? { try readable().record(key) }
    func setRecord(_ data: Data, for key: RecordKey) throws(StorageError) { try readable().setRecord(data, for: key) }
    func removeRecord(_ key: RecordKey) throws(StorageError) { try readable().removeRecord(key) }

    func records(
        _ collection: RecordKey.Collection, of session: SessionID, limit: Int
    ) throws(StorageError) -> [Data] {
        try readable().records(collection, of: session, limit: limit)
    }

    func claim(_ key: RecordKey, until expiry: Timestamp, now: Timestamp) throws(StorageError) -> HeldClaim? {
        try readable().claim(key, until: expiry, now: now)
    }

    func release(_ claim: HeldClaim) throws(StorageError) { try readable().release(claim) }
}
