import AppBackend
import ClarionTesting
import PushHub
import RichPushModel
import ServiceErrors
import SharedAccess
import Testing

@Suite("Service keys")
struct ServiceKeyTests {
    /// Why the key may not be used; `nil` when it may.
    private func use(_ key: ServiceKeyAnswer, _ test: TestBackend) async -> ServiceError? {
        await refusal { _ = try await test.signIn(with: key) }
    }

    @Test("a key acts as its account, and its secret is in the first answer only")
    func account() async throws {
        let test = try await TestBackend()
        let key = try await test.key("shop", "send")
        let caller = try await test.signIn(with: key)
        #expect(caller.name.text == "@shop")
        #expect(caller.key?.name == "shop")
        #expect(key.account == "@shop")
        #expect(key.createdBy == "a command")
        #expect(key.key?.hasPrefix("clk_") == true)
        let listed = try await test.backend.keys().keys
        #expect(listed.map(\.name) == ["shop"])
        #expect(listed.first?.key == nil)
        #expect(listed.first?.hint == key.hint)
        #expect(key.expiresAt == test.clock.now + .seconds(365 * 86_400))
    }

    @Test("a key without the scope is refused with the scopes that it would need")
    func scopes() async throws {
        let test = try await TestBackend()
        let caller = try await test.signIn(with: try await test.key("shop", "status", "users"))
        let error = await refusal { _ = try await test.send(caller, to: "news") }
        #expect(error?.code == .forbidden)
        #expect(error?.detail == "this service key may not send; it needs one of the scopes admin, send")
        let other = await refusal { try await test.backend.setRead(true, of: try #require(RichID("1")), for: caller) }
        #expect(other?.detail == "this service key may not mark notifications as read; no service key may do that")
        #expect(test.hub.sends.isEmpty)
    }

    @Test(
        "a key may do what any of its scopes allows",
        arguments: [
            (["send"], BackendOperation.send, AccessExtent.all), (["send"], .readSends, .own),
            (["send", "status"], .readSends, .all),
            (["send:shop:"], .send, .all), (["status"], .send, .none), (["users"], .changeUsers, .all),
            (["users"], .manageKeys, .none),
            (["devices"], .listDevices, .all), (["audit"], .readAudit, .all), (["sign-in"], .mintSignInTokens, .all),
            (["admin"], .manageKeys, .all), (["admin"], .readInbox, .none), (["admin"], .send, .all),
        ])
    func table(scopes: [String], operation: BackendOperation, extent: AccessExtent) async throws {
        let test = try await TestBackend()
        let key = try await test.key("shop") { $0.scopes = scopes }
        #expect(AccessTable.extent(of: operation, for: try await test.signIn(with: key)) == extent)
    }

    @Test(
        "a key with a prefix sends to audiences that only a device with such a tag can be in",
        arguments: [
            ("shop:news", true), ("SHOP:news", true), ("shop:a && shop:b", true), ("shop:a || shop:b", true),
            ("shop:a && !shop:b", true), ("news", false), ("shop", false), ("!shop:a", false), ("!news", false),
            ("shop:a || news", false), ("shop:a && news", false), ("shop:a || !shop:b", false), ("shop:a || username:ann", false),
            ("username:ann", false), ("!(shop:a && shop:b)", false),
        ])
    func prefixes(audience: String, isAllowed: Bool) async throws {
        let test = try await TestBackend()
        let caller = try await test.signIn(with: try await test.key("shop", "send:shop:"))
        let refused = await code { _ = try await test.send(caller, to: audience) }
        #expect(refused == (isAllowed ? nil : .forbidden))
        #expect(test.hub.sends.count == (isAllowed ? 1 : 0))
    }

    @Test("a key with two prefixes does not send to both with one audience, and the refusal names them")
    func twoPrefixes() async throws {
        let test = try await TestBackend()
        let caller = try await test.signIn(with: try await test.key("shop", "send:a:", "send:b:"))
        _ = try await test.send(caller, to: "b:x")
        let error = await refusal { _ = try await test.send(caller, to: "a:x || b:y") }
        #expect(error?.code == .forbidden)
        #expect(error?.detail == "audience: this service key sends to tags that begin with a:, b: only")
    }

    @Test("a key with a prefix does not send the Notify Users tutorial's text to a user")
    func textToUser() async throws {
        let test = try await TestBackend()
        let caller = try await test.signIn(with: try await test.key("shop", "send:shop:"))
        let refused = await code {
            _ = try await test.backend.sendText("hello", platform: "apns", toUser: "ann", for: caller)
        }
        #expect(refused == .forbidden)
    }

    @Test("a key has no devices, so it has to name an audience")
    func needsAudience() async throws {
        let test = try await TestBackend()
        let caller = try await test.signIn(with: try await test.key("shop", "send"))
        #expect(await code { _ = try await test.send(caller) } == .invalidAudience)
        #expect(await code { _ = try await test.backend.sendDefaultPicture(for: caller) } == .invalidAudience)
        #expect(test.hub.sends.isEmpty)
    }

    @Test("a key may be used from its networks only, however recently it was used from there")
    func networks() async throws {
        let test = try await TestBackend()
        let key = try await test.key("shop", "send") { $0.networks = ["192.0.2.0/28", "2001:db8::/32"] }
        _ = try await test.signIn(with: key, from: SourceAddress("192.0.2.7"))
        _ = try await test.signIn(with: key, from: SourceAddress("::ffff:192.0.2.7"))
        _ = try await test.signIn(with: key, from: SourceAddress("2001:db8:1::9"))
        for address in ["192.0.2.99", "10.0.0.1", "2001:db9::1", "local"] {
            let refused = await code { _ = try await test.signIn(with: key, from: SourceAddress(address)) }
            #expect(refused == .forbidden, "\(address)")
        }
    }

    @Test("a key with a limit makes so many requests a minute, and the refusal says when the next one may come")
    func rate() async throws {
        let test = try await TestBackend()
        let key = try await test.key("shop", "send") { $0.requestsPerMinute = 3 }
        let other = try await test.key("news", "send") { $0.requestsPerMinute = 3 }
        for _ in 0..<3 { _ = try await test.signIn(with: key) }
        let error = await use(key, test)
        #expect(error?.code == .tooManyRequests)
        #expect(error?.retryAfter == 20)
        #expect(await use(other, test) == nil)
        test.clock.advance(by: .seconds(21))
        #expect(await use(key, test) == nil)
        #expect(await use(key, test)?.code == .tooManyRequests)
    }

    @Test("each answer to a key with a limit says what is left of it, and one without a limit gets no such field")
    func allowance() async throws {
        let test = try await TestBackend()
        let key = try await test.key("shop", "send") { $0.requestsPerMinute = 3 }
        let secret = PresentedCredential.bearer(try #require(key.key))
        var noted: [RequestAllowance] = []
        for pause in [0, 10, 0] {
            test.clock.advance(by: .seconds(pause))
            _ = try await test.backend.authenticate(secret, from: TestBackend.source) { noted.append($0) }
        }
        let refused = await code {
            _ = try await test.backend.authenticate(secret, from: TestBackend.source) { noted.append($0) }
        }
        #expect(refused == .tooManyRequests)
        #expect(noted.map(\.perMinute) == [3, 3, 3, 3])
        #expect(noted.map(\.left) == [2, 1, 0, 0])
        #expect(noted.map(\.secondsToNext) == [20, 10, 10, 10])
        let free = try await test.key("news", "send")
        _ = try await test.backend.authenticate(.bearer(try #require(free.key)), from: TestBackend.source) { noted.append($0) }
        #expect(noted.count == 4)
    }

    @Test("a key ends at its moment, although it was used a moment before")
    func expiry() async throws {
        let test = try await TestBackend()
        let key = try await test.key("shop", "send") { $0.expiresAt = test.clock.now + .seconds(60) }
        test.clock.advance(by: .milliseconds(59_999))
        #expect(await use(key, test) == nil)
        test.clock.advance(by: .milliseconds(1))
        let error = await use(key, test)
        #expect(error?.code == .unauthenticated)
        #expect(error?.detail == "this service key has expired")
    }

    @Test("a key that another node revoked holds for five seconds at most, and one that this node revoked not at all")
    func revocation() async throws {
        let test = try await TestBackend()
        let (here, there) = (try await test.key("here", "send"), try await test.key("there", "send"))
        for key in [here, there] { #expect(await use(key, test) == nil) }
        #expect(try await test.store.revokeKey(there.id, at: test.clock.now, audit: nil))
        test.clock.advance(by: .seconds(5))
        let error = await use(there, test)
        #expect(error?.code == .unauthenticated)
        #expect(error?.detail == "this service key was revoked")
        #expect(await use(here, test) == nil)
        try await test.backend.revokeKey(here.id)
        #expect(await use(here, test)?.code == .unauthenticated)
        #expect(await code { try await test.backend.revokeKey(here.id) } == .notFound)
    }

    @Test("the keys of an account that is disabled are refused until it is enabled")
    func disabledAccount() async throws {
        let test = try await TestBackend()
        let key = try await test.key("shop", "send")
        #expect(await use(key, test) == nil)
        try await test.backend.setDisabled(true, ofUser: "@shop")
        let error = await use(key, test)
        #expect(error?.code == .unauthenticated)
        #expect(error?.detail == "the account of this service key is disabled")
        try await test.backend.setDisabled(false, ofUser: "@shop")
        #expect(await use(key, test) == nil)
    }

    @Test("the last use of a key is noted once a minute, with its network")
    func lastUse() async throws {
        let test = try await TestBackend()
        let key = try await test.key("shop", "send")
        #expect(try await test.backend.keys().keys.first?.lastUsedAt == nil)
        let first = test.clock.now
        _ = try await test.signIn(with: key)
        #expect(try await test.backend.keys().keys.first?.lastUsedAt == first)
        #expect(try await test.backend.keys().keys.first?.lastUsedFrom == "192.0.2.0/24")
        test.clock.advance(by: .seconds(59))
        _ = try await test.signIn(with: key, from: SourceAddress("10.0.0.1"))
        #expect(try await test.backend.keys().keys.first?.lastUsedAt == first)
        test.clock.advance(by: .seconds(1))
        _ = try await test.signIn(with: key, from: SourceAddress("10.0.0.1"))
        #expect(try await test.backend.keys().keys.first?.lastUsedAt == first + .seconds(60))
        #expect(try await test.backend.keys().keys.first?.lastUsedFrom == "10.0.0.0/24")
    }

    @Test("a key that is unknown or mistyped is refused")
    func unknown() async throws {
        let test = try await TestBackend()
        let secret = try #require(try await test.key("shop", "send").key)
        let last = secret.last == "0" ? "1" : "0"
        for text in [PrefixedSecret(.serviceKey).text, secret.dropLast() + last, secret.lowercased(), "clk_", secret + "0"] {
            let refused = await code {
                _ = try await test.backend.authenticate(.bearer(String(text)), from: TestBackend.source)
            }
            #expect(refused == .unauthenticated)
        }
    }

    @Test("a password does not sign in as the account of a key")
    func noPassword() async throws {
        let test = try await TestBackend()
        let key = try await test.key("shop", "send")
        for password in ["", "@shop", try #require(key.key)] {
            let refused = await code {
                _ = try await test.backend.authenticate(.basic(user: "@shop", password: password), from: TestBackend.source)
            }
            #expect(refused == .unauthenticated)
        }
    }
}
