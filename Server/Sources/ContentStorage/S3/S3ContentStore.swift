import AppBackend
import NIOCore
import NIOPosix
import RichPushModel
import ServiceErrors

/// Contents as objects in a bucket of an S3-compatible store, each under its SHA-256, so that equal bytes are stored once. Any number
/// of nodes may use one bucket and prefix.
///
/// Every wait has a deadline, and transient failures are retried. A store that is gone makes calls fail with
/// `storage-unavailable`; they succeed again when it is back. Close it with `shutDown()`.
public final class S3ContentStore: ContentStore {
    /// What came when a content is opened: enough for a small one, so that it takes one request.
    static let beginningBytes = ReadableContent.chunkSize
    /// The longest a link is valid.
    static let longestLink: Duration = .seconds(300)

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
}

extension S3ContentStore {
    /// Tries what the store is used for, with an object of a few bytes that is gone afterwards: writing, listing, reading, removing.
    ///
    /// Throws `storage-unavailable` with a sentence for the operator that says what to look at.
    public func check() async throws {
        try await explained { try await tryEverything() }
    }

    /// What the check before the start comes to.
    public enum Condition: Hashable, Sendable {
        case good
        /// The store is unavailable at the moment, with a sentence.
        case unavailable(String)
        /// The store refuses the requests; only another configuration helps. With a sentence.
        case refused(String)
    }

    /// Tries what `check` tries, and distinguishes an unavailable store from one that refuses.
    public func condition() async throws -> Condition {
        do {
            try await tryEverything()
            return .good
        } catch let fault as S3Fault {
            return fault.isPassing || fault == .busy ? .unavailable(fault.sentence) : .refused(fault.sentence)
        }
    }

    /// Asks whether the store answers and lets this key read, with one request that changes nothing and is not retried.
    ///
    /// Throws `storage-unavailable`.
    public func ping() async throws {
        try await explained { _ = try await client.forPhones.once.beginning(of: S3Keys.probe, 1) }
    }

    private func tryEverything() async throws {
        let key = S3Keys.upload()
        let bytes = ByteBuffer(string: "clarion")
        // The list first: it needs the bucket, and an answer to it names what is wrong with key, secret or region.
        _ = try await client.list(S3Keys.objects, limit: 1)
        try await client.put(bytes, at: key)
        let read = try await client.beginning(of: key, bytes.readableBytes)
        try await client.delete(key)
        guard read?.bytes == bytes else { throw S3Fault.malformed("what was written did not come back") }
    }
}

extension S3ContentStore {
    /// What the options say.
    public var handsOutLinks: Bool { client.options.handsOutLinks }

    /// A presigned URL of a content in the store, valid for `lifetime` and at most five minutes. The store answers
    /// with this media type and `Content-Disposition`. `nil` unless the options say that links are handed out.
    public func link(to digest: ContentDigest, mediaType: String, disposition: String, lifetime: Duration) -> String? {
        guard client.options.handsOutLinks else { return nil }
        let location = client.options.location
        let path = location.path(S3Keys.object(digest))
        let query = client.signer.link(
            for: .init(
                method: "GET", host: location.host, path: path,
                query: [
                    ("response-cache-control", "private, max-age=300"), ("response-content-disposition", disposition),
                    ("response-content-type", mediaType),
                ]), lifetime: min(lifetime, Self.longestLink), at: client.clock.now)
        return "\(location.endpoint.scheme)://\(location.host)\(path)?\(S3Signer.text(of: query))"
    }
}

extension S3ContentStore {
    /// Whose contents lie below the prefix; `nil` without an owner mark. Throws `storage-unavailable`.
    public func owner() async throws -> S3OwnerMark? {
        try await explained {
            guard let found = try await client.beginning(of: S3Keys.owner, 4096) else { return nil }
            return S3OwnerMark(text: String(buffer: found.bytes))
        }
    }

    /// Writes the owner mark below the prefix, unless there is one. Of two concurrent claims one wins, and both callers must read the
    /// mark afterwards. Throws `storage-unavailable`.
    public func claim(_ owner: S3OwnerMark) async throws {
        try await explained {
            for _ in 1...Self.claims {
                do { return try await put(owner, headers: [("If-None-Match", "*")]) } catch let fault as S3Fault {
                    switch fault {
                    // It is there (Amazon S3 user guide, "Conditional writes").
                    case .refused(412, _, _): return
                    // It is just being written, and there only when that has ended.
                    case .refused(409, _, _): try await client.clock.sleep(for: Self.claimPause)
                    // A store without conditional writes: the mark read afterwards is the last writer's.
                    case .refused(400, _, _), .refused(501, _, _): return try await put(owner)
                    default: throw fault
                    }
                }
            }
        }
    }

    private static let claims = 5
    private static let claimPause: Duration = .milliseconds(300)

    /// Writes the owner mark, whatever it was before. Throws `storage-unavailable`.
    public func replaceOwner(by owner: S3OwnerMark) async throws { try await explained { try await put(owner) } }

    private func put(_ owner: S3OwnerMark, headers: [(name: String, value: String)] = []) async throws {
        try await client.perform(
            S3Client.Request(
                method: "PUT", key: S3Keys.owner, headers: [("Content-Type", "text/plain; charset=utf-8")] + headers,
                body: ByteBuffer(string: owner.text)))
    }
}

/// The owner mark of a bucket: an object `owner` of two lines, the mark that the owning database keeps too, and that database's name for
/// the operator.
public struct S3OwnerMark: Hashable, Sendable {
    /// The most bytes of either line that are read.
    private static let lineBytes = 400

    public var mark: String
    /// What the owner was called when it took the bucket; for a sentence to the operator.
    public var name: String

    public init(mark: String, name: String) {
        self.mark = mark
        self.name = name
    }

    /// Reads what lies in a bucket. What is none of ours is a mark that no database has.
    init(text: String) {
        let lines = text.split(separator: "\n", maxSplits: 2, omittingEmptySubsequences: false).map { Self.plain($0) }
        mark = lines[0]
        name = lines.count > 1 && !lines[1].isEmpty ? lines[1] : "unknown"
    }

    var text: String { "\(mark)\n\(Self.plain(name[...]))\n" }

    /// Only what fits into a line of a log.
    private static func plain(_ line: Substring) -> String {
        String(String.UnicodeScalarView(line.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F }.prefix(lineBytes)))
    }
}
