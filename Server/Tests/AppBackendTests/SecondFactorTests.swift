import RichPushModel
import ServiceErrors
import Testing

@testable import AppBackend
@testable import SharedAccess

@Suite("Signing in to the console with a password and a second factor")
struct SecondFactorTests {
    /// The session that a link gives.
    private func session(_ test: TestBackend, _ name: String) async throws -> Principal {
        let link = try await test.backend.makeConsoleLink(for: name)
        return try await test.backend.beginConsoleSession(link: link.secret, from: TestBackend.source).principal
    }

    /// The code that the app shows now.
    private func code(_ test: TestBackend, _ name: String) async throws -> String {
        let userName = try #require(UserName(name))
        let user = try #require(try await test.store.user(named: userName)?.user)
        let factor = try #require(try await test.store.secondFactor(of: user.id))
        let secret = test.backend.parts.timeCodes.secret(salt: factor.salt)
        return secret.code(of: TimeCodeSecret.step(atSeconds: test.clock.now.seconds))
    }

    /// Sets one up; returns the recovery codes.
    private func setUp(_ test: TestBackend, _ name: String) async throws -> [String] {
        let principal = try await session(test, name)
        _ = try await test.backend.beginSecondFactor(for: principal)
        return try await test.backend.confirmSecondFactor(try await code(test, name), for: principal)
    }

    private func signIn(_ test: TestBackend, _ name: String, _ code: String, password: String? = nil) async throws -> Principal {
        try await test.backend.beginConsoleSession(
            user: name, password: password ?? TestBackend.password(of: name), code: code, from: TestBackend.source
        ).principal
    }

    @Test("password and code begin a session, each code once")
    func signsIn() async throws {
        let test = try await TestBackend()
        _ = try await test.user("ada", .admin)
        #expect(try await setUp(test, "ada").count == 10)
        // The code that confirmed it is used.
        let first = try await code(test, "ada")
        #expect(await Self.code { _ = try await signIn(test, "ada", first) } == .unauthenticated)
        test.clock.advance(by: .seconds(30))
        let next = try await code(test, "ada")
        let principal = try await signIn(
            test, "ADA", "\(next.prefix(3)) \(next.suffix(3))", password: TestBackend.password(of: "ada"))
        #expect(principal.name.text == "ada" && principal.consoleSession != nil)
        #expect(await Self.code { _ = try await signIn(test, "ada", next) } == .unauthenticated)
        let entry = try #require(try await test.audit().last { $0.action == "console.signed-in" })
        #expect(entry.details?.contains("with=password") == true)
    }

    private static func code(_ work: () async throws -> Void) async -> ServiceErrorCode? {
        do { try await work() } catch { return (error as? ServiceError)?.code }
        return nil
    }

    @Test("a wrong password or code, and a user without a second factor, begin none")
    func refuses() async throws {
        let test = try await TestBackend()
        for name in ["ada", "bob"] { _ = try await test.user(name, .admin) }
        _ = try await setUp(test, "ada")
        test.clock.advance(by: .seconds(30))
        let right = try await code(test, "ada")
        #expect(await Self.code { _ = try await signIn(test, "ada", right, password: "another password") } == .unauthenticated)
        #expect(await Self.code { _ = try await signIn(test, "ada", "000000") } == .unauthenticated)
        #expect(await Self.code { _ = try await signIn(test, "ada", "") } == .unauthenticated)
        let none = await refusal { _ = try await signIn(test, "bob", right) }
        #expect(none?.code == .unauthenticated && none?.detail?.contains("no second factor yet") == true)
        #expect(try await signIn(test, "ada", right).name.text == "ada")
    }

    @Test("after several wrong codes the right one has to wait")
    func guesses() async throws {
        let test = try await TestBackend()
        _ = try await test.user("ada", .admin)
        _ = try await setUp(test, "ada")
        test.clock.advance(by: .seconds(30))
        var codes: [ServiceErrorCode?] = []
        for _ in 0..<30 { codes.append(await Self.code { _ = try await signIn(test, "ada", "12345") }) }
        #expect(codes.first == .unauthenticated && codes.last == .tooManyAttempts)
        let right = try await code(test, "ada")
        #expect(await Self.code { _ = try await signIn(test, "ada", right) } == .tooManyAttempts)
        test.clock.advance(by: .seconds(3_600))
        #expect(try await signIn(test, "ada", try await code(test, "ada")).name.text == "ada")
    }

    @Test("with a second factor the password alone signs nothing, at once")
    func passwordAlone() async throws {
        let test = try await TestBackend()
        _ = try await test.user("ada", .admin)
        _ = try await test.signIn("ada")
        _ = try await setUp(test, "ada")
        let error = await refusal { _ = try await test.signIn("ada") }
        #expect(error?.code == .unauthenticated && error?.detail?.contains("second factor") == true)
    }

    @Test("a recovery code signs in once")
    func recovery() async throws {
        let test = try await TestBackend()
        _ = try await test.user("ada", .admin)
        let codes = try await setUp(test, "ada")
        let principal = try await signIn(test, "ada", codes[3].lowercased())
        #expect(try await test.backend.secondFactor(of: principal).recoveryCodes == 9)
        #expect(await Self.code { _ = try await signIn(test, "ada", codes[3]) } == .unauthenticated)
        #expect(try await signIn(test, "ada", codes[4]).name.text == "ada")
        #expect(await Self.code { _ = try await signIn(test, "ada", RecoveryCode.random()) } == .unauthenticated)
    }

    @Test("it is set up in the console alone, with a code of the app, within ten minutes")
    func setsUp() async throws {
        let test = try await TestBackend()
        let byPassword = try await test.user("ada", .admin)
        #expect(await Self.code { _ = try await test.backend.beginSecondFactor(for: byPassword) } == .forbidden)
        let principal = try await session(test, "ada")
        #expect(
            try await test.backend.secondFactor(of: principal) == SecondFactorStatus(isSet: false, since: nil, recoveryCodes: 0))
        #expect(await Self.code { _ = try await test.backend.confirmSecondFactor("123456", for: principal) } == .conflict)
        let first = try await test.backend.beginSecondFactor(for: principal)
        let second = try await test.backend.beginSecondFactor(for: principal)
        #expect(first.secret != second.secret && second.address.contains("Clarion:ada?secret=\(second.secret)&"))
        #expect(await Self.code { _ = try await test.backend.confirmSecondFactor("12345", for: principal) } == .invalidField)
        #expect(try await test.backend.secondFactor(of: principal).isSet == false)
        test.clock.advance(by: .seconds(601))
        let late = try await code(test, "ada")
        #expect(await Self.code { _ = try await test.backend.confirmSecondFactor(late, for: principal) } == .conflict)
        _ = try await setUp(test, "ada")
        let again = try await session(test, "ada")
        #expect(try await test.backend.secondFactor(of: again).since == test.clock.now)
        #expect(await Self.code { _ = try await test.backend.beginSecondFactor(for: again) } == .conflict)
    }

    @Test("the person removes it with a code, and an administrator for who has lost the phone")
    func removed() async throws {
        let test = try await TestBackend()
        for (name, role) in [("ada", UserRole.admin), ("bob", .sender), ("root", .admin)] {
            _ = try await test.user(name, role)
        }
        for name in ["ada", "bob"] { _ = try await setUp(test, name) }
        let principal = try await session(test, "ada")
        test.clock.advance(by: .seconds(30))
        #expect(await Self.code { try await test.backend.removeSecondFactor("12345", for: principal) } == .unauthenticated)
        try await test.backend.removeSecondFactor(try await code(test, "ada"), for: principal)
        #expect(try await test.signIn("ada").name.text == "ada")
        #expect(await Self.code { try await test.backend.removeSecondFactor("12345", for: principal) } == .notFound)
        let sender = try await session(test, "bob")
        #expect(await Self.code { try await test.backend.removeSecondFactor(ofUser: "root", by: sender) } == .forbidden)
        let root = try await test.signIn("root")
        func change(_ tags: [Tag]) async throws {
            try await test.backend.changeUser(
                name: "bob", role: nil, tags: tags, password: nil, isDisabled: nil, removesSecondFactor: true, by: root)
        }
        try await change([])
        let gold = [try #require(Tag("gold"))]
        #expect(await Self.code { try await change(gold) } == .notFound, "there is none any more")
        #expect(try await test.backend.user("bob").tags.isEmpty, "nothing of a wrong request is stored")
        #expect(try await test.signIn("bob").name.text == "bob")
        let removals = try await test.audit().filter { $0.details?.contains("second-factor=removed") == true }
        #expect(Set(removals.map(\.subject)) == ["ada", "bob"] && removals.count == 2)
    }
}
