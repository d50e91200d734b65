import APNsProtocol

extension APNsClient {
    /// Sends one push to everybody who follows a channel, and returns how that ended (Reference/APNs.md#5-3).
    ///
    /// ```swift
    /// let outcome = await client.send(APNsBroadcast(app: "com.example.app", channel: channel.id, payload: update))
    /// ```
    ///
    /// The rules are those of device pushes: one outcome within the deadline, safe resends by themselves. The ids in an
    /// acceptance are `apns-request-id` and `apns-unique-id`.
    public func send(_ broadcast: APNsBroadcast) async -> APNsOutcome {
        do throws(APNsBroadcastFault) {
            try APNsBroadcastRules.check(broadcast, strictness)
        } catch {
            return .rejected(error.rejection)
        }
        return await perform(.broadcast(broadcast)).outcome
    }
}
