import AppBackend
import HTTPTypes
import HummingbirdTesting
import Testing

@testable import BackendHTTPAPI
@testable import HTTPService

@Suite("The API for web pages")
struct WebPageTests {
    /// A site of the same domain as the server: browsers send it cookies of `SameSite` too.
    private static let shop = "https://shop.localhost"
    private static let publicKey =
        "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8"

    private static func withBrowsers() -> BackendSettings {
        var settings = BackendSettings()
        settings.webPush = WebPushTerms(publicKey: publicKey)
        return settings
    }

    @Test("says without a credential with which key a browser subscribes", arguments: BackendRoutes.prefixes)
    func terms(prefix: String) async throws {
        let bench = try await BackendBench(settings: Self.withBrowsers())
        let answer = try await bench.call(.get, prefix + "/web-push")
        #expect(answer.status == .ok)
        #expect(answer.text == #"{"publicKey":"\#(Self.publicKey)"}"#)
        #expect(answer.headers[.cacheControl] == "no-store")
    }

    @Test("says that there is no such key where nothing is sent to browsers")
    func noTerms() async throws {
        #expect(try await BackendBench().call(.get, "/api/v1/web-push").code == "not-found")
    }

    @Test("takes no parameters for it")
    func parameters() async throws {
        let bench = try await BackendBench(settings: Self.withBrowsers())
        #expect(try await bench.call(.get, "/api/v1/web-push?user=ann").status == .badRequest)
    }

    @Test("gives the key to pages of named sites alone")
    func termsOfOthers() async throws {
        let bench = try await BackendBench(settings: Self.withBrowsers(), webOrigins: [Self.shop])
        let answer = try await bench.call(.get, "/api/v1/web-push", headers: [.origin: Self.shop, .secFetchSite: "same-site"])
        #expect(answer.status == .ok)
        #expect(answer.headers[.accessControlAllowOrigin] == Self.shop)
        let other = try await bench.call(.get, "/api/v1/web-push", headers: [.origin: "https://evil.example"])
        #expect(other.code == "cross-site")
    }

    @Test("takes a password and the credential of an installation from pages of named sites")
    func credentials() async throws {
        let bench = try await BackendBench(webOrigins: [Self.shop])
        let page: HTTPFields = [.origin: Self.shop, .secFetchSite: "same-site"]
        #expect(try await bench.call(.get, "/api/v1/me", as: "ann", headers: page).status == .ok)
        var phone = try await bench.signIn("phone-1", as: "ann")
        phone[.origin] = Self.shop
        #expect(try await bench.call(.get, "/api/v1/me", headers: phone).status == .ok)
        let unknown = try await bench.call(.get, "/api/v1/me", headers: page)
        #expect(unknown.status == .unauthorized)
        #expect(unknown.headers[.accessControlAllowOrigin] == Self.shop)
    }

    @Test("never takes the session of the console from a page of another site, named or not", arguments: [shop, "null"])
    func cookie(origin: String) async throws {
        let bench = try await BackendBench(webOrigins: [Self.shop])
        var headers = try await bench.consoleSession(of: "root")
        #expect(try await bench.call(.get, "/api/v1/me", headers: headers).status == .ok)
        headers[.origin] = origin
        for site in ["same-site", "same-origin", nil] {
            headers[.secFetchSite] = site
            #expect(try await bench.call(.get, "/api/v1/me", headers: headers).code == "cross-site")
            #expect(try await bench.json(.post, "/api/v1/keys", headers: headers, "{}").code == "cross-site")
        }
    }

    @Test("takes who is named in Authorization and not who has the session of the console")
    func both() async throws {
        let bench = try await BackendBench(webOrigins: [Self.shop])
        var headers = try await bench.consoleSession(of: "root")
        (headers[.origin], headers[.secFetchSite]) = (Self.shop, "same-site")
        #expect(try await bench.call(.get, "/api/v1/me", as: "ann", headers: headers).text.contains(#""user":"ann""#))
    }

    @Test("leaves the routes of the console to its own page")
    func console() async throws {
        let bench = try await BackendBench(webOrigins: [Self.shop])
        var headers = try await bench.consoleSession(of: "root")
        (headers[.origin], headers[.secFetchSite]) = (Self.shop, "same-site")
        for (method, path) in [
            (HTTPRequest.Method.get, "session"), (.post, "session"), (.delete, "session"), (.get, "second-factor"),
        ] {
            let answer = try await bench.call(method, "/console/" + path, headers: headers)
            #expect(answer.code == "cross-site")
            #expect(answer.headers[.accessControlAllowOrigin] == nil)
        }
    }
}
