import AuditTrail
import PushHub
import RichPushModel
import ServiceErrors

/// A broadcast channel that the backend has created at APNs (Reference/APNs.md#5-1).
public struct ActivityChannel: Hashable, Sendable {
    public var id: Int64
    public var draft: ChannelDraft

    /// The most that Apple allows an app in one environment.
    public static let limit = 10_000
    /// For so long APNs may keep the last push of a channel.
    public static let storageTime: Duration = .seconds(8 * 3600)

    /// Takes a channel from storage.
    public init(id: Int64, draft: ChannelDraft) { (self.id, self.draft) = (id, draft) }
}

/// What is stored of a channel: everything but its number.
public struct ChannelDraft: Hashable, Sendable {
    public var owner: UserID
    /// What its owner calls it.
    public var name: String?
    /// The id that APNs gave it.
    public var apnsChannel: String
    /// Whether a device that follows later, or was offline, gets the latest push.
    public var keepsLatest: Bool
    public var createdAt: Timestamp
    /// From when on it is deleted; absent for one that stays.
    public var removeAt: Timestamp?

    /// Creates a draft.
    public init(
        owner: UserID, name: String? = nil, apnsChannel: String, keepsLatest: Bool, createdAt: Timestamp,
        removeAt: Timestamp? = nil
    ) {
        self.owner = owner
        self.name = name
        self.apnsChannel = apnsChannel
        self.keepsLatest = keepsLatest
        self.createdAt = createdAt
        self.removeAt = removeAt
    }
}

/// Keeps channels. Errors are `ServiceError`.
public protocol ChannelStore: Sendable {
    /// Stores a channel that exists at APNs.
    func addChannel(_ draft: ChannelDraft, audit entry: AuditEntry?) async throws -> ActivityChannel

    /// The channel.
    func channel(_ id: Int64) async throws -> ActivityChannel?

    /// At most `limit` channels below a number, newest first, of one owner or of all.
    func channels(of owner: UserID?, below: Int64?, limit: Int) async throws -> [ActivityChannel]

    /// How many there are.
    func countChannels() async throws -> Int

    /// The activity that a channel carries now: an active one, or one whose end has not left yet.
    func activity(onChannel id: Int64) async throws -> Int64?

    /// Makes a channel due for deletion; no activity can be started on it from then on. Throws `conflict` while it carries one, and
    /// `not-found`.
    func retireChannel(_ id: Int64, at now: Timestamp, audit entry: AuditEntry?) async throws

    /// Channels that are due for deletion and carry no activity, at most `limit`.
    func dueChannels(at now: Timestamp, limit: Int) async throws -> [ActivityChannel]

    /// Forgets a channel that is deleted at APNs.
    func removeChannel(_ id: Int64) async throws

    /// Makes the deletion of a channel due later.
    func postponeChannel(_ id: Int64, until moment: Timestamp) async throws
}
