import APNsProtocol

extension LocalAPNs {
    /// Injects a fault into the next `count` requests that pass every check, after `skip` that are left alone.
    ///
    /// Faults strike in the order of their injection; one with a `token` strikes requests to that device token only.
    public func inject(_ fault: InjectedFault, count: Int = 1, afterRequests skip: Int = 0, token: String? = nil) {
        core.state.withLockedValue { $0.faults.add(fault, count: count, skip: skip, token: token?.lowercased()) }
    }

    /// Removes every fault that has not struck yet.
    public func clearFaults() { core.state.withLockedValue { $0.faults.removeAll() } }

    /// Sends GOAWAY with this reason on every connection now and closes them when their requests are answered.
    public func goAway(reason: APNsReason?) { listener.command(.goAway(reason: reason)) }

    /// Resets every connection now.
    public func resetConnections() { listener.command(.reset) }
}
