import RichPushModel
import ServiceErrors

/// Takes the chunks of an upload: decides from the first bytes whether they may be stored, then hands all of them on.
struct ContentIntake {
    private let upload: any ContentUpload
    private let declaredType: String?
    private var head: [UInt8] = []
    private var format: MediaFormat?

    init(upload: any ContentUpload, declaredType: String?) {
        self.upload = upload
        self.declaredType = declaredType
    }

    /// Takes a chunk. Nothing is written before the format is known to be allowed.
    mutating func take(_ chunk: [UInt8]) async throws {
        guard format == nil else { return try await upload.write(chunk) }
        head += chunk
        if head.count >= MediaSniffer.window { try await decide() }
    }

    /// Says that no more comes; returns the format.
    mutating func end() async throws -> MediaFormat {
        if format == nil { try await decide() }
        guard let format else { throw ServiceError(.internal) }
        return format
    }

    private mutating func decide() async throws {
        guard !head.isEmpty else { throw ServiceError(.unsupportedContent, "the content is empty") }
        guard let sniffed = MediaSniffer.format(of: Array(head.prefix(MediaSniffer.window))) else {
            throw ServiceError(
                .unsupportedContent,
                "the bytes are of no format that is stored: pictures, sounds, videos, PDF and plain text are")
        }
        format = try Self.agreed(sniffed, declaredType)
        try await upload.write(head)
        head = []
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
