import Synchronization

/// How far a read has come. One lock around the next offset, because the stream's closure must be sendable.
final class ReadCursor: Sendable {
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
