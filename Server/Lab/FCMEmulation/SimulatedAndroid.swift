import RichPushModel

/// An app on a simulated Android phone: the end of a local FCM that the user holds (Reference/FCM.md#6).
public struct SimulatedAndroid: Sendable {
    /// What the operator calls the phone.
    public let name: String
    private let core: FCMServiceCore

    init(name: String, core: FCMServiceCore) { (self.name, self.core) = (name, core) }

    /// The registration token; `nil` while the app is not installed.
    public var token: String? { core.with { $0.devices[name]?.token } }

    /// The installation id.
    public var fid: String { core.with { $0.devices[name]?.fid ?? "" } }

    /// What it is now; `nil` when the service has no such device.
    public var status: AndroidStatus? {
        let now = core.clock.now
        return core.with { state in
            state.expire(name, now: now)
            return state.devices[name]?.status(name, quotas: state.quotas)
        }
    }

    /// The topics that the app follows.
    public var topics: Set<String> { core.with { $0.devices[name]?.topics ?? [] } }

    /// The ids of the messages that wait for the phone.
    public var waitingMessages: [String] {
        let now = core.clock.now
        return core.with { state in
            state.expire(name, now: now)
            return state.devices[name]?.waiting.map(\.id) ?? []
        }
    }

    /// The ids of the messages that the system shows.
    public var shownMessages: [String] { core.with { $0.devices[name]?.tray.map(\.id) ?? [] } }

    /// What happens from here. A second call takes the place of the first, whose stream ends.
    public var events: AsyncStream<AndroidEvent> { core.events(of: name) }

    /// Something happens to the phone. Throws `LocalFCMError` when it cannot.
    public func act(_ action: AndroidAction) throws(LocalFCMError) {
        let now = core.clock.now
        try core.with { state throws(LocalFCMError) in try state.act(action, on: name, now: now) }
    }

    /// The user taps a message that the system shows, which opens the app. Returns whether it was there.
    @discardableResult
    public func tap(_ messageID: String) -> Bool {
        let now = core.clock.now
        return core.with { $0.tap(messageID, on: name, now: now) }
    }
}
