import AppBackend
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
    public func check() async throws { try await run { [directory] in try directory.tryWrite() } }

    public func beginUpload(limit: Int64) async throws -> any ContentUpload {
        guard let slot = uploads.take() else {
            throw ServiceError(.overloaded, "too many uploads are running", retryAfter: 5)
        }
        let directory = directory
        return try await run { try DiskContentUpload(in: directory, limit: limit, slot: slot, threads: self.threads) }
    }

    public func open(_ digest: ContentDigest) async throws -> (any ContentReader)? {
        let path = directory.object(digest)
        return try await run {
            guard let file = try OpenFile.reading(path) else { return nil }
            return DiskContentReader(file: file, size: try file.size(), threads: self.threads)
        }
    }

    public func remove(_ digest: ContentDigest, storedBefore moment: Timestamp) async throws -> Bool {
        try await run { [directory] in try directory.remove(digest, storedBefore: moment) }
    }

    public func digests(after digest: ContentDigest?, limit: Int) async throws -> [ContentDigest] {
        try await run { [directory] in try directory.digests(after: digest, limit: limit) }
    }

    private func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await threads.storing(work)
    }
}

extension NIOThreadPool {
    /// Runs blocking file work; its faults arrive as `ServiceError`.
    func storing<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        do { return try await runIfActive(work) } catch let fault as FileFault { throw fault.serviceError }
    }
}
