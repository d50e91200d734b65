import Foundation
import HTTPTypes
import RichPushModel
import ServiceErrors
import Testing

@testable import BackendHTTPAPI
@testable import HTTPService

@Suite("The API description")
struct RouteDescriptionTests {
    struct Route: Hashable {
        var method: HTTPRequest.Method
        var path: String
    }

    /// What exists under a prefix.
    static func registered(in table: RouteTable, prefix: String = APIRoute.prefix) -> Set<Route> {
        Set(
            table.routes.filter { $0.template.hasPrefix(prefix + "/") }.flatMap { route in
                route.methods.map { Route(method: $0, path: route.template) }
            })
    }

    /// The paths and methods of the file, found by their indentation.
    private func described() throws -> Set<Route> {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try String(contentsOf: root.appending(path: "Documentation/openapi.yaml"), encoding: .utf8)
        var routes: Set<Route> = []
        var path: String?
        for line in text.split(separator: "\n") {
            if let found = line.wholeMatch(of: #/  (\/[^:]+):/#) { path = String(found.1) }
            if line.first?.isLetter == true { path = nil }
            if let path, let found = line.wholeMatch(of: #/    (get|put|post|patch|delete|head):/#),
                let method = HTTPRequest.Method(found.1.uppercased())
            {
                routes.insert(Route(method: method, path: path))
            }
        }
        return routes
    }

    @Test("names every route that exists, and no other")
    func complete() async throws {
        let described = try described()
        #expect(described.count > 15)
        #expect(Self.registered(in: try await BackendBench().table) == described)
    }

    @Test("holds without the version too")
    func twice() async throws {
        let table = try await BackendBench().table
        let versioned = Self.registered(in: table).map {
            Route(method: $0.method, path: $0.path.replacing("/api/v1/", with: "/api/"))
        }
        let plain = Self.registered(in: table, prefix: "/api").filter { !$0.path.hasPrefix("/api/v1/") }
        #expect(Set(versioned) == plain)
    }

    @Test("and the phone agree on the paths")
    func sharedPaths() async throws {
        let table = try await BackendBench().table
        let id = try #require(RichID("7"))
        let installation = try #require(InstallationID("phone"))
        let shared = [
            APIRoute.notifications, APIRoute.notification(id), APIRoute.details(id), APIRoute.status(id), APIRoute.ticket(id),
            APIRoute.receipts, APIRoute.content, APIRoute.installations, APIRoute.installation(installation), APIRoute.sealing,
            APIRoute.replies(id), APIRoute.sends, APIRoute.send(id), APIRoute.audienceCount,
            APIRoute.me,
        ]
        for path in shared { #expect(table.match(path: path, method: .get).template.hasPrefix(APIRoute.prefix), "\(path)") }
    }

    @Test("of bodies knows every field that the shared types write")
    func fields() throws {
        var send = SendRequest(message: "m")
        send.audience = "a"
        (send.title, send.subtitle, send.altText, send.kind) = ("t", "s", "a", .image)
        (send.style, send.preview, send.contentID, send.thumbID) = (.alert, .open, "c", "t")
        send.link = "l"
        send.coupon = Coupon(code: "c", headline: "h", terms: "t", validUntil: Timestamp(seconds: 1))
        (send.expiresAt, send.collapseID, send.sound) = (Timestamp(seconds: 1), "c", "s")
        send.frequencyCap = "marketing"
        (send.badge, send.thread, send.pushesPerSecond, send.id, send.transactional) = (1, "t", 5, RichID("7"), true)
        var translation = SendTranslation(language: "sv", group: "A", message: "m")
        (translation.title, translation.subtitle, translation.altText) = ("t", "s", "a")
        (translation.contentID, translation.thumbID, translation.link) = ("c", "t", "l")
        translation.coupon = send.coupon
        send.translations = [translation]
        send.split = SendSplit(key: "k", groups: [.init(name: "A", percent: 1)])
        send.template = TemplateUse(name: "n", version: 1, values: ["v": "x"])
        try expect(send, writes: FieldNames.send)
        let receipt = Receipt(richID: try #require(RichID("7")), kind: .action, action: "a", at: Timestamp(seconds: 1))
        try expect(ReceiptBatch(receipts: [receipt]), writes: FieldNames.receipts)
        var update = InstallationUpdate(
            handle: "h", environment: "sandbox", topic: "t", locale: "sv", sealingKey: "k", appVersion: "1", systemVersion: "s",
            timeZone: "z", permission: "denied", capabilities: ["c"])
        update.languages = ["sv"]
        try expect(Reply(id: "r", text: "t"), writes: FieldNames.reply)
        try expect(update, writes: FieldNames.installation)
    }

    /// The value names each of the fields, and no other.
    private func expect(_ value: some Encodable, writes fields: Set<String>) throws {
        let body = Array(try JSONEncoder().encode(value))
        #expect(try JSONScanner.scan(body, depthLimit: 8, known: fields) == .object)
        for field in fields {
            #expect(throws: ServiceError.self, "\(field)") {
                try JSONScanner.scan(body, depthLimit: 8, known: fields.subtracting([field]))
            }
        }
    }
}
