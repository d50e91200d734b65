import AppBackend
import PushHub
import RichPushModel
import ServiceErrors
import Testing

@Suite("The management of service keys")
struct ServiceKeyManagementTests {
    @Test("after a roll both secrets hold for the overlap, and then the new one alone")
    func roll() async throws {
        let test = try await TestBackend()
        let old = try await test.key("shop", "send:shop:", "status") {
            ($0.networks, $0.requestsPerMinute) = (["192.0.2.0/24"], 100)
        }
        let new = try await test.backend.rollKey(old.id, overlap: .seconds(60))
        #expect(new.id != old.id)
        #expect(new.key != old.key)
        #expect(new.name == "shop")
        #expect(new.scopes == ["send:shop:", "status"])
        #expect(new.networks == ["192.0.2.0/24"])
        #expect(new.requestsPerMinute == 100)
        test.clock.advance(by: .seconds(59))
        _ = try await test.signIn(with: old)
        _ = try await test.signIn(with: new)
        test.clock.advance(by: .seconds(1))
        #expect(await code { _ = try await test.signIn(with: old) } == .unauthenticated)
        _ = try await test.signIn(with: new)
    }

    @Test("a roll without an overlap ends the old secret at once")
    func rollAtOnce() async throws {
        let test = try await TestBackend()
        let old = try await test.key("shop", "send")
        _ = try await test.signIn(with: old)
        let new = try await test.backend.rollKey(old.id, overlap: .zero)
        #expect(await code { _ = try await test.signIn(with: old) } == .unauthenticated)
        _ = try await test.signIn(with: new)
    }

    @Test("of a key two secrets hold at most, and what has ended is not rolled")
    func rollTwice() async throws {
        let test = try await TestBackend()
        let key = try await test.key("shop", "send")
        let second = try await test.backend.rollKey(key.id, overlap: .seconds(60))
        #expect(await code { _ = try await test.backend.rollKey(key.id, overlap: .zero) } == .conflict)
        #expect(await code { _ = try await test.backend.rollKey(second.id, overlap: .zero) } == .conflict)
        test.clock.advance(by: .seconds(60))
        #expect(await code { _ = try await test.backend.rollKey(key.id, overlap: .zero) } == .conflict)
        _ = try await test.backend.rollKey(second.id, overlap: .zero)
        #expect(await code { _ = try await test.backend.rollKey(999, overlap: .zero) } == .notFound)
        let long = await code { _ = try await test.backend.rollKey(second.id, overlap: .seconds(7 * 86_400 + 1)) }
        #expect(long == .invalidField)
    }

    @Test("a name is that of one key that holds, and of no user")
    func names() async throws {
        let test = try await TestBackend()
        let key = try await test.key("shop", "send")
        #expect(await code { _ = try await test.key("SHOP", "send") } == .conflict)
        try await test.backend.revokeKey(key.id)
        #expect(try await test.key("shop", "send").id != key.id)
        #expect(try await test.backend.keys().keys.map(\.name) == ["shop", "shop"])
    }

    @Test(
        "a request for a key that cannot be names its field",
        arguments: [
            ("name:", ServiceKeyRequest(name: "", scopes: ["send"])), ("name:", ServiceKeyRequest(name: "a@b", scopes: ["send"])),
            ("name:", ServiceKeyRequest(name: "a b", scopes: ["send"])),
            ("name:", ServiceKeyRequest(name: String(repeating: "a", count: 41), scopes: ["send"])),
            ("scopes:", ServiceKeyRequest(name: "a", scopes: [])),
            ("scopes:", ServiceKeyRequest(name: "a", scopes: (0..<17).map { "send:\($0)" })),
            ("scopes[1]:", ServiceKeyRequest(name: "a", scopes: ["send", "root"])),
            ("scopes[0]:", ServiceKeyRequest(name: "a", scopes: ["status:x"])),
            ("scopes[0]:", ServiceKeyRequest(name: "a", scopes: ["send:"])),
            ("scopes[0]:", ServiceKeyRequest(name: "a", scopes: ["Send"])),
            ("networks[0]:", ServiceKeyRequest(name: "a", scopes: ["send"], networks: ["example.org"])),
            ("networks[1]:", ServiceKeyRequest(name: "a", scopes: ["send"], networks: ["10.0.0.1", "10.0.0.1/8"])),
            ("requestsPerMinute:", ServiceKeyRequest(name: "a", scopes: ["send"], requestsPerMinute: 0)),
            ("requestsPerMinute:", ServiceKeyRequest(name: "a", scopes: ["send"], requestsPerMinute: 1_000_001)),
            ("expiresAt:", ServiceKeyRequest(name: "a", scopes: ["send"], expiresAt: Timestamp(seconds: 1))),
            ("expiresAt:", ServiceKeyRequest(name: "a", scopes: ["send"], expiresAt: Timestamp(seconds: 9_000_000_000))),
        ])
    func invalid(field: String, request: ServiceKeyRequest) async throws {
        let test = try await TestBackend()
        let error = await refusal { _ = try await test.backend.createKey(request) }
        #expect(error?.code == .invalidField)
        #expect(error?.detail?.hasPrefix(field) == true, "\(error?.detail ?? "no detail")")
        #expect(try await test.rows(of: "service_keys") == 0)
    }

    @Test(
        "a key that manages users has no power over those who may more than it may, and over no other key",
        arguments: [
            (["users"], [UserRole.user]), (["users", "send:shop-"], [.user]), (["users", "send"], [.user, .sender]),
            (["users", "admin"], [.user, .sender, .admin, .auditor, .service]),
        ])
    func power(scopes: [String], roles: [UserRole]) async throws {
        let test = try await TestBackend()
        for role in UserRole.ofPersons { try await test.backend.addUser(name: role.rawValue, password: nil, role: role) }
        _ = try await test.key("other", "send")
        let caller = try await test.signIn(with: try await test.key("desk") { $0.scopes = scopes })
        for role in UserRole.ofPersons {
            let expected: ServiceErrorCode? = roles.contains(role) ? nil : .forbidden
            let backend = test.backend
            #expect(
                await code { try await backend.addUser(name: "new-\(role)", password: nil, role: role, by: caller) } == expected)
            #expect(await code { try await backend.setRole(role, ofUser: "user", by: caller) } == expected)
            try await backend.setRole(.user, ofUser: "user")
            #expect(await code { try await backend.setDisabled(true, ofUser: role.rawValue, by: caller) } == expected)
            #expect(await code { try await backend.eraseUser(name: role.rawValue, by: caller) } == expected)
            if expected == nil { try await backend.addUser(name: role.rawValue, password: nil, role: role) }
        }
        let expected: ServiceErrorCode? = roles.contains(.service) ? nil : .forbidden
        #expect(await code { try await test.backend.setDisabled(true, ofUser: "@other", by: caller) } == expected)
        let removal: ServiceErrorCode = roles.contains(.service) ? .conflict : .forbidden
        #expect(await code { try await test.backend.removeUser(name: "@other", by: caller) } == removal)
        #expect(await code { try await test.backend.eraseUser(name: "@other", by: caller) } == removal)
    }

    @Test("the account of a key is not removed, so a rolled key goes on working")
    func keepsTheAccount() async throws {
        let test = try await TestBackend()
        let key = try await test.key("shop", "send")
        #expect(await code { try await test.backend.removeUser(name: "@shop") } == .conflict)
        #expect(await code { try await test.backend.eraseUser(name: "@shop") } == .conflict)
        let rolled = try await test.backend.rollKey(key.id, overlap: .zero)
        #expect(try await test.signIn(with: rolled).name.text == "@shop")
    }

    @Test("keys are listed in pages")
    func pages() async throws {
        let test = try await TestBackend()
        for name in ["a", "b", "c"] { _ = try await test.key(name, "send") }
        let first = try await test.backend.keys(limit: 2)
        #expect(first.keys.map(\.name) == ["a", "b"])
        let second = try await test.backend.keys(after: try #require(first.next), limit: 2)
        #expect(second.keys.map(\.name) == ["c"])
        #expect(second.next == nil)
    }

    @Test("of the secret of a key the database has neither the text nor its random digits")
    func stored() async throws {
        let test = try await TestBackend()
        let secret = try #require(try await test.key("shop", "send").key)
        let digits = secret.dropFirst(4).prefix(43)
        #expect(try await test.rows(of: "service_keys WHERE hint LIKE '%\(digits)%' OR name LIKE '%\(digits)%'") == 0)
        #expect(try await test.store.key(digest: Array(secret.utf8)) == nil)
    }
}
