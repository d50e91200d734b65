import NIOCore

/// What one connection may do, from the configuration of the client.
struct HTTP2ConnectionLimits {
    var streams = 4000
    /// One request first, and the rest after its answer (Reference/APNs.md#1-4).
    var warmsUp = true
    var silenceBeforePing: TimeAmount = .seconds(30)
    var stallBeforePing: TimeAmount = .seconds(10)
    var pingAnswer: TimeAmount = .seconds(8)
    var noAnswer: TimeAmount = .seconds(20)
    /// Between two measurements of the round trip of a connection in use. Others ping as often, and APNs does not mind
    /// (Reference/APNs.md#1-8).
    var measurementInterval: TimeAmount = .seconds(60)
}
