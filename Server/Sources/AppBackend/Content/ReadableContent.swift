import RichPushModel

/// A content that the caller may read, opened. Ranges, `ETag` and headers are made from this by the HTTP layer.
public struct ReadableContent: Sendable {
    /// The most bytes that one element of a read carries.
    public static let chunkSize = 64 * 1024

    public var descriptor: ContentDescriptor
    private let reader: any ContentReader

    /// Creates an opened content.
    public init(descriptor: ContentDescriptor, reader: any ContentReader) {
        self.descriptor = descriptor
        self.reader = reader
    }

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
