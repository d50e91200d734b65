import APNsProtocol
import Logging
import NIOCore

/// What the pool needs of the client's configuration, in the units of the event loop.
struct APNsPoolConfiguration {
    var connection: APNsConnectionConfiguration
    var tokens: ProviderTokenCache?
    var queuedPushes: Int
    var resends: Int
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
        connection = APNsConnectionConfiguration(authority: configuration.serverName, observer: observer, logger: logger)
        connection.limits = HTTP2ConnectionLimits(
            streams: limits.streamsPerConnection, warmsUp: configuration.usesTokens,
            silenceBeforePing: TimeAmount(clamping: timing.silenceBeforePing),
            stallBeforePing: TimeAmount(clamping: timing.stallBeforePing), pingAnswer: TimeAmount(clamping: timing.pingAnswer),
            noAnswer: TimeAmount(clamping: timing.noAnswer))
        connection.host = configuration.endpoint.host
        connection.port = configuration.endpoint.port
        connection.waitsForTLS = configuration.transport != .cleartext
        connection.handshakeLimit = TimeAmount(clamping: timing.handshake)
        connection.idleLimit = TimeAmount(clamping: timing.idle)
        if case .token(let cache) = configuration.credential { tokens = cache }
        queuedPushes = limits.queuedPushes
        resends = limits.resends
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
