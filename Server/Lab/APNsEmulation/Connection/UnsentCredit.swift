/// Credit that was decided on and has not left (Reference/APNs.md#7-2-5).
///
/// The HTTP/2 library counts credit from when it is decided on, while it still works off what has arrived: to it, a client that sends
/// more than its window in one go looks like one that waited. What the client could know of is the library's window without this.
struct UnsentCredit: Sendable {
    private var sizes: [Int: Int] = [:]
    private var isUnsure = false

    /// Credit was written, for a stream or for the connection, which is stream 0.
    mutating func granted(_ size: Int, to stream: Int) { sizes[stream, default: 0] += size }

    /// Windows changed by the client's acknowledgement of settings: they may be below nothing without anybody's fault.
    mutating func windowsChanged() { isUnsure = true }

    /// What was written has left.
    mutating func flushed() {
        sizes.removeAll(keepingCapacity: true)
        isUnsure = false
    }

    /// Whether the client has spent credit that it could not have: `window` is what the library counts.
    func isSpent(window: Int, of stream: Int) -> Bool {
        guard !isUnsure, let size = sizes[stream] else { return false }
        return window < size
    }
}
