import RichPushModel

/// The way out: hands pushes to a push service. Implemented on the APNs client.
public protocol PushTransport: Sendable {
    /// Sends a batch and returns one outcome for each target, in the order of the targets.
    ///
    /// Every push ends within the transport's deadline in exactly one outcome; the call never throws, because for each
    /// target it must be said whether it was sent. Cancellation ends it early with `unknown` or `notSent` outcomes.
    func send(_ batch: PushBatch) async -> PushOutcomes

    /// Gets ready for batches of a hub, before the caller makes sure that it may send: what this takes is not part of the deadline. It is
    /// called before every batch, and fails with the batch.
    func prepare(for hub: HubID) async
}

extension PushTransport {
    /// Does nothing.
    public func prepare(for hub: HubID) async {}
}
