import Foundation
import HTTPTypes
import HummingbirdTesting
import RichPushModel
import Testing

@testable import AppBackend
@testable import BackendHTTPAPI
@testable import SharedAccess

extension BackendBench {
    /// What the page of the console sends with the session of a user.
    func consoleSession(of user: String) async throws -> HTTPFields {
        [.cookie: try await signInToConsole(user).cookie, .secFetchSite: "same-origin"]
    }

    /// The answer to a new link of a user, and the cookie that it sets.
    func signInToConsole(_ user: String) async throws -> (answer: TestResponse, cookie: String) {
        let link = try await backend.makeConsoleLink(for: user).secret
        let answer = try await json(.post, "/console/session", headers: [.secFetchSite: "same-origin"], "{\"link\":\"\(link)\"}")
        return (answer, String(answer.headers[.setCookie]?.prefix { $0 != ";" } ?? ""))
    }
}

@Suite("The console over HTTP")
struct ConsoleRouteTests {
    private struct Me: Decodable {
        var user: String
        var role: String
        var operations: [String: String]
    }

    private static func me(_ answer: TestResponse) throws -> Me {
        try JSONDecoder().decode(Me.self, from: Data(buffer: answer.body))
    }

    @Test("a link sets a cookie that signs the calls of the page")
    func signsIn() async throws {
        let bench = try await BackendBench()
        let (answer, cookie) = try await bench.signInToConsole("eve")
        #expect(answer.status == .created)
        #expect(try Self.me(answer).user == "eve")
        #expect(answer.headers[.setCookie]?.contains("; Max-Age=43200; Path=/; HttpOnly; SameSite=Lax") == true)
        #expect(answer.headers[.cacheControl] == "no-store")
        let me = try Self.me(try await bench.call(.get, "/api/v1/me", headers: [.cookie: "other=1; \(cookie)"]))
        #expect(me.user == "eve")
        #expect(me.operations["read-the-audit"] == "all")
        #expect(me.operations["register-a-device"] == "own")
        #expect(me.operations["change-users"] == nil)
    }

    @Test("a second factor is set up with the cookie of the page alone, and password and code begin a session then")
    func secondFactor() async throws {
        let bench = try await BackendBench()
        let page = try await bench.consoleSession(of: "eve")
        let path = "/console/second-factor"
        #expect(try await bench.call(.get, path, headers: page).status == .ok)
        for headers in [[.secFetchSite: "same-origin"], [.cookie: page[.cookie] ?? ""]] as [HTTPFields] {
            #expect(try await bench.json(.post, path, headers: headers, "{}").status != .created)
        }
        let begun = try await bench.json(.post, path, headers: page, "")
        #expect(begun.status == .created && begun.headers[.cacheControl] == "no-store")
        #expect(
            String(buffer: begun.body).contains("otpauth:\\/\\/totp\\/Clarion:eve")
                || String(buffer: begun.body).contains("otpauth://totp/Clarion:eve"))
        #expect(try await bench.json(.put, path, headers: page, "{\"code\":\"12345\"}").status == .badRequest)
        let name = try #require(UserName("eve"))
        let user = try #require(try await bench.backend.parts.store.user(named: name)?.user)
        func code() async throws -> String {
            let factor = try #require(try await bench.backend.parts.store.secondFactor(of: user.id))
            let secret = bench.backend.parts.timeCodes.secret(salt: factor.salt)
            return secret.code(of: TimeCodeSecret.step(atSeconds: bench.clock.now.seconds))
        }
        let confirmed = try await bench.json(.put, path, headers: page, "{\"code\":\"\(try await code())\"}")
        #expect(confirmed.status == .created)
        #expect(String(buffer: confirmed.body).split(separator: "-").count == 31, "ten codes of four parts")
        bench.clock.advance(by: .seconds(30))
        func signIn(_ code: String) async throws -> TestResponse {
            try await bench.json(
                .post, "/console/session", headers: [.secFetchSite: "same-origin"],
                "{\"user\":\"eve\",\"password\":\"\(BackendBench.password(of: "eve"))\",\"code\":\"\(code)\"}")
        }
        let right = try await code()
        let answer = try await signIn(right)
        #expect(answer.status == .created)
        #expect(answer.headers[.setCookie]?.contains("clarion-console=cls_") == true)
        #expect(try await signIn(right).status == .unauthorized)
        bench.clock.advance(by: .seconds(30))
        let removal = try await bench.json(.post, path + "/removal", headers: page, "{\"code\":\"\(try await code())\"}")
        #expect(removal.status == .noContent)
        #expect(try await bench.json(.patch, "/api/v1/users/eve", as: "root", "{\"secondFactor\":false}").status == .notFound)
        #expect(try await bench.json(.patch, "/api/v1/users/eve", as: "root", "{\"secondFactor\":true}").status == .badRequest)
        let again = try await bench.json(.post, path, headers: page, "")
        #expect(again.status == .created)
        #expect(try await bench.json(.put, path, headers: page, "{\"code\":\"\(try await code())\"}").status == .created)
        let changed = try await bench.json(.patch, "/api/v1/users/eve", as: "root", "{\"secondFactor\":false}")
        #expect(changed.status == .ok && !String(buffer: changed.body).contains("secondFactorAt"))
        #expect(try await bench.call(.get, "/api/v1/me", as: "eve").status == .ok)
    }

    @Test("over TLS the cookie is for this host alone, and the plain one signs nothing")
    func secure() async throws {
        let bench = try await BackendBench(isSecure: true)
        let (answer, cookie) = try await bench.signInToConsole("eve")
        #expect(cookie.hasPrefix("__Host-clarion-console=cls_"))
        #expect(answer.headers[.setCookie]?.hasSuffix("; Secure") == true)
        #expect(try await bench.call(.get, "/api/v1/me", headers: [.cookie: cookie]).status == .ok)
        let plain = String(cookie.dropFirst("__Host-".count))
        #expect(try await bench.call(.get, "/api/v1/me", headers: [.cookie: plain]).status == .unauthorized)
    }

    @Test("a link signs in once")
    func once() async throws {
        let bench = try await BackendBench()
        let body = "{\"link\":\"\(try await bench.backend.makeConsoleLink(for: "eve").secret)\"}"
        let page: HTTPFields = [.secFetchSite: "same-origin"]
        #expect(try await bench.json(.post, "/console/session", headers: page, body).status == .created)
        #expect(try await bench.json(.post, "/console/session", headers: page, body).status == .unauthorized)
    }

    @Test(
        "a text that is no console link is refused",
        arguments: ["", "cll_", "eve", "cll_000000000000000000000000000000000000000000000000a"])
    func refuses(text: String) async throws {
        let bench = try await BackendBench()
        let answer = try await bench.json(
            .post, "/console/session", headers: [.secFetchSite: "same-origin"], "{\"link\":\"\(text)\"}")
        #expect(answer.status == .unauthorized)
        #expect(answer.headers[.setCookie] == nil)
    }

    @Test("a one-time token for a phone is no link to the console")
    func refusesToken() async throws {
        let bench = try await BackendBench()
        let token = try await bench.backend.mintSignInToken(SignInTokenRequest(user: "eve")).token
        let answer = try await bench.json(
            .post, "/console/session", headers: [.secFetchSite: "same-origin"], "{\"link\":\"\(token)\"}")
        #expect(answer.status == .unauthorized)
    }

    @Test(
        "a request that changes something is refused unless a page of this server makes it",
        arguments: [
            [:], [.secFetchSite: "none"], [.secFetchSite: "same-site"], [.secFetchSite: "cross-site"],
            [.origin: "https://evil.example"], [.origin: "null"],
        ] as [HTTPFields])
    func foreignPages(headers: HTTPFields) async throws {
        let bench = try await BackendBench()
        var headers = headers
        headers[.cookie] = try await bench.signInToConsole("root").cookie
        let answer = try await bench.json(.post, "/api/v1/users", headers: headers, "{\"name\":\"zoe\"}")
        #expect(answer.status == .forbidden)
        #expect(try await bench.backend.users(after: "sam").isEmpty)
    }

    @Test("the page of the console changes what its user may change")
    func ownPage() async throws {
        let bench = try await BackendBench()
        let headers = try await bench.consoleSession(of: "root")
        #expect(try await bench.json(.post, "/api/v1/users", headers: headers, "{\"name\":\"zoe\"}").status == .created)
    }

    @Test("a link is not taken from another site's page")
    func foreignSignIn() async throws {
        let bench = try await BackendBench()
        let link = try await bench.backend.makeConsoleLink(for: "eve").secret
        let answer = try await bench.json(.post, "/console/session", "{\"link\":\"\(link)\"}")
        #expect(answer.status == .forbidden)
    }

    @Test("the page is served without a credential, whole and from this server alone")
    func page() async throws {
        let bench = try await BackendBench()
        let page = try await bench.call(.get, "/console")
        #expect(page.status == .ok)
        let policy = page.headers[.contentSecurityPolicy] ?? ""
        #expect(policy.hasPrefix("default-src 'none'; script-src 'self';"))
        #expect(policy.contains("frame-ancestors 'none'"))
        let files = String(buffer: page.body).matches(of: /(?:href|src)="(\/console\/assets\/[^"]+)"/).map { String($0.1) }
        #expect(files.count == 6)
        for file in files {
            #expect(try await bench.call(.get, file).status == .ok, "\(file)")
        }
        #expect(try await bench.call(.get, "/console/assets/no-such.js").status == .notFound)
    }

    @Test("every module that a module imports is served")
    func modules() async throws {
        let bench = try await BackendBench()
        var (waiting, seen) = (["main.js"], Set<String>())
        while let name = waiting.popLast() {
            guard seen.insert(name).inserted else { continue }
            let file = try await bench.call(.get, "/console/assets/\(name)")
            #expect(file.status == .ok, "\(name)")
            #expect(file.headers[.contentType] == "text/javascript; charset=utf-8")
            waiting += String(buffer: file.body).matches(of: /from "\.\/([a-z]+\.js)"/).map { String($0.1) }
        }
        #expect(seen.count > 20)
    }

    @Test("a console that was moved is whole at its new path")
    func moved() async throws {
        let bench = try await BackendBench(consolePath: "/office")
        let page = String(buffer: try await bench.call(.get, "/office").body)
        #expect(page.contains("\"/office/assets/main.js\""))
        #expect(!page.contains("/console/"))
        #expect(try await bench.call(.get, "/console").status == .notFound)
    }

    @Test("signing out ends the session and removes the cookie")
    func signsOut() async throws {
        let bench = try await BackendBench()
        let headers = try await bench.consoleSession(of: "eve")
        let answer = try await bench.call(.delete, "/console/session", headers: headers)
        #expect(answer.status == .noContent)
        #expect(answer.headers[.setCookie]?.hasPrefix("clarion-console=; Max-Age=0;") == true)
        #expect(try await bench.call(.get, "/api/v1/me", headers: headers).status == .unauthorized)
        #expect(try await bench.call(.delete, "/console/session", headers: headers).status == .noContent)
    }

    @Test("the header of a caller goes before the cookie")
    func headerFirst() async throws {
        let bench = try await BackendBench()
        var headers = try await bench.consoleSession(of: "eve")
        headers[.authorization] = BackendBench.basic("ann")[.authorization]
        #expect(try Self.me(try await bench.call(.get, "/api/v1/me", headers: headers)).user == "ann")
    }

    @Test("two sessions in one request are none")
    func twoCookies() async throws {
        let bench = try await BackendBench()
        let (one, two) = (try await bench.signInToConsole("eve").cookie, try await bench.signInToConsole("root").cookie)
        #expect(try await bench.call(.get, "/api/v1/me", headers: [.cookie: "\(one); \(two)"]).status == .unauthorized)
    }

    @Test("the secret of a session signs nothing as a bearer credential, and a key nothing as a cookie")
    func otherPlaces() async throws {
        let bench = try await BackendBench()
        let secret = try await bench.signInToConsole("root").cookie.drop { $0 != "=" }.dropFirst()
        #expect(try await bench.call(.get, "/api/v1/me", headers: [.authorization: "Bearer \(secret)"]).status == .unauthorized)
        let key = try await bench.key("admin")[.authorization]?.dropFirst("Bearer ".count) ?? ""
        #expect(try await bench.call(.get, "/api/v1/me", headers: [.cookie: "clarion-console=\(key)"]).status == .unauthorized)
    }
}
