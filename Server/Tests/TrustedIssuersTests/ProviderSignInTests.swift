import ClarionTesting
import Foundation
import Logging
import RichPushModel
import Testing

@testable import TrustedIssuers

/// A provider, and a server that signs people in there.
struct SignInBench {
    let clock = ManualClock()
    let provider: ScriptedProvider
    let signIn: ProviderSignIn
    let notes = LogNotes()
    private let keys: Task<Void, Never>

    static let fields = [
        "issuer": [ScriptedProvider.issuer], "client": ["clarion-console"],
        "client-secret": ["s/ecret"], "algorithms": ["ES256"],
    ]

    init(_ changes: [String: [String]?] = [:], isOpen: Bool = true) async throws {
        var fields = Self.fields
        for (name, values) in changes { fields[name] = values }
        provider = ScriptedProvider { [clock] in clock.now.milliseconds / 1_000 }
        signIn = await ProviderSignIn(
            at: try SignInProvider(fields: fields), back: ScriptedProvider.back, fetching: provider, store: nil, clock: clock,
            logger: notes.logger)
        keys = Task { [signIn] in await signIn.tokens.run() }
        if !isOpen { provider.behave { $0.isDown = true } }
    }

    func end() async {
        keys.cancel()
        await keys.value
    }

    /// What the query of an address says.
    static func query(of address: String) -> [String: String] {
        ScriptedProvider.fields(address.split(separator: "?", maxSplits: 1).last ?? "")
    }

    /// The way back of a person who agrees.
    func answer(to start: ProviderSignIn.Start, claims: [String: String?] = [:]) -> ProviderSignIn.Answer {
        let fields = ScriptedProvider.fields(provider.agree(to: start.address, as: "ann", claims: claims))
        return ProviderSignIn.Answer(code: fields["code"], state: fields["state"])
    }

    /// What comes of an answer; `nil` for a sign-in.
    func fault(_ answer: ProviderSignIn.Answer, attempt: String?) async -> ProviderFault? {
        do throws(ProviderFault) {
            _ = try await signIn.finish(answer, attempt: attempt)
            return nil
        } catch { return error }
    }

    /// What comes of an honest way there and back, with changes.
    func fault(
        claims: [String: String?] = [:], _ change: (inout ProviderSignIn.Answer) -> Void = { _ in }
    ) async throws -> ProviderFault? {
        let start = try await signIn.begin()
        var answer = answer(to: start, claims: claims)
        change(&answer)
        return await fault(answer, attempt: start.attempt)
    }
}

@Suite("Signing in at a provider")
struct ProviderSignInTests {
    @Test("the way to the provider names client, way back and scopes, and has a challenge")
    func start() async throws {
        let bench = try await SignInBench(["scopes": ["email", "openid"]])
        let query = SignInBench.query(of: try await bench.signIn.begin().address)
        #expect(query["response_type"] == "code")
        #expect(query["client_id"] == "clarion-console")
        #expect(query["redirect_uri"] == ScriptedProvider.back)
        #expect(query["scope"] == "openid email")
        #expect(query["code_challenge_method"] == "S256")
        #expect(query["code_challenge"]?.count == 43)
        await bench.end()
    }

    @Test("every attempt has another state, nonce, challenge and secret")
    func attemptsDiffer() async throws {
        let bench = try await SignInBench()
        let (first, second) = (try await bench.signIn.begin(), try await bench.signIn.begin())
        let (one, other) = (SignInBench.query(of: first.address), SignInBench.query(of: second.address))
        for name in ["state", "nonce", "code_challenge"] { #expect(one[name] != other[name], "\(name)") }
        #expect(Set([one["state"], one["nonce"], one["code_challenge"]]).count == 3)
        #expect(first.attempt != second.attempt)
        await bench.end()
    }

    @Test("who agrees is signed in, with the role that the settings give their group")
    func signsIn() async throws {
        let bench = try await SignInBench([
            "role-claim": ["/groups"], "role-values": ["ops=admin", "news=sender"], "create-users": ["true"],
        ])
        let start = try await bench.signIn.begin()
        let answer = bench.answer(to: start, claims: ["groups": #"["staff","ops"]"#])
        let identity = try await bench.signIn.finish(answer, attempt: start.attempt)
        #expect(identity.issuer == ScriptedProvider.issuer)
        #expect(identity.subject == "ann")
        #expect(identity.role == .admin)
        #expect(identity.mayCreateUser)
        await bench.end()
    }

    @Test(
        "an ID token that would hold for weeks signs in, one that would hold for months does not",
        arguments: [(30, true), (31, false)])
    func longLife(days: Int64, isTaken: Bool) async throws {
        let bench = try await SignInBench()
        let now = bench.clock.now.milliseconds / 1_000
        let fault = try await bench.fault(claims: ["exp": "\(now + days * 86_400)"])
        #expect((fault == nil) == isTaken)
        await bench.end()
    }

    @Test("who has no group of the settings has no role")
    func noRole() async throws {
        let bench = try await SignInBench(["role-claim": ["/groups"], "role-values": ["ops=admin"]])
        let start = try await bench.signIn.begin()
        let identity = try await bench.signIn.finish(bench.answer(to: start), attempt: start.attempt)
        #expect(identity.role == nil)
        await bench.end()
    }

    @Test("an answer fits the attempt of its own browser alone")
    func otherBrowser() async throws {
        let bench = try await SignInBench()
        let (mine, theirs) = (try await bench.signIn.begin(), try await bench.signIn.begin())
        #expect(await bench.fault(bench.answer(to: mine), attempt: theirs.attempt) == .beginAgain)
        #expect(await bench.fault(bench.answer(to: mine), attempt: nil) == .beginAgain)
        #expect(bench.provider.redemptions.isEmpty)
        await bench.end()
    }

    @Test(
        "a cookie that is no attempt is none",
        arguments: ["", ".", "1800000000", "1800000000.AAAA", "x.y", "1800000000..", "-1.A"])
    func garbage(cookie: String) async throws {
        let bench = try await SignInBench()
        let start = try await bench.signIn.begin()
        #expect(await bench.fault(bench.answer(to: start), attempt: cookie) == .beginAgain)
        await bench.end()
    }

    @Test("an attempt holds for ten minutes", arguments: [(599, true), (600, false), (-1, false)])
    func life(seconds: Int, holds: Bool) async throws {
        let bench = try await SignInBench()
        let start = try await bench.signIn.begin()
        bench.clock.advance(by: .seconds(seconds))
        let fault = await bench.fault(bench.answer(to: start), attempt: start.attempt)
        #expect((fault == nil) == holds)
        await bench.end()
    }

    @Test("a cookie with a later time fits no answer")
    func forgedTime() async throws {
        let bench = try await SignInBench()
        let start = try await bench.signIn.begin()
        bench.clock.advance(by: .seconds(900))
        let secret = start.attempt.split(separator: ".")[1]
        let forged = "\(bench.clock.now.milliseconds / 1_000).\(secret)"
        #expect(await bench.fault(bench.answer(to: start), attempt: forged) == .beginAgain)
        await bench.end()
    }

    @Test("an answer of another issuer is refused before its code is redeemed")
    func otherIssuer() async throws {
        let bench = try await SignInBench()
        #expect(try await bench.fault { $0.issuer = "https://evil.example.test" } == .refused)
        #expect(bench.provider.redemptions.isEmpty)
        #expect(try await bench.fault { $0.issuer = ScriptedProvider.issuer } == nil)
        await bench.end()
    }

    @Test("an answer without an issuer is refused where the provider says that it names itself")
    func missingIssuer() async throws {
        let bench = try await SignInBench()
        bench.provider.behave { $0.discovery = #","authorization_response_iss_parameter_supported":true"# }
        #expect(try await bench.fault() == .refused)
        #expect(try await bench.fault { $0.issuer = ScriptedProvider.issuer } == nil)
        await bench.end()
    }

    @Test(
        "an error of the provider ends the attempt",
        arguments: [("access_denied", ProviderFault.cancelled), ("server_error", .refused)])
    func errors(code: String, fault: ProviderFault) async throws {
        let bench = try await SignInBench()
        #expect(try await bench.fault { $0 = .init(state: $0.state, error: code) } == fault)
        await bench.end()
    }

    @Test("the log repeats no text of an answer that is not a code of the specification")
    func logsNothingForeign() async throws {
        let bench = try await SignInBench()
        #expect(try await bench.fault { $0 = .init(state: $0.state, error: "Call +1 555\nadmin") } == .refused)
        #expect(bench.notes.lines.contains { $0.metadata["reason"]?.contains("an unknown error") == true })
        #expect(!bench.notes.lines.contains { "\($0)".contains("555") })
        await bench.end()
    }

    @Test("a code works once")
    func once() async throws {
        let bench = try await SignInBench()
        let start = try await bench.signIn.begin()
        let answer = bench.answer(to: start)
        #expect(await bench.fault(answer, attempt: start.attempt) == nil)
        #expect(await bench.fault(answer, attempt: start.attempt) == .refused)
        await bench.end()
    }

    @Test(
        "an ID token that is not the answer to this attempt signs no one in",
        arguments: [
            ["nonce": "\"other\""], ["nonce": nil], ["aud": "\"other\""], ["iss": "\"https://evil.example.test\""],
            ["exp": "1700000000"], ["azp": "\"other\""], ["sub": nil], ["events": "{}"],
        ] as [[String: String?]])
    func wrongTokens(claims: [String: String?]) async throws {
        let bench = try await SignInBench()
        #expect(try await bench.fault(claims: claims) == .notVerified)
        await bench.end()
    }

    @Test(
        "an answer to the code without an ID token signs no one in",
        arguments: ["{}", "", "[]", #"{"id_token":1}"#, #"{"id_token":"","id_token":""}"#])
    func noToken(answer: String) async throws {
        let bench = try await SignInBench()
        bench.provider.behave { $0.answer = answer }
        #expect(try await bench.fault() == .refused)
        await bench.end()
    }

    @Test(
        "a provider that fails for a time says so, and one that refuses says that",
        arguments: [
            (500, ProviderFault.unavailable), (503, .unavailable), (429, .unavailable), (400, .refused), (401, .refused),
            (302, .refused),
        ])
    func statuses(status: Int, fault: ProviderFault) async throws {
        let bench = try await SignInBench()
        bench.provider.behave { ($0.status, $0.answer) = (status, "{}") }
        #expect(try await bench.fault() == fault)
        await bench.end()
    }
}

@Suite("The provider as it is reached")
struct ProviderReachTests {
    @Test("a provider that cannot be reached is asked again after five seconds, not before")
    func outage() async throws {
        let bench = try await SignInBench(isOpen: false)
        func begins() async -> Bool { (try? await bench.signIn.begin()) != nil }
        func questions() -> Int { bench.provider.fetched.count { $0.hasSuffix("openid-configuration") } }
        #expect(await begins() == false)
        let asked = questions()
        bench.provider.behave { $0.isDown = false }
        #expect(await begins() == false)
        #expect(questions() == asked)
        bench.clock.advance(by: .seconds(5))
        #expect(await begins())
        await bench.end()
    }

    @Test("the addresses that were found hold through an outage of a day")
    func stale() async throws {
        let bench = try await SignInBench()
        _ = try await bench.signIn.begin()
        bench.provider.behave { $0.isDown = true }
        bench.clock.advance(by: .seconds(86_399))
        _ = try await bench.signIn.begin()
        bench.clock.advance(by: .seconds(1))
        await #expect(throws: ProviderFault.unavailable) { _ = try await bench.signIn.begin() }
        await bench.end()
    }

    @Test(
        "a discovery document that cannot be trusted is not used",
        arguments: ["https://evil.example.test", "http://id.example.test"])
    func foreignDiscovery(name: String) async throws {
        let bench = try await SignInBench()
        bench.provider.behave { ($0.named, $0.endpoints) = name.hasPrefix("https") ? (name, $0.endpoints) : ($0.named, name) }
        await #expect(throws: ProviderFault.unavailable) { _ = try await bench.signIn.begin() }
        await bench.end()
    }

    @Test("an endpoint with a query of its own keeps it")
    func endpointQuery() async throws {
        let bench = try await SignInBench()
        bench.provider.behave { $0.authorizationQuery = "?policy=1" }
        let address = try await bench.signIn.begin().address
        #expect(address.hasPrefix("https://id.example.test/authorize?policy=1&response_type=code&"))
        await bench.end()
    }

    @Test("the secret goes in the header, escaped, where the provider takes that")
    func header() async throws {
        let bench = try await SignInBench()
        #expect(try await bench.fault() == nil)
        let sent = try #require(bench.provider.redemptions.first)
        #expect(sent.authorization == "Basic " + Data("clarion-console:s%2Fecret".utf8).base64EncodedString())
        #expect(sent.fields["client_secret"] == nil)
        await bench.end()
    }

    @Test("it goes in the form where the provider takes only that")
    func form() async throws {
        let bench = try await SignInBench()
        bench.provider.behave { $0.discovery = #","token_endpoint_auth_methods_supported":["client_secret_post"]"# }
        #expect(try await bench.fault() == nil)
        #expect(bench.provider.redemptions.first?.fields["client_secret"] == "s/ecret")
        await bench.end()
    }

    @Test("a public client has its verifier alone")
    func publicClient() async throws {
        let bench = try await SignInBench(["client-secret": nil])
        bench.provider.behave { $0.secret = nil }
        #expect(try await bench.fault() == nil)
        let sent = try #require(bench.provider.redemptions.first)
        #expect(sent.authorization == nil)
        #expect(sent.fields["client_id"] == "clarion-console")
        #expect(sent.fields["code_verifier"]?.count == 43)
        await bench.end()
    }
}

@Suite("Settings of a provider")
struct SignInProviderTests {
    private static func problems(_ changes: [String: [String]?]) -> [String] {
        var fields = SignInBench.fields
        for (name, values) in changes { fields[name] = values }
        do throws(IssuerProblems) {
            _ = try SignInProvider(fields: fields)
            return []
        } catch { return error.list.map(\.field) }
    }

    @Test("the title is that of the settings, or the host")
    func title() throws {
        #expect(try SignInProvider(fields: SignInBench.fields).title == "id.example.test")
        #expect(try SignInProvider(fields: SignInBench.fields.merging(["title": ["Example"]]) { $1 }).title == "Example")
    }

    @Test("its tokens are ID tokens for the client alone")
    func issuer() throws {
        let issuer = try SignInProvider(fields: SignInBench.fields).issuer
        #expect(issuer.tokenKind == .id)
        #expect(issuer.audiences == ["clarion-console"])
    }

    @Test(
        "a field that does not fit is named",
        arguments: [
            ("issuer", ["http://id.example.test"]), ("issuer", ["https://id.example.test/?a=b"]), ("client", ["a\tb"]),
            ("client", [""]),
            ("client-secret", ["a\nb"]), ("algorithms", ["HS256"]), ("scopes", ["a b"]), ("scopes", ["\"a\""]),
            ("title", [String(repeating: "x", count: 41)]), ("title", ["a\u{202E}b"]), ("role-values", ["ops=admin"]),
            ("user-claim", ["name"]), ("create-users", ["yes"]), ("leeway-seconds", ["301"]), ("audiences", ["a"]),
            ("keys-document", ["{}"]), ("token-kind", ["any"]),
        ] as [(String, [String])])
    func problems(field: String, values: [String]) {
        #expect(Self.problems([field: values]) == [field])
    }

    @Test("what is missing is named", arguments: ["issuer", "client", "algorithms"])
    func missing(field: String) { #expect(Self.problems([field: nil]) == [field]) }

    @Test("a group gives the role admin here, and in no issuer of phones")
    func admin() async {
        let rule = ["role-claim": ["/groups"], "role-values": ["ops=admin"]]
        #expect(Self.problems(rule.mapValues { $0 }) == [])
        let phones = ["issuer": [ScriptedProvider.issuer], "audiences": ["a"], "algorithms": ["ES256"]].merging(rule) { $1 }
        let error = await #expect(throws: IssuerProblems.self) { _ = try await TrustedIssuer(fields: phones) }
        #expect(error?.list.map(\.field) == ["role-values"])
    }
}
