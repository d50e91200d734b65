/// Where a call hands its pushes over, from any thread: the shard of a client. A protocol, because a submission knows nothing of
/// connections and the client that makes the shards.
protocol PushSink: AnyObject, Sendable {
    /// Whether one more call may be handed over.
    var hasRoom: Bool { get }

    /// Ends the pushes of a call for which there is no room.
    func turnAway(_ submission: PushSubmission)

    /// Hands over the pushes of one call.
    func submit(_ submission: PushSubmission)

    /// Ends what is not answered yet of a call whose task was cancelled.
    func cancel(_ submission: PushSubmission)
}
