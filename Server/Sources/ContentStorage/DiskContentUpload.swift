import AppBackend
import Crypto
import NIOConcurrencyHelpers
import NIOPosix
import ServiceErrors

/// An upload on its way to the disk: hashed and counted as it is written, a chunk at a time.
final class DiskContentUpload: ContentUpload {
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

    /// An upload that nobody finished leaves nothing behind.
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
