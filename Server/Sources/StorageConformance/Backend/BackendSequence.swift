import AppBackend
import ClarionTesting
import PushHub
import RichPushModel
import ServiceErrors

import struct RichPushModel.Tag

/// What the ports of the app backend answer to a series of calls by chance. Two stores that get the same series have to answer alike.
public struct BackendSequence {
    private typealias Sample = BackendSample

    private let store: any BackendStore
    private var generator: SeededGenerator
    private var users: [User] = []
    private var now = BackendSample.start
    private var lines: [String] = []
    /// The last number that was given.
    private var last = 0

    /// Makes so many calls; what was answered, a line each.
    public static func answers(of store: any BackendStore, seed: UInt64, calls: Int) async throws -> [String] {
        var sequence = BackendSequence(store, seed: seed)
        for name in ["ada", "Bob", "_c", "d-1"] { sequence.users.append(try await Sample.user(name, in: store)) }
        for _ in 0..<calls { try await sequence.step() }
        try await sequence.summary()
        return sequence.lines
    }

    private init(_ store: any BackendStore, seed: UInt64) {
        self.store = store
        generator = SeededGenerator(seed: seed)
    }

    private mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }

    private mutating func user() -> User { users[number(0...(users.count - 1))] }

    private mutating func id() throws -> RichID {
        guard let id = RichID(number: Int32(number(max(1, last - 15)...(last + 1)))) else {
            throw Sample.Unexpected(what: "no number")
        }
        return id
    }

    private mutating func audience() -> String {
        ["a", "b", "a && b", "a || !b", "!c", "username:ada", "ß || B"][number(0...6)]
    }

    private mutating func tags() -> [String] {
        let all = ["a", "b", "B", "c", "username:ada", "ß", "SS"]
        return (0..<number(0...3)).map { _ in all[number(0...(all.count - 1))] }
    }

    /// Notes an answer, or the code of the error.
    private mutating func note(_ name: String, _ call: () async throws -> Any) async throws {
        do { lines.append("\(name): \(try await call())") } catch let error as ServiceError {
            lines.append("\(name): error \(error.code.rawValue)")
        }
    }

    private mutating func step() async throws {
        now = now + .seconds(Int64(number(0...20)))
        switch number(0...9) {
        case 0: try await changeUser()
        case 1, 2: try await changeDevice()
        case 3: try await changeContent()
        case 4, 5: try await send()
        case 6, 7: try await work()
        case 8: try await read()
        default: try await sweep()
        }
    }

    private mutating func changeUser() async throws {
        let (store, user, now, role) = (store, user(), now, UserRole.allCases[number(0...2)])
        let after = number(0...1) == 0 ? user.name : nil
        switch number(0...4) {
        case 0: try await note("role") { try await store.setRole(role, of: user.id) }
        case 1: try await note("create") { try await store.createUser(name: user.name, role: role, password: nil, at: now) }
        case 2 where number(0...4) == 0:
            try await note("remove") { try await store.removeUser(user.id, mark: 3, at: now)?.map(\.text).sorted() as Any }
        case 3: try await note("user") { try await store.user(user.id) as Any }
        default: try await note("users") { try await store.users(after: after, prefix: "", limit: 2).map(\.name.text) }
        }
    }

    private mutating func changeDevice() async throws {
        let (store, user, now) = (store, user(), now)
        let name = "phone-\(number(1...5))"
        let device = try Sample.device(name, handle: number(0...3) == 0 ? nil : number(1...4), tags: tags())
        let digest = UInt8(number(1...3))
        let issued = try Sample.credential(name, of: user, digest: digest, expires: now + .seconds(Int64(number(1...200))))
        let presented = Array(repeating: digest, count: 32)
        let since = now - .seconds(Int64(number(0...300)))
        let mark = number(0...1) == 0 ? OrderNumber(0) : .last
        let change = DeviceChange(device.record, mark: Int64(number(1...2)))
        switch number(0...8) {
        case 0, 1:
            try await note("bind") { try await store.bind(device, to: user.id, with: .issue(issued), mark: 1, at: now) }
        case 2:
            try await note("rebind") {
                try await store.bind(device, to: user.id, with: .presented(presented), mark: 1, at: now)
            }
        case 3:
            try await note("unbind") {
                try await store.unbind(device.record, from: user.id, if: .credential(presented), mark: 3, at: now)
            }
        case 4: try await note("begin") { try await store.begin(change, at: now) }
        case 5: try await note("end") { try await store.end(change) }
        case 6: try await note("unended") { try await store.unendedChanges(begunBefore: since, limit: 3).map(\.text) }
        case 7: try await note("bindings") { try await store.bindings(of: user.id, since: mark, limit: 3) }
        default:
            try await note("credential") {
                try await store.credential(of: issued.installation).map { "\($0.0) \($0.1)" } as Any
            }
        }
    }

    private mutating func changeContent() async throws {
        let (store, user, now) = (store, user(), now)
        let content = try Sample.content(
            "c\(number(1...4))", of: user, bytes: Int64(number(1...60)), digest: number(1...3),
            expires: number(0...3) == 0 ? nil : now + .seconds(Int64(number(1...100))))
        switch number(0...3) {
        case 0: try await note("keep") { try await store.keep(content, at: now) }
        case 1: try await note("content") { try await store.content(content.id, at: now) as Any }
        case 2: try await note("bytes") { try await store.contentUse(of: user.id, at: now) }
        default:
            try await note("stage") {
                try await store.stage(content, quota: ContentQuota(bytes: 3 * ContentQuota.smallest), at: now)
            }
        }
    }

    private mutating func send() async throws {
        let (store, user, now) = (store, user(), now)
        let key = number(0...2) == 0 ? Sample.key("k\(number(1...3))", UInt8(number(1...2))) : nil
        let asked = number(0...5) == 0 ? RichID(number: Int32(last + number(0...3))) : nil
        let draft = try Sample.draft(
            from: user, to: audience(), content: number(0...2) == 0 ? "c\(number(1...4))" : nil, key: key, number: asked,
            expires: number(0...3) == 0 ? now + .seconds(Int64(number(1...60))) : nil)
        try await note("send") { try await store.accept(draft, at: now) }
        last = Int(try await store.lastNumber())
        if let key { try await note("repeated") { try await store.repeated(key, of: user.id) as Any } }
    }

    private mutating func work() async throws {
        let (store, id, now) = (store, try id(), now)
        let later = now + .seconds(Int64(number(0...30)))
        let tracking = NotificationID("tracking-\(number(0...9))") ?? NotificationID()
        switch number(0...6) {
        case 0: try await note("sent") { try await store.markSent(id, trackingID: tracking, check: later) }
        case 1: try await note("completed") { try await store.markCompleted(id, at: now, order: OrderNumber(5)) }
        case 2: try await note("recall") { try await store.recall(id, at: now, contentExpiry: later) }
        case 3: try await note("cancelled") { try await store.markCancelled(id, at: now, audit: nil) }
        case 4 where number(0...2) == 0: try await note("refused") { try await store.markRefused(id, at: now, audit: nil) }
        case 5:
            let task = [OutboxWork.Task.send, .track, .cancel][number(0...2)]
            try await note("postpone") {
                try await store.postpone(OutboxWork(id: id, task: task, dueAt: now), until: later)
            }
        default:
            try await note("due") {
                try await store.dueWork(at: now, limit: 99).map { "\($0.dueAt) \($0.task) \($0.id)" }.sorted()
            }
        }
    }

    private mutating func read() async throws {
        let (store, user, id, now) = (store, user(), try id(), now)
        let isRead = number(0...1) == 0
        let receipt = try Sample.receipt(
            id, [.opened, .fetched, .action][number(0...2)], of: user, "phone-\(number(1...3))",
            action: number(0...1) == 0 ? "more" : nil)
        let query = InboxQuery(
            keys: tags().compactMap(Tag.init).map(AudienceKey.tag), user: user.id,
            before: number(0...2) == 0 ? RichID(number: Int32(number(1...20))) : nil, since: nil,
            unreadOnly: number(0...1) == 0, limit: number(1...5))
        switch number(0...4) {
        case 0: try await note("mark") { try await store.setRead(isRead, of: id, for: user.id, at: now) }
        case 1: try await note("receipt") { try await store.record([receipt, receipt], at: now) }
        case 2:
            try await note("counts") {
                try await store.receiptCounts(of: id, limit: 99).map { "\($0.key) \($0.value)" }.sorted()
            }
        case 3: try await note("notification") { try await store.notification(id) as Any }
        default: try await note("find") { try await store.find(query).map(\.id.number) }
        }
    }

    private mutating func sweep() async throws {
        let (store, now) = (store, now)
        let before = now - .seconds(Int64(number(0...200)))
        // Enough for all that is due: no store promises which of many goes first.
        switch number(0...5) {
        case 0:
            try await note("expired credentials") {
                let expired = try await store.expiredCredentials(before: now, limit: 999)
                for credential in expired { try await store.remove(credential) }
                return expired.map { "\($0.installation) \($0.user.number) \($0.expiresAt)" }.sorted()
            }
        case 1: try await note("expired contents") { try await store.removeExpiredContents(before: before, limit: 999) }
        case 2: try await note("orphans") { try await store.orphans(after: nil, limit: 99).digests.map(\.text) }
        case 3:
            try await note("notifications") {
                try await store.removeNotifications(endedBefore: before, expiredBefore: before, at: now, limit: 999)
            }
        case 4: try await note("closed bindings") { try await store.removeBindings(closedBefore: before, limit: 999) }
        default:
            try await note("idempotency keys") {
                try await store.removeIdempotencyKeys(before: before, limit: 999)
            }
        }
    }

    /// All that is stored about everybody in the end.
    private mutating func summary() async throws {
        let store = store
        for user in users {
            for kind in store.userDataKinds {
                try await note("\(user.name) \(kind)") {
                    try await store.records(kind, of: user.id, after: nil, limit: 99).map { "\($0)" }.sorted()
                }
            }
        }
        for number in 1...(last + 1) {
            guard let id = RichID(number: Int32(number)) else { continue }
            try await note("\(number)") { try await store.notification(id) as Any }
        }
    }
}
