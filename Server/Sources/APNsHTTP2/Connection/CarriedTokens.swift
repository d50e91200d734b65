/// Which provider token the requests of a connection carried. A request is answered seconds after it was written at most, and tokens
/// change every 20 minutes at most, so the last change is all that matters.
struct CarriedTokens {
    /// The generation that the last request carried; 0 before the first.
    private(set) var latest: UInt64 = 0
    private var previous: UInt64 = 0
    /// The first stream with the latest.
    private var start: UInt32 = 0

    /// Notes what the requests from this stream on carry.
    mutating func note(_ generation: UInt64, from stream: UInt32) {
        guard generation != latest else { return }
        previous = latest
        latest = generation
        start = stream
    }

    /// What the request on this stream carried.
    func generation(of stream: UInt32) -> UInt64 { stream >= start ? latest : previous }
}
