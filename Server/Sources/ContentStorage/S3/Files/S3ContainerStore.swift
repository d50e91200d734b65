import NIOConcurrencyHelpers
import NIOCore
import PushHub
import RichPushModel
import ServiceErrors

/// The files of jobs and feedback in the bucket that contents lie in, for any number of nodes.
///
/// A job may write at any place of its files again, after a crash or too late: each write is an object named by its offset, so that the
/// same bytes at the same place are the same object, and no writer has to know of another. A store that is gone makes calls fail with
/// `storage-unavailable`; they succeed again when it is back.
public final class S3ContainerStore: ContainerStore {
    let client: S3Client
    let space: BucketSpace
    private let uploads: Slots
    private let streams: Slots

    /// Opens a store that uses the connections of a store of contents, and is closed with it.
    ///
    /// - Parameter maximumBytes: the bound of all files together. A hub has as much of it as it leaves to others.
    public convenience init(beside contents: S3ContentStore, maximumBytes: Int64) {
        self.init(contents.client, maximumBytes: maximumBytes)
    }

    init(_ client: S3Client, maximumBytes: Int64) {
        self.client = client
        space = BucketSpace(limit: maximumBytes)
        uploads = Slots(capacity: client.options.maximumUploads)
        streams = Slots(capacity: client.options.maximumStreams)
    }

    /// The bytes of all files, those of this node's uploads under way included, as far as this node knows.
    public var usedBytes: Int64 { space.used }

    /// Counts what lies in the bucket, now and then until the task is cancelled. Before the first count nothing can be stored: such a
    /// call waits for it for some seconds at most. Calls `failed` after each failed count; the next follows.
    public func keepCounting(failed: (any Error) -> Void) async {
        await BucketCounter(space: space, client: client).run { fault in failed((fault as? S3Fault)?.serviceError ?? fault) }
    }

    func count() async throws { try await explained { try await space.count(client) } }

    public func put(_ blob: BlobReference, limit: Int64) async throws -> any BlobUpload {
        // Before a slot is taken: who waits keeps none from others.
        try await explained { try await space.awaitNumbers(client.clock) }
        guard let slot = uploads.take() else { throw ServiceError(.overloaded, "too many uploads are running", retryAfter: 5) }
        return S3BlobUpload(blob, client, space, limit: limit, slot: slot)
    }

    public func append(to blob: BlobReference, at offset: Int64) async throws -> any BlobAppending {
        try await explained {
            try await space.awaitNumbers(client.clock)
            // Nothing that a late one does here can harm what another has written.
            if try await !client.file(blob).exists { try await client.put(ByteBuffer(), at: S3FileKeys.mark(blob)) }
        }
        return S3BlobAppending(blob, client, space, at: offset)
    }

    public func open(_ blob: BlobReference) async throws -> (any BlobReading)? {
        let file = try await explained { try await client.file(blob) }
        return file.exists ? S3BlobReading(file, client, streams: streams) : nil
    }

    public func list(
        _ container: ContainerName, of hub: HubID, prefix: String, after name: BlobName?, limit: Int
    ) async throws -> [BlobInformation] {
        // What no name can begin with is not asked for.
        guard limit > 0, prefix.isEmpty || BlobName(prefix) != nil || BlobName(prefix + "x") != nil else { return [] }
        let start = S3FileKeys.container(container, of: hub) + prefix
        let after = name.map { S3FileKeys.end(of: $0, in: container, of: hub) }
        return try await explained {
            var found: [BlobInformation] = []
            try await client.forEachFile(start, after: after) { file in
                if file.exists {
                    found.append(BlobInformation(name: file.blob.name, size: file.size, writtenAt: file.writtenAt))
                }
                return found.count < limit
            }
            return found
        }
    }

    public func remove(_ blob: BlobReference) async throws -> Bool {
        try await explained {
            let file = try await client.file(blob)
            try await client.delete(file)
            space.settle(0, added: -file.bytes, for: blob.hub.number)
            return file.exists
        }
    }

    public func sweep(writtenBefore moment: Timestamp) async throws -> Int {
        try await explained {
            var count = 0
            try await client.forEachFile(S3FileKeys.files) { listed in
                guard Self.isOlder(listed, than: moment) else { return true }
                // The list may be some time old.
                let file = try await client.file(listed.blob)
                guard Self.isOlder(file, than: moment) else { return true }
                try await client.delete(file)
                space.settle(0, added: -file.bytes, for: file.blob.hub.number)
                count += file.exists ? 1 : 0
                return true
            }
            return count
        }
    }

    /// The store reports whole seconds, so a file may be up to a second younger than it seems.
    private static func isOlder(_ file: S3StoredFile, than moment: Timestamp) -> Bool {
        file.writtenAt + .seconds(1) <= moment
    }
}

/// A file that is being read, as it was when it was opened. Sequential reads use streams of its objects.
private final class S3BlobReading: BlobReading {
    let size: Int64
    let writtenAt: Timestamp
    private let runs: [S3StoredFile.Run]
    private let client: S3Client
    private let streams: Slots
    /// The object that was read last.
    private let last = NIOLockedValueBox<(piece: S3StoredFile.Piece, reader: S3ContentReader)?>(nil)

    init(_ file: S3StoredFile, _ client: S3Client, streams: Slots) {
        runs = file.runs
        size = runs.last?.range.upperBound ?? 0
        writtenAt = file.writtenAt
        self.client = client
        self.streams = streams
    }

    func read(at offset: Int64, count: Int) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        let end = offset + Int64(count)
        var position = offset
        while position < end {
            guard let run = run(at: position) else { throw ServiceError(.internal, "a file was read beyond its end") }
            let taken = Int(min(end, run.range.upperBound) - position)
            bytes += try await reader(of: run.piece).read(at: position - run.piece.offset, count: taken)
            position += Int64(taken)
        }
        return bytes
    }

    /// The run with that byte.
    private func run(at position: Int64) -> S3StoredFile.Run? {
        var (low, high) = (0, runs.count)
        while low < high {
            let middle = (low + high) / 2
            if runs[middle].range.upperBound <= position { low = middle + 1 } else { high = middle }
        }
        return low < runs.count ? runs[low] : nil
    }

    private func reader(of piece: S3StoredFile.Piece) -> S3ContentReader {
        last.withLockedValue { last in
            if let last, last.piece == piece { return last.reader }
            let reader = S3ContentReader(
                client, key: piece.key, opened: .init(bytes: ByteBuffer(), size: piece.size), streams: streams)
            last = (piece, reader)
            return reader
        }
    }
}

/// A file that grows by one object for each write. A write that was answered survives everything that the store survives.
private final class S3BlobAppending: BlobAppending {
    private let blob: BlobReference
    private let client: S3Client
    private let space: BucketSpace
    private let position: NIOLockedValueBox<Int64>

    init(_ blob: BlobReference, _ client: S3Client, _ space: BucketSpace, at offset: Int64) {
        self.blob = blob
        self.client = client
        self.space = space
        position = NIOLockedValueBox(offset)
    }

    func write(_ chunk: [UInt8]) async throws {
        guard !chunk.isEmpty else { return }
        let (count, hub) = (Int64(chunk.count), blob.hub.number)
        let offset = position.withLockedValue { $0 }
        try space.take(count, for: hub)
        var added: Int64 = 0
        defer { space.settle(count, added: added, for: hub) }
        try await explained {
            let key = S3FileKeys.page(of: blob, at: offset, size: count)
            // What was there already takes no room.
            let before = try await client.state(of: key)?.size ?? 0
            try await client.put(ByteBuffer(bytes: chunk), at: key)
            added = count - before
            position.withLockedValue { $0 = offset + count }
        }
    }

    func cut(to size: Int64) async throws {
        try await explained {
            let file = try await client.file(blob)
            // With its last byte the file itself would go.
            if size == 0, !file.hasMark { try await client.put(ByteBuffer(), at: S3FileKeys.mark(blob)) }
            var kept: [String: Int64] = [:]
            for piece in file.pieces {
                let end = min(piece.end, size)
                let key =
                    piece.isWhole ? piece.key : S3FileKeys.page(of: blob, at: piece.offset, size: end - piece.offset)
                if end > piece.offset || piece.isWhole && size > 0 {
                    kept[key] = end - piece.offset
                    if end < piece.end {
                        try await client.copyBeginning(of: piece.key, end - piece.offset, to: key)
                    }
                }
                if kept[piece.key] == nil { try await client.delete(piece.key) }
            }
            space.settle(0, added: kept.values.reduce(0, +) - file.bytes, for: blob.hub.number)
        }
    }

    /// Every write is durable already.
    func synchronize() async throws {}
}
