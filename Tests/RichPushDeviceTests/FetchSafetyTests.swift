import Foundation
import RichPushModel
import Testing

@testable import RichPushDevice

@Suite("What is fetched")
struct FetchSafetyTests {
    let device: TestDevice

    init() throws { device = try TestDevice() }

    @Test("is refused when its hash is another, and never kept")
    func wrongHash() async throws {
        let engine = try await device.signedIn()
        device.backend.store(7, bytes: Samples.png(1))
        device.backend.state.with { $0.stored[id(7)]?.bytes = Samples.png(2) }
        #expect(await engine.handleBackgroundPush(Samples.silent(7), budget: .seconds(30)) == .failed)
        #expect(await device.notifications.presented.map(\.content.attachment) == [nil])
        #expect(await device.notifications.presented.map(\.content.body) == ["Words"])
        #expect(await engine.open(id(7)).state == .failed(.contentMismatch))
        #expect(!device.files.contains { (try? Data(contentsOf: URL(fileURLWithPath: $0))) == Samples.png(2) })
    }

    @Test("is refused when it is longer than announced")
    func tooLong() async throws {
        let engine = try await device.signedIn()
        device.backend.store(7, bytes: Samples.png(1))
        device.backend.state.with { $0.stored[id(7)]?.bytes = Samples.png(1) + Data([0]) }
        #expect(await engine.open(id(7)).state == .failed(.tooLarge))
    }

    @Test("is refused before the download when it is larger than any content may be")
    func announcedTooLarge() async throws {
        let engine = try await device.signedIn()
        device.backend.store(7)
        device.backend.state.with { $0.stored[id(7)]?.entry.content?.byteCount = 51 << 20 }
        #expect(await engine.open(id(7)).state == .failed(.tooLarge))
        #expect(device.backend.count("GET", "/notifications/7") == 0)
    }

    @Test("is refused when its bytes are not of its type")
    func hostileType() async throws {
        let engine = try await device.signedIn()
        device.backend.store(7, bytes: Data("<html><script>".utf8), mediaType: "image/png")
        #expect(await engine.open(id(7)).state == .failed(.badMediaType))
    }

    @Test("is refused when its type is not on the list", arguments: ["text/html", "image/svg+xml", "application/xhtml+xml", ""])
    func forbiddenType(mediaType: String) async throws {
        let engine = try await device.signedIn()
        device.backend.store(7, bytes: Data("<svg/>".utf8), mediaType: mediaType)
        #expect(await engine.open(id(7)).state == .failed(.badMediaType))
        #expect(device.backend.count("GET", "/notifications/7") == 0)
    }

    @Test("never leaves its folder: of a name from the network no separator is left")
    func noPath() async throws {
        let engine = try await device.signedIn()
        device.backend.store(7)
        device.backend.state.with { state in
            state.stored[id(7)]?.entry.content?.fileName = "../../../outside"
            state.stored[id(7)]?.entry.content?.sha256 += ""
        }
        #expect(await engine.open(id(7)).state == .ready)
        let folder = device.folder.path
        #expect(device.files.allSatisfy { $0.hasPrefix(folder) && !$0.split(separator: "/").contains("..") })
        let named = device.files.filter { $0.contains("outside") }
        #expect(named.map { URL(fileURLWithPath: $0).lastPathComponent } == ["_.._.._outside.png"])
    }

    @Test("for another notification than the one asked for is not taken")
    func wrongEntry() async throws {
        let engine = try await device.signedIn()
        device.backend.script { request in
            guard request.url.path.hasSuffix("/details") else { return nil }
            return .success(ScriptedBackend.json(Samples.entry(8, bytes: Samples.png(1)), 200))
        }
        #expect(await engine.open(id(7)).state == .failed(.badAnswer))
    }

    @Test("follows a redirect to https elsewhere without the authorization header")
    func redirectElsewhere() async throws {
        let engine = try await device.signedIn()
        device.backend.store(7)
        device.backend.script { request in
            if request.url.host == "files.example.net" { return .success(TransportResponse(status: 200, body: Samples.png(1))) }
            guard request.url.path.hasSuffix("/notifications/7") else { return nil }
            return .success(TransportResponse(status: 302, headers: ["location": "https://files.example.net/a"]))
        }
        #expect(await engine.open(id(7)).state == .ready)
        let elsewhere = device.backend.requests.filter { $0.url.host == "files.example.net" }
        #expect(elsewhere.map { $0.headers["authorization"] } == [nil])
    }

    @Test(
        "does not follow a redirect that is not https, has a user, or never ends",
        arguments: [
            "http://push.example.org/x", "http://127.0.0.1/x", "https://a:b@push.example.org/x", "ftp://x/y", "", "/loop",
        ])
    func badRedirect(location: String) async throws {
        let engine = try await device.signedIn()
        device.backend.store(7)
        device.backend.script { request in
            guard request.method == "GET", !request.url.path.hasSuffix("/details") else { return nil }
            return .success(TransportResponse(status: 302, headers: ["location": location]))
        }
        #expect(await engine.open(id(7)).state == .failed(.badRedirect))
        #expect(device.backend.requests.allSatisfy { $0.url.scheme == "https" && $0.url.host == "push.example.org" })
    }

    @Test("comes from https, or from this machine, and from nowhere else")
    func configuration() throws {
        for good in ["https://a.example", "http://127.0.0.1:8080", "http://localhost/x", "http://[::1]:9"] {
            #expect(throws: Never.self) { try RichPushConfiguration(backend: URL(string: good)!) }
        }
        for bad in [
            "http://a.example", "http://127.evil.example", "http://localhost.evil.example", "ftp://a.example", "file:///x",
        ] {
            #expect(throws: ConfigurationError.insecureBackend) { try RichPushConfiguration(backend: URL(string: bad)!) }
        }
        #expect(throws: ConfigurationError.badBackend) {
            try RichPushConfiguration(backend: URL(string: "https://u:p@a.example")!)
        }
    }

    @Test("offers only links that are https, or to this machine while the backend is there")
    func links() throws {
        let usual = try TestDevice.configuration()
        let list = "# a comment\r\nhttps://a.example/x\r\n"
        #expect(LinkRule.link(inList: list, by: usual)?.absoluteString == "https://a.example/x")
        let local = try RichPushConfiguration(backend: URL(string: "http://127.0.0.1:8080")!)
        for bad in [
            "javascript:alert(1)", "data:text/html,x", "http://a.example", "tel:123", "https://u:p@a.example", "", "#only",
        ] {
            for configuration in [usual, local] { #expect(LinkRule.link(inList: bad, by: configuration) == nil) }
        }
        for address in ["http://localhost:9000/x", "http://127.0.0.1/x", "http://[::1]/x"] {
            #expect(LinkRule.link(inList: address, by: usual) == nil)
            #expect(LinkRule.link(inList: address, by: local) != nil)
        }
    }

    @Test(
        "a link leads to the hosts that the app names, and to no other",
        arguments: [
            ("https://shop.example/x", true), ("https://SHOP.example:8443/x", true),
            ("https://evil.example/shop.example", false), ("https://shop.example.evil.example/", false),
            ("https://www.shop.example/", false), ("https://xshop.example/", false), ("http://shop.example/", false),
        ])
    func hosts(link: String, isTaken: Bool) async throws {
        var configuration = try TestDevice.configuration()
        configuration.linkHosts = ["Shop.example"]
        let engine = try await device.launch(configuration)
        try await engine.signIn(user: "alice", password: "secret")
        device.backend.store(7, kind: .link, bytes: Data("\(link)\r\n".utf8), mediaType: "text/uri-list")
        let opened = await engine.open(id(7))
        #expect((opened.link != nil) == isTaken)
        #expect((opened.state == .ready) == isTaken)
        configuration.linkHosts = []
        #expect(LinkRule.link(inList: link, by: configuration) == nil)
    }
}
