import Logging
import NIOCore

/// What a connection needs to know of its client's configuration.
struct APNsConnectionConfiguration {
    var authority: String
    var limits = HTTP2ConnectionLimits()
    /// Whether HTTP/2 begins only after the TLS handshake.
    var waitsForTLS = true
    /// The DNS name that the server's certificate must carry; absent when the server is named by its address.
    var expectedServerName: String?
    /// Where the connection leads, for the log.
    var host = ""
    var port = 0
    var handshakeLimit: TimeAmount = .seconds(10)
    var idleLimit: TimeAmount = .minutes(15)
    var observer: (any APNsClientObserver)?
    var logger: Logger

    /// A connection in use is looked after at least this often, so that a stall is noticed in time.
    var longestWatch: TimeAmount { min(limits.stallBeforePing, limits.pingAnswer) }
}
