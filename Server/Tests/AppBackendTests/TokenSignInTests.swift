import AuditTrail
import RichPushModel
import ServiceErrors
import Testing

@testable import AppBackend

import struct RichPushModel.Tag

/// Signing in with tokens of an issuer.
@Suite struct TokenSignInTests {
    @Test("a token of an issuer creates its user once, and gets what a password gets")
    func creates() async throws {
        let issuer = try await IssuerAtWork()
        let first = try await issuer.exchange(try issuer.token("ann"))
        let again = try await issuer.exchange(try issuer.token("ann"), "tablet", handle: 2)
        #expect(first.user == "ann" && again.user == "ann")
        let credential = try #require(first.credential)
        let phone = try await issuer.principal(credential, for: .readInbox)
        #expect(phone.name.text == "ann" && phone.role == .user && phone.installation?.text == "phone")
        #expect(try await issuer.test.rows(of: "users") == 1)
        #expect(try await issuer.audit(.userCreated).count == 1)
        let entries = try await issuer.audit(.signedIn).compactMap(\.details.content?.text)
        #expect(entries.sorted() == ["phone", "tablet"].map { "installation=\($0) with=token issuer=\(IssuerAtWork.name)" })
    }

    @Test("no other route takes a token, and none looks at it there")
    func otherRoutes() async throws {
        let issuer = try await IssuerAtWork()
        let tokens = [try issuer.token("ann"), try await issuer.oneTime("ann"), "a.b.c", "clt_x"]
        for token in tokens {
            for operation in [BackendOperation.readInbox, .send, .deleteInstallation, .readOneself] {
                let error = await #expect(throws: ServiceError.self) { _ = try await issuer.principal(token, for: operation) }
                #expect(error?.code == .unauthenticated)
                #expect(error?.detail == "exchange the token at PUT /api/v1/installations/{id}")
            }
        }
        #expect(try await issuer.test.rows(of: "users") == 0)
        #expect(try await issuer.refusals().isEmpty)
    }

    @Test("a name that another identity or a local user holds is refused, and never joined")
    func takenName() async throws {
        let issuer = try await IssuerAtWork()
        try await issuer.backend.addUser(name: "bob", password: TestBackend.password(of: "bob"), role: .user)
        try await issuer.exchange(try issuer.token("ann"))
        for subject in ["Ann", "BOB", "bob"] {
            #expect(await code { try await issuer.exchange(try issuer.token(subject), "other", handle: 3) } == .conflict)
        }
        #expect(try await issuer.refusals() == Array(repeating: "reason=name-taken issuer=\(IssuerAtWork.name)", count: 3))
        #expect(try await issuer.test.rows(of: "identities") == 1)
    }

    @Test("a user whom the backend created is adopted where the settings allow it, once, with an entry")
    func adoption() async throws {
        let issuer = try await IssuerAtWork(["adopt-users": ["true"]])
        try await issuer.backend.addUser(name: "Ann", password: nil, role: .user)
        #expect(try await issuer.exchange(try issuer.token("ann")).user == "Ann")
        #expect(try await issuer.exchange(try issuer.token("ann"), "tablet", handle: 2).user == "Ann")
        let adopted = try await issuer.audit(.userChanged).map(\.details.content?.text)
        #expect(adopted == ["identity=adopted with=token issuer=\(IssuerAtWork.name)"])
        #expect(await code { try await issuer.exchange(try issuer.token("ANN"), "other", handle: 3) } == .conflict)
        #expect(await code { try await issuer.exchange(try issuer.token("bob"), "other", handle: 3) } == .unauthenticated)
    }

    @Test("a user whom the backend created is not joined without that setting")
    func noAdoption() async throws {
        let issuer = try await IssuerAtWork()
        try await issuer.backend.addUser(name: "ann", password: nil, role: .user)
        #expect(await code { try await issuer.exchange(try issuer.token("ann")) } == .conflict)
    }

    @Test("an unknown user is refused where the settings create none")
    func unknownUser() async throws {
        let issuer = try await IssuerAtWork([:])
        let error = await #expect(throws: ServiceError.self) { try await issuer.exchange(try issuer.token("ann")) }
        #expect(error?.code == .unauthenticated)
        let refused = "the sign-in token was not accepted: its user does not exist, and the issuer's settings create none"
        #expect(error?.detail == refused)
        #expect(try await issuer.refusals() == ["reason=no-user issuer=\(IssuerAtWork.name)"])
        #expect(try await issuer.test.rows(of: "users") == 0)
    }

    @Test("a token from before the end of the sessions signs in no more, a later one does")
    func endedSessions() async throws {
        let issuer = try await IssuerAtWork()
        let old = try issuer.token("ann")
        let credential = try #require(try await issuer.exchange(old).credential)
        issuer.test.clock.advance(by: .seconds(5))
        try await issuer.backend.endSessions(ofUser: "ann")
        #expect(await code { _ = try await issuer.principal(credential, for: .readInbox) } == .unauthenticated)
        #expect(await code { try await issuer.exchange(old) } == .unauthenticated)
        issuer.test.clock.advance(by: .seconds(5))
        #expect(try await issuer.exchange(try issuer.token("ann")).user == "ann")
        #expect(try await issuer.refusals() == ["reason=sessions-ended issuer=\(IssuerAtWork.name)"])
    }

    @Test("a disabled user is refused with a new token too, until they may sign in again")
    func disabled() async throws {
        let issuer = try await IssuerAtWork()
        try await issuer.exchange(try issuer.token("ann"))
        try await issuer.backend.setDisabled(true, ofUser: "ann")
        issuer.test.clock.advance(by: .seconds(5))
        #expect(await code { try await issuer.exchange(try issuer.token("ann")) } == .unauthenticated)
        try await issuer.backend.setDisabled(false, ofUser: "ann")
        issuer.test.clock.advance(by: .seconds(5))
        #expect(try await issuer.exchange(try issuer.token("ann")).user == "ann")
    }

    @Test("a token from before a removal makes the user again never, a later one does", arguments: [false, true])
    func removed(isErased: Bool) async throws {
        let issuer = try await IssuerAtWork()
        let old = try issuer.token("ann")
        try await issuer.exchange(old)
        issuer.test.clock.advance(by: .seconds(5))
        if isErased {
            try await issuer.backend.eraseUser(name: "ann")
        } else {
            try await issuer.backend.removeUser(name: "ann")
        }
        #expect(try await issuer.test.rows(of: "identities WHERE subject IS NOT NULL OR issuer IS NOT NULL") == 0)
        #expect(await code { try await issuer.exchange(old) } == .unauthenticated)
        #expect(try await issuer.test.rows(of: "users") == 0)
        issuer.test.clock.advance(by: .seconds(5))
        try await issuer.exchange(try issuer.token("ann"))
        #expect(await code { try await issuer.exchange(old) } == .unauthenticated)
        #expect(try await issuer.test.rows(of: "users") == 1)
    }

    @Test("tags of a token replace those of the user on every device; a token without them keeps them")
    func tags() async throws {
        let issuer = try await IssuerAtWork(["create-users": ["true"], "tags-claim": ["/groups"]])
        try await issuer.exchange(try issuer.token("ann", #","groups":["gold","north"]"#))
        #expect(try issuer.tags("phone") == ["gold", "north", "username:ann"])
        try await issuer.exchange(try issuer.token("ann", #","groups":["south"]"#), "tablet", handle: 2)
        #expect(try issuer.tags("tablet") == ["south", "username:ann"])
        #expect(try issuer.tags("phone") == ["south", "username:ann"])
        try await issuer.exchange(try issuer.token("ann", #","_claim_names":{"groups":"src1"}"#), "tablet", handle: 2)
        #expect(try issuer.tags("tablet") == ["south", "username:ann"])
    }

    @Test("without keys of the issuer the answer is 503 with a time to wait, and installations go on")
    func outage() async throws {
        let issuer = try await IssuerAtWork(hasKeys: false)
        let error = await #expect(throws: ServiceError.self) { try await issuer.exchange(try issuer.token("ann")) }
        #expect(error?.code == .notReady)
        #expect((30...60).contains(error?.retryAfter ?? 0))
        #expect(try await issuer.refusals() == ["reason=keys-unavailable issuer=\(IssuerAtWork.name)"])
    }

    @Test("a server without issuers refuses their tokens and says so")
    func noIssuers() async throws {
        let (issuer, test) = (try await IssuerAtWork(), try await TestBackend())
        let error = await #expect(throws: ServiceError.self) {
            _ = try await test.backend.authenticate(
                .bearer(try issuer.token("ann")), from: TestBackend.source, for: .putInstallation)
        }
        #expect(error?.code == .unauthenticated)
        #expect(error?.detail?.hasSuffix("no issuer is trusted here; the setting trusted-issuers is empty") == true)
    }

    @Test("a flood of invented tokens fills no audit")
    func flood() async throws {
        let issuer = try await IssuerAtWork()
        for _ in 0..<200 { #expect(await code { try await issuer.exchange("a.b.c") } == .unauthenticated) }
        #expect(try await issuer.test.rows(of: "audit_entries") == RefusalAudit.perCaller)
    }
}

/// Signing in with one-time tokens.
@Suite struct OneTimeTokenTests {
    @Test("a one-time token creates its user, and signs one installation in, again after a lost answer")
    func onceOnly() async throws {
        let issuer = try await IssuerAtWork()
        let gold = try #require(Tag("gold"))
        let token = try await issuer.oneTime("ann") { $0.tags = [gold] }
        let lost = try #require(try await issuer.exchange(token).credential)
        let credential = try #require(try await issuer.exchange(token).credential)
        #expect(credential != lost)
        #expect(await code { _ = try await issuer.principal(lost, for: .readInbox) } == .unauthenticated)
        #expect(try await issuer.principal(credential, for: .readInbox).name.text == "ann")
        #expect(await code { try await issuer.exchange(token, "other", handle: 2) } == .unauthenticated)
        #expect(try await issuer.test.rows(of: "installation_credentials") == 1)
        #expect(try issuer.tags("phone") == ["gold", "username:ann"])
    }

    @Test("a token with tags signs in a user of any role", arguments: UserRole.ofPersons)
    func tagsOfEveryRole(role: UserRole) async throws {
        let issuer = try await IssuerAtWork()
        let gold = try #require(Tag("gold"))
        try await issuer.backend.addUser(name: "ann", password: nil, role: role)
        let answer = try await issuer.exchange(try await issuer.oneTime("ann") { $0.tags = [gold] })
        #expect(answer.credential != nil)
        #expect(try issuer.tags("phone") == ["gold", "username:ann"])
        #expect(try await issuer.backend.user("ann").tags == [gold])
    }

    @Test("of two installations with one token at the same time, one signs in")
    func race() async throws {
        let issuer = try await IssuerAtWork()
        let token = try await issuer.oneTime("ann")
        // Both are past the first look at the token.
        let (one, other) = (try await issuer.principal(token), try await issuer.principal(token))
        let ids = [try #require(InstallationID("one")), try #require(InstallationID("other"))]
        _ = try await issuer.backend.putInstallation(id: ids[0], update: InstallationUpdate(handle: nil), for: one)
        let update = InstallationUpdate(handle: nil)
        #expect(
            await code { _ = try await issuer.backend.putInstallation(id: ids[1], update: update, for: other) }
                == .unauthenticated)
        #expect(try await issuer.test.rows(of: "installation_credentials") == 1)
        #expect(try await issuer.test.rows(of: "bindings") == 1)
        #expect(try await issuer.refusals() == ["reason=elsewhere"])
    }

    @Test("a token for one installation signs no other in")
    func bound() async throws {
        let issuer = try await IssuerAtWork()
        let phone = try #require(InstallationID("phone"))
        let token = try await issuer.oneTime("ann") { $0.installation = phone }
        #expect(await code { try await issuer.exchange(token, "other") } == .unauthenticated)
        #expect(try await issuer.refusals() == ["reason=elsewhere"])
        #expect(try await issuer.exchange(token).user == "ann")
    }

    @Test("an expired token is refused, also for the installation that used it, and is swept")
    func expires() async throws {
        let issuer = try await IssuerAtWork()
        let token = try await issuer.oneTime("ann") { $0.lifetimeSeconds = 60 }
        try await issuer.exchange(token)
        issuer.test.clock.advance(by: .seconds(60))
        #expect(await code { try await issuer.exchange(token) } == .unauthenticated)
        #expect(try await issuer.refusals() == ["reason=expired"])
        issuer.test.clock.advance(by: .seconds(1))
        try await issuer.test.upkeep.sweep()
        #expect(try await issuer.test.rows(of: "sign_in_tokens") == 0)
    }

    @Test(
        "what ends the sessions of a user, or the user, ends their tokens",
        arguments: ["password", "sessions", "removal", "erasure"])
    func ended(by act: String) async throws {
        let issuer = try await IssuerAtWork()
        try await issuer.backend.addUser(name: "ann", password: TestBackend.password(of: "ann"), role: .user)
        let token = try await issuer.oneTime("ann")
        switch act {
        case "password": try await issuer.backend.setPassword("another long phrase", ofUser: "ann")
        case "sessions": try await issuer.backend.endSessions(ofUser: "ann")
        case "removal": try await issuer.backend.removeUser(name: "ann")
        default: try await issuer.backend.eraseUser(name: "ann")
        }
        #expect(await code { try await issuer.exchange(token) } == .unauthenticated)
        #expect(try await issuer.test.rows(of: "sign_in_tokens") == 0)
    }

    @Test("a token is minted within limits, and for no account of a service")
    func limits() async throws {
        let issuer = try await IssuerAtWork()
        for lifetime in [59, 3_601, -1] {
            #expect(await code { _ = try await issuer.oneTime("ann") { $0.lifetimeSeconds = lifetime } } == .invalidField)
        }
        for name in ["@shop", "", "a b"] { #expect(await code { _ = try await issuer.oneTime(name) } == .invalidField) }
        #expect(await code { _ = try await issuer.oneTime("ann") { $0.createsUser = false } } == .notFound)
    }

    @Test("the audit says who minted a token and whom it signed in, and never holds it")
    func audited() async throws {
        let issuer = try await IssuerAtWork()
        let token = try await issuer.oneTime("ann")
        try await issuer.exchange(token)
        #expect(await code { try await issuer.exchange(token, "other") } == .unauthenticated)
        let minted = try await issuer.audit(.signInTokenMinted)
        #expect(minted.count == 1 && minted.first?.subject.content?.text == "ann")
        #expect(try await issuer.audit(.signedIn).first?.details.content?.text == "installation=phone with=sign-in-token")
        let all = try await AuditAction.allCases.asyncEntries(of: issuer)
        let texts = all.flatMap { [$0.actor, $0.subject, $0.details] }.compactMap(\.content?.text)
        #expect(!texts.contains { $0.contains("clt_") })
    }
}

extension [AuditAction] {
    fileprivate func asyncEntries(of issuer: IssuerAtWork) async throws -> [AuditEntry] {
        var all: [AuditEntry] = []
        for action in self { all += try await issuer.audit(action) }
        return all
    }
}
