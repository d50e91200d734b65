import APNsProtocol

extension LocalAPNs {
    /// Injects a fault into the next `count` requests that pass every check, after `skip` that are left alone.
    ///
    /// Faults strike in the order of their injection; one with a `token` strikes requests to that device token only.
    public func inject(_ fault: InjectedFault, count: Int = 1, afterRequests skip: Int = 0, token: String? = nil) {
        core.state.withLockedValue { $0.faults.add(fault, count: count, skip: skip, every: nil, token: token?.lowercased()) }
    }

    /// Injects a fault into every `period`th request that passes every check, until `clearFaults`.
    public func inject(_ fault: InjectedFault, everyRequests period: Int, token: String? = nil) {
        core.state.withLockedValue { state in
            state.faults.add(fault, count: .max, skip: period - 1, every: max(1, period), token: token?.lowercased())
        }
    }

    /// Removes every fault that has not struck yet.
    public func clearFaults() { core.state.withLockedValue { $0.faults.removeAll() } }

    /// Sends GOAWAY with this reason on every connection now and closes them when their requests are answered.
    public func goAway(reason: APNsReason?) async { await command(.goAway(reason: reason)) }

    /// The graceful form in two steps: GOAWAY that names no last stream, a pause in which everything is still served, then
    /// GOAWAY with the real last stream and this reason.
    public func goAway(reason: APNsReason?, pause: Duration) async {
        await command(.goAwayInTwoSteps(reason: reason, pause: pause))
    }

    /// Resets every connection now.
    public func resetConnections() async { await command(.reset) }

    /// Ends every connection now, in order but without GOAWAY.
    public func dropConnections() async { await command(.drop) }

    /// Every connection reads on and answers nothing more; PING is still acknowledged.
    public func wedgeConnections() async { await command(.wedge) }

    /// Every connection stays open and reads nothing more.
    public func blackHoleConnections() async { await command(.stopReading) }

    /// Announces this limit of streams on every connection now.
    public func announce(streamLimit: Int) async { await announce(SettingsChange(streams: streamLimit)) }

    /// Announces these settings on every connection now.
    public func announce(_ change: SettingsChange) async { await command(.announce(change)) }

    /// From now on every provider token minted before `moment` is answered `ExpiredProviderToken`, whatever its age; `nil`
    /// takes that back.
    public func expireProviderTokens(issuedBefore moment: Int64?) {
        core.state.withLockedValue { $0.tokensRecalledBefore = moment }
    }

    /// The rules as they are now. A change holds at once, for what is said of new connections from the next one on.
    public var rules: EmulationRules {
        get { core.rules }
        set { core.state.withLockedValue { $0.rules = newValue } }
    }

    /// Changes rules in one step, whoever else changes others.
    public func changeRules(_ change: (inout EmulationRules) throws -> Void) rethrows {
        try core.state.withLockedValue { try change(&$0.rules) }
    }

    /// Returns when every connection has obeyed, so that what is sent after it meets connections as they were ordered to be.
    private func command(_ command: ConnectionCommand) async {
        for listener in listeners { await listener.command(command) }
    }
}
