import NIOCore

/// How one connection gets on, as a value without I/O: what happened goes in, and it says by when what must have happened.
struct ConnectionProgress {
    /// Which limit a client broke.
    enum Stall: String, CaseIterable {
        case head
        case body
        case write
    }

    private enum Inbound {
        /// Nothing of a next request is here.
        case between
        /// A part of a head is here.
        case head(since: NIODeadline)
        /// A body is announced, and the client waits for "100 Continue" before it sends any of it.
        case awaitingContinue
        /// A body is under way; `bytes` came since `start`.
        case body(start: NIODeadline, bytes: Int)
        /// A limit was broken; nothing more is expected of the client.
        case ended
    }

    /// The outbound bytes that have not left yet.
    private struct Outbound {
        /// When bytes last left.
        var moved: NIODeadline
        /// How many had left then.
        var passed: UInt64
    }

    private let limits: ConnectionLimits
    private var inbound = Inbound.between
    private var outbound: Outbound?
    /// When the server stopped reading; `nil` while it waits for the client.
    private var pausedSince: NIODeadline?
    /// Requests whose answer has not ended.
    private var unanswered = 0
    private var answerEnded = NIODeadline.uptimeNanoseconds(0)

    init(limits: ConnectionLimits) { self.limits = limits }

    /// The next moment at which `check` may have something to say.
    var deadline: NIODeadline? {
        [inboundDeadline, outbound.map { $0.moved + limits.writeTime }].compactMap(\.self).min()
    }

    private var inboundDeadline: NIODeadline? {
        switch inbound {
        case .between, .awaitingContinue, .ended: nil
        // A head that came early waits for the answer before it; its time starts when that has ended.
        case .head(let since): unanswered > 0 ? nil : max(since, answerEnded) + limits.headTime
        case .body(let start, _): pausedSince == nil ? start + limits.bodyTime : nil
        }
    }

    /// Whether a limit of reading is broken by `now`. `checkWriting` checks the time of writing.
    mutating func checkReading(at now: NIODeadline) -> Stall? {
        guard let inboundDeadline, inboundDeadline <= now else { return nil }
        defer { inbound = .ended }
        if case .head = inbound { return .head }
        return .body
    }
}

/// The requests.
extension ConnectionProgress {
    /// Bytes came, and the decoder made nothing of them that ended or began a request.
    mutating func receivedPartOfHead(at now: NIODeadline) {
        if case .between = inbound { inbound = .head(since: now) }
    }

    mutating func headEnded(expectsContinue: Bool, at now: NIODeadline) {
        unanswered += 1
        guard !isOver else { return }
        inbound = expectsContinue ? .awaitingContinue : .body(start: now, bytes: 0)
    }

    mutating func receivedBody(_ count: Int, at now: NIODeadline) {
        switch inbound {
        case .body(let start, let bytes):
            let isEnough = bytes + count >= limits.minimumBodyBytes
            inbound = isEnough ? .body(start: now, bytes: 0) : .body(start: start, bytes: bytes + count)
        // The client did not wait for its answer, as it may.
        case .awaitingContinue: inbound = .body(start: now, bytes: count)
        case .between, .head, .ended: break
        }
    }

    mutating func requestEnded() {
        if !isOver { inbound = .between }
    }

    mutating func inputClosed() { inbound = .ended }

    /// The server wants bytes from now on.
    mutating func reads(at now: NIODeadline) {
        guard let paused = pausedSince else { return }
        pausedSince = nil
        if case .body(let start, let bytes) = inbound { inbound = .body(start: start + (now - max(paused, start)), bytes: bytes) }
    }

    /// The server has got bytes and wants no more for now.
    mutating func pauses(at now: NIODeadline) { pausedSince = pausedSince ?? now }

    private var isOver: Bool {
        if case .ended = inbound { return true }
        return false
    }
}

/// The answers.
extension ConnectionProgress {
    /// Whether "100 Continue" must be sent now that the server wants the body; true once for a request.
    mutating func wantsBody(at now: NIODeadline) -> Bool {
        guard case .awaitingContinue = inbound else { return false }
        inbound = .body(start: now, bytes: 0)
        return true
    }

    /// The head of the final answer leaves. A `100 Continue` is not sent after it.
    mutating func answerBegan(at now: NIODeadline) {
        // With more than one request unanswered, the one that waits is a later one.
        if case .awaitingContinue = inbound, unanswered == 1 { inbound = .body(start: now, bytes: 0) }
    }

    mutating func answerEnded(at now: NIODeadline) {
        unanswered = max(0, unanswered - 1)
        answerEnded = now
    }

    /// Bytes wait to leave. True if they are the first, so that the caller must read `deadline` again.
    mutating func waitsToWrite(passed: UInt64, at now: NIODeadline) -> Bool {
        guard outbound == nil else { return false }
        outbound = Outbound(moved: now, passed: passed)
        return true
    }

    /// Looks at what waits to leave: `pending` bytes, after `passed` that have left or were acknowledged.
    mutating func checkWriting(pending: Int, passed: UInt64, at now: NIODeadline) -> Stall? {
        guard let last = outbound else { return nil }
        guard pending > 0 else {
            outbound = nil
            return nil
        }
        guard passed == last.passed else {
            outbound = Outbound(moved: now, passed: passed)
            return nil
        }
        return last.moved + limits.writeTime <= now ? .write : nil
    }
}
