import CommandLineSupport
import NIOCore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The body of a send with content: the JSON part `notification`, then the part `content` with the bytes of a file. The file is
/// mapped and handed on in pieces, so that a large one is never in memory as a whole.
struct MultipartForm: AsyncSequence, Sendable {
    typealias Element = ByteBuffer

    private static let pieceSize = 65_536

    private let boundary: String
    private let head: [UInt8]
    private let content: Data
    private let tail: [UInt8]

    var mediaType: String { "multipart/form-data; boundary=\(boundary)" }
    var byteCount: Int64 { Int64(head.count + content.count + tail.count) }

    init(json: Data, path: String) throws(InputFault) {
        content = try ContentInput.read(path)
        boundary = "clarion-" + UUID().uuidString
        let name = Self.headerSafe(ContentInput.name(of: path))
        let disposition = "Content-Disposition: form-data; name="
        head =
            Array("--\(boundary)\r\n\(disposition)\"notification\"\r\nContent-Type: application/json\r\n\r\n".utf8) + json
            + Array("\r\n--\(boundary)\r\n\(disposition)\"content\"; filename=\"\(name)\"\r\n".utf8)
            + Array("Content-Type: application/octet-stream\r\n\r\n".utf8)
        tail = Array("\r\n--\(boundary)--\r\n".utf8)
    }

    /// Quotes, back-slashes and control characters would end or break the header.
    private static func headerSafe(_ name: String) -> String {
        String(name.unicodeScalars.map { $0.value < 32 || $0 == "\"" || $0 == "\\" || $0.value == 127 ? "_" : Character($0) })
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let form: MultipartForm
        fileprivate var sent = 0
        fileprivate var stage = Stage.head

        fileprivate enum Stage { case head, content, end }

        mutating func next() async -> ByteBuffer? {
            switch stage {
            case .head:
                stage = .content
                return ByteBuffer(bytes: form.head)
            case .content where sent < form.content.count:
                let piece = form.content.dropFirst(sent).prefix(MultipartForm.pieceSize)
                sent += piece.count
                return ByteBuffer(bytes: piece)
            case .content:
                stage = .end
                return ByteBuffer(bytes: form.tail)
            case .end:
                return nil
            }
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(form: self) }
}
