import APNsHTTP2
import APNsProtocol

/// What the transport needs of a client, so that it can be tested without a network.
public protocol APNsPushSending: Sendable {
    /// Sends pushes and returns one outcome for each, in their order.
    func send(_ pushes: [APNsPush], lane: APNsSendLane) async -> [APNsOutcome]
}

extension APNsClient: APNsPushSending {}
