import NIOCore
import ServiceErrors

/// What the parser found next.
enum MultipartEvent: Hashable {
    case partBegan(MultipartPartHead)
    /// Bytes of the part, in the order they came; never empty.
    case bytes(ByteBuffer)
    case partEnded
    /// The closing boundary; what follows is ignored.
    case finished
}

/// Reads `multipart/form-data` (RFC 2046, 5.1; RFC 7578) from chunks of any size without keeping more than a boundary or the
/// headers of one part.
///
/// Feed it with `append`, then call `next` until it returns `nil`, which means that it needs more. It does no I/O.
struct MultipartParser {
    private enum State {
        case preamble
        case afterBoundary
        case headers
        case body
        case epilogue
    }

    /// The boundary with the line break and the dashes before it.
    private let delimiter: [UInt8]
    private let limits: MultipartLimits
    private var state = State.preamble
    private var pending: ByteBuffer
    private var preambleBytes = 0
    private var parts = 0

    /// Creates a parser; `nil` for a boundary that is not 1 to 70 of the characters that RFC 2046 admits.
    init?(boundary: String, limits: MultipartLimits = MultipartLimits()) {
        guard (1...70).contains(boundary.utf8.count), boundary.last != " ", boundary.utf8.allSatisfy(Self.isBoundaryByte) else {
            return nil
        }
        delimiter = Array("\r\n--\(boundary)".utf8)
        self.limits = limits
        // The first boundary has no line break before it when there is no preamble; with one put there it is like the others.
        pending = ByteBuffer(string: "\r\n")
    }

    mutating func append(_ chunk: ByteBuffer) {
        var chunk = chunk
        if pending.readableBytes == 0 {
            pending = chunk
        } else {
            pending.discardReadBytes()
            pending.writeBuffer(&chunk)
        }
    }

    /// The next event; `nil` when more bytes are needed. Throws `malformed-multipart`, after which the parser is of no use.
    mutating func next() throws(ServiceError) -> MultipartEvent? {
        while true {
            switch state {
            case .preamble:
                guard try skipPreamble() else { return nil }
            case .afterBoundary:
                guard let isLast = try boundaryEnd() else { return nil }
                if isLast { return .finished }
            case .headers:
                guard let head = try partHead() else { return nil }
                return .partBegan(head)
            case .body:
                return bodyEvent()
            case .epilogue:
                pending.clear()
                return nil
            }
        }
    }

    /// Says that no more bytes come. Throws `malformed-multipart` unless the closing boundary was seen.
    func finish() throws(ServiceError) {
        guard case .epilogue = state else {
            throw ServiceError(.malformedMultipart, "the body ends before its closing boundary")
        }
    }

    private mutating func skipPreamble() throws(ServiceError) -> Bool {
        let (offset, isWhole) = MultipartSearch.find(delimiter, in: pending)
        preambleBytes += offset
        guard preambleBytes <= limits.preambleBytes else {
            throw ServiceError(.malformedMultipart, "the boundary named in Content-Type does not begin the body")
        }
        pending.moveReaderIndex(forwardBy: offset)
        guard isWhole else { return false }
        pending.moveReaderIndex(forwardBy: delimiter.count)
        state = .afterBoundary
        return true
    }

    /// Reads what stands behind a boundary: two dashes when it was the last (`true`), else blanks and a line break (`false`).
    private mutating func boundaryEnd() throws(ServiceError) -> Bool? {
        let bytes = pending.readableBytesView.prefix(64)
        if bytes.starts(with: "--".utf8) {
            state = .epilogue
            return true
        }
        let rest = bytes.drop { $0 == 0x20 || $0 == 0x09 }
        if rest.starts(with: "\r\n".utf8) {
            pending.moveReaderIndex(forwardBy: bytes.count - rest.count + 2)
            parts += 1
            guard parts <= limits.parts else {
                throw ServiceError(.malformedMultipart, "the body has more than \(limits.parts) parts")
            }
            state = .headers
            return false
        }
        let mayStillFit = rest.isEmpty || (rest.count == 1 && (rest.first == 0x0D || (bytes.count == 1 && bytes.first == 0x2D)))
        guard mayStillFit, bytes.count < 64 else {
            throw ServiceError(.malformedMultipart, "a boundary is not followed by a line break")
        }
        return nil
    }

    private mutating func partHead() throws(ServiceError) -> MultipartPartHead? {
        let view = pending.readableBytesView.prefix(limits.headerBytes)
        if view.starts(with: "\r\n".utf8) {
            throw ServiceError(.malformedMultipart, "a part has no Content-Disposition of form-data with a name")
        }
        guard let end = MultipartSearch.offset(of: Array("\r\n\r\n".utf8), in: view) else {
            guard view.count < limits.headerBytes else {
                throw ServiceError(.malformedMultipart, "the headers of a part have more than \(limits.headerBytes) bytes")
            }
            return nil
        }
        let head = try MultipartPartHead(headerBytes: Array(view.prefix(end)))
        pending.moveReaderIndex(forwardBy: end + 4)
        state = .body
        return head
    }

    private mutating func bodyEvent() -> MultipartEvent? {
        let (offset, isWhole) = MultipartSearch.find(delimiter, in: pending)
        if offset > 0, let bytes = pending.readSlice(length: offset) { return .bytes(bytes) }
        guard isWhole else { return nil }
        pending.moveReaderIndex(forwardBy: delimiter.count)
        state = .afterBoundary
        return .partEnded
    }

    private static func isBoundaryByte(_ byte: UInt8) -> Bool {
        let character = Character(Unicode.Scalar(byte))
        return character.isASCII && (character.isLetter || character.isNumber || "'()+_,-./:=? ".contains(character))
    }
}

/// How much a multipart body may hold besides its parts' bytes, which the router and the reader of each part bound.
struct MultipartLimits {
    /// The most bytes of the headers of one part.
    var headerBytes = 8 * 1024
    /// The most parts.
    var parts = 16
    /// The most bytes before the first boundary.
    var preambleBytes = 4 * 1024
}

/// Finds a boundary in bytes that arrive in pieces.
private enum MultipartSearch {
    /// The offset of the first byte that is, or may turn out to be, the start of `pattern`, and whether all of it is there.
    /// Without either, the offset is the number of bytes.
    static func find(_ pattern: [UInt8], in buffer: ByteBuffer) -> (offset: Int, isWhole: Bool) {
        buffer.withUnsafeReadableBytes { bytes in
            var start = 0
            while let candidate = bytes[start...].firstIndex(of: pattern[0]) {
                let length = min(pattern.count, bytes.count - candidate)
                if bytes[candidate..<candidate + length].elementsEqual(pattern.prefix(length)) {
                    return (candidate, length == pattern.count)
                }
                start = candidate + 1
            }
            return (bytes.count, false)
        }
    }

    /// The offset of all of `pattern`, or `nil`.
    static func offset(of pattern: [UInt8], in view: ByteBufferView.SubSequence) -> Int? {
        view.firstRange(of: pattern).map { view.distance(from: view.startIndex, to: $0.lowerBound) }
    }
}
