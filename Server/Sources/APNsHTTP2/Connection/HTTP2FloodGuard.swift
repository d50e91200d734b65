import NIOCore

/// Counts frames that cost an answer and carry nothing, so that a peer cannot make this side work or grow without end.
struct HTTP2FloodGuard {
    private static let window: TimeAmount = .seconds(10)
    private static let maximum = 5_000

    private var windowEnd = NIODeadline.uptimeNanoseconds(0)
    private var count = 0

    mutating func note(at now: NIODeadline) throws(HTTP2Fault) {
        if now >= windowEnd {
            windowEnd = now + Self.window
            count = 0
        }
        count += 1
        guard count <= Self.maximum else { throw HTTP2Fault(.enhanceYourCalm, "a flood of frames without content") }
    }
}
