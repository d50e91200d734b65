import BackendHTTPAPI
import Foundation
import HTTPService
import HTTPTypes
import RichPushModel
import Testing

@Suite("Signing in over HTTP")
struct SignInTests {
    @Test("is asked for on every route that is not open, before anything of the request is read")
    func everyRoute() async throws {
        let bench = try await BackendBench()
        let open = Set(bench.openRoutes.map { $0.replacing(" ", with: " \(APIRoute.prefix)/") })
        for route in RouteDescriptionTests.registered(in: bench.table)
        where !open.contains("\(route.method.rawValue) \(route.path)") {
            let uri = route.path.replacing(#/\{[a-z]+\}/#, with: "7")
            let answer = try await bench.call(route.method, uri, body: route.method == .get ? nil : Array("{".utf8))
            #expect(answer.status == .unauthorized, "\(route.method) \(uri)")
            #expect(answer.headers[.wwwAuthenticate] == #"Basic realm="clarion", charset="UTF-8""#)
            #expect(answer.code == "unauthenticated")
        }
    }

    @Test(
        "with a header that cannot be read is a 401 that does not quote it",
        arguments: [
            "", "Basic", "Basic ", "Basic !!!", "Basic YW5u", "Digest username=ann", "Bearer", "Bearer a b", "Bearer \u{e9}",
            "YW5uOmFubg==",
            "Basic " + Data([0xC0, 0xAF, 0x3A, 0x41]).base64EncodedString(),
            "Basic " + Data("ann:x\u{0}".utf8).base64EncodedString(),
            "Basic " + String(repeating: "A", count: 10_000), "Bearer device.AAAA",
        ])
    func malformed(header: String) async throws {
        let bench = try await BackendBench()
        let answer = try await bench.call(.get, "/api/v1/me", headers: [.authorization: header])
        #expect(answer.status == .unauthorized)
        #expect(!answer.text.contains("YW5u"))
    }

    @Test("with two headers is refused, since it is ambiguous which one counts")
    func twoHeaders() async throws {
        let bench = try await BackendBench()
        var headers = HTTPFields()
        for name in ["ann", "bob"] {
            headers.append(
                HTTPField(
                    name: .authorization,
                    value: "Basic " + Data("\(name):\(BackendBench.password(of: name))".utf8).base64EncodedString()))
        }
        #expect(try await bench.call(.get, "/api/v1/me", headers: headers).status == .unauthorized)
    }

    @Test("answers who is signed in")
    func me() async throws {
        let bench = try await BackendBench()
        let sam = try await bench.call(.get, "/api/v1/me", as: "sam").text
        #expect(sam.hasSuffix(#""send":"all","store-content":"own"},"role":"sender","user":"sam"}"#))
        let phone = try await bench.signIn("phone-1", as: "ann")
        #expect(
            try await bench.call(.get, "/api/me", headers: phone).text
                == #"{"installation":"phone-1","operations":{"ask-who-they-are":"own","mark-notifications-as-read":"own","#
                + #""post-receipts":"own","read-notifications-and-their-contents":"own","register-an-installation":"own","#
                + #""remove-an-installation":"own","reply":"own","report-live-activities":"own"},"role":"user","user":"ann"}"#)
    }

    @Test("of an unknown user and with a wrong password look the same, and end in a wait")
    func guessing() async throws {
        let bench = try await BackendBench()
        func attempt(_ pair: String) async throws -> (Int, String) {
            let header = "Basic " + Data(pair.utf8).base64EncodedString()
            let answer = try await bench.call(.get, "/api/v1/me", headers: [.authorization: header])
            if answer.status == .tooManyRequests { #expect(answer.headers[.retryAfter] != nil) }
            return (answer.status.code, answer.text)
        }
        let wrong = try await attempt("ann:wrong-password")
        let unknown = try await attempt("nobody:wrong-password")
        #expect(wrong == unknown)
        var last = 401
        for _ in 0..<20 where last == 401 { last = try await attempt("ann:wrong-password").0 }
        #expect(last == 429)
    }

    @Test("as an installation allows what a phone needs and no more")
    func installation() async throws {
        let bench = try await BackendBench()
        let phone = try await bench.signIn("phone-1", as: "ann")
        let id = try await bench.sendPicture(Fixtures.png(name: "a"), as: "ann")
        #expect(try await bench.call(.get, "/api/v1/notifications", headers: phone).status == .ok)
        #expect(try await bench.call(.get, "/api/v1/notifications/\(id)", headers: phone).status == .ok)
        #expect(try await bench.call(.post, "/api/v1/notifications", headers: phone).status == .forbidden)
        #expect(
            try await bench.call(.post, "/api/v1/content", headers: phone, body: Fixtures.png(name: "b")).status == .forbidden)
        #expect(try await bench.call(.post, "/api/register", headers: phone).status == .forbidden)
        let other = try await bench.json(
            .put, "/api/v1/installations/phone-2", headers: phone, #"{"platform":"apns","tags":[]}"#)
        #expect(other.status == .forbidden)
        #expect(try await bench.call(.delete, "/api/v1/installations/phone-1", headers: phone).status == .noContent)
        #expect(try await bench.call(.get, "/api/v1/me", headers: phone).status == .unauthorized)
    }

    @Test("does not help a page of another site")
    func crossSite() async throws {
        let bench = try await BackendBench()
        for prefix in BackendRoutes.prefixes {
            let answer = try await bench.call(
                .post, prefix + "/notifications", as: "ann", headers: [.origin: "https://evil.example"])
            #expect(answer.code == "cross-site")
        }
        #expect(bench.hub.sends.isEmpty)
    }
}
