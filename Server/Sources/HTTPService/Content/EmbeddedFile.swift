import HTTPTypes
import Hummingbird
import NIOCore

/// A file that is part of the program: a page, or what a page asks for.
public struct EmbeddedFile: Sendable {
    private let mediaType: String
    private let bytes: ByteBuffer
    private let entityTag: EntityTag

    /// Creates a file of bytes that do not change while the program runs.
    public init(_ mediaType: String, _ bytes: [UInt8]) {
        self.mediaType = mediaType
        self.bytes = ByteBuffer(bytes: bytes)
        entityTag = EntityTag(Self.digest(of: bytes))
    }

    /// The file, or that the client has it already. `headers` are added to either; a page that sets no `Cache-Control` is asked for each
    /// time, so that a newer program never shows an older one.
    public func response(to request: Request, headers added: HTTPFields = [:]) -> Response {
        var headers = added
        headers[.eTag] = entityTag.header
        if headers[.cacheControl] == nil { headers[.cacheControl] = "no-cache" }
        if let list = request.headers[.ifNoneMatch], entityTag.isNamed(inIfNoneMatch: list) {
            return Response(status: .notModified, headers: headers)
        }
        headers[.contentType] = mediaType
        return Response(status: .ok, headers: headers, body: .init(byteBuffer: bytes))
    }

    /// FNV-1a, 64 bits: distinguishes versions of a file, nothing more.
    private static func digest(of bytes: [UInt8]) -> String {
        let hash = bytes.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return String(hash, radix: 16)
    }
}
