import RichPushModel

/// An app on a simulated Android phone: the end of a local FCM that the user holds (Reference/FCM.md#6).
public struct SimulatedAndroid: Sendable {
    /// What the operator calls the phone.
    public let name: String
    private let service: LocalFCM

    init(name: String, service: LocalFCM) { (self.name, self.service) = (name, service) }

    /// The registration token; `nil` while the app is not installed.
    public var token: String? { service.with { $0.devices[name]?.token } }
    /// The installation id.
    public var fid: String { service.with { $0.devices[name]?.fid ?? "" } }
    /// What it is now; `nil` when the service has no such device.
    public var status: AndroidStatus? { service.with { $0.status(of: name) } }
    /// The ids of the messages that wait for the phone.
    public var waitingMessages: [String] { status?.waiting.map(\.message.id) ?? [] }
    /// The ids of the messages that the system shows.
    public var shownMessages: [String] { status?.shown.map(\.id) ?? [] }
    /// What happens from here. A second call takes the place of the first, whose stream ends.
    public var events: AsyncStream<AndroidEvent> { service.events(of: name) }

    /// Something happens to the phone. Throws `LocalFCMError` when it cannot.
    public func act(_ action: AndroidAction) throws(LocalFCMError) {
        try service.with { state throws(LocalFCMError) in try state.act(action, on: name) }
    }

    /// The user taps a message that the system shows, which opens the app. Returns whether it was there.
    @discardableResult
    public func tap(_ messageID: String) -> Bool { service.with { $0.tap(messageID, on: name) } }
}
