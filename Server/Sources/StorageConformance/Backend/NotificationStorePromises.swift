import AppBackend
import PushHub
import RichPushModel
import ServiceErrors
import Testing

import struct RichPushModel.Tag

/// What a `RichNotificationStore` promises.
public enum NotificationStorePromises {
    /// Every promise.
    public static let all: [StoragePromise<any BackendStore>] = [
        keepsADraft, countsUp, takesNumbersAhead, repeatsOnce, repeatsOnceForMany, claimsContents, finds, findsByTagsOfAllTimes,
        recalls, worksInOrder, ends, forgetsIdempotencyKeys, listsSends, listsSendsByTime,
    ]

    typealias Sample = BackendSample

    private static let keepsADraft = StoragePromise<any BackendStore>(
        "a notification comes back as it was sent, with its push and its content"
    ) { store in
        let ada = try await Sample.user("ada", in: store)
        let content = try Sample.content("c", of: ada)
        try await store.stage(content, quota: ContentQuota(bytes: 1 << 20), at: Sample.start)
        let draft = try Sample.draft(from: ada, to: "a && !b", content: "c", expires: Sample.time(50))
        let sent = try await Sample.send(draft, in: store, at: Sample.time(1))
        let found = try #require(try await store.notification(sent.id))
        #expect(found == sent)
        #expect(found.sender == ada.id && found.senderName == ada.name && found.kind == .image && found.style == .both)
        #expect(found.texts == draft.texts && found.audience == draft.audience && found.thumb == nil)
        #expect(found.dueAt == Sample.time(1) && found.expiresAt == Sample.time(50) && found.completedAt == nil)
        var kept = content
        kept.expiresAt = nil
        #expect(found.content == kept, "a content that was sent stays")
        let push = try #require(try await store.push(of: sent.id))
        #expect(push.message.body == draft.push.message(for: sent.id).body && push.pushesPerSecond == 7)
        #expect(push.message.pushType == "background" && push.message.priority == 5)
        #expect(try await store.push(of: sent.id) == push)
        let unknown = try #require(RichID(number: 4711))
        #expect(try await store.notification(unknown) == nil)
        #expect(try await store.push(of: unknown) == nil)
    }

    private static let countsUp = StoragePromise<any BackendStore>(
        "numbers count up by one, also for many at once, and every hub key is another"
    ) { store in
        let ada = try await Sample.user("ada", in: store)
        #expect(try await store.lastNumber() == 0)
        let draft = try Sample.draft(from: ada, to: "a")
        let numbers = try await withThrowingTaskGroup(of: Int32.self) { group in
            for _ in 0..<10 { group.addTask { try await Sample.send(draft, in: store).id.number } }
            return try await group.reduce(into: [Int32]()) { $0.append($1) }
        }
        #expect(numbers.sorted() == Array(1...10))
        #expect(try await store.lastNumber() == 10)
        var keys: Set<String> = []
        for number in numbers { keys.insert(try #require(try await store.push(of: try id(number))).hubKey) }
        #expect(keys.count == 10)
    }

    static func id(_ number: Int32) throws -> RichID { try #require(RichID(number: number)) }

    private static let takesNumbersAhead = StoragePromise<any BackendStore>(
        "a draft may ask for one of the next numbers, and for none beyond, before or taken"
    ) { store in
        let ada = try await Sample.user("ada", in: store)
        for (number, isTaken) in [
            (5, true), (5, false), (3, false), (6, true), (6 + IDReservation.limit + 1, false), (6 + IDReservation.limit, true),
        ] as [(Int32, Bool)] {
            let draft = try Sample.draft(from: ada, to: "a", number: try id(number))
            do {
                let sent = try await Sample.send(draft, in: store)
                #expect(isTaken && sent.id.number == number)
            } catch let error as ServiceError { #expect(!isTaken && error.code == .conflict, "\(number)") }
        }
        #expect(try await Sample.send(try Sample.draft(from: ada, to: "a"), in: store).id.number == 6 + IDReservation.limit + 1)
    }

    private static let repeatsOnce = StoragePromise<any BackendStore>(
        "an idempotency key stands for the first notification of its user, and not for another request"
    ) { store in
        let (ada, bob) = (try await Sample.user("ada", in: store), try await Sample.user("bob", in: store))
        let draft = try Sample.draft(from: ada, to: "a", key: Sample.key("k"))
        let sent = try await Sample.send(draft, in: store)
        #expect(try await store.accept(draft, at: Sample.time(9)) == .repeated(sent))
        #expect(try await store.repeated(Sample.key("k"), of: ada.id) == .repeated(sent))
        let other = try Sample.draft(from: ada, to: "b", key: Sample.key("k", 2))
        #expect(try await store.accept(other, at: Sample.start) == .repeatMismatch)
        #expect(try await store.repeated(Sample.key("K"), of: ada.id) == nil)
        #expect(try await store.repeated(Sample.key("k"), of: bob.id) == nil)
        #expect(try await Sample.send(try Sample.draft(from: bob, to: "a", key: Sample.key("k")), in: store).id.number == 2)
        #expect(try await store.lastNumber() == 2)
    }

    private static let repeatsOnceForMany = StoragePromise<any BackendStore>(
        "of many with one idempotency key at once, one is sent and all others are repeats of it"
    ) { store in
        let ada = try await Sample.user("ada", in: store)
        let draft = try Sample.draft(from: ada, to: "a", key: Sample.key("k"))
        let outcomes = try await withThrowingTaskGroup(of: Acceptance.self) { group in
            for _ in 0..<8 { group.addTask { try await store.accept(draft, at: Sample.start) } }
            return try await group.reduce(into: [Acceptance]()) { $0.append($1) }
        }
        let first = try #require(try await store.notification(try id(1)))
        #expect(outcomes.count { $0 == .accepted(first) } == 1 && outcomes.count { $0 == .repeated(first) } == 7)
    }

    private static let claimsContents = StoragePromise<any BackendStore>(
        "a content is the sender's own and not expired, or nothing is sent"
    ) { store in
        let (ada, bob) = (try await Sample.user("ada", in: store), try await Sample.user("bob", in: store))
        try await store.stage(try Sample.content("c", of: ada), quota: ContentQuota(bytes: 1 << 20), at: Sample.start)
        for (user, content, seconds) in [(bob, "c", Int64(0)), (ada, "x", 0), (ada, "c", 1000)] {
            let error = await #expect(throws: ServiceError.self) {
                _ = try await Sample.send(
                    try Sample.draft(from: user, to: "a", content: content), in: store, at: Sample.time(seconds))
            }
            #expect(error?.code == .notFound)
        }
        #expect(try await store.find(query(["*", "t:a"], ada)).isEmpty)
        let first = try await Sample.send(try Sample.draft(from: ada, to: "a", content: "c"), in: store)
        let second = try await Sample.send(try Sample.draft(from: ada, to: "a", content: "c"), in: store, at: Sample.time(5000))
        #expect(try await store.content("c", at: Sample.time(5000)) != nil)
        #expect(try await store.recall(first.id, at: Sample.time(6000), contentExpiry: Sample.time(6000)))
        #expect(try await store.content("c", at: Sample.time(7000)) != nil, "the second still has it")
        #expect(try await store.recall(second.id, at: Sample.time(6000), contentExpiry: Sample.time(6500)))
        #expect(try await store.content("c", at: Sample.time(6499)) != nil)
        #expect(try await store.content("c", at: Sample.time(6500)) == nil)
    }

    static func query(
        _ keys: [String], _ user: User, before: Int32? = nil, since: Int32? = nil, unread: Bool = false, limit: Int = 20
    ) throws -> InboxQuery {
        InboxQuery(
            keys: keys.map(AudienceKey.init(stored:)), user: user.id, before: try before.map(id), since: try since.map(id),
            unreadOnly: unread, limit: limit)
    }

    private static let finds = StoragePromise<any BackendStore>(
        "notifications are found under each key once, newest first, between two numbers, read ones left out on demand"
    ) { store in
        let (ada, bob) = (try await Sample.user("ada", in: store), try await Sample.user("bob", in: store))
        for audience in ["a", "b", "a || b", "!a", "c", "a && b", "Ä"] {
            _ = try await Sample.send(try Sample.draft(from: ada, to: audience), in: store)
        }
        func found(_ query: InboxQuery) async throws -> [Int32] { try await store.find(query).map(\.id.number) }
        #expect(try await found(query(["t:a"], bob)) == [6, 3, 1])
        #expect(try await found(query(["t:a", "t:b"], bob)) == [6, 3, 2, 1])
        #expect(try await found(query(["*", "t:c"], bob)) == [5, 4])
        #expect(try await found(query(["s:\(ada.id.number)"], bob)) == [7, 6, 5, 4, 3, 2, 1])
        #expect(try await found(query(["t:a", "t:b", "*"], bob, before: 6, since: 1)) == [4, 3, 2])
        #expect(try await found(query(["t:a", "t:b", "*"], bob, limit: 2)) == [6, 4])
        #expect(try await found(query([AudienceKey.tag(try #require(Tag("ä"))).text], bob)) == [7])
        try await store.setRead(true, of: try id(3), for: bob.id, at: Sample.start)
        #expect(try await found(query(["t:a"], bob, unread: true)) == [6, 1])
        #expect(try await found(query(["t:a"], ada, unread: true)) == [6, 3, 1])
        #expect(try await found(query([], bob)).isEmpty)
    }

    private static let findsByTagsOfAllTimes = StoragePromise<any BackendStore>(
        "the tags that a user's devices have or had count as keys too"
    ) { store in
        let (ada, bob) = (try await Sample.user("ada", in: store), try await Sample.user("bob", in: store))
        for (number, tags) in [["old"], ["new"]].enumerated() {
            _ = try await store.bind(
                try Sample.device("phone-1", handle: 1, tags: tags), to: bob.id, with: .password(version: 1), mark: 1,
                at: Sample.time(Int64(number)))
        }
        for audience in ["old", "new", "other"] {
            _ = try await Sample.send(try Sample.draft(from: ada, to: audience), in: store)
        }
        #expect(try await store.find(query([], bob)).map(\.id.number) == [2, 1])
        #expect(try await store.find(query([], ada)).isEmpty)
        #expect(try await store.find(query(["t:other"], bob, limit: 2)).map(\.id.number) == [3, 2])
    }

    private static let listsSends = StoragePromise<any BackendStore>(
        "sends are listed newest first, of one user or of all, recalled ones too; a new one changes no later page"
    ) { store in
        let (ada, bob) = (try await Sample.user("ada", in: store), try await Sample.user("bob", in: store))
        for sender in [ada, bob, ada, ada, bob] {
            _ = try await Sample.send(try Sample.draft(from: sender, to: "a"), in: store)
        }
        #expect(try await store.recall(try id(3), at: Sample.time(5), contentExpiry: Sample.time(5)))
        func listed(_ sender: User?, before: Int32? = nil, limit: Int = 9) async throws -> [Int32] {
            let query = SendListQuery(of: sender?.id, by: .number(below: try before.map(id)), limit: limit)
            return try await store.sends(query).map(\.id.number)
        }
        #expect(try await listed(nil) == [5, 4, 3, 2, 1])
        #expect(try await listed(ada) == [4, 3, 1])
        #expect(try await listed(ada, limit: 2) == [4, 3])
        _ = try await Sample.send(try Sample.draft(from: ada, to: "a"), in: store)
        #expect(try await listed(ada, before: 3) == [1])
        #expect(try await listed(nil, before: 3, limit: 1) == [2])
        #expect(try await listed(bob, before: 2).isEmpty)
    }

    private static let listsSendsByTime = StoragePromise<any BackendStore>(
        "sends of a span of time are listed by the moment when they were due, of one user or of all, without a gap between pages"
    ) { store in
        let (ada, bob) = (try await Sample.user("ada", in: store), try await Sample.user("bob", in: store))
        // The numbers and the moments are not in the same order, and two sends have one moment.
        for (number, second) in [3, 1, 2, 2, 5].enumerated() {
            let sender = number.isMultiple(of: 2) ? ada : bob
            _ = try await Sample.send(try Sample.draft(from: sender, to: "a"), in: store, at: Sample.time(Int64(second)))
        }
        func listed(_ sender: User?, _ seconds: Range<Int64>, limit: Int = 9) async throws -> [Int32] {
            let range = Sample.time(seconds.lowerBound)..<Sample.time(seconds.upperBound)
            var (found, place) = ([RichNotification](), SendListQuery.Place?.none)
            while true {
                let page = try await store.sends(SendListQuery(of: sender?.id, by: .time(range, below: place), limit: limit))
                #expect(page.count <= limit)
                guard let last = page.last else { return found.map(\.id.number) }
                found += page
                place = SendListQuery.Place(dueAt: last.dueAt, id: last.id)
            }
        }
        for limit in [1, 2, 9] {
            #expect(try await listed(nil, 0..<9, limit: limit) == [5, 1, 4, 3, 2])
            #expect(try await listed(ada, 0..<9, limit: limit) == [5, 1, 3])
            #expect(try await listed(nil, 2..<5, limit: limit) == [1, 4, 3])
            #expect(try await listed(bob, 2..<5, limit: limit) == [4])
        }
        #expect(try await listed(nil, 6..<9).isEmpty)
        let later = SendListQuery.Place(dueAt: Sample.time(9), id: try id(5))
        let clamped = SendListQuery(by: .time(Sample.time(0)..<Sample.time(2), below: later), limit: 9)
        #expect(try await store.sends(clamped).map(\.id.number) == [2], "a place leads to nothing outside of the span")
    }
}
