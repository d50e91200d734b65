import RichPushModel

/// What an operator may set of the app backend.
public struct BackendSettings: Sendable, Hashable {
    /// The most bytes of one content.
    public var contentLimit: Int64 = 50 * 1024 * 1024
    /// The most pixels of a picture, width times height.
    public var pixelLimit: Int64 = 100_000_000
    /// The most bytes of one user's contents together, those that wait to be sent and those that were.
    public var contentQuota: Int64 = 1_000_000_000
    /// The most contents of one user that wait to be sent.
    public var waitingContents = 200
    /// How many sends a user of role `user` may begin in a minute, on each node.
    public var userSendsPerMinute = 60
    /// The same for roles `sender` and `admin`.
    public var senderSendsPerMinute = 3_000
    /// The most devices on which one user is signed in.
    public var userDevices = 100
    /// How long a content may wait to be sent.
    public var stagedLifetime: Duration = .seconds(24 * 3600)
    /// Beginnings of tags that only the server sets. Compared without regard to case.
    public var protectedTagPrefixes = ["username:", "role:", "team:"]
    /// What Apple carries in place of the words when the preview is neutral.
    public var neutralText = "You have a new message"
    /// The words of the rich push tutorial's send.
    public var defaultMessage = "Check this image out!"
    /// How long an installation credential lives without being used.
    public var credentialLifetime: Duration = .seconds(90 * 24 * 3600)
    /// How long what was sent is kept.
    public var retention = RetentionSettings()
    /// How long an idempotency key is remembered.
    public var idempotencyKeyLifetime: Duration = .seconds(7 * 24 * 3600)
    /// The fewest characters of a new password.
    public var minimumPasswordLength = 12

    /// How much the contents of one user may take up.
    var quota: ContentQuota { ContentQuota(bytes: contentQuota, waiting: waitingContents) }

    /// The defaults.
    public init() {}
}
