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

    // MARK: A claim is a file that a process links into place whole, so that no process reads half of one. A process takes over an expired claim
    // by linking the name that stands for *that* claim. Having succeeded, it checks again, because another process may have finished a
    // takeover in between.

    struct Claim: Codable {
        var token: String
        var expiry: Timestamp
    }

    /// How many claim files may exist before those that ended long ago are swept. Claims are released after seconds.
    private static var sweepCount: Int { 32 }
    /// No claim should last this long: one that still would comes from a clock that was set back.
    private static var longestClaim: Duration { .seconds(3600) }
    /// How many processes in a row may have ended in the middle of the same takeover.
    private static var turnLimit: Int { 8 }

    public func claim(_ key: RecordKey, until expiry: Timestamp, now: Timestamp) throws(StorageError) -> HeldClaim? {
        let file = file(key)
        let folder = file.deletingLastPathComponent()
        let claim = Claim(token: UUID().uuidString, expiry: expiry)
        guard let data = try? JSONEncoder().encode(claim) else { throw .failed }
        sweep(folder, now: now)
        let draft = folder.appendingPathComponent("draft-" + claim.token)
        try FileAccess.write(data, to: draft, whileExists: self.folder(key.session))
        defer { try? FileAccess.remove(draft) }
        let held = HeldClaim(key, token: claim.token)
        if link(draft, to: file) { return held }
        guard let old = try read(file), isOver(old, now: now) else { return nil }
        return try takeOver(old, file: file, draft: draft, now: now) ? held : nil
    }

    private func takeOver(_ old: Claim, file: URL, draft: URL, now: Timestamp) throws(StorageError) -> Bool {
        let turns = try takeTurn(after: old, in: file.deletingLastPathComponent(), draft: draft, now: now)
        guard !turns.isEmpty else { return false }
        defer { for turn in turns { try? FileAccess.remove(turn) } }
        guard try read(file)?.token == old.token else { return false }
        guard let data = try FileAccess.read(draft) else { return false }
        try FileAccess.write(data, to: file, whileExists: file.deletingLastPathComponent())
        return true
    }

    /// Links the name that stands for the end of a claim; `nil` when another process has it. The file names the owner and an expiry.
    /// After the expiry its process has ended during the takeover, and an expired takeover may itself be taken over. Returns all names
    /// of that chain, to be removed together afterwards.
    private func takeTurn(after old: Claim, in folder: URL, draft: URL, now: Timestamp) throws(StorageError) -> [URL] {
        var turns: [URL] = []
        var last = old
        for _ in 0..<Self.turnLimit {
            let turn = folder.appendingPathComponent("turn-" + DigestText.digest(last.token))
            turns.append(turn)
            if link(draft, to: turn) { return turns }
            guard let holder = try read(turn), isOver(holder, now: now) else { return [] }
            last = holder
        }
        return []
    }

    private func isOver(_ claim: Claim, now: Timestamp) -> Bool {
        claim.expiry <= now || claim.expiry - now > Self.longestClaim
    }

    /// Removes what processes that ended during their work left behind, an hour after it could have mattered.
    private func sweep(_ folder: URL, now: Timestamp) {
        let files = FileAccess.files(in: folder)
        guard files.count > Self.sweepCount else { return }
        for file in files {
            guard let claim = try? read(file), now - claim.expiry > Self.longestClaim else { continue }
            try? FileAccess.remove(file)
        }
    }

    /// A process that was suspended beyond its expiry must not release a claim that another process holds by then.
    public func release(_ claim: HeldClaim) throws(StorageError) {
        let file = file(claim.key)
        guard try read(file)?.token == claim.token else { return }
        try FileAccess.remove(file)
    }

    /// Whether the name was free.
    private func link(_ source: URL, to name: URL) -> Bool {
        (try? FileManager.default.linkItem(at: source, to: name)) != nil
    }

    private func read(_ file: URL) throws(StorageError) -> Claim? {
        try FileAccess.read(file).flatMap { try? JSONDecoder().decode(Claim.self, from: $0) }
    }
}
