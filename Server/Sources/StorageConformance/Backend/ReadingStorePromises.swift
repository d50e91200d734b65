import AppBackend
import PushHub
import RichPushModel
import Testing

/// What a `ReadMarkStore`, a `ReceiptStore`, a `RetentionStore` and a `UserDataStore` promise.
public enum ReadingStorePromises {
    /// Every promise.
    public static let all: [StoragePromise<any BackendStore>] = [
        marks, countsReceiptsOnce, countsGroups, countsInstallations, boundsCounts, removesNotifications, waitsForWork,
        removesBindings,
        locksOut, shows, erases, remembersSweeps,
    ]

    private typealias Sample = BackendSample

    private static func id(_ number: Int32) throws -> RichID { try #require(RichID(number: number)) }

    /// A user, and so many notifications of theirs to the tag `a`.
    private static func sender(_ name: String = "ada", sending count: Int, in store: any BackendStore) async throws -> User {
        let ada = try await Sample.user(name, in: store)
        for _ in 0..<count { _ = try await Sample.send(try Sample.draft(from: ada, to: "a"), in: store) }
        return ada
    }

    private static let remembersSweeps = StoragePromise<any BackendStore>(
        "the moment of the latest sweep is remembered, also when it is earlier than the one before"
    ) { store in
        #expect(try await store.lastSweep() == nil)
        for seconds in [Int64(60), 120, 30] {
            try await store.noteSweep(at: Sample.time(seconds))
            #expect(try await store.lastSweep() == Sample.time(seconds))
        }
    }

    private static let marks = StoragePromise<any BackendStore>(
        "a notification is read or unread for each user by themself, however often it is said"
    ) { store in
        let ada = try await sender(sending: 3, in: store)
        let bob = try await Sample.user("bob", in: store)
        let ids = try [Int32(1), 2, 3].map(id)
        for _ in 0..<2 { try await store.setRead(true, of: ids[0], for: ada.id, at: Sample.start) }
        try await store.setRead(true, of: ids[1], for: ada.id, at: Sample.start)
        try await store.setRead(true, of: ids[1], for: bob.id, at: Sample.start)
        #expect(try await store.readMarks(among: ids, of: ada.id) == Set(ids[..<2]))
        #expect(try await store.readMarks(among: [ids[2]], of: ada.id).isEmpty)
        #expect(try await store.readMarks(among: [], of: ada.id).isEmpty)
        for _ in 0..<2 { try await store.setRead(false, of: ids[1], for: ada.id, at: Sample.start) }
        #expect(try await store.readMarks(among: ids, of: ada.id) == [ids[0]])
        #expect(try await store.readMarks(among: ids, of: bob.id) == [ids[1]])
        try await store.setRead(true, of: try id(77), for: ada.id, at: Sample.start)
        #expect(try await store.readMarks(among: [try id(77)], of: ada.id).isEmpty, "there is no such notification")
    }

    private static let countsReceiptsOnce = StoragePromise<any BackendStore>(
        "a receipt counts once, in one call or several at once, and the new ones are returned"
    ) { store in
        let ada = try await sender(sending: 1, in: store)
        let opened = try Sample.receipt(id(1), .opened, of: ada, "phone-1")
        let fetched = try Sample.receipt(id(1), .fetched, of: ada, "phone-1")
        #expect(try await store.record([opened, opened], at: Sample.start) == [opened])
        #expect(try await store.record([fetched, opened], at: Sample.start) == [fetched])
        #expect(try await store.record([], at: Sample.start).isEmpty)
        let again = try Sample.receipt(id(1), .dismissed, of: ada, "phone-2")
        let new = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<8 { group.addTask { try await store.record([again], at: Sample.start).count } }
            return try await group.reduce(0, +)
        }
        #expect(new == 1)
        #expect(try await store.receiptCounts(of: id(1), limit: 99) == [.opened: 1, .fetched: 1, .dismissed: 1])
        #expect(try await store.receiptCounts(of: id(2), limit: 99).isEmpty)
    }

    private static let countsInstallations = StoragePromise<any BackendStore>(
        "each kind counts installations, whatever action they took how often"
    ) { store in
        let ada = try await sender(sending: 2, in: store)
        var receipts: [StoredReceipt] = []
        for (phone, action) in [("phone-1", "more"), ("phone-1", "later"), ("phone-2", "more")] {
            receipts.append(try Sample.receipt(id(1), .action, of: ada, phone, action: action))
        }
        receipts.append(try Sample.receipt(id(2), .opened, of: ada, "phone-1"))
        #expect(try await store.record(receipts, at: Sample.start) == receipts)
        #expect(try await store.receiptCounts(of: id(1), limit: 99) == [.action: 2])
        #expect(try await store.receiptCounts(of: id(2), limit: 99) == [.opened: 1])
        #expect(try await store.receiptCounts(of: id(3), limit: 99).isEmpty)
    }

    private static let countsGroups = StoragePromise<any BackendStore>(
        "receipts of a send with groups are counted by the group of the user"
    ) { store in
        var users: [User] = []
        for name in ["ada", "bob", "cy", "dee", "eve", "fay"] { users.append(try await Sample.user(name, in: store)) }
        let split = SendSplit(key: "spring", groups: [.init(name: "A", percent: 50), .init(name: "B", percent: 30)])
        var draft = try Sample.draft(from: users[0], to: "a")
        draft.split = split
        let sent = try await Sample.send(draft, in: store)
        #expect(sent.split == split)
        #expect(try await store.push(of: sent.id)?.split == PushSplit(key: "spring", percents: [50, 30]))
        let plain = try await Sample.send(try Sample.draft(from: users[0], to: "a"), in: store)
        #expect(plain.split == nil)
        var expected: [Int: [Receipt.Kind: Int]] = [:]
        for user in users {
            let phones = user.name.text == "eve" ? ["1", "2"] : ["1"]
            for phone in phones {
                for id in [sent.id, plain.id] {
                    let receipts = [try Sample.receipt(id, .opened, of: user, "\(user.name.text)-\(phone)")]
                    _ = try await store.record(receipts, at: Sample.start)
                    _ = try await store.record(receipts, at: Sample.start)
                }
            }
            expected[split.group(of: user.name), default: [:]][.opened, default: 0] += phones.count
        }
        #expect(try await store.groupReceipts(of: sent.id, groups: 2, limit: 99) == expected)
        #expect(try await store.groupReceipts(of: sent.id, groups: 2, limit: 1).values.allSatisfy { $0 == [.opened: 1] })
        #expect(try await store.groupReceipts(of: plain.id, groups: 2, limit: 99).isEmpty)
        #expect(try await store.receiptCounts(of: sent.id, limit: 99) == [.opened: 7])
    }

    private static let boundsCounts = StoragePromise<any BackendStore>(
        "counting receipts stops at a limit for each kind, and not at one for all of them"
    ) { store in
        let ada = try await sender(sending: 2, in: store)
        var receipts = try (0..<5).map { try Sample.receipt(id(1), .opened, of: ada, "phone-\($0)") }
        receipts += try (0..<2).map { try Sample.receipt(id(1), .fetched, of: ada, "phone-\($0)") }
        receipts += try (0..<4).map { try Sample.receipt(id(2), .opened, of: ada, "phone-\($0)") }
        #expect(try await store.record(receipts, at: Sample.start) == receipts)
        #expect(try await store.receiptCounts(of: id(1), limit: 3) == [.opened: 3, .fetched: 2])
        #expect(try await store.receiptCounts(of: id(1), limit: 5) == [.opened: 5, .fetched: 2])
    }

    private static let removesNotifications = StoragePromise<any BackendStore>(
        "old notifications go with all that hangs on them, some rows at a time, and leave their contents to expire"
    ) { store in
        let ada = try await Sample.user("ada", in: store)
        try await store.stage(try Sample.content("c", of: ada), quota: ContentQuota(bytes: 1 << 20), at: Sample.start)
        for number in 1...3 {
            let draft = try Sample.draft(
                from: ada, to: "a || b || d", content: number == 1 ? "c" : nil, expires: number == 2 ? Sample.time(20) : nil)
            let sent = try await Sample.send(draft, in: store)
            try await store.setRead(true, of: sent.id, for: ada.id, at: Sample.start)
            _ = try await store.record(
                try (0..<5).map { try Sample.receipt(sent.id, .opened, of: ada, "phone-\($0)") }, at: Sample.start)
            #expect(try await store.markSent(sent.id, trackingID: NotificationID(), check: Sample.time(1)))
            if number != 2 {
                try await store.markCompleted(sent.id, at: Sample.time(Int64(number * 10)), order: nil)
            }
        }
        func remove(ended: Int64, expired: Int64, _ limit: Int) async throws -> Int {
            try await store.removeNotifications(
                endedBefore: Sample.time(ended), expiredBefore: Sample.time(expired), at: Sample.time(100), limit: limit)
        }
        #expect(try await remove(ended: 10, expired: 20, 99) == 0)
        var calls = 0
        while case let count = try await remove(ended: 11, expired: 0, 3), count > 0 {
            // Three, and the notification with its three places in inboxes.
            #expect(count <= 3 + 4)
            calls += 1
        }
        #expect(calls > 2)
        #expect(try await store.notification(id(1)) == nil)
        #expect(try await store.receiptCounts(of: id(1), limit: 99).isEmpty)
        #expect(try await store.readMarks(among: [id(1), id(2)], of: ada.id) == [id(2)])
        #expect(try await store.content("c", at: Sample.time(99)) != nil)
        #expect(try await store.content("c", at: Sample.time(100)) == nil)
        while try await remove(ended: 0, expired: 21, 99) > 0 {}
        #expect(try await store.notification(id(2)) == nil)
        #expect(try await store.notification(id(3)) != nil)
        #expect(try await store.receiptCounts(of: id(3), limit: 99) == [.opened: 5])
    }

    private static let waitsForWork = StoragePromise<any BackendStore>(
        "what has to be sent or cancelled at the hub stays until that is done"
    ) { store in
        let ada = try await Sample.user("ada", in: store)
        for _ in 0..<2 {
            _ = try await Sample.send(try Sample.draft(from: ada, to: "a", expires: Sample.time(5)), in: store)
        }
        #expect(try await store.markSent(id(2), trackingID: NotificationID(), check: Sample.time(1)))
        #expect(try await store.recall(id(2), at: Sample.time(2), contentExpiry: Sample.time(2)))
        func remove() async throws -> Int {
            try await store.removeNotifications(
                endedBefore: Sample.time(1000), expiredBefore: Sample.time(1000), at: Sample.time(1000), limit: 99)
        }
        #expect(try await remove() == 0)
        try await store.markCancelled(id(2), at: Sample.time(9), audit: nil)
        while try await remove() > 0 {}
        #expect(try await store.notification(id(2)) == nil)
        #expect(try await store.notification(id(1)) != nil)
    }

    private static let removesBindings = StoragePromise<any BackendStore>(
        "closed bindings go when no notification is left that they could decide about"
    ) { store in
        let ada = try await Sample.user("ada", in: store)
        for number in 0..<4 {
            _ = try await store.bind(
                try Sample.device("phone-\(number)", handle: 1), to: ada.id, with: .password(version: 1), mark: 1,
                at: Sample.time(Int64(number * 10)))
            guard number == 1 else { continue }
            // The first has ended by now, whatever the clock shows at the send.
            _ = try await Sample.send(try Sample.draft(from: ada, to: "a"), in: store, at: Sample.time(-86_400))
        }
        func held() async throws -> [String] {
            try await store.bindings(of: ada.id, since: OrderNumber(0), limit: 9).map(\.device.record.text)
        }
        #expect(try await store.removeBindings(closedBefore: Sample.time(100), limit: 9) == 1)
        #expect(try await held() == ["phone-3", "phone-2", "phone-1"])
        #expect(try await store.removeBindings(closedBefore: Sample.time(5), limit: 9) == 0)
        #expect(try await store.markSent(id(1), trackingID: NotificationID(), check: Sample.time(1)))
        try await store.markCompleted(id(1), at: Sample.time(16), order: nil)
        while try await store.removeNotifications(
            endedBefore: Sample.time(99), expiredBefore: Sample.time(99), at: Sample.time(99), limit: 99) > 0
        {}
        #expect(try await store.removeBindings(closedBefore: Sample.time(100), limit: 1) == 1)
        #expect(try await store.removeBindings(closedBefore: Sample.time(100), limit: 9) == 1)
        #expect(try await held() == ["phone-3"], "one that holds stays")
    }

    private static let locksOut = StoragePromise<any BackendStore>(
        "a locked-out user has no password and no credential any more, other users have theirs"
    ) { store in
        let hash = try Sample.hash("secret")
        for name in ["ada", "bob"] {
            let user = try await store.createUser(name: try Sample.name(name), role: .user, password: hash, at: Sample.start)
            try await store.issue(try Sample.credential("phone-\(name)", of: user, digest: 1))
        }
        let ada = try #require(try await store.user(named: try Sample.name("ada"))).user
        try await store.lockOut(ada.id, at: Sample.start, audit: nil)
        let locked = try #require(try await store.user(named: ada.name))
        #expect(locked.password == nil && locked.user.credentialVersion > ada.credentialVersion)
        #expect(try await store.credential(of: try #require(InstallationID("phone-ada"))) == nil)
        #expect(try await store.user(named: try Sample.name("bob"))?.password == hash)
        #expect(try await store.credential(of: try #require(InstallationID("phone-bob"))) != nil)
    }

    private static let shows = StoragePromise<any BackendStore>(
        "an export reaches every kind page by page, and shows no hash, digest or whole device token"
    ) { store in
        let ada = try await userWithData("ada", in: store)
        var all: [String: Int] = [:]
        for kind in store.userDataKinds {
            var cursor: UserDataValue?
            while let page = try await Optional(store.records(kind, of: ada.id, after: cursor, limit: 1)),
                let last = page.last
            {
                #expect(page.count == 1 && page.allSatisfy { $0.kind == kind })
                all[kind, default: 0] += 1
                cursor = last.cursor
                for field in last.fields {
                    guard case .text(let text) = field.value else { continue }
                    #expect(!text.contains(Sample.handle(0xABCDEF0123).text), "\(kind).\(field.name)")
                    #expect(!text.contains("$scrypt"), "\(kind).\(field.name)")
                }
                try #require(all[kind, default: 0] < 100)
            }
        }
        #expect(all.values.reduce(0, +) >= 6, "\(all)")
        #expect(try await store.records("no such kind", of: ada.id, after: nil, limit: 9).isEmpty)
        #expect(try await store.devices(of: ada.id).map(\.text) == ["phone-ada"])
    }

    /// A user with one row of every kind.
    private static func userWithData(_ name: String, in store: any BackendStore) async throws -> User {
        let user = try await store.createUser(
            name: try Sample.name(name), role: .sender, password: try Sample.hash("secret"), at: Sample.start)
        _ = try await store.bind(
            try Sample.device("phone-\(name)", handle: 0xABCDEF0123, tags: ["username:\(name)"]), to: user.id,
            with: .issue(try Sample.credential("phone-\(name)", of: user, digest: 7)), mark: 1, at: Sample.start)
        try await store.stage(
            try Sample.content("c-\(name)", of: user), quota: ContentQuota(bytes: 1 << 20), at: Sample.start)
        let draft = try Sample.draft(from: user, to: "username:\(name)", content: "c-\(name)", key: Sample.key("k"))
        let sent = try await Sample.send(draft, in: store)
        try await store.setRead(true, of: sent.id, for: user.id, at: Sample.start)
        _ = try await store.record([try Sample.receipt(sent.id, .opened, of: user, "phone-\(name)")], at: Sample.start)
        return user
    }

    private static let erases = StoragePromise<any BackendStore>(
        "an erased user leaves nothing behind that names them, and no other user loses anything"
    ) { store in
        let bob = try await Sample.user("bob", in: store)
        let ada = try await userWithData("ada", in: store)
        _ = try await Sample.send(try Sample.draft(from: bob, to: "username:ada"), in: store)
        _ = try await Sample.send(try Sample.draft(from: bob, to: "username:ada || b"), in: store)
        let toRecall = try await store.notificationsToRecall(of: ada, limit: 99)
        #expect(Set(toRecall.map(\.number)) == [1, 2], "what they sent, and what is for them alone")
        for id in toRecall {
            #expect(try await store.recall(id, at: Sample.time(1), contentExpiry: Sample.time(1)))
            try await store.markCancelled(id, at: Sample.time(9), audit: nil)
        }
        #expect(try await store.notificationsToRecall(of: ada, limit: 99).isEmpty)
        for _ in 0..<2 { try await store.erase(ada, at: Sample.time(2)) }
        #expect(try await store.user(ada.id) == nil)
        #expect(try await store.devices(of: ada.id).isEmpty)
        for kind in store.userDataKinds {
            #expect(try await store.records(kind, of: ada.id, after: nil, limit: 9).isEmpty, "\(kind)")
        }
        #expect(try await store.notification(id(1)) == nil)
        #expect(try await store.notification(id(2)) == nil)
        let kept = try #require(try await store.notification(id(3)))
        #expect(!"\(kept.audience)".lowercased().contains("ada") && kept.sender == bob.id)
        #expect(try await store.find(NotificationStorePromises.query(["t:b"], bob)).map(\.id.number) == [3])
        #expect(try await store.user(bob.id) == bob)
    }
}
