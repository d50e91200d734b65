import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Records as plain files in the folder that app and extension share: one file each, written by rename, named by a hash.
public struct FileSharedStore: SharedStore {
    let root: URL

    /// Uses a folder, which is created when it is missing.
    public init(folder: URL) throws(StorageError) {
        root = folder
        try FileAccess.makeFolder(folder)
    }

    private var sessionFile: URL { root.appendingPathComponent("session.json") }
    private var sessions: URL { root.appendingPathComponent("sessions") }

    func folder(_ session: SessionID) -> URL { sessions.appendingPathComponent(session.text) }

    func folder(_ collection: RecordKey.Collection, _ session: SessionID) -> URL {
        folder(session).appendingPathComponent(collection.rawValue)
    }

    func file(_ key: RecordKey) -> URL {
        folder(key.collection, key.session).appendingPathComponent(DigestText.digest(key.id) + ".json")
    }

    public func session() throws(StorageError) -> Session? {
        guard let data = try FileAccess.read(sessionFile) else { return nil }
        return try? JSONDecoder().decode(Session.self, from: data)
    }

    public func begin(_ session: Session) throws(StorageError) {
        for collection in RecordKey.Collection.allCases { try FileAccess.makeFolder(folder(collection, session.id)) }
        try write(session)
    }

    public func update(_ session: Session) throws(StorageError) {
        guard try self.session()?.id == session.id else { throw .sessionEnded }
        try write(session)
    }

    private func write(_ session: Session) throws(StorageError) {
        guard let data = try? JSONEncoder().encode(session) else { throw .failed }
        try FileAccess.write(data, to: sessionFile, whileExists: root)
    }

    public func wipe() throws(StorageError) {
        try FileAccess.remove(sessionFile)
        try FileAccess.removeAtOnce(sessions)
        try FileAccess.removeLeftovers(in: root)
    }

    public func record(_ key: RecordKey) throws(StorageError) -> Data? { try FileAccess.read(file(key)) }

    public func setRecord(_ data: Data, for key: RecordKey) throws(StorageError) {
        try FileAccess.write(data, to: file(key), whileExists: folder(key.session))
    }

    public func removeRecord(_ key: RecordKey) throws(StorageError) { try FileAccess.remove(file(key)) }

    public func records(
        _ collection: RecordKey.Collection, of session: SessionID, limit: Int
    ) throws(StorageError) -> [Data] {
        var records: [Data] = []
        for file in FileAccess.files(in: folder(collection, session)) where file.pathExtension == "json" {
            guard records.count < limit else { break }
            if let data = try FileAccess.read(file) { records.append(data) }
        }
        return records
    }
}
