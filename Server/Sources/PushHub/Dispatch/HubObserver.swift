/// Is called for all that happens to sends, as it happens: for metrics, and for the story of the demo. Calls must return at once;
/// nothing depends on them.
public protocol HubObserver: SendObserver {
    /// A slice came into the hands of this node's dispatcher, or left them.
    func leased(_ weight: SliceWeight)
    func released(_ weight: SliceWeight)

    /// A batch is about to leave. So many of its pushes are another try, and of so many of these an earlier try may have arrived.
    func sending(_ batch: PushBatch, of notification: NotificationID, retries: Int, doubtful: Int)

    /// A batch came back from the transport; outcomes in the order of the targets.
    func sent(_ batch: PushBatch, of notification: NotificationID, outcomes: PushOutcomes)
}
