import NIOConcurrencyHelpers
import NIOPosix
import PushHub
import ServiceErrors

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A file on its way into a container: written under another name, moved to its place when it is complete.
final class DiskBlobUpload: BlobUpload {
    private enum State {
        case open(OpenFile, Int64)
        case closed
    }

    private let blob: BlobReference
    private let directory: ContainerDirectory
    private let space: ContainerSpace
    private let limit: Int64
    private let slot: Slots.Slot
    private let threads: NIOThreadPool
    private let path: String
    /// Held while a chunk is written, which only the threads of the pool do: the calls of one upload follow one another.
    private let state: NIOLockedValueBox<State>

    init(
        _ blob: BlobReference, in directory: ContainerDirectory, _ space: ContainerSpace, limit: Int64, slot: Slots.Slot,
        threads: NIOThreadPool
    ) throws {
        self.blob = blob
        self.directory = directory
        self.space = space
        self.limit = limit
        self.slot = slot
        self.threads = threads
        path = directory.upload()
        state = NIOLockedValueBox(.open(try OpenFile.creating(path), 0))
    }

    /// An upload that nobody finished leaves nothing behind.
    deinit { close() }

    func write(_ chunk: [UInt8]) async throws { try await threads.storing { try self.append(chunk) } }

    func finish() async throws { try await threads.storing { try self.complete() } }

    private func append(_ chunk: [UInt8]) throws {
        try state.withLockedValue { state in
            guard case .open(let file, let count) = state else { throw Self.over }
            guard count + Int64(chunk.count) <= limit else {
                throw ServiceError(.payloadTooLarge, "a file has at most \(limit) bytes")
            }
            try space.take(Int64(chunk.count), for: blob.hub.number)
            state = .open(file, count + Int64(chunk.count))
            try file.write(chunk)
        }
    }

    private func complete() throws {
        try state.withLockedValue { state in
            guard case .open(let file, _) = state else { throw Self.over }
            try file.synchronize()
            let target = directory.path(blob)
            let replaced = try space.alone {
                try directory.makeFolder(blob.container, of: blob.hub)
                let replaced = try directory.size(of: target) ?? 0
                guard rename(path, target) == 0 else { throw FileFault.last("rename") }
                return replaced
            }
            space.change(by: -replaced, of: blob.hub.number)
            state = .closed
            try directory.keepName(of: blob)
        }
    }

    private func close() {
        state.withLockedValue { state in
            guard case .open(_, let count) = state else { return }
            state = .closed
            _ = unlink(path)
            space.change(by: -count, of: blob.hub.number)
        }
    }

    private static let over = ServiceError(.internal, "this upload is over")
}
