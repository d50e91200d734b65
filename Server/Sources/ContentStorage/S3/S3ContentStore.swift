import AppBackend
import NIOCore
import NIOPosix
import RichPushModel
import ServiceErrors

/// Contents as objects in a bucket of an S3-compatible store, each under its SHA-256, so that equal bytes are stored once. Any number
/// of nodes may use one bucket and prefix.
///
/// Every wait has a deadline, what may succeed a moment later is repeated. A store that is gone makes calls fail with
/// `storage-unavailable`; they succeed again when it is back. Close it with `shutDown()`.
public final class S3ContentStore: ContentStore {
    /// What came when a content is opened: enough for a small one, so that it takes one request.
    static let beginningBytes = ReadableContent.chunkSize
    /// The longest a link is valid.
    public static let longestLink: Duration = .seconds(300)

    let client: S3Client
    private let uploads: Slots
    private let streams: Slots

    /// Opens a store. No connection is made yet. Throws `not-ready` when the certificates cannot be read.
    public convenience init(
        _ options: S3Options, clock: any ServiceClock = .system,
        group: any EventLoopGroup = .singletonMultiThreadedEventLoopGroup
    ) throws(ServiceError) {
        self.init(S3Client(options, transport: try S3HTTPTransport(options, group: group), clock: clock))
    }

    init(_ client: S3Client) {
        self.client = client
        uploads = Slots(capacity: client.options.maximumUploads)
        streams = Slots(capacity: client.options.maximumStreams)
    }

    public func beginUpload(limit: Int64) async throws -> any ContentUpload {
        guard let slot = uploads.take() else { throw ServiceError(.overloaded, "too many uploads are running", retryAfter: 5) }
        return S3ContentUpload(client, limit: limit, slot: slot)
    }

    public func open(_ digest: ContentDigest) async throws -> (any ContentReader)? {
        let (key, client) = (S3Keys.object(digest), client.forPhones)
        return try await explained {
            guard let opened = try await client.beginning(of: key, Self.beginningBytes) else { return nil }
            return S3ContentReader(client, key: key, opened: opened, streams: streams)
        }
    }

    public func remove(_ digest: ContentDigest, storedBefore moment: Timestamp) async throws -> Bool {
        try await explained { try await S3Removal(client: client).remove(digest, storedBefore: moment) }
    }

    public func digests(after digest: ContentDigest?, limit: Int) async throws -> [ContentDigest] {
        try await explained {
            var found: [ContentDigest] = []
            var last = digest.map(S3Keys.object)
            while found.count < limit {
                let entries = try await client.list(S3Keys.objects, after: last, limit: limit - found.count)
                guard let end = entries.last else { break }
                last = end.key
                found += entries.compactMap { ContentDigest(String($0.key.dropFirst(S3Keys.objects.count))) }
            }
            return found
        }
    }

    /// Removes what uploads and removals left behind that were cut off, and were begun before the moment; how many there were. Must
    /// lie longer ago than any upload takes.
    public func removeLeftovers(begunBefore moment: Timestamp) async throws -> Int {
        try await explained {
            var count = 0
            for open in try await client.openUploads("") where open.startedAt < moment && S3Keys.isOurs(open.upload.key) {
                try await client.abort(open.upload)
                count += 1
            }
            for start in [S3Keys.incoming, S3Keys.removing] {
                var last: String?
                while let entries = try await Optional(client.list(start, after: last)), let end = entries.last {
                    last = end.key
                    for entry in entries where entry.writtenAt < moment {
                        try await client.delete(entry.key)
                        count += 1
                    }
                }
            }
            return count
        }
    }

    /// Closes the connections. Calls under way end with an error.
    public func shutDown() async { await client.transport.shutDown() }

    func explained<Value>(_ work: () async throws -> Value) async throws -> Value {
        do { return try await work() } catch let fault as S3Fault { throw fault.serviceError }
    }
}
