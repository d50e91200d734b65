import AuditTrail
import ClarionTesting
import Foundation
import Logging
import RichPushModel
import ServiceErrors
import SharedAccess
import Testing
import TrustedIssuers

@testable import AppBackend

/// A backend whose console has a provider.
private struct ProviderAtWork {
    let test: TestBackend
    let backend: RichPushBackend
    let provider: ScriptedProvider
    private let keys: Task<Void, Never>

    init(_ fields: [String: [String]]) async throws {
        test = try await TestBackend()
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        provider = ScriptedProvider { [clock = test.clock] in clock.now.milliseconds / 1_000 }
        let signIn = try await provider.signIn(fields, clock: test.clock, logger: logger)
        keys = Task { await signIn.tokens.run() }
        var parts = test.backend.parts
        parts.provider = signIn
        backend = RichPushBackend(parts: parts)
    }

    func end() async {
        keys.cancel()
        await keys.value
    }

    /// Signs a person in; the groups are those of the ID token.
    func signIn(_ subject: String, groups: [String] = []) async throws -> NewConsoleSession {
        let start = try await backend.beginProviderSignIn(from: TestBackend.source)
        let list = groups.map { "\"\($0)\"" }.joined(separator: ",")
        let fields = ScriptedProvider.fields(provider.agree(to: start.address, as: subject, claims: ["groups": "[\(list)]"]))
        return try await backend.finishProviderSignIn(
            .init(code: fields["code"], state: fields["state"]), attempt: start.attempt, from: TestBackend.source)
    }

    /// Why a person gets no session; `nil` when they get one.
    func refusal(_ subject: String, groups: [String] = []) async throws -> ConsoleRefusal? {
        do {
            _ = try await signIn(subject, groups: groups)
            return nil
        } catch let refusal as ConsoleRefusal { return refusal }
    }

    func role(of name: String) async throws -> UserRole { try await backend.user(name).role }

    func user(of session: NewConsoleSession) async -> String? {
        try? await backend.authenticate(.consoleSession(session.secret), from: TestBackend.source).name.text
    }

    /// The details of the entries of an action, oldest first.
    func audit(_ action: AuditAction) async throws -> [String] {
        while try await test.store.sealAudit(limit: 100) > 0 {}
        var filter = AuditFilter()
        filter.action = action
        let found = try await test.store.auditEntries(filter, after: 0, before: .max, limit: 100)
        return found.reversed().map { $0.entry.details.content?.text ?? "" }
    }
}

@Suite("Sessions of the console that a provider begins")
struct ProviderSessionTests {
    private static let grouped = [
        "create-users": ["true"], "role-claim": ["/groups"], "role-values": ["ops=admin", "news=sender"],
    ]

    @Test("a person is created once, with the role of their group, and is signed in")
    func creates() async throws {
        let work = try await ProviderAtWork(Self.grouped)
        let session = try await work.signIn("ada", groups: ["staff", "ops"])
        #expect(session.principal.role == .admin)
        #expect(await work.user(of: session) == "ada")
        _ = try await work.signIn("ada", groups: ["ops"])
        #expect(try await work.test.rows(of: "users") == 1)
        #expect(try await work.audit(.userCreated) == ["role=admin with=token issuer=\(ScriptedProvider.issuer)"])
        let entry = "with=provider issuer=\(ScriptedProvider.issuer)"
        #expect(try await work.audit(.consoleSignedIn) == [entry, entry])
        await work.end()
    }

    @Test("another group at the next sign-in is another role, with an entry, and ends the session before")
    func changes() async throws {
        let work = try await ProviderAtWork(Self.grouped)
        let first = try await work.signIn("ada", groups: ["news"])
        #expect(await work.user(of: first) == "ada")
        let second = try await work.signIn("ada", groups: ["ops"])
        #expect(second.principal.role == .admin)
        #expect(try await work.role(of: "ada") == .admin)
        #expect(await work.user(of: first) == nil)
        #expect(await work.user(of: second) == "ada")
        #expect(try await work.audit(.userChanged) == ["role=admin with=provider issuer=\(ScriptedProvider.issuer)"])
        await work.end()
    }

    @Test("who is in no group any more is refused, and keeps neither role nor session")
    func loses() async throws {
        let work = try await ProviderAtWork(Self.grouped)
        let session = try await work.signIn("ada", groups: ["ops"])
        #expect(try await work.refusal("ada") == .noRole)
        #expect(try await work.role(of: "ada") == .user)
        #expect(await work.user(of: session) == nil)
        #expect(try await work.audit(.signInRefused) == ["reason=no-role issuer=\(ScriptedProvider.issuer)"])
        await work.end()
    }

    @Test("who is in no group is not created")
    func noGroup() async throws {
        let work = try await ProviderAtWork(Self.grouped)
        #expect(try await work.refusal("ada") == .noRole)
        #expect(try await work.test.rows(of: "users") == 0)
        await work.end()
    }

    @Test("without rules for roles the role is what an administrator set")
    func ownRoles() async throws {
        let work = try await ProviderAtWork(["create-users": ["true"]])
        #expect(try await work.signIn("ada", groups: ["ops"]).principal.role == .user)
        try await work.backend.setRole(.sender, ofUser: "ada")
        #expect(try await work.signIn("ada").principal.role == .sender)
        await work.end()
    }

    @Test("an unknown person is refused where the settings create none")
    func unknown() async throws {
        let work = try await ProviderAtWork([:])
        #expect(try await work.refusal("ada") == .noUser)
        await work.end()
    }

    @Test("a name that another user has is refused, and their account is not joined")
    func takenName() async throws {
        let work = try await ProviderAtWork(Self.grouped)
        try await work.backend.addUser(name: "ada", password: nil, role: .admin)
        #expect(try await work.refusal("ada", groups: ["ops"]) == .nameTaken)
        #expect(try await work.test.rows(of: "identities") == 0)
        await work.end()
    }

    @Test("a disabled person is refused, whatever their group")
    func disabled() async throws {
        let work = try await ProviderAtWork(Self.grouped)
        _ = try await work.signIn("ada", groups: ["news"])
        try await work.backend.setDisabled(true, ofUser: "ada")
        work.test.clock.advance(by: .seconds(5))
        #expect(try await work.refusal("ada", groups: ["ops"]) == .disabled)
        #expect(try await work.role(of: "ada") == .sender)
        await work.end()
    }

    @Test("signing a person out everywhere ends the session, and they can sign in again")
    func everywhere() async throws {
        let work = try await ProviderAtWork(Self.grouped)
        let session = try await work.signIn("ada", groups: ["news"])
        work.test.clock.advance(by: .seconds(2))
        try await work.backend.endSessions(ofUser: "ada")
        #expect(await work.user(of: session) == nil)
        work.test.clock.advance(by: .seconds(2))
        #expect(try await work.refusal("ada", groups: ["news"]) == nil)
        await work.end()
    }

    @Test("faults of the provider are refusals with an entry")
    func faults() async throws {
        let work = try await ProviderAtWork(Self.grouped)
        let start = try await work.backend.beginProviderSignIn(from: TestBackend.source)
        await #expect(throws: ConsoleRefusal.beginAgain) {
            try await work.backend.finishProviderSignIn(
                .init(code: "a", state: "b"), attempt: start.attempt, from: TestBackend.source)
        }
        #expect(try await work.audit(.signInRefused) == ["reason=begin-again with=provider"])
        await work.end()
    }

    @Test("every fault of the provider has a reason of the same name", arguments: ProviderFault.allCases)
    func names(fault: ProviderFault) { #expect(ConsoleRefusal(rawValue: fault.rawValue) != nil) }

    @Test("one network has 120 sign-ins a minute, and others are not held up by it")
    func pace() async throws {
        let work = try await ProviderAtWork(Self.grouped)
        for _ in 0..<120 { _ = try await work.backend.beginProviderSignIn(from: TestBackend.source) }
        await #expect(throws: ConsoleRefusal.tooMany) { _ = try await work.backend.beginProviderSignIn(from: TestBackend.source) }
        _ = try await work.backend.beginProviderSignIn(from: SourceAddress("198.51.100.9"))
        work.test.clock.advance(by: .seconds(1))
        _ = try await work.backend.beginProviderSignIn(from: TestBackend.source)
        await work.end()
    }

    @Test("a person has twenty sessions at most, the newest")
    func limit() async throws {
        let work = try await ProviderAtWork(Self.grouped)
        for _ in 0..<22 {
            _ = try await work.signIn("ada", groups: ["ops"])
            work.test.clock.advance(by: .seconds(1))
        }
        #expect(try await work.test.rows(of: "console_sessions") == 20)
        await work.end()
    }
}
