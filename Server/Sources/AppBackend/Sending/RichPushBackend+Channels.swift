import AuditTrail
import PushHub
import RichPushModel
import ServiceErrors

/// Broadcast channels, on which one request reaches all devices that follow.
extension RichPushBackend {
    /// The most channels of a page of a list.
    public static let channelPageLimit = 100
    private static let longestName = 100

    /// Creates a channel that stays until it is removed.
    ///
    /// Throws `invalid-field`, `quota-exceeded`; `conflict` where the app has no channels; `not-ready` when APNs does not answer.
    public func createChannel(_ request: ChannelRequest, for principal: Principal) async throws -> ChannelStatus {
        try principal.require(.send)
        if let name = request.name {
            guard !name.isEmpty, name.count <= Self.longestName, !name.contains(where: \.isNewline) else {
                throw ServiceError(.invalidField, "name: it must have 1 to \(Self.longestName) characters in one line")
            }
        }
        guard ["latest", "none", nil].contains(request.storage) else {
            throw ServiceError(.invalidField, "storage: it must be latest or none")
        }
        try countSend(of: principal)
        let channel = try await newChannel(request, removeAt: nil, for: principal)
        return ChannelStatus(channel)
    }

    /// Creates a channel for one activity: it goes when the activity is over.
    func channelForActivity(of principal: Principal) async throws -> ActivityChannel {
        let end = parts.clock.now + LiveActivity.lifetime + ActivityChannel.storageTime
        return try await newChannel(ChannelRequest(), removeAt: end, for: principal)
    }

    private func newChannel(
        _ request: ChannelRequest, removeAt: Timestamp?, for principal: Principal
    ) async throws -> ActivityChannel {
        let channels = try requireChannels()
        guard try await parts.store.countChannels() < ActivityChannel.limit else {
            throw ServiceError(
                .quotaExceeded, "there are \(ActivityChannel.limit) channels, as many as Apple allows; remove some")
        }
        let keepsLatest = request.storage != "none"
        let apnsChannel = try await channels.create(keepsLatest: keepsLatest)
        let now = parts.clock.now
        let draft = ChannelDraft(
            owner: principal.userID, name: request.name, apnsChannel: apnsChannel, keepsLatest: keepsLatest, createdAt: now,
            removeAt: removeAt)
        return try await parts.store.addChannel(draft, audit: principal.entry(.channelCreated, at: now))
    }

    /// A page of the caller's channels, or for a caller who may read all sends of everyone's, newest first. `limit` is clamped to
    /// 1 … 100, default 50. Throws `invalid-field` for a malformed cursor.
    public func channels(before: String? = nil, limit: Int? = nil, for principal: Principal) async throws -> ChannelList {
        let extent = try principal.require(.readSends)
        let limit = min(max(limit ?? 50, 1), Self.channelPageLimit)
        let below = try before.map(Self.numberCursor)
        let owner = extent == .all ? nil : principal.userID
        let found = try await parts.store.channels(of: owner, below: below, limit: limit + 1)
        var page: [ChannelStatus] = []
        for channel in found.prefix(limit) { page.append(try await shown(channel)) }
        return ChannelList(channels: page, next: found.count > limit ? page.last.map { "\($0.id)" } : nil)
    }

    /// One channel. Throws `not-found`.
    public func channel(_ id: Int64, for principal: Principal) async throws -> ChannelStatus {
        try await shown(try await ownChannel(id, extent: try principal.require(.readSends), for: principal))
    }

    /// Removes a channel of the caller's, for an admin any: at once, or when APNs answers again. Throws `not-found`, and `conflict` while it
    /// carries an activity.
    public func removeChannel(_ id: Int64, for principal: Principal) async throws {
        let channel = try await ownChannel(id, extent: try principal.require(.recall), for: principal)
        let now = parts.clock.now
        try await parts.store.retireChannel(
            channel.id, at: now, audit: principal.entry(.channelRemoved, at: now, object: "\(channel.id)"))
        channelSignal.wake()
    }

    /// The channels that the app has at APNs and that this server did not create. Throws `forbidden` for everyone but administrators.
    public func otherChannels(for principal: Principal) async throws -> OtherChannelList {
        try principal.require(.manageForeignChannels)
        var others = Set(try await requireChannels().channels())
        var below: Int64?
        repeat {
            let page = try await parts.store.channels(of: nil, below: below, limit: Self.channelPageLimit)
            others.subtract(page.map(\.draft.apnsChannel))
            below = page.last?.id
        } while below != nil
        return OtherChannelList(apnsChannels: others.sorted())
    }

    /// Deletes a channel that this server did not create. Throws `forbidden`, `conflict` for one of its own, and what APNs says.
    public func removeOtherChannel(_ apnsChannel: String, for principal: Principal) async throws {
        guard try await otherChannels(for: principal).apnsChannels.contains(apnsChannel) else {
            throw ServiceError(.notFound, "APNs has no such channel, or this server has created it")
        }
        try await requireChannels().delete(apnsChannel)
        let now = parts.clock.now
        try await parts.store.record(principal.entry(.channelRemoved, at: now, object: apnsChannel))
    }

    private func requireChannels() throws(ServiceError) -> any BroadcastChannels {
        guard let channels = parts.channels else { throw ServiceError(.conflict, "the hub elsewhere manages no channels") }
        return channels
    }

    /// A channel of the caller's, or any for a caller of this extent. Throws `not-found`.
    func ownChannel(_ id: Int64, extent: AccessExtent, for principal: Principal) async throws -> ActivityChannel {
        guard let channel = try await parts.store.channel(id), extent == .all || channel.draft.owner == principal.userID else {
            throw ServiceError(.notFound, "there is no such channel")
        }
        return channel
    }

    private func shown(_ channel: ActivityChannel) async throws -> ChannelStatus {
        var status = ChannelStatus(channel)
        status.activity = try await parts.store.activity(onChannel: channel.id)
        return status
    }
}

extension ChannelStatus {
    fileprivate init(_ channel: ActivityChannel) {
        let draft = channel.draft
        self.init(
            id: channel.id, apnsChannel: draft.apnsChannel, storage: draft.keepsLatest ? "latest" : "none",
            createdAt: draft.createdAt)
        (name, removeAt) = (draft.name, draft.removeAt)
    }
}
