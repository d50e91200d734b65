import RichPushModel
import ServiceErrors
import SharedAccess
import Synchronization
import WireText

extension RichPushBackend {
    /// The most bytes of one content.
    public var contentLimit: Int64 { parts.settings.contentLimit }

    /// Stores content for a later send of the same user, who has 24 hours to use it. Never holds more than a few chunks.
    ///
    /// The media type is read from the bytes and must be on the allow-list and agree with `declaredType`, unless that is absent
    /// or `application/octet-stream`. Metadata of pictures and videos is removed (`MetadataFilter`); digest and size are those of
    /// what is stored. Throws `unsupported-content`, `content-too-large`, `quota-exceeded`, `forbidden`; an
    /// error of `chunks` is passed on and leaves nothing behind.
    public func storeContent<Chunks: AsyncSequence>(
        declaredType: String?, fileName: String?, chunks: Chunks, for principal: Principal
    ) async throws -> ContentAnswer where Chunks.Element == [UInt8] {
        try principal.require(.storeContent)
        let quota = parts.settings.quota
        let use = try await parts.store.contentUse(of: principal.userID, at: parts.clock.now)
        let limit = min(parts.settings.contentLimit, try quota.room(beside: use))
        let upload = try await parts.contentStore.beginUpload(limit: limit)
        do {
            var intake = ContentIntake(
                upload: upload, declaredType: declaredType, limit: limit, pixelLimit: parts.settings.pixelLimit)
            for try await chunk in chunks { try await intake.take(chunk) }
            let format = try await intake.end()
            let stored = try await upload.finish()
            let record = try await stage(
                stored, mediaType: format.rawValue, fileName: FileNameRule.clean(fileName, for: format), for: principal)
            return ContentAnswer(id: record.id, content: record.descriptor, metadataRemoved: intake.isChanged ? true : nil)
        } catch is ContentIntake.TooManyBytes {
            await upload.abort()
            guard limit < parts.settings.contentLimit else {
                throw ServiceError(.contentTooLarge, "a content has at most \(limit) bytes")
            }
            throw quota.exceeded(beside: use, by: "has more than \(limit) bytes")
        } catch {
            await upload.abort()
            throw error
        }
    }

    /// Sets the picture of the rich push tutorial's send. Called once at the start, before anything is served. Throws
    /// `unsupported-content` for anything but a picture.
    public func setDefaultPicture(_ bytes: [UInt8], fileName: String) async throws {
        guard let format = MediaSniffer.format(of: Array(bytes.prefix(MediaSniffer.window))), format.kind == .image else {
            throw ServiceError(.unsupportedContent, "the default picture is not a picture of a known format")
        }
        var bytes = bytes
        if var filter = MetadataFilter(format: format, pixelLimit: parts.settings.pixelLimit) {
            bytes = try filter.take(bytes) + filter.end()
        }
        let uptime = parts.clock.uptime
        let stored = try await store(bytes)
        let record = ContentRecord(
            id: "default-picture", owner: UserID(0), digest: stored.digest, mediaType: format.rawValue,
            byteCount: stored.byteCount, fileName: FileNameRule.clean(fileName, for: format), expiresAt: nil)
        try await parts.store.keep(record, at: parts.clock.now)
        defaultPicture.set(record, bytes: bytes, storedAt: uptime)
    }

    /// The content of a notification that the caller may read. Everything else is `not-found`.
    public func openContent(of id: RichID, variant: ContentVariant, for principal: Principal) async throws -> ReadableContent {
        try await open(try await findContent(of: id, variant: variant, for: principal))
    }

    /// The same without opening it. `accepting` is the field `Accept-Language`, which chooses the translation for a caller that is no
    /// installation.
    public func findContent(
        of id: RichID, variant: ContentVariant, accepting: String? = nil, for principal: Principal
    ) async throws -> FoundContent {
        let (notification, _) = try await readable(id, accepting: accepting, for: principal)
        guard let record = notification.content(variant) else { throw Self.unseen }
        return FoundContent(descriptor: record.descriptor, id: id, digest: record.digest)
    }

    /// Opens a content that was found. Throws `not-found` when its bytes are gone.
    public func open(_ found: FoundContent) async throws -> ReadableContent {
        guard let reader = try await parts.contentStore.open(found.digest) else {
            parts.logger.error("A stored content is missing from the content store", metadata: ["rich_id": "\(found.id)"])
            throw Self.unseen
        }
        return ReadableContent(descriptor: found.descriptor, reader: reader)
    }

    /// A presigned URL of the content store, valid for five minutes, with this `Content-Disposition`. `nil` when the store has none,
    /// and for a content that this server sends as fast.
    public func link(to found: FoundContent, disposition: () -> String) -> String? {
        guard parts.contentStore.handsOutLinks, found.descriptor.byteCount > Int64(ReadableContent.chunkSize) else { return nil }
        return parts.contentStore.link(
            to: found.digest, mediaType: found.descriptor.mediaType, disposition: disposition(),
            lifetime: ContentTicket.maximumAge)
    }

    /// A ticket for this content and this user, valid for five minutes.
    public func issueTicket(
        for id: RichID, variant: ContentVariant, accepting: String? = nil, for principal: Principal
    ) async throws -> IssuedTicket {
        let (notification, _) = try await readable(id, accepting: accepting, for: principal)
        guard notification.content(variant) != nil else { throw Self.unseen }
        let now = parts.clock.now
        let expiry = now + ContentTicket.maximumAge
        let ticket = ContentTicket(
            user: principal.userID.number, notification: id, variant: variant.rawValue,
            language: notification.language?.text ?? "",
            expiresAt: expiry, credentialVersion: principal.credentialVersion)
        return IssuedTicket(ticket: parts.ticketSigner.sign(ticket, now: now), expiresAt: expiry)
    }

    /// The content that a ticket opens. The user's access is checked again. Throws `not-found` for a ticket that is malformed,
    /// forged, expired, older than the user's password, or of another notification or variant.
    public func redeem(ticket: String, for id: RichID, variant: ContentVariant) async throws -> FoundContent {
        guard let claims = parts.ticketSigner.verify(ticket, now: parts.clock.now), claims.notification == id,
            claims.variant == variant.rawValue, let user = try await parts.store.user(UserID(claims.user)),
            user.credentialVersion == claims.credentialVersion
        else { throw Self.unseen }
        return try await findContent(of: id, variant: variant, accepting: claims.language, for: Principal(user: user))
    }
}

extension RichPushBackend {
    /// Notes bytes that were stored as a content that waits to be sent.
    func stage(
        _ stored: StoredBytes, mediaType: String, fileName: String?, for principal: Principal
    ) async throws -> ContentRecord {
        let now = parts.clock.now
        let record = ContentRecord(
            id: Hexadecimal.random(byteCount: 16), owner: principal.userID, digest: stored.digest, mediaType: mediaType,
            byteCount: stored.byteCount, fileName: fileName, expiresAt: now + parts.settings.stagedLifetime)
        do {
            try await parts.store.stage(record, quota: parts.settings.quota, at: now)
        } catch let error as ServiceError where error.code == .quotaExceeded {
            // The bytes are stored already; do not leave them to the slow sweep.
            try await parts.store.noteOrphans(among: [stored.digest])
            throw error
        }
        return record
    }

    /// The picture of the rich push tutorial's send, whose bytes are not removed before a send can name them. Throws `not-ready`
    /// without one.
    func currentDefaultPicture() async throws -> ContentRecord {
        let uptime = parts.clock.uptime
        switch defaultPicture.use(at: uptime) {
        case nil: throw ServiceError(.notReady, "no default picture is configured")
        case .take(let record): return record
        case .renew(let record, let bytes, let isDue):
            do {
                _ = try await store(bytes)
                defaultPicture.renewed(at: uptime)
            } catch {
                defaultPicture.renewed(at: nil)
                if isDue { throw error }
            }
            return record
        }
    }

    /// Stores bytes that the server made or was given at the start.
    func store(_ bytes: [UInt8]) async throws -> StoredBytes {
        let upload = try await parts.contentStore.beginUpload(limit: Int64(bytes.count))
        do {
            try await upload.write(bytes)
            return try await upload.finish()
        } catch {
            await upload.abort()
            throw error
        }
    }
}

extension RichNotification {
    /// The content of a variant. Without a thumb of its own, a small original stands in.
    func content(_ variant: ContentVariant) -> ContentRecord? {
        switch variant {
        case .original: content
        case .thumb: thumb ?? content.flatMap { $0.byteCount <= ContentVariant.largestStandIn ? $0 : nil }
        }
    }
}

/// A content that the caller may read, not opened yet.
public struct FoundContent: Sendable {
    public let descriptor: ContentDescriptor
    let id: RichID
    let digest: ContentDigest
}

/// A short-lived link to one content for players that cannot send a header.
public struct IssuedTicket: Hashable, Sendable {
    /// Goes into the query of the content's address. Secret while it is valid.
    public var ticket: String
    public var expiresAt: Timestamp
}

/// A content that the caller may read, opened. Ranges, `ETag` and headers are made from this by the HTTP layer.
public struct ReadableContent: Sendable {
    /// The most bytes that one element of a read carries.
    public static let chunkSize = 64 * 1024

    public var descriptor: ContentDescriptor
    let reader: any ContentReader

    /// How many bytes it has.
    public var size: Int64 { descriptor.byteCount }

    /// The bytes of the range, clamped to the content, in chunks of at most 64 KiB that are read when asked for.
    public func read(_ range: Range<Int64>) -> AsyncThrowingStream<[UInt8], any Error> {
        let reader = reader
        let cursor = ReadCursor(range.clamped(to: 0..<size))
        return AsyncThrowingStream {
            guard let (offset, count) = cursor.next(at: Self.chunkSize) else { return nil }
            return try await reader.read(at: offset, count: count)
        }
    }

    /// All bytes.
    public func read() -> AsyncThrowingStream<[UInt8], any Error> { read(0..<size) }
}

/// How far a read has come. One lock around the next offset, because the stream's closure must be sendable.
private final class ReadCursor: Sendable {
    private let rest: Mutex<Range<Int64>>

    init(_ range: Range<Int64>) { rest = Mutex(range) }

    /// The next piece of at most `size` bytes; `nil` at the end.
    func next(at size: Int) -> (offset: Int64, count: Int)? {
        rest.withLock { rest in
            guard !rest.isEmpty else { return nil }
            let count = min(Int64(size), rest.upperBound - rest.lowerBound)
            let offset = rest.lowerBound
            rest = (offset + count)..<rest.upperBound
            return (offset, Int(count))
        }
    }
}

/// Takes the chunks of an upload: decides from the first bytes whether they may be stored, then hands on what is left of them without
/// metadata.
private struct ContentIntake {
    /// More bytes came than may be stored.
    struct TooManyBytes: Error {}

    private let upload: any ContentUpload
    private let declaredType: String?
    private let limit: Int64
    private let pixelLimit: Int64
    private var received: Int64 = 0
    private var head: [UInt8] = []
    private var format: MediaFormat?
    private var filter: MetadataFilter?

    /// Creates an intake of at most `limit` bytes, counted as they come.
    init(upload: any ContentUpload, declaredType: String?, limit: Int64, pixelLimit: Int64) {
        self.upload = upload
        self.declaredType = declaredType
        self.limit = limit
        self.pixelLimit = pixelLimit
    }

    /// Whether what is stored differs from what came, because metadata was removed.
    var isChanged: Bool { filter?.isChanged ?? false }

    /// Takes a chunk. Nothing is written before the format is known to be allowed.
    mutating func take(_ chunk: [UInt8]) async throws {
        received += Int64(chunk.count)
        guard received <= limit else { throw TooManyBytes() }
        guard format == nil else { return try await store(chunk) }
        head += chunk
        if head.count >= MediaSniffer.window { try await decide() }
    }

    /// Says that no more comes; returns the format.
    mutating func end() async throws -> MediaFormat {
        if format == nil { try await decide() }
        guard let format else { throw ServiceError(.internal) }
        if let rest = try filter?.end(), !rest.isEmpty { try await upload.write(rest) }
        return format
    }

    private mutating func decide() async throws {
        guard !head.isEmpty else { throw ServiceError(.unsupportedContent, "the content is empty") }
        guard let sniffed = MediaSniffer.format(of: Array(head.prefix(MediaSniffer.window))) else {
            throw ServiceError(
                .unsupportedContent,
                "the bytes are of no format that is stored: pictures, sounds, videos, PDF and plain text are")
        }
        let format = try Self.agreed(sniffed, declaredType)
        self.format = format
        filter = MetadataFilter(format: format, pixelLimit: pixelLimit)
        try await store(head)
        head = []
    }

    private mutating func store(_ bytes: [UInt8]) async throws {
        let bytes = try filter?.take(bytes) ?? bytes
        if !bytes.isEmpty { try await upload.write(bytes) }
    }

    private static func agreed(_ sniffed: MediaFormat, _ declaredType: String?) throws -> MediaFormat {
        guard let declaredType, !["", "application/octet-stream"].contains(MediaFormat.essence(of: declaredType)) else {
            return sniffed
        }
        let declared = MediaFormat(declared: declaredType)
        // Recorders write sound alone under the brand of the general MP4 format.
        if sniffed == .mp4, declared == .m4a { return .m4a }
        guard declared == sniffed else {
            throw ServiceError(.unsupportedContent, "the bytes are \(sniffed.rawValue), which is not the declared media type")
        }
        return sniffed
    }
}
