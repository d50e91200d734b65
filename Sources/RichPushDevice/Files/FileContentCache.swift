import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Content as files. The index that decides what goes first is one small record beside each file, because two processes write
/// and file times would need a declared reason (Reference/IOSClient.md#10).
public struct FileContentCache: ContentCache {
    /// What the cache may hold.
    public struct Limits: Hashable, Sendable, Codable {
        public var byteCount: Int64 = 200 << 20
        public var count = 200
        public var age: Duration = .seconds(30 * 86_400)

        /// Creates the default limits: 200 MB, 200 files, 30 days without use.
        public init() {}
    }

    struct Entry: Codable {
        var mediaType: String
        var byteCount: Int64
        var usedAt: Timestamp
    }

    let root: URL
    let limits: Limits
    /// How a record is written. A test lets it fail, as on a full disk.
    var writing: @Sendable (Data, URL, URL) throws(StorageError) -> Void = { data, file, folder throws(StorageError) in
        try FileAccess.write(data, to: file, whileExists: folder)
    }

    /// Uses a folder, which is created when it is missing.
    public init(folder: URL, limits: Limits = Limits()) throws(StorageError) {
        root = folder
        self.limits = limits
        try FileAccess.makeFolder(folder)
    }

    private var sessions: URL { root.appendingPathComponent("sessions") }
    private func incoming(_ session: SessionID) -> URL { folder(session).appendingPathComponent("incoming") }
    func folder(_ session: SessionID) -> URL { sessions.appendingPathComponent(session.text) }
    private func files(_ session: SessionID) -> URL { folder(session).appendingPathComponent("files") }

    private func file(_ key: ContentKey) -> URL {
        files(key.session).appendingPathComponent(DigestText.digest("\(key.richID) \(key.sha256)"))
    }

    public func begin(_ session: SessionID) throws(StorageError) {
        try FileAccess.makeFolder(incoming(session))
        try FileAccess.makeFolder(files(session))
    }

    public func wipe() throws(StorageError) {
        try FileAccess.removeAtOnce(sessions)
        try FileAccess.removeLeftovers(in: root)
    }

    public func newDownload(for session: SessionID, now: Timestamp) throws(StorageError) -> URL {
        guard FileAccess.exists(incoming(session)) else { throw .sessionEnded }
        return incoming(session).appendingPathComponent("\(now.milliseconds)-\(UUID().uuidString)")
    }

    public func adopt(
        _ file: URL, as key: ContentKey, descriptor: ContentDescriptor, now: Timestamp
    ) throws(StorageError) -> CachedContent {
        let entry = Entry(mediaType: descriptor.mediaType, byteCount: descriptor.byteCount, usedAt: now)
        try removeAbandoned(in: key.session, now: now)
        try evict(for: entry, in: key.session, now: now)
        let place = self.file(key)
        try? FileAccess.remove(place)
        // The record first: a file without one counts as left over from a crash.
        try write(entry, beside: place)
        do {
            try FileManager.default.moveItem(at: file, to: place)
        } catch {
            throw FileAccess.exists(files(key.session)) ? .failed : .sessionEnded
        }
        return CachedContent(file: place, mediaType: entry.mediaType, byteCount: entry.byteCount)
    }

    public func content(_ key: ContentKey, now: Timestamp) throws(StorageError) -> CachedContent? {
        let place = file(key)
        guard var entry = try entry(beside: place), FileAccess.exists(place) else { return nil }
        entry.usedAt = now
        do {
            try write(entry, beside: place)
        } catch {
            // A disk may be full, and what is on it can be read all the same: it only goes sooner. But a session may have ended.
            guard FileAccess.exists(place) else { return nil }
        }
        return CachedContent(file: place, mediaType: entry.mediaType, byteCount: entry.byteCount)
    }

    public func contains(_ key: ContentKey) -> Bool {
        FileAccess.exists(file(key)) && FileAccess.exists(file(key).appendingPathExtension("json"))
    }

    public func remove(_ key: ContentKey) throws(StorageError) { try remove(file(key)) }

    public func copyForSystem(
        _ content: CachedContent, of session: SessionID, now: Timestamp
    ) throws(StorageError) -> URL {
        let ending = MediaFormat(declared: content.mediaType)?.fileExtension ?? "bin"
        let copy = try newDownload(for: session, now: now).appendingPathExtension(ending)
        // A hard link costs no room; the system moves it away and the cached file stays.
        if (try? FileManager.default.linkItem(at: content.file, to: copy)) != nil { return copy }
        do {
            try FileManager.default.copyItem(at: content.file, to: copy)
        } catch {
            throw .failed
        }
        return copy
    }

    private func remove(_ place: URL) throws(StorageError) {
        try removeName(of: place)
        try FileAccess.remove(place.appendingPathExtension("json"))
        try FileAccess.remove(place)
    }

    private func entry(beside place: URL) throws(StorageError) -> Entry? {
        try FileAccess.read(place.appendingPathExtension("json")).flatMap { try? JSONDecoder().decode(Entry.self, from: $0) }
    }

    private func write(_ entry: Entry, beside place: URL) throws(StorageError) {
        guard let data = try? JSONEncoder().encode(entry) else { throw .failed }
        try writing(data, place.appendingPathExtension("json"), place.deletingLastPathComponent())
    }

    /// Removes downloads that a crash left behind an hour ago or more, by the time in their names.
    private func removeAbandoned(in session: SessionID, now: Timestamp) throws(StorageError) {
        for file in FileAccess.files(in: incoming(session)) {
            let start = file.lastPathComponent.split(separator: "-").first.flatMap { Int64($0) }
            if let start, now - Timestamp(milliseconds: start) < .seconds(3600) { continue }
            try FileAccess.remove(file)
        }
    }

    /// Removes what is too old, then what was not used for longest, until `new` fits.
    private func evict(for new: Entry, in session: SessionID, now: Timestamp) throws(StorageError) {
        var kept: [(place: URL, entry: Entry)] = []
        for file in FileAccess.files(in: files(session)) where file.pathExtension != "json" {
            guard let entry = try entry(beside: file), now - entry.usedAt < limits.age else {
                try remove(file)
                continue
            }
            kept.append((file, entry))
        }
        try removeOrphans(in: session, now: now)
        kept.sort { $0.entry.usedAt > $1.entry.usedAt }
        var bytes = kept.reduce(new.byteCount) { $0 + $1.entry.byteCount }
        while let last = kept.last, bytes > limits.byteCount || kept.count >= limits.count {
            try remove(last.place)
            bytes -= last.entry.byteCount
            kept.removeLast()
        }
    }

    /// Removes records whose file never came, or went while another process noted its use. Younger ones may be about to get it.
    private func removeOrphans(in session: SessionID, now: Timestamp) throws(StorageError) {
        for record in FileAccess.files(in: files(session)) where record.pathExtension == "json" {
            let place = record.deletingPathExtension()
            guard !FileAccess.exists(place), let entry = try entry(beside: place), now - entry.usedAt >= .seconds(3600) else {
                continue
            }
            try FileAccess.remove(record)
        }
    }
}
