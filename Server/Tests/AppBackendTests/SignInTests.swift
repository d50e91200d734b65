@testable import AppBackend
import RichPushModel
import ServiceErrors
import SharedAccess
import Testing

@Suite struct SignInTests {
    private func attempt(_ test: TestBackend, _ user: String, _ password: String, _ source: SourceAddress = TestBackend.source)
        async
        -> ServiceErrorCode?
    {
        await code { _ = try await test.backend.authenticate(.basic(user: user, password: password), from: source) }
    }

    @Test("a user signs in with the password only, whatever the case of the name")
    func signIn() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("Ann", .admin)
        #expect(ann.role == .admin)
        #expect(ann.installation == nil)
        #expect(await attempt(test, "aNN", TestBackend.password(of: "Ann")) == nil)
        #expect(await attempt(test, "Ann", "wrong") == .unauthenticated)
        #expect(await attempt(test, "ann", "ann") == .unauthenticated)
    }

    @Test("an unknown name, a malformed name and a wrong password get the same answer")
    func sameAnswer() async throws {
        let test = try await TestBackend()
        _ = try await test.user("ann")
        var answers: Set<String> = []
        for name in ["ann", "nobody", "no body", "", "x' OR '1'='1"] {
            do {
                _ = try await test.backend.authenticate(.basic(user: name, password: "wrong"), from: TestBackend.source)
            } catch {
                answers.insert("\(error)")
            }
        }
        #expect(answers.count == 1)
    }

    @Test("failures slow down guessing from one place, and a remembered success is never blocked")
    func throttled() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        for _ in 0..<Int(SignInCounts.here.freeFailures) { #expect(await attempt(test, "ann", "wrong") == .unauthenticated) }
        #expect(await attempt(test, "ann", "wrong") == .tooManyAttempts)
        #expect(await attempt(test, "ann", "another") == .tooManyAttempts)
        // Elsewhere and other users are not touched; neighbours in the same network are.
        #expect(await attempt(test, "ann", "wrong", SourceAddress("198.51.100.1")) == .unauthenticated)
        #expect(await attempt(test, "ann", "wrong", SourceAddress("192.0.2.99")) == .tooManyAttempts)
        #expect(await attempt(test, "bob", "wrong") == .unauthenticated)
        #expect(try await test.signIn("ann") == ann)
    }

    @Test("the answer to too many failures says how long to wait, and waiting that long helps")
    func retryAfter() async throws {
        let test = try await TestBackend()
        try await test.backend.addUser(name: "ann", password: TestBackend.password(of: "ann"), role: .user)
        for _ in 0..<Int(SignInCounts.here.freeFailures) { _ = await attempt(test, "ann", "wrong") }
        do {
            _ = try await test.signIn("ann")
            Issue.record("a throttled sign-in passed")
        } catch let error as ServiceError {
            #expect(error.code == .tooManyAttempts)
            test.clock.advance(by: .seconds(try #require(error.retryAfter)))
        }
        _ = try await test.signIn("ann")
    }

    @Test("a password change voids what was remembered within five seconds, also on other nodes")
    func revocation() async throws {
        let test = try await TestBackend()
        _ = try await test.user("ann")
        // Another node changes the password: this one is not notified.
        let hash = try PasswordHash(of: "changed elsewhere", cost: TestBackend.cheap)
        let name = try #require(UserName("ann"))
        let stored = try #require(try await test.store.user(named: name))
        #expect(try await test.store.setPassword(hash, of: stored.user.id))
        test.clock.advance(by: .seconds(5))
        #expect(await attempt(test, "ann", TestBackend.password(of: "ann")) == .unauthenticated)
        #expect(await attempt(test, "ann", "changed elsewhere") == nil)
    }

    @Test("a role counts within five seconds, a removal at once on this node")
    func changes() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann", .user)
        try await test.backend.setRole(.admin, ofUser: "ANN")
        #expect(try await test.signIn("ann").role == .admin)
        try await test.register(ann, handle: 1)
        try await test.backend.removeUser(name: "ann")
        #expect(await attempt(test, "ann", TestBackend.password(of: "ann")) == .unauthenticated)
        #expect(test.hub.devices.isEmpty)
    }

    @Test("ten requests at the same time with one credential are one verification, so none is throttled")
    func shared() async throws {
        let test = try await TestBackend()
        try await test.backend.addUser(name: "ann", password: TestBackend.password(of: "ann"), role: .user)
        let codes = await withTaskGroup(of: ServiceErrorCode?.self) { group in
            for _ in 0..<40 { group.addTask { await code { _ = try await test.signIn("ann") } } }
            return await group.reduce(into: [ServiceErrorCode?]()) { $0.append($1) }
        }
        #expect(codes.allSatisfy { $0 == nil })
    }

    @Test("many wrong passwords at the same time are throttled as if they came one after another")
    func parallelGuesses() async throws {
        let test = try await TestBackend()
        _ = try await test.user("ann")
        let codes = await withTaskGroup(of: ServiceErrorCode?.self) { group in
            for number in 0..<30 { group.addTask { await attempt(test, "ann", "guess \(number)") } }
            return await group.reduce(into: [ServiceErrorCode?]()) { $0.append($1) }
        }
        #expect(codes.count { $0 == .unauthenticated } == Int(SignInCounts.here.freeFailures))
        // One user has an eighth of the queue, so some of the others hear of that first.
        #expect(codes.allSatisfy { [.unauthenticated, .tooManyAttempts, .overloaded].contains($0) })
    }

    @Test("a malformed or forged bearer credential is refused with one answer")
    func bearer() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let (_, credential) = try await test.install(ann, "phone", handle: 1)
        let forged = "phone." + String(credential.dropFirst(6).reversed())
        for text in ["", "phone", forged, "other" + credential.dropFirst(5), String(repeating: "x", count: 100_000)] {
            #expect(
                await code { _ = try await test.backend.authenticate(.bearer(text), from: .local) } == .unauthenticated)
        }
    }

    @Test("user names and passwords are checked when a user is added")
    func addUser() async throws {
        let test = try await TestBackend()
        for name in ["", "a b", "ann/../bob", "änn", String(repeating: "a", count: 65), "a'; DROP TABLE users; --"] {
            let found = await code {
                try await test.backend.addUser(name: name, password: "this one is long enough", role: .user)
            }
            #expect(found == .invalidField, "\(name)")
        }
        for password in ["", "short", String(repeating: "x", count: 1025), "with\u{0}zero"] {
            let found = await code { try await test.backend.addUser(name: "ann", password: password, role: .user) }
            #expect(found == .invalidField)
        }
        _ = try await test.user("ann")
        #expect(
            await code { try await test.backend.addUser(name: "ANN", password: "this one is long enough", role: .user) }
                == .conflict)
        _ = try await test.user("bob")
        #expect(try await test.backend.users().map(\.name.text) == ["ann", "bob"])
        #expect(try await test.backend.users(after: "ann", limit: 1).map(\.name.text) == ["bob"])
    }

    @Test("in the demonstration any well-formed name signs in with itself, once it is a user")
    func demonstration() async throws {
        let test = try await TestBackend()
        let demonstration = DemonstrationAuthenticator(users: test.store, clock: test.clock)
        let ann = try await demonstration.authenticate(user: "ann", password: "ann", from: .local, refused: {})
        #expect(ann.role == .sender)
        for (user, password) in [("ann", "ann"), ("Ann", "Ann"), ("ann", "Ann"), ("ANN", "ann")] {
            let other = try await demonstration.authenticate(user: user, password: password, from: .local, refused: {})
            #expect(other == ann, "a user is one however the name is written")
        }
        for (user, password) in [("ann", "anna"), ("ann", ""), ("", ""), ("a b", "a b"), ("a/b", "a/b")] {
            let found = await code {
                _ = try await demonstration.authenticate(user: user, password: password, from: .local, refused: {})
            }
            #expect(found == .unauthenticated)
        }
        // Such a user has no password, so the rule ends where the demonstration ends.
        #expect(await attempt(test, "ann", "ann") == .unauthenticated)
    }

    @Test(
        "a password that is short, common or the user's name is refused in every way to set one",
        arguments: [
            "elevenchars", "password1234", "Passw0rd2024!", "P@$$w0rd!!!!", "passwordpassword", "123456789012", "abcdefghijkl",
            "qwertyuiop[]", "1qaz2wsx3edc", "aaaaaaaaaaaa", "abcabcabcabc", "letmein-letmein", "Welcome12345", "Liverpool2024!",
            "Summer-2025!!", "iloveyou1234", "ann.lee12345", "ANN.LEE.password", "annannannann", "0123456789876543210",
        ])
    func passwordRule(_ password: String) async throws {
        let test = try await TestBackend()
        #expect(await code { try await test.backend.addUser(name: "ann.lee", password: password, role: .user) } == .invalidField)
        try await test.backend.addUser(name: "ann.lee", password: "three plain unlisted terms", role: .user)
        #expect(await code { try await test.backend.setPassword(password, ofUser: "Ann.Lee") } == .invalidField)
        #expect(await attempt(test, "ann.lee", "three plain unlisted terms") == nil)
    }

    @Test(
        "a password with more than what is common is taken",
        arguments: [
            "correct horse battery", "twelve chars", "password of ann", "k3Zq-81xw-Pm0c", "ich mag Käsebrot", "1234 sheep asleep",
            "ann's first bicycle", "\u{1F600}\u{1F601}\u{1F602} and nine", "82734659102384",
        ])
    func goodPassword(_ password: String) async throws {
        let test = try await TestBackend()
        try await test.backend.addUser(name: "ann", password: password, role: .user)
        #expect(await attempt(test, "ann", password) == nil)
    }

    @Test("the length that is asked for can be set, and a refusal says it without the password")
    func passwordLength() async throws {
        let test = try await TestBackend { $0.minimumPasswordLength = 20 }
        let error = await #expect(throws: ServiceError.self) {
            try await test.backend.addUser(name: "ann", password: "nineteen characters", role: .user)
        }
        #expect(error?.code == .invalidField)
        #expect(error?.detail == "password: it has at least 20 characters")
        try await test.backend.addUser(name: "ann", password: "now twenty character", role: .user)
    }
}
