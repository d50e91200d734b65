import AppBackend
import RichPushModel
import Synchronization

/// Values that the tests use.
enum Sample {
    /// A picture of one pixel, the smallest that there is (nothing here decodes it).
    static let png = png(byteCount: 57)

    /// A picture of any size from 57 bytes on.
    static func png(byteCount: Int) -> [UInt8] {
        Pictures.png([Pictures.chunk("IDAT", (57..<byteCount).map { UInt8($0 % 251) })])
    }

    /// A device token of 32 bytes.
    static func handle(_ number: Int) -> String {
        let digits = String(number, radix: 16, uppercase: true)
        return String(repeating: "0", count: 64 - digits.count) + digits
    }
}

/// Bytes that arrive in chunks, and an error at the end if a test wants one.
struct Chunks: AsyncSequence {
    struct Broken: Error {}

    struct AsyncIterator: AsyncIteratorProtocol {
        var rest: ArraySlice<UInt8>
        var size: Int
        var breaks: Bool

        mutating func next() async throws -> [UInt8]? {
            if rest.isEmpty, breaks { throw Broken() }
            guard !rest.isEmpty else { return nil }
            defer { rest = rest.dropFirst(size) }
            return Array(rest.prefix(size))
        }
    }

    var bytes: [UInt8]
    var size: Int
    var breaks: Bool

    init(_ bytes: [UInt8], size: Int = 1000, breaks: Bool = false) {
        self.bytes = bytes
        self.size = size
        self.breaks = breaks
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(rest: bytes[...], size: size, breaks: breaks) }
}

/// The events that the backend reported to its observer.
final class RecordedEvents: BackendObserver {
    private let events = Mutex<[BackendEvent]>([])
    var all: [BackendEvent] { events.withLock { $0 } }
    func observed(_ event: BackendEvent) { events.withLock { $0.append(event) } }
}
