import AppBackend
import PushHub
import RichPushModel
import ServiceErrors
import TagExpressions
import Testing

/// What a `ChannelStore` promises.
public enum ChannelStorePromises {
    /// Every promise.
    public static let all: [StoragePromise<any BackendStore>] = [
        keeps, carries, waitsForTheEnd, claimsApart, endsByItself, retires, goesWithActivity, due, staysWithoutOwner,
    ]

    private typealias Sample = BackendSample

    private static func add(
        _ name: String, of user: User, removeAt: Timestamp? = nil, in store: any BackendStore
    ) async throws -> ActivityChannel {
        try await store.addChannel(
            ChannelDraft(
                owner: user.id, name: name, apnsChannel: "id of \(name)", keepsLatest: name != "brief", createdAt: Sample.start,
                removeAt: removeAt), audit: nil)
    }

    private static func start(
        on channel: ActivityChannel?, by user: User, at second: Int64 = 0, in store: any BackendStore
    ) async throws -> LiveActivity {
        let draft = ActivityDraft(
            owner: user.id, ownerName: user.name, attributesType: "Match", attributes: .object([:]), startsByPush: false,
            audience: try TagExpression(parsing: "news"), channel: channel?.id, content: ActivityContent(state: .object([:])))
        return try await store.addActivity(draft, key: nil, at: Sample.time(second), audit: nil)
    }

    private static func end(_ activity: LiveActivity, at second: Int64, in store: any BackendStore) async throws {
        let ended = try await store.changeActivity(
            activity.id, revision: activity.revision, to: activity.draft.content, phase: .ended, due: Sample.time(second),
            at: Sample.time(second), audit: nil)
        #expect(ended != nil)
    }

    private static func publish(onChannels: Bool = true, at second: Int64, in store: any BackendStore) async throws -> [Int64] {
        let claims = try await store.claimActivities(
            onChannels: onChannels, at: Sample.time(second), until: Sample.time(second + 60), limit: 9)
        for claim in claims { try await store.publish(claim, startSend: nil, updateSend: nil, at: Sample.time(second)) }
        return claims.map(\.activity.id)
    }

    private static let keeps = StoragePromise<any BackendStore>("channels come back as stored, those of an owner or all") {
        store in
        let (ann, bob) = (try await Sample.user("ann", in: store), try await Sample.user("bob", in: store))
        let first = try await add("match 😀", of: ann, removeAt: Sample.time(5), in: store)
        let second = try await add("brief", of: bob, in: store)
        #expect(try await store.channel(first.id) == first)
        #expect(try await store.channel(second.id + 1) == nil)
        #expect(try await store.channels(of: nil, below: nil, limit: 9) == [second, first])
        #expect(try await store.channels(of: nil, below: second.id, limit: 9) == [first])
        #expect(try await store.channels(of: bob.id, below: nil, limit: 9) == [second])
        #expect(try await store.countChannels() == 2)
    }

    private static let carries = StoragePromise<any BackendStore>("a channel carries one activity at a time") { store in
        let ann = try await Sample.user("ann", in: store)
        let channel = try await add("match", of: ann, in: store)
        let first = try await start(on: channel, by: ann, in: store)
        #expect(try await store.activity(first.id)?.draft.channel == channel.id)
        #expect(try await store.activity(onChannel: channel.id) == first.id)
        let refused = await #expect(throws: ServiceError.self) { _ = try await start(on: channel, by: ann, in: store) }
        #expect(refused?.code == .conflict)
    }

    private static let waitsForTheEnd = StoragePromise<any BackendStore>(
        "nothing begins on a channel before the end of the activity before has left"
    ) { store in
        let ann = try await Sample.user("ann", in: store)
        let channel = try await add("match", of: ann, in: store)
        let first = try await start(on: channel, by: ann, in: store)
        #expect(try await publish(at: 0, in: store) == [first.id])
        try await end(first, at: 2, in: store)
        await #expect(throws: ServiceError.self) { _ = try await start(on: channel, by: ann, at: 2, in: store) }
        #expect(try await publish(at: 2, in: store) == [first.id])
        #expect(try await store.activity(onChannel: channel.id) == nil)
        #expect(try await start(on: channel, by: ann, at: 3, in: store).id > first.id)
    }

    private static let claimsApart = StoragePromise<any BackendStore>(
        "activities with a channel and those without are claimed apart"
    ) { store in
        let ann = try await Sample.user("ann", in: store)
        let channel = try await add("match", of: ann, in: store)
        let (on, without) = (try await start(on: channel, by: ann, in: store), try await start(on: nil, by: ann, in: store))
        #expect(try await publish(onChannels: false, at: 0, in: store) == [without.id])
        #expect(try await publish(at: 0, in: store) == [on.id])
    }

    private static let endsByItself = StoragePromise<any BackendStore>(
        "the end of an activity that was too old is due on its channel"
    ) { store in
        let ann = try await Sample.user("ann", in: store)
        let made = try await start(on: try await add("match", of: ann, in: store), by: ann, in: store)
        _ = try await publish(at: 0, in: store)
        #expect(try await store.endActivities(createdBefore: Sample.time(1), at: Sample.time(9), limit: 9) == 1)
        #expect(try await publish(at: 9, in: store) == [made.id])
    }

    private static let retires = StoragePromise<any BackendStore>(
        "a channel is retired unless it carries an activity, and carries none from then on"
    ) { store in
        let ann = try await Sample.user("ann", in: store)
        let channel = try await add("match", of: ann, in: store)
        let made = try await start(on: channel, by: ann, in: store)
        let refused = await #expect(throws: ServiceError.self) {
            try await store.retireChannel(channel.id, at: Sample.time(1), audit: nil)
        }
        #expect(refused?.code == .conflict)
        #expect(try await store.channel(channel.id)?.draft.removeAt == nil, "what was refused changes nothing")
        try await end(made, at: 2, in: store)
        _ = try await publish(at: 2, in: store)
        try await store.retireChannel(channel.id, at: Sample.time(3), audit: nil)
        await #expect(throws: ServiceError.self) { _ = try await start(on: channel, by: ann, at: 3, in: store) }
        #expect(try await store.dueChannels(at: Sample.time(3), limit: 9).map(\.id) == [channel.id])
        try await store.removeChannel(channel.id)
        #expect(try await store.channel(channel.id) == nil)
        let unknown = await #expect(throws: ServiceError.self) {
            try await store.retireChannel(channel.id, at: Sample.time(4), audit: nil)
        }
        #expect(unknown?.code == .notFound)
    }

    private static let goesWithActivity = StoragePromise<any BackendStore>(
        "a channel that was made for an activity goes 8 hours after its end, and another stays"
    ) { store in
        let ann = try await Sample.user("ann", in: store)
        let day = Sample.time(24 * 3600)
        let (own, lasting) = (
            try await add("own", of: ann, removeAt: day, in: store), try await add("lasting", of: ann, in: store)
        )
        for channel in [own, lasting] { try await end(try await start(on: channel, by: ann, in: store), at: 2, in: store) }
        #expect(try await store.channel(own.id)?.draft.removeAt == Sample.time(2) + ActivityChannel.storageTime)
        #expect(try await store.channel(lasting.id)?.draft.removeAt == nil)
    }

    private static let due = StoragePromise<any BackendStore>(
        "a channel is due when its time has passed, and not while it carries an activity"
    ) { store in
        let ann = try await Sample.user("ann", in: store)
        let (idle, busy) = (
            try await add("idle", of: ann, removeAt: Sample.time(5), in: store),
            try await add("busy", of: ann, removeAt: Sample.time(5), in: store)
        )
        _ = try await start(on: busy, by: ann, in: store)
        #expect(try await store.dueChannels(at: Sample.time(4), limit: 9).isEmpty)
        #expect(try await store.dueChannels(at: Sample.time(5), limit: 9).map(\.id) == [idle.id])
        try await store.postponeChannel(idle.id, until: Sample.time(9))
        #expect(try await store.dueChannels(at: Sample.time(8), limit: 9).isEmpty)
    }

    private static let staysWithoutOwner = StoragePromise<any BackendStore>(
        "a channel of an erased user stays for administrators, and one that was made for their activity goes at once"
    ) { store in
        let ann = try await Sample.user("ann", in: store)
        let lasting = try await add("lasting", of: ann, in: store)
        let own = try await add("own", of: ann, removeAt: Sample.time(24 * 3600), in: store)
        _ = try await start(on: own, by: ann, in: store)
        try await store.erase(ann, at: Sample.time(2))
        #expect(try await store.channels(of: ann.id, below: nil, limit: 9).isEmpty)
        #expect(try await store.channel(lasting.id)?.draft.removeAt == nil)
        #expect(try await store.dueChannels(at: Sample.time(2), limit: 9).map(\.id) == [own.id])
    }
}
