import AppBackend
import AuditTrail
import Foundation
import PushHub
import RichPushModel
import ServiceErrors
import Testing

@Suite("The import of users")
struct UserImportTests {
    /// Imports rows, and says what became of each line.
    @discardableResult
    private func fates(_ test: TestBackend, _ rows: [UserRow], by principal: Principal? = nil) async throws -> [UserImportFate] {
        try await fates(test, lines: rows.map { .success($0) }, by: principal)
    }

    private func fates(
        _ test: TestBackend, lines: [Result<UserRow, ServiceError>], by principal: Principal? = nil
    ) async throws -> [UserImportFate] {
        var fates: [UserImportFate] = []
        try await test.backend.importUsers(Self.stream(lines), by: principal) { fates.append($0) }
        return fates
    }

    /// The lines one after another, and then the error, if there is one.
    private static func stream(
        _ lines: [Result<UserRow, ServiceError>], then error: ServiceError? = nil
    ) -> AsyncThrowingStream<UserImportLine, any Error> {
        AsyncThrowingStream { continuation in
            for (index, row) in lines.enumerated() { continuation.yield(UserImportLine(number: index + 1, row: row)) }
            continuation.finish(throwing: error)
        }
    }

    private static func tags(_ texts: String...) -> [Tag] { texts.compactMap(Tag.init) }

    @Test("users who do not exist are created with role and tags, and cannot sign in with a password")
    func creates() async throws {
        let test = try await TestBackend()
        let found = try await fates(
            test, [UserRow(name: "ann", tags: Self.tags("gold")), UserRow(name: "bob", role: .sender)])
        #expect(found.map(\.fate) == [.created, .created])
        #expect(found.map(\.line) == [1, 2])
        #expect(found.map(\.name) == ["ann", "bob"])
        let ann = try await test.backend.user("ann")
        #expect(ann.tags == Self.tags("gold"))
        #expect(ann.role == .user)
        #expect(try await test.backend.user("bob").role == .sender)
        #expect(await code { _ = try await test.signIn("ann") } == .unauthenticated)
    }

    @Test("the same rows again change nothing, and what a row leaves out stays")
    func repeats() async throws {
        let test = try await TestBackend()
        let rows = [UserRow(name: "ann", tags: Self.tags("gold")), UserRow(name: "bob", role: .sender)]
        try await fates(test, rows)
        #expect(try await fates(test, rows).map(\.fate) == [.unchanged, .unchanged])
        let next = try await fates(test, [UserRow(name: "ANN", role: .sender), UserRow(name: "bob")])
        #expect(next.map(\.fate) == [.changed, .unchanged])
        let ann = try await test.backend.user("ann")
        #expect(ann.role == .sender)
        #expect(ann.tags == Self.tags("gold"))
        #expect(ann.name.text == "ann")
    }

    @Test("a bad row is refused with its field, and the rows around it are stored")
    func refuses() async throws {
        let test = try await TestBackend()
        let lines: [Result<UserRow, ServiceError>] = [
            .success(UserRow(name: "ann")), .success(UserRow(name: "a b")), .success(UserRow(name: "@shop")),
            .success(UserRow(name: "bob", tags: Self.tags("username:ann"))), .success(UserRow(name: "bob", role: .service)),
            .failure(ServiceError(.malformedJSON, "at byte 3: a colon was expected")), .success(UserRow(name: "cy")),
        ]
        let found = try await fates(test, lines: lines)
        #expect(found.map(\.fate) == [.created, .refused, .refused, .refused, .refused, .refused, .created])
        let fields = found.map { $0.reason?.prefix { $0 != ":" } }
        #expect(fields == [nil, "name", "name", "tags", "role", "at byte 3", nil])
        #expect(await code { _ = try await test.backend.user("bob") } == .notFound)
    }

    @Test("rows for one user take effect in their order, also across transactions")
    func order() async throws {
        let test = try await TestBackend()
        let rows = (0..<250).map { UserRow(name: "user-\($0 % 90)", tags: Self.tags("row-\($0)")) }
        let found = try await fates(test, rows)
        #expect(found.map(\.line) == Array(1...250))
        let expected: [UserImportFate.Word] = (0..<250).map { $0 < 90 ? .created : .changed }
        #expect(found.map(\.fate) == expected)
        #expect(try await test.backend.user("user-0").tags == Self.tags("row-180"))
        #expect(try await test.backend.user("user-89").tags == Self.tags("row-179"))
    }

    @Test("new tags reach devices that are signed in, and the former ones leave them")
    func devices() async throws {
        let test = try await TestBackend()
        _ = try await test.install(try await test.user("ann", .user), "phone", handle: 1, tags: Self.tags("beta"))
        try await fates(test, [UserRow(name: "ann", tags: Self.tags("gold"))])
        let phone = try #require(RecordID("phone"))
        #expect(test.hub.devices[phone]?.tags.map(\.text) == ["username:ann", "gold", "beta"])
        try await fates(test, [UserRow(name: "ann", tags: Self.tags("silver"))])
        #expect(test.hub.devices[phone]?.tags.map(\.text) == ["username:ann", "silver", "beta"])
    }

    @Test("a line whose tags did not reach a device says so, and the upkeep brings them there")
    func unreachedDevice() async throws {
        let test = try await TestBackend()
        _ = try await test.install(try await test.user("ann", .user), "phone", handle: 1)
        let rows = [UserRow(name: "ann", tags: Self.tags("gold")), UserRow(name: "bob")]
        test.hub.failDevices(times: 1)
        let first = try await fates(test, rows)
        #expect(first.map(\.fate) == [.changed, .created])
        #expect(first.first?.reason?.hasPrefix("tags: they are stored") == true)
        #expect(first.last?.reason == nil)
        let second = try await fates(test, rows)
        #expect(second.map(\.fate) == [.unchanged, .unchanged])
        #expect(second.first?.reason == nil)
        test.clock.advance(by: .seconds(121))
        try await test.upkeep.endChanges()
        #expect(test.hub.devices[try #require(RecordID("phone"))]?.tags.map(\.text) == ["username:ann", "gold"])
    }

    @Test("a key that manages users makes and changes no administrator")
    func noMorePower() async throws {
        let test = try await TestBackend()
        _ = try await test.user("root", .admin)
        let caller = try await test.signIn(with: try await test.key("shop", "users"))
        let found = try await fates(
            test, [UserRow(name: "ann", role: .admin), UserRow(name: "root", tags: []), UserRow(name: "bob")], by: caller)
        #expect(found.map(\.fate) == [.refused, .refused, .created])
        #expect(found[0].reason?.hasPrefix("role:") == true)
        #expect(found[1].reason?.hasPrefix("name:") == true)
        let admin = try await test.signIn(with: try await test.key("office", "admin"))
        #expect(try await fates(test, [UserRow(name: "ann", role: .admin)], by: admin).map(\.fate) == [.created])
    }

    @Test("a change of role counts for a caller who was verified before")
    func roleCountsAtOnce() async throws {
        let test = try await TestBackend()
        _ = try await test.user("ann", .sender)
        try await fates(test, [UserRow(name: "ann", role: .user)])
        #expect(try await test.signIn("ann").role == .user)
    }

    @Test("the audit has an entry for each transaction of an import, with who made it and the counts")
    func audited() async throws {
        let test = try await TestBackend()
        let caller = try await test.signIn(with: try await test.key("shop", "users"))
        let before = try await test.audit().last?.number ?? 0
        let last = [UserRow(name: "a b"), UserRow(name: "user-7", tags: Self.tags("x"))]
        let rows = (0..<205).map { UserRow(name: "user-\($0)") } + last
        try await fates(test, rows, by: caller)
        let entries = try await test.audit(after: before)
        #expect(entries.map(\.action) == Array(repeating: "users.imported", count: 3))
        let full = "created=100 changed=0 unchanged=0 refused=0"
        #expect(entries.compactMap(\.details).sorted() == [full, full, "created=5 changed=1 unchanged=0 refused=1"].sorted())
        #expect(entries.allSatisfy { $0.actorKind == "key" })
        #expect(entries.first?.actor?.hasPrefix("shop") == true)
        #expect(entries.first?.subject == nil)
    }

    @Test("the audit names whom an import gave a role other than user, and whose role it changed")
    func grantsAudited() async throws {
        let test = try await TestBackend()
        _ = try await test.user("root", .admin)
        _ = try await test.user("ann", .sender)
        let caller = try await test.signIn(with: try await test.key("office", "admin"))
        let before = try await test.audit().last?.number ?? 0
        try await fates(
            test,
            [
                UserRow(name: "mallory", role: .admin), UserRow(name: "ann", role: .user), UserRow(name: "bob", role: .user),
                UserRow(name: "root", role: .admin),
            ], by: caller)
        let entries = try await test.audit(after: before).filter { $0.subject != nil }
        let texts = entries.map { "\($0.action) \($0.subject ?? "") \($0.details ?? "")" }
        #expect(texts.sorted() == ["user.changed ann role=user", "user.created mallory role=admin"])
        #expect(entries.allSatisfy { $0.actorKind == "key" && $0.actor?.hasPrefix("office") == true })
    }

    @Test("an import that changes nothing leaves no entry, and one that refuses a line does")
    func auditedRepeat() async throws {
        let test = try await TestBackend()
        try await fates(test, [UserRow(name: "ann")])
        let before = try await test.audit().last?.number ?? 0
        try await fates(test, [UserRow(name: "ann")])
        #expect(try await test.audit(after: before).isEmpty)
        try await fates(test, [UserRow(name: "ann"), UserRow(name: "bob", role: .service)])
        #expect(try await test.audit(after: before).map(\.details) == ["created=0 changed=0 unchanged=1 refused=1"])
    }

    @Test("an import that is cut off keeps whole transactions with their entries")
    func cutOff() async throws {
        let test = try await TestBackend()
        let rows = (0..<150).map { Result<UserRow, ServiceError>.success(UserRow(name: "user-\($0)")) }
        let lines = Self.stream(rows, then: ServiceError(.requestTimeout))
        #expect(await code { try await test.backend.importUsers(lines) { _ in } } == .requestTimeout)
        #expect(try await test.backend.users().count == 100)
        let entries = try await test.audit()
        #expect(entries.map(\.details) == ["created=100 changed=0 unchanged=0 refused=0"])
    }

    @Test("an import whose answer is lost on the way has the grant of each transaction that it stored in the audit")
    func cutOffGrant() async throws {
        let test = try await TestBackend()
        let lines = Self.stream((0..<100).map { .success(UserRow(name: "user-\($0)", role: $0 == 0 ? .admin : nil)) })
        await #expect(throws: CancellationError.self) {
            try await test.backend.importUsers(lines) { _ in throw CancellationError() }
        }
        #expect(try await test.audit().contains { $0.action == "user.created" && $0.subject == "user-0" })
    }

    @Test("an import that fails after a whole number of batches has stored every line before")
    func cutOffAtBatch() async throws {
        let test = try await TestBackend()
        let rows = (0..<200).map { Result<UserRow, ServiceError>.success(UserRow(name: "user-\($0)")) }
        let lines = Self.stream(rows, then: ServiceError(.payloadTooLarge))
        #expect(await code { try await test.backend.importUsers(lines) { _ in } } == .payloadTooLarge)
        #expect(try await test.backend.users().count == 200)
    }

    @Test("an import that is cut off before anything changed leaves no entry")
    func cutOffEarly() async throws {
        let test = try await TestBackend()
        let lines = Self.stream([.success(UserRow(name: "ann"))], then: ServiceError(.requestTimeout))
        #expect(await code { try await test.backend.importUsers(lines) { _ in } } == .requestTimeout)
        #expect(try await test.backend.users().isEmpty)
        #expect(try await test.audit().isEmpty)
    }
}
