import AppBackend
import Crypto
import Foundation
import NIOConcurrencyHelpers
import NIOPosix
import RichPushModel
import ServiceErrors

/// Contents as files on the local disk, each under its SHA-256, so that equal bytes are stored once.
///
/// Layout below the root: `objects/ab/abcd…` (64 hexadecimal digits) and `incoming/` for uploads under way. Only a
/// `ContentDigest` becomes a path. All file work runs on a thread pool of blocking threads, a bounded chunk at a time.
public final class DiskContentStore: ContentStore {
    private let directory: ContentDirectory
    private let threads: NIOThreadPool
    private let uploads: Slots

    /// Opens a store, creating its directories (mode 0700), and removes what uploads that were cut off left behind unless
    /// another process may be uploading (`removesLeftovers`). `maximumUploads` bounds the open files of uploads.
    public init(
        root: String, threads: NIOThreadPool = .singleton, maximumUploads: Int = 64, removesLeftovers: Bool = true
    ) throws {
        directory = ContentDirectory(root: root)
        self.threads = threads
        uploads = Slots(capacity: maximumUploads)
        do { try directory.prepare(removingLeftovers: removesLeftovers) } catch let fault as FileFault {
            throw fault.serviceError
        }
    }

    /// Proves that an upload could be kept now: writes a few bytes to the disk and removes them. Throws why not, in words.
    public func check() async throws { try await threads.storing { [directory] in try directory.tryWrite() } }

    public func beginUpload(limit: Int64) async throws -> any ContentUpload {
        guard let slot = uploads.take() else {
            throw ServiceError(.overloaded, "too many uploads are running", retryAfter: 5)
        }
        let directory = directory
        return try await threads.storing { try DiskContentUpload(in: directory, limit: limit, slot: slot, threads: self.threads) }
    }

    public func open(_ digest: ContentDigest) async throws -> (any ContentReader)? {
        try await DiskFileReader.opened(directory.object(digest), threads)
    }

    public func remove(_ digest: ContentDigest, storedBefore moment: Timestamp) async throws -> Bool {
        try await threads.storing { [directory] in try directory.remove(digest, storedBefore: moment) }
    }

    public func digests(after digest: ContentDigest?, limit: Int) async throws -> [ContentDigest] {
        try await threads.storing { [directory] in try directory.digests(after: digest, limit: limit) }
    }
}

extension NIOThreadPool {
    /// Runs blocking file work; its faults arrive as `ServiceError`.
    func storing<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        do { return try await runIfActive(work) } catch let fault as FileFault { throw fault.serviceError }
    }
}

/// An upload on its way to the disk: hashed and counted as it is written, a chunk at a time.
private final class DiskContentUpload: ContentUpload {
    private enum State {
        case open(OpenFile, SHA256, Int64)
        case closed
    }

    private let directory: ContentDirectory
    private let path: String
    private let limit: Int64
    private let slot: Slots.Slot
    private let threads: NIOThreadPool
    /// Held while a chunk is written, which only the threads of the pool do: the calls of one upload follow one another.
    private let state: NIOLockedValueBox<State>

    init(in directory: ContentDirectory, limit: Int64, slot: Slots.Slot, threads: NIOThreadPool) throws {
        self.directory = directory
        self.limit = limit
        self.slot = slot
        self.threads = threads
        path = directory.incoming()
        state = NIOLockedValueBox(.open(try OpenFile.creating(path), SHA256(), 0))
    }

    /// An unfinished upload leaves nothing behind.
    deinit { close() }

    func write(_ chunk: [UInt8]) async throws {
        try await threads.storing { try self.append(chunk) }
    }

    func finish() async throws -> StoredBytes {
        try await threads.storing { try self.complete() }
    }

    func abort() async {
        _ = try? await threads.storing { self.close() }
    }

    private func append(_ chunk: [UInt8]) throws {
        let fits = try state.withLockedValue { state in
            guard case .open(let file, var hash, let count) = state else { throw Self.over }
            guard count + Int64(chunk.count) <= limit else { return false }
            try file.write(chunk)
            hash.update(data: chunk)
            state = .open(file, hash, count + Int64(chunk.count))
            return true
        }
        guard fits else {
            close()
            throw ServiceError(.contentTooLarge, "a content has at most \(limit) bytes")
        }
    }

    private func complete() throws -> StoredBytes {
        try state.withLockedValue { state in
            guard case .open(let file, let hash, let count) = state, let digest = ContentDigest(bytes: hash.finalize()) else {
                throw Self.over
            }
            try file.synchronize()
            try directory.arrive(path, as: digest)
            state = .closed
            return StoredBytes(digest: digest, byteCount: count)
        }
    }

    private func close() {
        state.withLockedValue { state in
            guard case .open = state else { return }
            state = .closed
            directory.discard(path)
        }
    }

    private static let over = ServiceError(.internal, "this upload is over")
}

/// The files of a store: where they lie, how they come and go. Its calls block.
private final class ContentDirectory: Sendable {
    private let root: String
    /// Orders arrivals and removals within this process: without it, bytes that arrive again at the moment of their removal
    /// would be gone although they were just stored.
    private let turn = NIOLock()

    init(root: String) { self.root = root }

    func object(_ digest: ContentDigest) -> String { "\(shelf(of: digest))/\(digest.text)" }

    /// A new name for an upload under way: a counter would do, but random names need no memory.
    func incoming() -> String { "\(root)/incoming/\(RandomName.next())" }

    /// Creates the directories and, on request, removes interrupted uploads.
    func prepare(removingLeftovers: Bool) throws {
        for path in [root, root + "/objects", root + "/incoming"] { try FileFault.naming(path) { try DurableFolder.make(path) } }
        // A process that was ended between making a folder and keeping its name has left it to the next start.
        for path in [DurableFolder.parent(of: root), root, root + "/objects"] {
            try FileFault.naming(path) { try DurableFolder.keepEntries(of: path) }
        }
        if removingLeftovers { try FileFault.naming("\(root)/incoming") { try clearIncoming() } }
    }

    /// Moves a complete file to its place, over an equal one if there is one, so that its age counts from now. Durable on return.
    func arrive(_ path: String, as digest: ContentDigest) throws {
        try turn.withLock {
            try DurableFolder.make(shelf(of: digest))
            guard rename(path, object(digest)) == 0 else { throw FileFault.last("rename") }
        }
        try DurableFolder.keepEntries(of: shelf(of: digest))
    }

    /// Removes a content that was stored before the moment; whether it is gone.
    func remove(_ digest: ContentDigest, storedBefore moment: Timestamp) throws -> Bool {
        try turn.withLock {
            var information = stat()
            guard stat(object(digest), &information) == 0 else {
                guard errno == ENOENT else { throw FileFault.last("stat") }
                return true
            }
            guard FileAge.written(information) < moment else { return false }
            guard unlink(object(digest)) == 0 || errno == ENOENT else { throw FileFault.last("unlink") }
            return true
        }
    }

    /// The contents that are stored, in order after `digest`, at most `limit`. Reads one shelf after the other, from the one of
    /// `digest` on. A file of another name is none of ours and is passed over.
    func digests(after digest: ContentDigest?, limit: Int) throws -> [ContentDigest] {
        let begin = digest?.text ?? ""
        var found: [ContentDigest] = []
        for shelf in try DurableFolder.names(in: "\(root)/objects").sorted() where shelf.count == 2 && shelf >= begin.prefix(2) {
            let stored = try DurableFolder.names(in: "\(root)/objects/\(shelf)").filter { $0 > begin && $0.hasPrefix(shelf) }
                .sorted()
            found += stored.compactMap { ContentDigest($0) }.prefix(limit - found.count)
            if found.count == limit { return found }
        }
        return found
    }

    /// Proves that an upload could be written now. Throws what keeps it from that.
    func tryWrite() throws { try DurableFolder.tryWrite(in: "\(root)/incoming") }

    /// Removes an upload that is not wanted.
    func discard(_ path: String) { _ = unlink(path) }

    private func shelf(of digest: ContentDigest) -> String { "\(root)/objects/\(digest.text.prefix(2))" }

    private func clearIncoming() throws {
        for name in try DurableFolder.names(in: "\(root)/incoming") { discard("\(root)/incoming/\(name)") }
    }
}
