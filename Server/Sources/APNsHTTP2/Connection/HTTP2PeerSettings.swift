/// What the server's SETTINGS say now (RFC 9113, 6.5.2).
struct HTTP2PeerSettings: Equatable {
    var headerTableSize = 4096
    /// Unlimited until the server says otherwise; but nothing is sent before its first SETTINGS.
    var maximumConcurrentStreams = Int.max
    var initialWindowSize = 65_535
    var maximumFrameSize = 16_384
}
