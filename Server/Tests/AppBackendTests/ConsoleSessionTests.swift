import AuditTrail
import RichPushModel
import ServiceErrors
import Testing

@testable import AppBackend

@Suite("Sessions of the console")
struct ConsoleSessionTests {
    private static func begin(_ test: TestBackend, _ name: String) async throws -> String {
        let link = try await test.backend.makeConsoleLink(for: name)
        return try await test.backend.beginConsoleSession(link: link.secret, from: TestBackend.source).secret
    }

    private static func user(_ test: TestBackend, _ secret: String) async -> String? {
        try? await test.backend.authenticate(.consoleSession(secret), from: TestBackend.source).name.text
    }

    /// The time after which every node has looked at a session again.
    private static let recheck: Duration = .seconds(5)

    @Test("a link holds for two minutes")
    func linkExpires() async throws {
        let test = try await TestBackend()
        _ = try await test.user("ada", .admin)
        let link = try await test.backend.makeConsoleLink(for: "ADA")
        #expect(link.expiresAt == test.clock.now + .seconds(120))
        test.clock.advance(by: .seconds(120))
        let error = await #expect(throws: ServiceError.self) {
            try await test.backend.beginConsoleSession(link: link.secret, from: TestBackend.source)
        }
        #expect(error?.code == .unauthenticated)
    }

    @Test("a session ends when it is not used for the idle time, and goes on while it is")
    func idle() async throws {
        let test = try await TestBackend { $0.consoleIdle = .seconds(600) }
        _ = try await test.user("ada", .admin)
        let secret = try await Self.begin(test, "ada")
        for _ in 0..<3 {
            test.clock.advance(by: .seconds(500))
            #expect(await Self.user(test, secret) == "ada")
        }
        test.clock.advance(by: .seconds(600))
        #expect(await Self.user(test, secret) == nil)
    }

    @Test("a session ends at the end of its life, however much it is used")
    func life() async throws {
        let test = try await TestBackend {
            $0.consoleIdle = .seconds(600)
            $0.consoleLife = .seconds(1_500)
        }
        _ = try await test.user("ada", .admin)
        let secret = try await Self.begin(test, "ada")
        for _ in 0..<2 {
            test.clock.advance(by: .seconds(500))
            #expect(await Self.user(test, secret) == "ada")
        }
        test.clock.advance(by: .seconds(500))
        #expect(await Self.user(test, secret) == nil)
    }

    @Test("a change of the role, of the password and of the right to sign in ends a session on every node")
    func ends() async throws {
        let test = try await TestBackend()
        for (name, change) in [
            ("ada", { try await test.backend.changeUser(name: "ada", role: .user, tags: nil, password: nil, isDisabled: nil) }),
            ("bob", { try await test.backend.setPassword("another password", ofUser: "bob") }),
            ("cid", { try await test.backend.changeUser(name: "cid", role: nil, tags: nil, password: nil, isDisabled: true) }),
            ("dan", { try await test.backend.endSessions(ofUser: "dan") }),
            ("eve", { try await test.backend.removeUser(name: "eve") }),
        ] as [(String, () async throws -> Void)] {
            _ = try await test.user(name, .admin)
            let secret = try await Self.begin(test, name)
            // Another node, which has verified the session a moment ago.
            let other = RichPushBackend(parts: test.backend.parts)
            _ = try await other.authenticate(.consoleSession(secret), from: TestBackend.source)
            try await change()
            test.clock.advance(by: Self.recheck)
            await #expect(throws: ServiceError.self, "\(name)") {
                try await other.authenticate(.consoleSession(secret), from: TestBackend.source)
            }
        }
    }

    @Test("a session acts with the role of its user")
    func role() async throws {
        let test = try await TestBackend()
        _ = try await test.user("ada", .auditor)
        let secret = try await Self.begin(test, "ada")
        let principal = try await test.backend.authenticate(.consoleSession(secret), from: TestBackend.source)
        #expect(try principal.require(.readAudit) == .all)
        #expect(throws: ServiceError.self) { try principal.require(.changeUsers) }
    }

    @Test("who cannot sign in gets no link")
    func noLink() async throws {
        let test = try await TestBackend()
        _ = try await test.user("ada")
        try await test.backend.changeUser(name: "ada", role: nil, tags: nil, password: nil, isDisabled: true)
        _ = try await test.backend.createKey(ServiceKeyRequest(name: "shop", scopes: ["send"]))
        for (name, code) in [("ada", ServiceErrorCode.conflict), ("@shop", .conflict), ("zoe", .notFound)] {
            let error = await #expect(throws: ServiceError.self) { try await test.backend.makeConsoleLink(for: name) }
            #expect(error?.code == code, "\(name)")
        }
    }

    @Test("the audit has links, sign-ins, refusals and sign-outs, and no secret")
    func audited() async throws {
        let test = try await TestBackend()
        _ = try await test.user("ada", .admin)
        // Entries of one moment have no order.
        test.clock.advance(by: .seconds(1))
        let link = try await test.backend.makeConsoleLink(for: "ada")
        test.clock.advance(by: .seconds(1))
        let session = try await test.backend.beginConsoleSession(link: link.secret, from: TestBackend.source)
        test.clock.advance(by: .seconds(1))
        _ = try? await test.backend.beginConsoleSession(link: link.secret, from: TestBackend.source)
        test.clock.advance(by: .seconds(1))
        let principal = try await test.backend.authenticate(.consoleSession(session.secret), from: TestBackend.source)
        try await test.backend.endConsoleSession(principal)
        let entries = try await test.audit(after: 0)
        #expect(
            entries.map(\.action).suffix(4) == [
                "console.link-made", "console.signed-in", "sign-in.refused", "console.signed-out",
            ])
        let texts = entries.map { "\($0)" }.joined()
        #expect(!texts.contains(link.secret))
        #expect(!texts.contains(session.secret))
    }
}
