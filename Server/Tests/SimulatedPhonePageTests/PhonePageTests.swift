import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Testing

@Suite("The page")
struct PhonePageTests {
    private let harness = PageHarness([ScriptedPhone()])
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Lab/SimulatedPhonePage/Page").standardizedFileURL

    @Test("the page allows nothing but what comes from its own server")
    func policy() async throws {
        let answer = try await harness.call(.get, "/phone")
        #expect(answer.status == .ok)
        #expect(answer.headers[.contentType] == "text/html; charset=utf-8")
        let policy = try #require(answer.headers[.contentSecurityPolicy])
        #expect(policy.hasPrefix("default-src 'self';"))
        #expect(!policy.contains("unsafe"))
        #expect(policy.contains("frame-ancestors 'none'"))
        #expect(policy.contains("worker-src 'self';"))
        #expect(policy.contains("img-src 'self' blob:;"))
        #expect(answer.headers[.xContentTypeOptions] == "nosniff")
        #expect(answer.headers[.cacheControl] == "no-cache")
    }

    @Test("the service worker loads the web library alone, and its scope covers the page")
    func worker() async throws {
        let answer = try await harness.call(.get, "/phone-worker.js")
        #expect(answer.status == .ok)
        #expect(answer.text == "importScripts('/web/v1/worker.js');\n")
        #expect(answer.headers[.contentType] == "text/javascript; charset=utf-8")
        #expect(answer.headers[.cacheControl] == "no-cache")
        let policy = try #require(answer.headers[.contentSecurityPolicy])
        #expect(policy == "default-src 'none'; script-src 'self'; connect-src 'self'; img-src data:")
    }

    @Test("the page holds no inline script, style or handler, and names no other host")
    func nothingInline() async throws {
        let page = try await harness.call(.get, "/phone").text
        #expect(page.firstMatch(of: /<script(?![^>]*\bsrc=)/) == nil)
        #expect(page.firstMatch(of: /<style|\sstyle=|\son[a-z]+=/) == nil)
        #expect(page.firstMatch(of: /https?:\/\//) == nil)
    }

    @Test("every file of the page is served, to the byte and with its type")
    func everyFile() async throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path).filter { $0 != "index.html" }
        #expect(names.count > 20)
        for name in names {
            let answer = try await harness.call(.get, "/phone/assets/\(name)")
            #expect(answer.status == .ok, "\(name)")
            #expect(Data(answer.body.readableBytesView) == (try Data(contentsOf: Self.folder.appending(path: name))), "\(name)")
            let type = ["css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml"]
            #expect(answer.headers[.contentType] == type[URL(filePath: name).pathExtension], "\(name)")
        }
    }

    @Test("no script turns text into markup")
    func noMarkupFromText() throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: Self.folder.path) where name.hasSuffix(".js") {
            let text = try String(contentsOf: Self.folder.appending(path: name), encoding: .utf8)
            let forbidden = /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|srcdoc/
            #expect(text.firstMatch(of: forbidden) == nil, "\(name)")
        }
    }

    @Test("a browser that has a file is not sent it again")
    func notModified() async throws {
        let first = try await harness.call(.get, "/phone/assets/main.js")
        let tag = try #require(first.headers[.eTag])
        let again = try await harness.call(.get, "/phone/assets/main.js", headers: [.ifNoneMatch: tag])
        #expect(again.status == .notModified)
        #expect(again.body.readableBytes == 0)
        let other = try await harness.call(.get, "/phone/assets/dom.js", headers: [.ifNoneMatch: tag])
        #expect(other.status == .ok)
    }

    @Test(
        "what is no file of the page is not found",
        arguments: ["none.js", "..%2Fsecret", "%2e%2e%2fPackage.swift", "index.html", "main.js%00"])
    func unknownFile(name: String) async throws {
        #expect(try await harness.call(.get, "/phone/assets/\(name)").status.code >= 400)
    }

    @Test("the page lists its phones in their order")
    func phones() async throws {
        let two = PageHarness([ScriptedPhone(id: "b", name: "Blue"), ScriptedPhone(id: "a", name: "Amber")])
        let answer = try await two.call(.get, "/phone/phones")
        #expect(
            answer.text
                == #"[{"id":"b","model":"iPhone","name":"Blue","system":"ios"},{"id":"a","model":"iPhone","name":"Amber","system":"ios"}]"#
        )
    }

    @Test("the owner of a phone is listed, so that the page can suggest it")
    func owner() async throws {
        let answer = try await PageHarness([ScriptedPhone(id: "b", name: "Blue", owner: "bob")]).call(.get, "/phone/phones")
        #expect(answer.text == #"[{"id":"b","model":"iPhone","name":"Blue","owner":"bob","system":"ios"}]"#)
    }

    @Test("the page of one phone alone is the same page, and of a phone that is not there it is not found")
    func alone() async throws {
        let answer = try await harness.call(.get, "/phone/p1")
        #expect(answer.status == .ok)
        #expect(answer.text == (try await harness.call(.get, "/phone").text))
        #expect(try await harness.call(.get, "/phone/p9").status == .notFound)
    }

    @Test(
        "a page of another site gets nothing",
        arguments: ["/phone", "/phone/p1", "/phone/events", "/phone/phones", "/phone/p1/events", "/phone/p1/media/7"])
    func crossSite(path: String) async throws {
        let answer = try await harness.call(.get, path, headers: [.secFetchSite: "cross-site"])
        #expect(answer.status == .forbidden)
    }
}
