import AppBackend
import PushHub
import RichPushModel
import ServiceErrors
import TagExpressions
import Testing

import struct RichPushModel.Tag

/// What an `ActivityStore` promises.
public enum ActivityStorePromises {
    /// Every promise.
    public static let all: [StoragePromise<any BackendStore>] = [
        keeps, repeats, changes, claims, publishes, postpones, stamps, keepsTokens, facts, followers, catchesUp, foreign, ends,
        removes,
        goesWithUser,
    ]

    private typealias Sample = BackendSample

    private static func add(
        from user: User, to audience: String = "news", key: IdempotencyKey? = nil, in store: any BackendStore
    ) async throws -> LiveActivity {
        let content = ActivityContent(
            state: .object(["stage": .text("packed 😀"), "minutes": .integer(40)]), alert: ActivityAlert(title: "a", body: "b"),
            staleAt: Sample.time(500), relevance: 0.5, priority: 10)
        let draft = ActivityDraft(
            owner: user.id, ownerName: user.name, attributesType: "Trip", attributes: .object(["order": .text("4711")]),
            startsByPush: true, audience: try TagExpression(parsing: audience), content: content)
        return try await store.addActivity(draft, key: key, at: Sample.start, audit: nil)
    }

    private static func claim(at second: Int64, in store: any BackendStore) async throws -> [ActivityClaim] {
        try await store.claimActivities(onChannels: false, at: Sample.time(second), until: Sample.time(second + 60), limit: 10)
    }

    /// A device with the tag `news`, and its record.
    private static func device(
        _ name: String, of user: User, handle: Int, in store: any BackendStore
    ) async throws -> RecordID {
        let device = try Sample.device(name, handle: handle, tags: ["news"])
        let credential = try Sample.credential(name, of: user, digest: UInt8(handle))
        _ = try await store.bind(
            device, to: user.id, with: .issue(credential), devices: 10, mark: 1, at: Sample.start, audit: nil)
        return device.record
    }

    private static func report(
        _ id: Int64, token: Int?, revision: Int64? = nil, mark: Int64 = 1
    ) -> DeviceActivities {
        DeviceActivities(
            tokens: [InstallationToken(.activityStart(type: "Trip"), handle: Sample.handle(900), reportedAt: Sample.time(1))],
            replacesControls: false,
            activities: [.init(id: id, state: .active, handle: token.map(Sample.handle), revision: revision)], mark: mark)
    }

    private static let keeps = StoragePromise<any BackendStore>("an activity comes back as stored, and is due at once") { store in
        let ann = try await Sample.user("ann", in: store)
        let made = try await add(from: ann, to: "news && !beta", in: store)
        #expect(try await store.activity(made.id) == made)
        #expect(made.revision == 1 && made.published == 0 && made.phase == .active)
        #expect(try await store.activity(made.id + 1) == nil)
        #expect(try await store.activities(of: ann.id, below: nil, limit: 9).map(\.id) == [made.id])
        #expect(try await claim(at: 0, in: store).map(\.activity.id) == [made.id])
    }

    private static let repeats = StoragePromise<any BackendStore>(
        "a key used again gives the same activity for the same request, and is refused for another"
    ) { store in
        let ann = try await Sample.user("ann", in: store)
        let made = try await add(from: ann, key: Sample.key("k"), in: store)
        #expect(try await add(from: ann, key: Sample.key("k"), in: store) == made)
        #expect(try await store.activity(repeating: Sample.key("k"), of: ann.id) == made)
        let other = await #expect(throws: ServiceError.self) {
            _ = try await add(from: ann, key: Sample.key("k", 2), in: store)
        }
        #expect(other?.code == .idempotencyMismatch)
    }

    private static let changes = StoragePromise<any BackendStore>(
        "a change makes the next revision of the one that was seen, and of an active one only"
    ) { store in
        let made = try await add(from: try await Sample.user("ann", in: store), in: store)
        let content = ActivityContent(state: .object([:]))
        func change(_ revision: Int64, _ phase: LiveActivity.Phase) async throws -> LiveActivity? {
            try await store.changeActivity(
                made.id, revision: revision, to: content, phase: phase, due: Sample.time(5), at: Sample.time(3), audit: nil)
        }
        #expect(try await change(2, .active) == nil)
        #expect(try await change(1, .active)?.revision == 2)
        let ended = try await change(2, .ended)
        #expect(ended?.phase == .ended && ended?.endedAt == Sample.time(3))
        #expect(try await change(3, .active) == nil)
    }

    private static let claims = StoragePromise<any BackendStore>(
        "of many nodes one publishes, and another when the claim has run out"
    ) { store in
        _ = try await add(from: try await Sample.user("ann", in: store), in: store)
        let counts = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<8 { group.addTask { try await claim(at: 1, in: store).count } }
            return try await group.reduce(0, +)
        }
        #expect(counts == 1)
        #expect(try await claim(at: 60, in: store).isEmpty)
        #expect(try await claim(at: 61, in: store).count == 1)
    }

    private static let publishes = StoragePromise<any BackendStore>(
        "what was changed while its claim held is due a second later, and the alert of the published one is gone"
    ) { store in
        let made = try await add(from: try await Sample.user("ann", in: store), in: store)
        let first = try #require(try await claim(at: 1, in: store).first)
        _ = try await store.changeActivity(
            made.id, revision: 1, to: first.activity.draft.content, phase: .active, due: Sample.time(2), at: Sample.time(2),
            audit: nil)
        let send = NotificationID()
        try await store.publish(first, startSend: send, updateSend: nil, at: Sample.time(2))
        let after = try #require(try await store.activity(made.id))
        #expect(after.published == 1 && after.revision == 2 && after.startSend == send)
        #expect(after.draft.content.alert == nil)
        let second = try #require(try await claim(at: 3, in: store).first)
        try await store.publish(second, startSend: send, updateSend: nil, at: Sample.time(3))
        #expect(try await claim(at: 600, in: store).isEmpty)
        // Of a claim that is over nothing is written.
        try await store.publish(first, startSend: nil, updateSend: nil, at: Sample.time(4))
        #expect(try await store.activity(made.id)?.startSend == send)
    }

    private static let postpones = StoragePromise<any BackendStore>("what failed is due again at its moment, with the reason") {
        store in
        let made = try await add(from: try await Sample.user("ann", in: store), in: store)
        let first = try #require(try await claim(at: 1, in: store).first)
        try await store.postponeActivity(first, until: Sample.time(7), fault: "the hub is away")
        #expect(try await store.activity(made.id)?.fault == "the hub is away")
        #expect(try await claim(at: 6, in: store).isEmpty)
        let second = try #require(try await claim(at: 7, in: store).first)
        _ = try await store.changeActivity(
            made.id, revision: 1, to: first.activity.draft.content, phase: .active, due: Sample.time(9), at: Sample.time(8),
            audit: nil)
        try await store.postponeActivity(second, until: nil, fault: "it is refused")
        #expect(try await claim(at: 9, in: store).count == 1, "the change is due")
        #expect(try await store.activity(made.id)?.fault == nil)
    }

    private static let stamps = StoragePromise<any BackendStore>(
        "the stamp goes up with every claim, also when the clock was set back"
    ) { store in
        _ = try await add(from: try await Sample.user("ann", in: store), in: store)
        var stamps: [Int64] = []
        for second in [100, 100, 0, 200] as [Int64] {
            let claims = try await store.claimActivities(
                onChannels: false, at: Sample.time(second), until: Sample.time(second), limit: 1)
            stamps += claims.map(\.activity.stamp)
            for claim in claims { try await store.postponeActivity(claim, until: Sample.start, fault: "") }
        }
        let first = Sample.time(100).seconds
        #expect(stamps == [first, first + 1, first + 2, Sample.time(200).seconds])
    }

    private static let keepsTokens = StoragePromise<any BackendStore>(
        "a token that is left out stays, and one that is said again keeps the moment at which it was first said"
    ) { store in
        let ann = try await Sample.user("ann", in: store)
        let record = try await device("d", of: ann, handle: 1, in: store)
        let made = try await add(from: ann, in: store)
        _ = try await store.store(report(made.id, token: 5, revision: 1), of: record, user: ann.id, at: Sample.time(1))
        _ = try await store.store(report(made.id, token: nil, revision: 1), of: record, user: ann.id, at: Sample.time(9))
        let again = report(made.id, token: 5, revision: 1)
        _ = try await store.store(again, of: record, user: ann.id, at: Sample.time(10))
        let tokens = try await store.tokens(of: record, user: ann.id)
        #expect(Set(tokens.map(\.kind)) == [.activity(id: "\(made.id)"), .activityStart(type: "Trip")])
        #expect(tokens.allSatisfy { $0.reportedAt == Sample.time(1) })
        _ = try await store.store(report(made.id, token: 6, revision: 1), of: record, user: ann.id, at: Sample.time(11))
        let changed = try await store.tokens(of: record, user: ann.id).first { $0.kind == .activity(id: "\(made.id)") }
        #expect(changed?.handle == Sample.handle(6) && changed?.reportedAt == Sample.time(11))
        try await store.forgetTokens(of: record)
        #expect(try await store.tokens(of: record, user: ann.id).isEmpty)
    }

    private static let facts = StoragePromise<any BackendStore>(
        "a device's consent, token and state are kept, a token with the system it came under, and without consent start tokens go"
    ) { store in
        let (ann, bob) = (try await Sample.user("ann", in: store), try await Sample.user("bob", in: store))
        let record = try await device("d", of: ann, handle: 1, in: store)
        let made = try await add(from: ann, in: store)
        func facts(_ user: User) async throws -> DeviceActivityFacts {
            try await store.facts(ofActivity: made.id, type: "Trip", on: record, user: user.id)
        }
        #expect(try await facts(ann) == DeviceActivityFacts())
        var said = report(made.id, token: 5, revision: 1)
        (said.permission, said.systemVersion) = (.rareUpdates, "iOS 26.4")
        _ = try await store.store(said, of: record, user: ann.id, at: Sample.time(2))
        let known = DeviceActivityFacts(
            state: .active, revision: 1, permission: .rareUpdates, startTokenAt: Sample.time(1), startTokenSystem: "iOS 26.4",
            hasReported: true)
        #expect(try await facts(ann) == known)
        said.systemVersion = "iOS 27.0"
        _ = try await store.store(said, of: record, user: ann.id, at: Sample.time(2))
        #expect(try await facts(ann) == known, "the token is the same")
        said.tokens[0].handle = Sample.handle(901)
        _ = try await store.store(said, of: record, user: ann.id, at: Sample.time(2))
        #expect(try await facts(ann).startTokenSystem == "iOS 27.0")
        #expect(try await facts(bob) == DeviceActivityFacts(), "it is another user's")
        let refusal = DeviceActivities(
            tokens: [], replacesControls: false, permission: .off, activities: [], mark: 2)
        _ = try await store.store(refusal, of: record, user: ann.id, at: Sample.time(3))
        #expect(try await facts(ann) == DeviceActivityFacts(permission: .off, hasReported: true))
    }

    private static let followers = StoragePromise<any BackendStore>(
        "devices count by their state, and one that no longer lists the activity does not"
    ) { store in
        let ann = try await Sample.user("ann", in: store)
        let (one, other) = (
            try await device("d", of: ann, handle: 1, in: store), try await device("e", of: ann, handle: 2, in: store)
        )
        let made = try await add(from: ann, in: store)
        _ = try await store.store(report(made.id, token: 5), of: one, user: ann.id, at: Sample.time(1))
        _ = try await store.store(report(made.id, token: nil), of: other, user: ann.id, at: Sample.time(1))
        #expect(try await store.followers(of: [made.id])[made.id] == ["active": 1, "starting": 1])
        let none = DeviceActivities(tokens: [], replacesControls: false, activities: [], mark: 2)
        _ = try await store.store(none, of: one, user: ann.id, at: Sample.time(2))
        #expect(try await store.followers(of: [made.id])[made.id] == ["starting": 1])
        #expect(try await store.tokens(of: one, user: ann.id).map(\.kind) == [.activityStart(type: "Trip")])
    }

    private static let catchesUp = StoragePromise<any BackendStore>(
        "a device that shows another revision than the newest catches up, until that is done for its latest report"
    ) { store in
        let ann = try await Sample.user("ann", in: store)
        let record = try await device("d", of: ann, handle: 1, in: store)
        try await store.end(DeviceChange(record, mark: 1))
        let made = try await add(from: ann, in: store)
        func due(_ second: Int64) async throws -> [ActivityCatchUp] {
            try await store.claimCatchUps(at: Sample.time(second), until: Sample.time(second + 1), limit: 9)
        }
        _ = try await store.store(report(made.id, token: 5, revision: 1), of: record, user: ann.id, at: Sample.time(1))
        #expect(try await due(1).isEmpty, "it has the newest")
        _ = try await store.store(report(made.id, token: 6, mark: 2), of: record, user: ann.id, at: Sample.time(2))
        let first = try #require(try await due(2).first)
        #expect(first == ActivityCatchUp(activity: made.id, record: record, mark: 2))
        #expect(try await due(2).isEmpty, "another node has it for a second")
        _ = try await store.store(report(made.id, token: 7, mark: 3), of: record, user: ann.id, at: Sample.time(3))
        try await store.endCatchUps([first])
        let second = try #require(try await due(3).first)
        #expect(second.mark == 3)
        try await store.endCatchUps([second])
        #expect(try await due(600).isEmpty)
        let change = DeviceChange(record, mark: 4)
        try await store.begin(change, at: Sample.time(601))
        _ = try await store.store(report(made.id, token: 8, mark: 4), of: record, user: ann.id, at: Sample.time(601))
        #expect(try await due(601).isEmpty, "the hub may not have the token")
        try await store.end(change)
        #expect(try await due(601).map(\.mark) == [4])
    }

    private static let foreign = StoragePromise<any BackendStore>(
        "a device stores nothing of an activity that is not for it, nor for a user who is not signed in on it"
    ) { store in
        let (ann, bob) = (try await Sample.user("ann", in: store), try await Sample.user("bob", in: store))
        let record = try await device("d", of: ann, handle: 1, in: store)
        let made = try await add(from: bob, to: "vip", in: store)
        #expect(try await store.store(report(made.id, token: 5), of: record, user: ann.id, at: Sample.start) == [made.id])
        #expect(try await store.followers(of: [made.id]).isEmpty)
        #expect(try await store.store(report(made.id, token: 5), of: record, user: bob.id, at: Sample.start) == nil)
        #expect(try await store.store(report(99, token: 5), of: record, user: ann.id, at: Sample.start) == [99])
    }

    private static let ends = StoragePromise<any BackendStore>("what is too old ends by itself, and its end is due") { store in
        let made = try await add(from: try await Sample.user("ann", in: store), in: store)
        #expect(try await store.endActivities(createdBefore: Sample.start, at: Sample.time(9), limit: 9) == 0)
        #expect(try await store.endActivities(createdBefore: Sample.time(1), at: Sample.time(9), limit: 9) == 1)
        #expect(try await store.activity(made.id)?.endedAt == Sample.time(9))
        #expect(try await claim(at: 9, in: store).map(\.activity.phase) == [.ended])
    }

    private static let removes = StoragePromise<any BackendStore>(
        "what ended long ago goes with all that devices reported of it"
    ) { store in
        let ann = try await Sample.user("ann", in: store)
        let record = try await device("d", of: ann, handle: 1, in: store)
        let made = try await add(from: ann, in: store)
        _ = try await store.store(report(made.id, token: 5), of: record, user: ann.id, at: Sample.time(1))
        _ = try await store.endActivities(createdBefore: Sample.time(1), at: Sample.time(9), limit: 9)
        #expect(try await store.removeActivities(endedBefore: Sample.time(9), limit: 9) == 0)
        #expect(try await store.removeActivities(endedBefore: Sample.time(10), limit: 9) == 1)
        #expect(try await store.activity(made.id) == nil)
        #expect(try await store.tokens(of: record, user: ann.id).map(\.kind) == [.activityStart(type: "Trip")])
    }

    private static let goesWithUser = StoragePromise<any BackendStore>(
        "what a user started, and what is for them alone, goes with the user"
    ) { store in
        let (ann, bob) = (try await Sample.user("ann", in: store), try await Sample.user("bob", in: store))
        let record = try await device("d", of: ann, handle: 1, in: store)
        let (own, sole, shared) = (
            try await add(from: ann, in: store), try await add(from: bob, to: "username:ann", in: store),
            try await add(from: bob, to: "username:ann || username:bob", in: store)
        )
        _ = try await store.store(report(own.id, token: 5), of: record, user: ann.id, at: Sample.time(1))
        try await store.erase(ann, at: Sample.time(2))
        #expect(try await store.activities(of: nil, below: nil, limit: 9).map(\.id) == [shared.id])
        #expect(try await store.activity(sole.id) == nil)
        #expect(try await store.activity(shared.id)?.draft.audience.tags.contains { $0.text.contains("ann") } == false)
        #expect(try await store.tokens(of: record, user: ann.id).isEmpty)
    }
}
