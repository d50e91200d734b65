import NIOCore

/// Counts frames that cost an answer and carry nothing, so that a peer cannot make this side work or grow without end.
///
/// What an honest server says grows with what it is asked: APNs sends SETTINGS after a refusal and again after the next success
/// (Reference/APNs.md#1-4). So each ended request earns it some frames, and the maximum is for those that nothing explains.
struct HTTP2FloodGuard {
    private static let window: TimeAmount = .seconds(10)
    private static let maximum = 5_000
    /// Two SETTINGS, a PING and an empty DATA frame.
    private static let framesPerRequest = 4

    private var windowEnd = NIODeadline.uptimeNanoseconds(0)
    /// Frames without content less what ended requests allow; may be negative.
    private var count = 0

    mutating func note(at now: NIODeadline) throws(HTTP2Fault) {
        if now >= windowEnd {
            windowEnd = now + Self.window
            // What was earned is not saved up; the maximum has room for what comes late.
            count = 0
        }
        count += 1
        guard count <= Self.maximum else { throw HTTP2Fault(.enhanceYourCalm, "a flood of frames without content") }
    }

    /// Requests ended: one addition for many of them.
    @inline(__always)
    mutating func earn(requests: Int) { count -= requests * Self.framesPerRequest }
}
