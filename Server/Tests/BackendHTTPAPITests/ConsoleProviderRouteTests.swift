import AppBackend
import ClarionTesting
import Foundation
import HTTPTypes
import HummingbirdTesting
import RichPushModel
import Testing

@testable import BackendHTTPAPI

@Suite("Signing in to the console at a provider")
struct ConsoleProviderRouteTests {
    /// What the page of a provider says about itself to a visitor.
    private static let creating = ["create-users": ["true"], "title": ["Example"]]

    /// The cookie that an answer sets, by its name without the prefix; `nil` when it sets none.
    private static func cookie(_ name: String, of answer: TestResponse) -> String? {
        let fields = answer.headers[values: .setCookie]
        return fields.first { $0.hasPrefix("\(name)=") || $0.hasPrefix("__Host-\(name)=") }
    }

    /// The part of it that the browser sends back.
    private static func value(_ field: String?) -> String { String(field?.prefix { $0 != ";" } ?? "") }

    /// The way there, and back as a person who agrees; the last answer.
    private static func signIn(
        _ bench: BackendBench, as subject: String = "ann2", claims: [String: String?] = [:], adding: String = ""
    ) async throws -> TestResponse {
        let there = try await bench.call(.get, "/console/sign-in")
        let query = bench.scripted.agree(to: there.headers[.location] ?? "", as: subject, claims: claims)
        let cookie = value(cookie("clarion-sign-in", of: there))
        return try await bench.call(
            .get, "/console/sign-in/return?\(query)\(adding)", headers: [.cookie: cookie, .secFetchSite: "cross-site"])
    }

    @Test("the page learns the name of the provider, or that there is none")
    func ways() async throws {
        let with = try await BackendBench(provider: Self.creating)
        #expect(String(buffer: try await with.call(.get, "/console/session").body) == #"{"provider":"Example"}"#)
        let without = try await BackendBench()
        #expect(String(buffer: try await without.call(.get, "/console/session").body) == "{}")
    }

    @Test("without a provider there is no way to one")
    func none() async throws {
        let bench = try await BackendBench()
        #expect(try await bench.call(.get, "/console/sign-in").status == .notFound)
        #expect(try await bench.call(.get, "/console/sign-in/return?code=a&state=b").status == .notFound)
    }

    @Test("the way there sets a cookie for ten minutes that no script reads")
    func there() async throws {
        let bench = try await BackendBench(provider: Self.creating)
        let answer = try await bench.call(.get, "/console/sign-in")
        #expect(answer.status == .seeOther)
        #expect(answer.headers[.location]?.hasPrefix("https://id.example.test/authorize?response_type=code&") == true)
        #expect(answer.headers[.cacheControl] == "no-store")
        let field = try #require(Self.cookie("clarion-sign-in", of: answer))
        #expect(field.hasSuffix("; Max-Age=600; Path=/; HttpOnly; SameSite=Lax"))
    }

    @Test("over TLS that cookie is for this host alone")
    func secure() async throws {
        let bench = try await BackendBench(isSecure: true, provider: Self.creating)
        let field = try #require(Self.cookie("clarion-sign-in", of: try await bench.call(.get, "/console/sign-in")))
        #expect(field.hasPrefix("__Host-clarion-sign-in="))
        #expect(field.hasSuffix("; Secure"))
    }

    @Test("who comes back from the provider has a session, and the cookie of the way is gone")
    func back() async throws {
        let bench = try await BackendBench(provider: Self.creating)
        let answer = try await Self.signIn(bench)
        #expect(answer.status == .seeOther)
        #expect(answer.headers[.location] == "/console")
        #expect(Self.cookie("clarion-sign-in", of: answer)?.hasPrefix("clarion-sign-in=; Max-Age=0;") == true)
        let session = Self.value(Self.cookie("clarion-console", of: answer))
        let me = try await bench.call(.get, "/api/v1/me", headers: [.cookie: session])
        #expect(String(buffer: me.body).contains(#""user":"ann2""#))
    }

    @Test("parameters that providers add are left alone")
    func further() async throws {
        let bench = try await BackendBench(provider: Self.creating)
        let answer = try await Self.signIn(bench, adding: "&session_state=a%20b&scope=openid+profile&authuser=0")
        #expect(answer.headers[.location] == "/console")
    }

    @Test(
        "an answer that is none leads to the page that says so",
        arguments: ["", "code=a", "code=a&state=b", "state=%", "state=a&state=a", "error=access_denied&state=b"])
    func garbage(query: String) async throws {
        let bench = try await BackendBench(provider: Self.creating)
        let answer = try await bench.call(.get, "/console/sign-in/return?\(query)")
        #expect(answer.status == .seeOther)
        #expect(answer.headers[.location] == "/console#/refused/begin-again")
        #expect(Self.cookie("clarion-console", of: answer) == nil)
    }

    @Test("an address that another site made up ends no attempt, and a cancelled one is over")
    func keepsAttempt() async throws {
        let bench = try await BackendBench(provider: Self.creating)
        let there = try await bench.call(.get, "/console/sign-in")
        let headers: HTTPFields = [.cookie: Self.value(Self.cookie("clarion-sign-in", of: there))]
        let foreign = try await bench.call(.get, "/console/sign-in/return?code=a&state=b", headers: headers)
        #expect(Self.cookie("clarion-sign-in", of: foreign) == nil)
        let state = ScriptedProvider.fields(bench.scripted.agree(to: there.headers[.location] ?? "", as: "ann2"))["state"] ?? ""
        let cancelled = try await bench.call(
            .get, "/console/sign-in/return?error=access_denied&state=\(state)", headers: headers)
        #expect(cancelled.headers[.location] == "/console#/refused/cancelled")
        #expect(Self.cookie("clarion-sign-in", of: cancelled)?.contains("Max-Age=0") == true)
    }

    @Test("the code of another person's attempt signs no one in")
    func injected() async throws {
        let bench = try await BackendBench(provider: Self.creating)
        let (mine, theirs) = (
            try await bench.call(.get, "/console/sign-in"), try await bench.call(.get, "/console/sign-in")
        )
        let stolen = ScriptedProvider.fields(bench.scripted.agree(to: theirs.headers[.location] ?? "", as: "root2"))
        let state = ScriptedProvider.fields(bench.scripted.agree(to: mine.headers[.location] ?? "", as: "ann2"))["state"] ?? ""
        let answer = try await bench.call(
            .get, "/console/sign-in/return?code=\(stolen["code"] ?? "")&state=\(state)",
            headers: [.cookie: Self.value(Self.cookie("clarion-sign-in", of: mine))])
        #expect(answer.headers[.location] == "/console#/refused/refused")
    }

    @Test("who is refused gets no session")
    func refused() async throws {
        let bench = try await BackendBench(provider: [:])
        let answer = try await Self.signIn(bench)
        #expect(answer.headers[.location] == "/console#/refused/no-user")
        #expect(Self.cookie("clarion-console", of: answer) == nil)
    }

    @Test("the page has a sentence for every reason")
    func sentences() async throws {
        let bench = try await BackendBench()
        let module = String(buffer: try await bench.call(.get, "/console/assets/signin.js").body)
        for reason in ConsoleRefusal.allCases {
            let isThere = module.contains("\n  \(reason.rawValue): \"") || module.contains("\n  \"\(reason.rawValue)\": \"")
            #expect(isThere, "\(reason.rawValue)")
        }
    }

    @Test("codes and secrets stand in no log")
    func quiet() async throws {
        let bench = try await BackendBench(provider: Self.creating)
        let there = try await bench.call(.get, "/console/sign-in")
        let cookie = Self.value(Self.cookie("clarion-sign-in", of: there))
        let fields = ScriptedProvider.fields(bench.scripted.agree(to: there.headers[.location] ?? "", as: "ann2"))
        bench.scripted.behave { $0.claims = ["aud": "\"other\""] }
        let code = try #require(fields["code"])
        let answer = try await bench.call(
            .get, "/console/sign-in/return?code=\(code)&state=\(fields["state"] ?? "")", headers: [.cookie: cookie])
        #expect(answer.headers[.location] == "/console#/refused/not-verified")
        #expect(!bench.notes.lines.isEmpty)
        let secret = String(cookie.split(separator: ".").last ?? "")
        for word in [code, secret] { #expect(!bench.notes.lines.contains { "\($0)".contains(word) }) }
    }
}
