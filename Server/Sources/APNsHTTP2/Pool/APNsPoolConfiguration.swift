import APNsProtocol
import Logging
import NIOCore

/// What the pool needs of the client's configuration, in the units of the event loop.
struct APNsPoolConfiguration {
    var connection: APNsConnectionConfiguration
    var tokens: ProviderTokenCache?
    var queuedPushes: Int
    var resends: Int
    var countsStreams: Bool
    var drain: TimeAmount
    var drainAfterTokenFault: TimeAmount
    var initialState: APNsPoolState
    /// How exactly deadlines are kept: sweeps are never closer than this.
    var sweepInterval: TimeAmount
    /// Numbers between 0 and 1, for jitter.
    var chance: () -> Double

    init(
        _ configuration: APNsClientConfiguration, observer: (any APNsClientObserver)?, logger: Logger,
        chance: @escaping () -> Double = { Double.random(in: 0...1) }
    ) {
        let timing = configuration.timing
        let limits = configuration.limits
        connection = APNsConnectionConfiguration(
            authority: configuration.authority ?? configuration.endpoint.authority, observer: observer, logger: logger)
        connection.limits = HTTP2ConnectionLimits(
            streams: limits.streamsPerConnection, warmsUp: configuration.usesTokens,
            silenceBeforePing: TimeAmount(clamping: timing.silenceBeforePing),
            stallBeforePing: TimeAmount(clamping: timing.stallBeforePing), pingAnswer: TimeAmount(clamping: timing.pingAnswer),
            noAnswer: TimeAmount(clamping: timing.noAnswer), isOfAPNs: configuration.isOfAPNs)
        connection.service = configuration.service
        connection.isAnyServer = configuration.isAnyServer
        connection.host = configuration.endpoint.host
        connection.port = configuration.endpoint.port
        connection.waitsForTLS = configuration.transport != .cleartext
        connection.handshakeLimit = TimeAmount(clamping: timing.handshake)
        connection.idleLimit = TimeAmount(clamping: timing.idle)
        if case .token(let cache) = configuration.credential { tokens = cache }
        queuedPushes = limits.queuedPushes
        resends = limits.resends
        countsStreams = configuration.countsStreams
        drain = TimeAmount(clamping: timing.drain)
        drainAfterTokenFault = TimeAmount(clamping: timing.drainAfterTokenFault)
        sweepInterval = TimeAmount(clamping: timing.sweepInterval)
        self.chance = chance
        initialState = APNsPoolState(
            maximumConnections: limits.connections, queueBeforeScaling: TimeAmount(clamping: timing.queueBeforeScaling),
            credentialPause: TimeAmount(clamping: timing.credentialPause),
            pacing: ReconnectPacing(
                pace: TimeAmount(clamping: timing.connectPace), initialBackOff: TimeAmount(clamping: timing.initialBackOff),
                maximumBackOff: TimeAmount(clamping: timing.maximumBackOff),
                longestProbePause: TimeAmount(clamping: timing.longestProbePause)))
    }
}

/// What a connection needs to know of its client's configuration.
struct APNsConnectionConfiguration {
    var authority: String
    var limits = HTTP2ConnectionLimits()
    /// Whether HTTP/2 begins only after the TLS handshake.
    var waitsForTLS = true
    /// Whether the server has to choose HTTP/2 in the handshake, and nothing waits for it while it cannot be reached.
    var isAnyServer = false
    /// The DNS name that the server's certificate must carry; absent when the server is named by its address.
    var expectedServerName: String?
    /// Where the connection leads, for the log.
    var service = "APNs"
    var host = ""
    var port = 0
    var handshakeLimit: TimeAmount = .seconds(10)
    var idleLimit: TimeAmount = .minutes(15)
    var observer: (any APNsClientObserver)?
    var logger: Logger

    /// A connection in use is looked after at least this often, so that a stall is noticed in time.
    var longestWatch: TimeAmount { min(limits.stallBeforePing, limits.pingAnswer) }
}

extension TimeAmount {
    /// The same span for the event loop; clamped to 64 bits of nanoseconds.
    init(clamping duration: Duration) {
        let (seconds, attoseconds) = duration.components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        // Half of the range, so that a deadline never overflows.
        let largest = Int64.max / 2
        self =
            overflow || abs(product) > largest
            ? .nanoseconds(seconds < 0 ? 0 : largest) : .nanoseconds(product + attoseconds / 1_000_000_000)
    }
}
