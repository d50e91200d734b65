import AppBackend
import ClarionTesting
import ContentStorage
import EngineTesting
import Foundation
import HTTPService
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import NIOCore
import PushHub
import RichPushModel
import SQLStorage
import ServerObservability
import SharedAccess
import TrustedIssuers

@testable import BackendHTTPAPI

/// The routes on the real app backend, with SQLite and a content folder that go with the test, and a hub that only takes notes.
final class BackendBench: Sendable {
    let clock = ManualClock.aheadOfFiles()
    let hub: ScriptedHub
    let backend: RichPushBackend
    let folder: String
    /// The routes that exist.
    let table: RouteTable
    /// Which operation of the access table each route is, by method and path without the prefix.
    let accessRoutes: [String: BackendOperation]
    /// The routes that need no credential, in the same form.
    let openRoutes: Set<String>
    let admission: RequestAdmission
    private let database: any SQLDatabase
    private let store: SQLBackendStore
    /// What requests log.
    let notes = LogNotes()
    private let app: Application<ServiceResponder>
    let hasher = PasswordHasher(threads: 1, cost: .init(logarithmOfRounds: 4, blockSize: 8, parallelism: 1))
    /// The provider of the console, where a test has one.
    let scripted: ScriptedProvider
    /// Fetches its keys.
    private let keys: Task<Void, Never>
    /// What the routes read contents from.
    let contents: GatedContentStore

    static func password(of user: String) -> String { "\(user)-keeps-a-password" }

    /// The picture of the rich push tutorial's send.
    static let picture = Fixtures.png(name: "picture")

    private static let nodeSettings = NodeSettings(
        file: nil,
        settings: [
            NodeSettings.Entry(
                name: "listen-port", section: "Listening", value: ["8080"], origin: "default", overrides: [], isDefault: true,
                meaning: "The port.")
        ])

    init(
        settings: BackendSettings = BackendSettings(), requestLimit: Int = 2_000, isSecure: Bool = false,
        consolePath: String = "/console", provider: [String: [String]]? = nil, webOrigins: [String] = []
    ) async throws {
        folder = NSTemporaryDirectory() + "clarion-http-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        database = try await TestEngine.chosen.open(folder + "/clarion.sqlite")
        hub = ScriptedHub(clock: clock, decidesForDevices: settings.webPush.publicKey != nil)
        store = SQLBackendStore(database)
        contents = GatedContentStore(try DiskContentStore(root: folder + "/content"))
        let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let box = SecretBox(.random())
        scripted = ScriptedProvider { [clock] in clock.now.milliseconds / 1_000 }
        let signIn =
            if let provider {
                try await scripted.signIn(provider, clock: clock, logger: notes.logger)
            } else { ProviderSignIn?.none }
        keys = Task { await signIn?.tokens.run() }
        backend = RichPushBackend(
            parts: BackendParts(
                settings: settings, clock: clock, hub: hub, store: store,
                contentStore: contents,
                authenticator: try await PasswordAuthenticator(
                    users: store, counts: store, hasher: hasher, clock: clock),
                hasher: hasher, logger: quiet,
                hubs: ManagedHubs(
                    registry: HubRegistry(store: SQLHubStore(database), box: box, clock: clock),
                    catalog: HubCatalog(store: SQLHubStore(database), box: box, clock: clock)),
                provider: signIn, nodeSettings: Self.nodeSettings,
                workload: { [clock] in
                    Workload(
                        DispatchBacklog(due: [.single: 2, .large: 1], waiting: 4, leased: 5, oldestDueAt: clock.now),
                        nodes: [Workload.Node(name: "a", role: "all", version: "1", startedAt: clock.now)])
                }))
        try await backend.setDefaultPicture(Self.picture, fileName: "picture.png")
        for (name, role) in [("ann", UserRole.user), ("bob", .user), ("sam", .sender), ("root", .admin), ("eve", .auditor)] {
            try await backend.addUser(name: name, password: Self.password(of: name), role: role)
        }
        var service = ServiceOptions(clock: clock)
        service.maximumBodyBytes = BackendHTTPOptions.bodyLimit(contentLimit: settings.contentLimit)
        service.webOrigins = WebOrigins(webOrigins, below: BackendRoutes.prefixes)
        let router = ServiceRouter(options: service)
        HealthRoutes(checks: [ReadinessCheck(name: "storage") { [database] in _ = try await database.tableNames() }])
            .addRoutes(to: router)
        let options = BackendHTTPOptions(
            clock: clock, requestLimit: requestLimit, cookie: SessionCookie(isSecure: isSecure))
        let routes = BackendRoutes(backend: backend, options: options)
        routes.addRoutes(to: router)
        ConsoleRoutes(on: routes, path: consolePath).addRoutes(to: router)
        // The route of the content is added by itself, since a ticket takes the place of a caller there.
        accessRoutes = routes.operations.all.merging(["GET notifications/{id}": .readInbox]) { noted, _ in noted }
        openRoutes = routes.operations.open
        admission = routes.admission
        table = router.table
        app = Application(router: router, logger: notes.logger)
    }

    deinit {
        keys.cancel()
        try? database.close()
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// Calls as `user` with their password; without credentials if it is `nil`.
    func call(
        _ method: HTTPRequest.Method, _ uri: String, as user: String? = nil, headers: HTTPFields = [:], body: [UInt8]? = nil
    ) async throws -> TestResponse {
        var headers = headers
        if let user { headers[.authorization] = Self.basic(user)[.authorization] }
        return try await app.test(.router) { [headers] client in
            try await client.executeRequest(uri: uri, method: method, headers: headers, body: body.map { ByteBuffer(bytes: $0) })
        }
    }

    /// A user's name and password as a header.
    static func basic(_ user: String, password: String? = nil) -> HTTPFields {
        let pair = "\(user):\(password ?? Self.password(of: user))"
        return [.authorization: "Basic " + Data(pair.utf8).base64EncodedString()]
    }

    /// A new service key as a header; by default with the scope that is its name.
    func key(_ name: String, scopes: [String]? = nil, expiresAt: Timestamp? = nil) async throws -> HTTPFields {
        let key = try await backend.createKey(ServiceKeyRequest(name: name, scopes: scopes ?? [name], expiresAt: expiresAt))
        return [.authorization: "Bearer \(key.key ?? "none")"]
    }

    /// Gives all audit entries their places, as a node does each second.
    func sealAudit() async throws { while try await store.sealAudit(limit: 100) > 0 {} }

    /// Calls with a JSON body.
    func json(
        _ method: HTTPRequest.Method, _ uri: String, as user: String? = nil, headers: HTTPFields = [:], _ body: String
    ) async throws -> TestResponse {
        var headers = headers
        headers[.contentType] = "application/json"
        return try await call(method, uri, as: user, headers: headers, body: Array(body.utf8))
    }

    /// Calls with a form of the parts.
    func form(_ uri: String, as user: String, headers: HTTPFields = [:], _ parts: [FormPart]) async throws -> TestResponse {
        var headers = headers
        headers[.contentType] = "multipart/form-data; boundary=form"
        let body = parts.flatMap(\.bytes) + Array("--form--\r\n".utf8)
        return try await call(.post, uri, as: user, headers: headers, body: body)
    }

    /// Stores a picture and sends it; returns the number of the notification.
    func sendPicture(_ bytes: [UInt8], as user: String, audience: String? = nil) async throws -> String {
        let audience = audience.map { ",\"audience\":\"\($0)\"" } ?? ""
        let answer = try await form(
            "/api/v1/notifications", as: user,
            [.json("{\"message\":\"look\"\(audience)}"), .file("content", "a.png", "image/png", bytes)])
        return try JSONDecoder().decode(SendAnswer.self, from: Data(buffer: answer.body)).id.description
    }

    /// Signs an installation of `user` in; returns its credential as a header.
    func signIn(_ installation: String, as user: String, tags: [String] = []) async throws -> HTTPFields {
        let handle =
            String(repeating: "AB", count: 31)
            + String(format: "%02X", installation.utf8.reduce(0) { ($0 &* 31 &+ Int($1)) & 255 })
        let tagList = tags.map { "\"\($0)\"" }.joined(separator: ",")
        let answer = try await json(
            .put, "/api/v1/installations/\(installation)", as: user,
            "{\"platform\":\"apns\",\"handle\":\"\(handle)\",\"tags\":[\(tagList)]}")
        let credential = try JSONDecoder().decode(InstallationAnswer.self, from: Data(buffer: answer.body)).credential
        return [.authorization: "Bearer \(credential ?? "none")"]
    }
}

/// One part of a form.
struct FormPart {
    let bytes: [UInt8]

    static func json(_ text: String, name: String = "notification") -> FormPart {
        FormPart(head: "name=\"\(name)\"\r\nContent-Type: application/json", content: Array(text.utf8))
    }

    static func file(_ name: String, _ fileName: String, _ type: String, _ content: [UInt8]) -> FormPart {
        FormPart(head: "name=\"\(name)\"; filename=\"\(fileName)\"\r\nContent-Type: \(type)", content: content)
    }

    private init(head: String, content: [UInt8]) {
        bytes = Array("--form\r\nContent-Disposition: form-data; \(head)\r\n\r\n".utf8) + content + Array("\r\n".utf8)
    }
}

extension TestResponse {
    var text: String { String(buffer: body) }
    var bytes: [UInt8] { Array(body.readableBytesView) }

    /// The `code` of a problem document.
    var code: String? { text.firstMatch(of: #/"code":"([a-z-]+)"/#).map { String($0.1) } }

    /// The `detail` of a problem document.
    var detail: String? { text.firstMatch(of: #/"detail":"([^"]*)"/#).map { String($0.1) } }

    func decoded<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try JSONDecoder().decode(type, from: Data(buffer: body))
    }
}
