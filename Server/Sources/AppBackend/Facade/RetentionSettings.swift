/// How long what is kept. Everything else has a time of its own: contents that wait to be sent, idempotency keys, credentials.
public struct RetentionSettings: Sendable, Hashable {
    /// How long a notification stays after its send ended, with its content, its places in inboxes and its receipts. One with an
    /// expiry of its own that comes sooner goes at that.
    public var content: Duration = .seconds(30 * 86_400)
    /// How much longer everything stays that would go: Apple keeps a push for up to 30 days, and the phone that gets it at the
    /// last moment has to be able to fetch.
    public var grace: Duration = .seconds(86_400)
    /// How long an audit entry stays.
    public var audit: Duration = .seconds(180 * 86_400)

    /// The defaults.
    public init() {}
}
