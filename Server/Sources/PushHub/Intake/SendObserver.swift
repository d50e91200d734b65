/// Is called when a hub accepts a send and when a send ends. Calls must return at once; nothing depends on them.
///
/// What happens to a send between the two is the dispatcher's part: `HubObserver`.
public protocol SendObserver: Sendable {
    /// A send is durable.
    func accepted(_ send: AcceptedSend)

    /// A send reached a final state.
    func ended(_ notification: NotificationID, in hub: HubID, state: NotificationState)
}
