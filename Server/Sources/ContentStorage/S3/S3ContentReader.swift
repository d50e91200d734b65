import AppBackend
import AsyncHTTPClient
import NIOConcurrencyHelpers
import NIOCore
import ServiceErrors

/// A content that is being read. Its first bytes came when it was opened. Sequential reads use a stream, as long as
/// there are few enough streams; other reads are ranged requests.
final class S3ContentReader: ContentReader {
    private struct Position {
        /// Where the last read ended.
        var end: Int64 = 0
        var stream: Stream?
    }

    /// Bytes under way, of which the next one is at `offset`.
    private struct Stream {
        let bytes: S3ByteStream
        var offset: Int64
        let end: Int64
        let slot: Slots.Slot
    }

    let size: Int64
    private let client: S3Client
    private let key: String
    private let beginning: ByteBuffer
    private let streams: Slots
    private let position = NIOLockedValueBox(Position())

    init(_ client: S3Client, key: String, opened: S3Client.Piece, streams: Slots) {
        self.client = client
        self.key = key
        self.streams = streams
        size = opened.size
        beginning = opened.bytes
    }

    func read(at offset: Int64, count: Int) async throws -> [UInt8] {
        guard count > 0 else { return [] }
        if offset + Int64(count) <= beginning.readableBytes {
            position.withLockedValue { $0.end = offset + Int64(count) }
            return beginning.getBytes(at: beginning.readerIndex + Int(offset), length: count) ?? []
        }
        do { return try await fetch(offset, count) } catch let fault as S3Fault {
            throw fault.isMissing ? ServiceError(.notFound) : fault.serviceError
        }
    }

    private func fetch(_ offset: Int64, _ count: Int) async throws -> [UInt8] {
        // Taken out while it is used: a second reader at the same time gets a piece of its own.
        let (old, isInOrder) = position.withLockedValue { position in
            defer {
                position.stream = nil
                position.end = offset + Int64(count)
            }
            return (position.stream, position.end == offset)
        }
        let end = offset + Int64(count)
        if let old, old.offset == offset, old.end >= end, let bytes = try await next(old, count) { return bytes }
        // A stream that ended too early goes on where it stopped, by a new one.
        if isInOrder, end < size, let stream = try await begin(at: offset), let bytes = try await next(stream, count) {
            return bytes
        }
        let piece = try await client.piece(of: key, offset..<end)
        guard piece.bytes.readableBytes == count else { throw S3Fault.malformed("a piece of another size") }
        return Array(piece.bytes.readableBytesView)
    }

    /// The next bytes of a stream, which is kept for the ones after them; `nil` when it broke.
    private func next(_ stream: Stream, _ count: Int) async throws -> [UInt8]? {
        do {
            let bytes = try await stream.bytes.read(count)
            guard bytes.count == count else { return nil }
            var stream = stream
            stream.offset += Int64(count)
            if stream.offset < stream.end { position.withLockedValue { [stream] in $0.stream = stream } }
            return bytes
        } catch {
            try Task.checkCancellation()
            return nil
        }
    }

    private func begin(at offset: Int64) async throws -> Stream? {
        guard let slot = streams.take() else { return nil }
        let end = min(size, offset + S3Client.streamBytes)
        return Stream(bytes: try await client.stream(of: key, offset..<end), offset: offset, end: end, slot: slot)
    }
}

extension S3Client {
    /// Some bytes of an object and how many it has altogether.
    struct Piece {
        var bytes: ByteBuffer
        var size: Int64
    }

    /// The most bytes of one stream. The buffers bound what is read for a reader that has gone; this bounds how long one
    /// response takes.
    static let streamBytes: Int64 = 64 << 20

    /// The first bytes of an object; `nil` when there is none.
    func beginning(of key: String, _ count: Int) async throws -> Piece? {
        do { return try await piece(of: key, 0..<Int64(count)) } catch let fault as S3Fault {
            if fault.isMissing { return nil }
            // No byte can be asked for of an object that has none.
            guard case .refused(416, _, _) = fault, try await state(of: key)?.size == 0 else { throw fault }
            return Piece(bytes: ByteBuffer(), size: 0)
        }
    }

    /// The bytes of a range, as many as there are.
    func piece(of key: String, _ range: Range<Int64>) async throws -> Piece {
        try await perform(Self.request(key, range)) { answer in
            let size = try Self.size(in: answer, range)
            let bytes = try await answer.body.collect(upTo: range.count)
            guard bytes.readableBytes == Int(min(size, range.upperBound) - range.lowerBound) else { throw S3Fault.broken }
            return Piece(bytes: bytes, size: size)
        }
    }

    /// The bytes of a range as they come.
    func stream(of key: String, _ range: Range<Int64>) async throws -> S3ByteStream {
        try await perform(Self.request(key, range)) { answer in
            _ = try Self.size(in: answer, range)
            return S3ByteStream(answer.body)
        }
    }

    private static func request(_ key: String, _ range: Range<Int64>) -> Request {
        Request(method: "GET", key: key, headers: [("Range", "bytes=\(range.lowerBound)-\(range.upperBound - 1)")])
    }

    /// How many bytes the object has. A store that sent all of it although a part was asked for is believed only at the beginning.
    private static func size(in answer: HTTPClientResponse, _ range: Range<Int64>) throws(S3Fault) -> Int64 {
        if answer.status == .partialContent, let text = answer.headers.first(name: "Content-Range"),
            let slash = text.lastIndex(of: "/"),
            text.hasPrefix("bytes \(range.lowerBound)-"), let size = Int64(text[text.index(after: slash)...]),
            size > range.lowerBound
        {
            return size
        }
        if answer.status == .ok, range.lowerBound == 0,
            let size = answer.headers.first(name: "Content-Length").flatMap({ Int64($0) }),
            size <= range.upperBound
        {
            return size
        }
        throw .malformed("no part of the object")
    }
}

/// The bytes of an answer, taken in pieces of any size. Nothing is read ahead beyond a buffer or two: a slow reader slows the store
/// down. One reader at a time; dropping it closes the connection.
actor S3ByteStream {
    private var iterator: HTTPClientResponse.Body.AsyncIterator
    private var rest = ByteBuffer()

    init(_ body: HTTPClientResponse.Body) { iterator = body.makeAsyncIterator() }

    /// The next `count` bytes; fewer at the end of the answer.
    func read(_ count: Int) async throws -> [UInt8] {
        while rest.readableBytes < count {
            var iterator = iterator
            let next = try await iterator.next(isolation: self)
            self.iterator = iterator
            guard let next else { break }
            if rest.readableBytes == 0 { rest = next } else { rest.writeImmutableBuffer(next) }
        }
        return rest.readBytes(length: min(count, rest.readableBytes)) ?? []
    }
}
