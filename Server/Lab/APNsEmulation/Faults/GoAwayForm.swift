/// A GOAWAY frame of any shape: what Apple was seen to send, and what a client has to survive (Reference/APNs.md#1-7).
public struct GoAwayForm: Sendable, Hashable {
    /// Which stream it names, and what becomes of the struck request.
    public var lastStream: InjectedFault.LastStream
    /// The error code of HTTP/2; 0 is NO_ERROR, 7 is REFUSED_STREAM.
    public var code: UInt32
    /// The debug data as it is sent, JSON or not.
    public var debugData: String
    /// How often the frame is sent; the same frame twice was seen.
    public var times: Int
    /// The server does not end the connection; the client has to.
    public var leavesConnectionOpen: Bool

    /// Creates a form.
    public init(
        lastStream: InjectedFault.LastStream, code: UInt32 = 0, debugData: String = "", times: Int = 1,
        leavesConnectionOpen: Bool = false
    ) {
        self.lastStream = lastStream
        self.code = code
        self.debugData = debugData
        self.times = max(1, times)
        self.leavesConnectionOpen = leavesConnectionOpen
    }
}
