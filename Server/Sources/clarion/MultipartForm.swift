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

    /// The file cannot be used.
    struct Fault: Error, CustomStringConvertible {
        var description: String
    }

    private static let pieceSize = 65_536

    private let boundary: String
    private let head: [UInt8]
    private let content: Data
    private let tail: [UInt8]

    var mediaType: String { "multipart/form-data; boundary=\(boundary)" }
    var byteCount: Int64 { Int64(head.count + content.count + tail.count) }

    init(json: Data, path: String) throws {
        do {
            content = try Data(contentsOf: URL(filePath: path), options: .alwaysMapped)
        } catch {
            throw Fault(description: "\(path) cannot be read")
        }
        guard !content.isEmpty else { throw Fault(description: "\(path) is empty") }
        boundary = "clarion-" + UUID().uuidString
        let name = Self.headerSafe(path.split(separator: "/").last.map(String.init) ?? "content")
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
        fileprivate var pieces: [Range<Int>?]
        fileprivate let form: MultipartForm
        private var next = 0

        fileprivate init(_ form: MultipartForm) {
            self.form = form
            let starts = stride(from: 0, to: form.content.count, by: MultipartForm.pieceSize)
            pieces = [nil] + starts.map { $0..<Swift.min($0 + MultipartForm.pieceSize, form.content.count) } + [nil]
        }

        mutating func next() async -> ByteBuffer? {
            guard next < pieces.count else { return nil }
            defer { next += 1 }
            guard let range = pieces[next] else { return ByteBuffer(bytes: next == 0 ? form.head : form.tail) }
            let start = form.content.startIndex
            return ByteBuffer(bytes: form.content[(start + range.lowerBound)..<(start + range.upperBound)])
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }
}
