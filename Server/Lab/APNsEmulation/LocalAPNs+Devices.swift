import RichPushModel

extension LocalAPNs {
    /// Why a device token is dead.
    public enum DeadTokenReason: Sendable, Hashable {
        /// 410 `Unregistered`.
        case unregistered
        /// 410 `ExpiredToken`.
        case expired
    }

    /// The device token of an app on a device, 64 hexadecimal digits: the living one if there is one, else a new one.
    public func issueToken(device: String, topic: String) -> String {
        core.state.withLockedValue { state in
            state.keptRevision += 1
            return state.tokens.issue(device: device, topic: topic, random: &state.random)
        }
    }

    /// Whether this token was ever issued or registered, alive or not.
    public func knowsToken(_ token: String) -> Bool { core.state.withLockedValue { $0.tokens[token.lowercased()] != nil } }

    /// Makes a given token known, for instance one that a device kept from an earlier run. Repeating it changes nothing.
    /// Throws `LocalAPNsError` for a malformed token and for one that another device or topic owns.
    public func registerToken(_ token: String, device: String, topic: String) throws {
        try core.state.withLockedValue { state in
            try state.tokens.register(token, device: device, topic: topic)
            state.keptRevision += 1
        }
    }

    /// Gives the app a new token. The old one is unregistered from now on.
    public func rotateToken(device: String, topic: String) -> String {
        let now = core.clock.now
        return core.state.withLockedValue { state in
            state.keptRevision += 1
            state.tokens.retire(device: device, topic: topic, at: now)
            return state.tokens.issue(device: device, topic: topic, random: &state.random)
        }
    }

    /// Declares a token dead since `moment`; later pushes are answered 410 with that moment in milliseconds.
    ///
    /// Apple says so only after a deliberately unpredictable delay, and accepts pushes to the dead token until then: they are
    /// lost. `noticedAfter` is that delay. Returns whether there is such a token; without one nothing happens.
    @discardableResult
    public func invalidate(
        token: String, reason: DeadTokenReason, at moment: Timestamp, noticedAfter delay: Duration = .zero
    ) -> Bool {
        let toldAt = delay > .zero ? core.clock.uptime + delay : nil
        return core.state.withLockedValue { state in
            state.keptRevision += 1
            return state.tokens.invalidate(token, reason: reason, at: moment, toldAt: toldAt)
        }
    }

    /// Brings a device online. What was stored comes first, then pushes as they arrive. A second call takes the place of
    /// the first, whose stream ends. The device goes offline by `disconnect` or when the stream is no longer read.
    public func connect(device: String) -> AsyncStream<DeliveredPush> { core.connect(device: device) }

    /// Takes a device offline and ends its stream.
    public func disconnect(device: String) { core.disconnect(device: device) }

    /// Ends the streams of every device and observer for good, before `shutdown`: whoever serves them to others can stop at once.
    public func endStreams() { core.finish() }

    /// How many background pushes an app on this device gets in an hour; more wait, newest only. `nil`: no limit.
    public func setBackgroundBudget(perHour budget: Int?, device: String) {
        core.deliver { state, now in state.store.setBackgroundBudget(budget, device: device, now: now) }
    }

    /// The user opened the app: a background push that waits is delivered now, and a force-quit is forgotten.
    public func appOpened(device: String, bundleID: String) {
        core.deliver { state, now in state.store.appOpened(device: device, bundleID: bundleID, now: now) }
    }

    /// The user force-quit the app: background pushes are dropped until it is opened (Reference/APNs.md#6-4).
    public func appForceQuit(device: String, bundleID: String) {
        core.deliver { state, _ in state.store.appForceQuit(device: device, bundleID: bundleID) }
    }
}
