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

    /// Counts what lies in the bucket, now and then until the task is cancelled. Before the first count nothing can be stored: a call that
    /// would waits for it for some seconds at most. `failed` is told of each count that came to nothing; the next follows.
    public func keepCounting(failed: (any Error) -> Void) async {
        await BucketCounter(space: space, client: client).run { fault in failed((fault as? S3Fault)?.serviceError ?? fault) }
    }

    /// Counts once.
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

    /// The store tells whole seconds, so a file may be up to a second younger than it seems.
    private static func isOlder(_ file: S3StoredFile, than moment: Timestamp) -> Bool {
        file.writtenAt + .seconds(1) <= moment
    }

    private func explained<Value>(_ work: () async throws -> Value) async throws -> Value {
        do { return try await work() } catch let fault as S3Fault { throw fault.serviceError }
    }
}
