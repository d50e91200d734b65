import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Content as files. The index for eviction is one small record beside each file, because two processes write, and file times would
/// need a declared reason (Reference/IOSClient.md#10).
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
    /// How a record is written. A test makes it fail, as on a full disk.
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
        try FileAccess.removeAtOnce(shared)
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
            // On a full disk content can still be read; it is only evicted sooner. But the session may have ended.
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

    /// Evicts what is too old, then the least recently used, until `new` fits.
    private func evict(for new: Entry, in session: SessionID, now: Timestamp) throws(StorageError) {
        var kept: [(place: URL, entry: Entry)] = []
        for file in FileAccess.files(in: files(session)) where file.pathExtension != "json" {
            // Hidden files are drafts of records, which another push or process is about to rename.
            if file.lastPathComponent.hasPrefix(".") { continue }
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

    /// Removes records whose file was never written, or was removed while another process noted its use. Younger ones may be about to
    /// get it.
    private func removeOrphans(in session: SessionID, now: Timestamp) throws(StorageError) {
        for record in FileAccess.files(in: files(session)) where record.pathExtension == "json" {
            let place = record.deletingPathExtension()
            guard !FileAccess.exists(place), let entry = try entry(beside: place), now - entry.usedAt >= .seconds(3600) else {
                continue
            }
            try FileAccess.remove(record)
        }
    }

    // MARK: The widgets of an app run without a session, so that pictures for them lie beside the sessions.

    private var shared: URL { root.appendingPathComponent("shared") }

    /// Where the picture of a notification lies for widgets, in a cache with this folder.
    public static func sharedPicture(of id: RichID, in folder: URL) -> URL {
        folder.appendingPathComponent("shared").appendingPathComponent("\(id)")
    }

    public func share(_ content: CachedContent, as id: RichID, of session: SessionID) throws(StorageError) {
        let place = Self.sharedPicture(of: id, in: root)
        try FileAccess.makeFolder(shared)
        try FileAccess.remove(place)
        let isLinked = (try? FileManager.default.linkItem(at: content.file, to: place)) != nil
        // A sign-out that ran beside this may have looked before.
        guard FileAccess.exists(folder(session)) else {
            try FileAccess.remove(place)
            throw .sessionEnded
        }
        guard isLinked else { throw .failed }
    }

    public func keepShared(_ ids: Set<RichID>) throws(StorageError) -> Set<RichID> {
        var found: Set<RichID> = []
        for file in FileAccess.files(in: shared) {
            if let id = RichID(file.lastPathComponent), ids.contains(id) { found.insert(id) } else { try FileAccess.remove(file) }
        }
        return found
    }

    // MARK: A cached file is named by a digest, so that nothing from the network is a path. Players and other apps want a name.

    public func handedOut(
        _ content: CachedContent, named name: String?, of session: SessionID
    ) throws(StorageError) -> CachedContent {
        let place = folder(session).appendingPathComponent(content.file.lastPathComponent)
        let named = place.appendingPathComponent(DisplayFileName.cleaned(name, mediaType: content.mediaType))
        guard !FileAccess.exists(named) else { return content.at(named) }
        do {
            // Without its parents: after a sign-out the folder of the session is gone and must not come back.
            if !FileAccess.exists(place) {
                try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)
            }
            // A hard link costs no room and keeps the protection of the file.
            try FileManager.default.linkItem(at: content.file, to: named)
        } catch {
            throw FileAccess.exists(folder(session)) ? .failed : .sessionEnded
        }
        return content.at(named)
    }

    /// The link holds the bytes, so it is removed before the cached file.
    func removeName(of place: URL) throws(StorageError) {
        let session = place.deletingLastPathComponent().deletingLastPathComponent()
        try FileAccess.remove(session.appendingPathComponent(place.lastPathComponent))
    }
}

extension CachedContent {
    fileprivate func at(_ file: URL) -> CachedContent { CachedContent(file: file, mediaType: mediaType, byteCount: byteCount) }
}

/// File operations with the errors of `StorageError`.
enum FileAccess {
    /// Reads a file; `nil` when there is none.
    static func read(_ file: URL) throws(StorageError) -> Data? {
        do {
            return try Data(contentsOf: file)
        } catch let error as CocoaError where error.code == .fileReadNoSuchFile || error.code == .fileNoSuchFile {
            return nil
        } catch let error as CocoaError where error.code == .fileReadNoPermission {
            throw .locked
        } catch {
            throw .failed
        }
    }

    /// Writes a file atomically. `folder` must exist for the write to be allowed.
    static func write(_ data: Data, to file: URL, whileExists folder: URL) throws(StorageError) {
        do {
            // Readable on a locked phone, after its first unlock: the service extension runs there (Reference/IOSClient.md#5).
            try data.write(to: file, options: [.atomic, .completeFileProtectionUntilFirstUserAuthentication])
        } catch {
            throw exists(folder) ? .failed : .sessionEnded
        }
    }

    static func remove(_ file: URL) throws(StorageError) {
        do {
            try FileManager.default.removeItem(at: file)
        } catch {
            if exists(file) { throw .failed }
        }
    }

    /// Makes a folder that only its owner can read: systems other than a phone have other users.
    static func makeFolder(_ folder: URL) throws(StorageError) {
        do {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true,
                attributes: [
                    .protectionKey: FileProtectionType.completeUntilFirstUserAuthentication, .posixPermissions: 0o700,
                ])
        } catch {
            throw .failed
        }
    }

    static func exists(_ file: URL) -> Bool { FileManager.default.fileExists(atPath: file.path) }

    /// The files in a folder; none when there is no folder.
    static func files(in folder: URL) -> [URL] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.map { folder.appendingPathComponent($0) }
    }

    /// Removes a folder atomically: a process that still writes finds no folder.
    static func removeAtOnce(_ folder: URL) throws(StorageError) {
        guard exists(folder) else { return }
        let doomed = folder.deletingLastPathComponent().appendingPathComponent("removed-" + UUID().uuidString)
        do {
            try FileManager.default.moveItem(at: folder, to: doomed)
        } catch {
            throw .failed
        }
        try remove(doomed)
    }

    /// Finishes removals that a crash interrupted.
    static func removeLeftovers(in folder: URL) throws(StorageError) {
        for file in files(in: folder) where file.lastPathComponent.hasPrefix("removed-") { try remove(file) }
    }
}
