import RichPushModel
import ServiceErrors

/// Takes the chunks of an upload: decides from the first bytes whether they may be stored, then hands on what is left of them without
/// metadata.
struct ContentIntake {
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
