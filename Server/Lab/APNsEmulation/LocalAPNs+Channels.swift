import APNsProtocol

extension LocalAPNs {
    /// Creates a channel as the management does, without asking for credentials or capability. Throws `LocalAPNsError` if
    /// nobody registered the app or it has as many channels as the rules allow.
    public func createChannel(bundleID: String, policy: ChannelPolicy) throws -> String {
        try core.state.withLockedValue { state in
            guard state.registry.app(bundleID) != nil else { throw LocalAPNsError.unknownApp(bundleID) }
            guard state.channels.count(bundleID: bundleID) < state.rules.channelsPerApp else {
                throw LocalAPNsError.tooManyChannels(bundleID)
            }
            state.keptRevision += 1
            return state.channels.create(bundleID: bundleID, policy: policy, random: &state.random)
        }
    }

    /// Deletes a channel; what it stored still goes out (Reference/APNs.md#5-1).
    public func deleteChannel(_ id: String, bundleID: String) {
        core.state.withLockedValue { state in
            guard state.channels.channel(id, bundleID: bundleID) != nil else { return }
            state.channels.delete(id)
            state.keptRevision += 1
        }
    }

    /// The channels of an app, oldest first.
    public func channels(of bundleID: String) -> [String] {
        core.state.withLockedValue { $0.channels.list(bundleID: bundleID) }
    }

    /// A device follows a channel, as a Live Activity does that names it. Throws `LocalAPNsError` for a channel that the app
    /// does not have.
    public func subscribe(device: String, toChannel id: String, bundleID: String) throws {
        let now = core.clock.now
        try core.state.withLockedValue { state in
            guard state.channels.channel(id, bundleID: bundleID) != nil else { throw LocalAPNsError.unknownChannel(id) }
            state.keptRevision += 1
            let instructions = state.channels.subscribe(
                device, to: id, isOnline: state.store.isOnline(device),
                getsStored: state.rules.storedBroadcastReachesNewSubscriber, now: now)
            state.carryOut(instructions, now: now)
        }
    }

    /// A device follows a channel no longer. Throws `LocalAPNsError` for a channel that the app does not have.
    public func unsubscribe(device: String, fromChannel id: String, bundleID: String) throws {
        try core.state.withLockedValue { state in
            guard state.channels.channel(id, bundleID: bundleID) != nil else { throw LocalAPNsError.unknownChannel(id) }
            state.channels.unsubscribe(device, from: id)
            state.keptRevision += 1
        }
    }
}
