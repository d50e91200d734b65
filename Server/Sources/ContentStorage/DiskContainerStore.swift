import AppBackend
import Foundation
import NIOConcurrencyHelpers
import NIOPosix
import PushHub
import RichPushModel
import ServiceErrors

/// The files of jobs and feedback on the local disk, bounded altogether. All file work runs on a thread pool of blocking threads.
public final class DiskContainerStore: ContainerStore {
    private let directory: ContainerDirectory
    private let threads: NIOThreadPool
    private let space: ContainerSpace
    private let uploads: Slots

    /// Opens a store, creating its directories (mode 0700). One process may use a root at a time.
    ///
    /// - Parameters:
    ///   - maximumBytes: the bound of all files together. A hub has as much of it as it leaves to others.
    ///   - maximumUploads: bounds the open files of uploads.
    public init(
        root: String, maximumBytes: Int64, threads: NIOThreadPool = .singleton, maximumUploads: Int = 32
    ) throws {
        directory = ContainerDirectory(root: root)
        self.threads = threads
        do {
            space = ContainerSpace(limit: maximumBytes, used: try directory.prepare())
        } catch let fault as FileFault { throw fault.serviceError }
        uploads = Slots(capacity: maximumUploads)
    }

    /// The bytes of all files, those of uploads under way included.
    public var usedBytes: Int64 { space.used }

    public func put(_ blob: BlobReference, limit: Int64) async throws -> any BlobUpload {
        guard let slot = uploads.take() else { throw ServiceError(.overloaded, "too many uploads are running", retryAfter: 5) }
        let (directory, space, threads) = (directory, space, threads)
        return try await threads.storing {
            try DiskBlobUpload(blob, in: directory, space, limit: limit, slot: slot, threads: threads)
        }
    }

    public func append(to blob: BlobReference, at offset: Int64) async throws -> any BlobAppending {
        let (directory, space, threads) = (directory, space, threads)
        return try await threads.storing {
            try space.alone { try directory.makeFolder(blob.container, of: blob.hub) }
            let file = try OpenFile.writing(directory.path(blob), at: offset)
            try directory.keepName(of: blob)
            return DiskBlobAppending(file: file, hub: blob.hub, space: space, threads: threads)
        }
    }

    public func open(_ blob: BlobReference) async throws -> (any BlobReading)? {
        try await DiskFileReader.opened(directory.path(blob), threads)
    }

    public func list(
        _ container: ContainerName, of hub: HubID, prefix: String, after name: BlobName?, limit: Int
    ) async throws -> [BlobInformation] {
        let directory = directory
        return try await threads.storing {
            let files = try directory.files(container, of: hub).filter { file in
                file.name.text.hasPrefix(prefix) && name.map { file.name > $0 } ?? true
            }
            return Array(files.sorted { $0.name < $1.name }.prefix(limit))
        }
    }

    public func remove(_ blob: BlobReference) async throws -> Bool {
        let (directory, space) = (directory, space)
        return try await threads.storing {
            guard let size = try directory.remove(directory.path(blob)) else { return false }
            space.change(by: -size, of: blob.hub.number)
            return true
        }
    }

    public func sweep(writtenBefore moment: Timestamp) async throws -> Int {
        let (directory, space) = (directory, space)
        return try await threads.storing {
            let swept = try directory.sweep(writtenBefore: moment)
            for (hub, bytes) in swept.bytes { space.change(by: -bytes, of: hub) }
            return swept.files
        }
    }
}

/// A file that is being read. The open file keeps the bytes even when they are removed meanwhile.
struct DiskFileReader: BlobReading, ContentReader {
    private let file: OpenFile
    let size: Int64
    let writtenAt: Timestamp
    private let threads: NIOThreadPool

    /// Opens a file; `nil` when there is none.
    static func opened(_ path: String, _ threads: NIOThreadPool) async throws -> DiskFileReader? {
        try await threads.storing {
            guard let file = try OpenFile.reading(path) else { return nil }
            return DiskFileReader(file: file, size: try file.size(), writtenAt: try file.writtenAt(), threads: threads)
        }
    }

    func read(at offset: Int64, count: Int) async throws -> [UInt8] {
        try await threads.storing { try file.read(at: offset, count: count) }
    }
}

/// A file that grows.
private struct DiskBlobAppending: BlobAppending {
    let file: OpenFile
    let hub: HubID
    let space: ContainerSpace
    let threads: NIOThreadPool

    func write(_ chunk: [UInt8]) async throws {
        let taken = Int64(chunk.count)
        try space.take(taken, for: hub.number)
        try await threads.storing {
            // What was there already, or could not be written, takes no room.
            let before = try file.size()
            defer { if let after = try? file.size() { space.change(by: after - before - taken, of: hub.number) } }
            try file.write(chunk)
        }
    }

    func cut(to size: Int64) async throws {
        try await threads.storing {
            let before = try file.size()
            try file.cut(to: size)
            space.change(by: try file.size() - before, of: hub.number)
        }
    }

    func synchronize() async throws { try await threads.storing { try file.synchronize() } }
}

/// A file on its way into a container: written under another name, moved to its place when it is complete.
private final class DiskBlobUpload: BlobUpload {
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

    /// An unfinished upload leaves nothing behind.
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
