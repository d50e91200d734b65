import NIOCore

/// Finds a boundary in bytes that arrive in pieces.
enum MultipartSearch {
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
