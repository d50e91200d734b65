import ClarionTesting
import EngineTesting
import Foundation
import HTTPService
import HTTPTypes
import HubHTTPAPI
import Hummingbird
import HummingbirdTesting
import Logging
import NIOConcurrencyHelpers
import NIOCore
import RichPushModel
import SQLStorage
import SharedAccess

@testable import PushHub

/// The hub protocol over real storage in a temporary folder, called without a socket.
final class HubUnderTest: Sendable {
    static let authority = "push.example.test:8443"
    /// The key of the worked example in Reference/AzureNotificationHubs.md#1-3 and of the recordings.
    static let fullKey = "c2VjcmV0LWtleS1mb3ItZXhhbXBsZXMtMDEyMzQ1Njc4OTA="
    static let listenKey = "bGlzdGVuLWtleS1mb3ItZXhhbXBsZXMtMDEyMzQ1Njc4OTA="

    static let rootRule = "RootManageSharedAccessKey"
    static let rootKey = "cm9vdC1rZXktZm9yLWV4YW1wbGVzLTAxMjM0NTY3ODkwMTI="

    let clock: ManualClock
    let registry: HubRegistry
    let transport = AcceptingTransport()
    private let folder: String
    private let database: any SQLDatabase
    /// What requests log.
    let notes = LogNotes()
    private let application: Application<AddressedResponder>

    init(
        hubs names: [String] = ["demo"], start: Timestamp = Timestamp(seconds: 1_795_220_000),
        intake wrap: (any IntakeStore) -> any IntakeStore = { $0 },
        devices wrapDevices: (any DeviceStore) -> any DeviceStore = { $0 },
        settings changeSettings: (inout NotificationHub.Settings) -> Void = { _ in },
        service changeService: (inout ServiceOptions) -> Void = { _ in },
        options change: (inout HubHTTPOptions) -> Void = { _ in }
    ) async throws {
        folder = NSTemporaryDirectory() + "clarion-protocol-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        database = try await TestEngine.chosen.open(folder + "/clarion.sqlite")
        clock = ManualClock(start: start)
        let stores = NotificationHub.Stores(
            devices: wrapDevices(SQLDeviceStore(database)), intake: wrap(SQLIntakeStore(database)),
            telemetry: SQLTelemetryStore(database))
        let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let box = SecretBox(.random())
        let store = SQLHubStore(database)
        registry = HubRegistry(store: store, box: box, clock: clock)
        for name in names { _ = try await registry.create(try HubRegistry.name(name), HubChange(rules: Self.rules)) }
        try await registry.put(
            AccessRule(name: Self.rootRule, rights: Set(AccessRight.allCases), primary: Self.key(Self.rootKey)), of: nil)
        let serviceClock = clock
        var changed = NotificationHub.Settings()
        changeSettings(&changed)
        let settings = changed
        let directory = HubDirectory(
            catalog: HubCatalog(store: store, box: box, clock: clock), registry: registry
        ) { NotificationHub(id: $0.id, stores: stores, clock: serviceClock, settings: settings, logger: quiet) }
        var options = HubHTTPOptions(clock: clock, transport: transport)
        change(&options)
        var service = ServiceOptions(clock: clock)
        changeService(&service)
        let router = ServiceRouter(options: service)
        router.get("/api/notifications") { _, _ in "api" }
        router.add(HubRoutes(directory: directory, options: options))
        application = Application(responder: AddressedResponder(base: router.buildResponder()), logger: notes.logger)
    }

    /// What the audit has, in no order.
    func audit() async throws -> [String] {
        let select = SQLStatement("SELECT action, object, actor_kind, actor, details FROM audit_entries")
        return try await database.reading { connection in
            try connection.rows(select, []).map { row in
                let texts = try (0..<5).map { try row.optionalText($0) ?? "" }
                return "\(texts[0]) \(texts[1]) by \(texts[2]) \(texts[3]): \(texts[4])"
            }
        }
    }

    deinit {
        try? database.close()
        try? FileManager.default.removeItem(atPath: folder)
    }

    static var rules: [AccessRule] {
        [
            AccessRule(name: AccessRule.fullName, rights: Set(AccessRight.allCases), primary: key(fullKey)),
            AccessRule(name: AccessRule.listenName, rights: [.listen], primary: key(listenKey)),
        ]
    }

    private static func key(_ text: String) -> SharedAccessKey { SharedAccessKey(text) ?? .random() }

    /// Works on everything that is due, as the dispatcher of a node does.
    func dispatch() async {
        let dispatcher = Dispatcher(
            queue: SQLSliceQueue(database), transport: transport, clock: clock,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        while await dispatcher.pass() > 0 {}
    }

    /// Sends a request as it is.
    func call(_ request: ClientRequest) async throws -> ClientAnswer {
        guard let method = HTTPRequest.Method(rawValue: request.method) else { throw ClientAnswer.Unreadable("no method") }
        var fields = HTTPFields()
        for (name, value) in request.headers {
            guard let name = HTTPField.Name(name) else { throw ClientAnswer.Unreadable("no header name: \(name)") }
            fields.append(HTTPField(name: name, value: value))
        }
        let headers = fields
        let body = request.body.isEmpty ? nil : ByteBuffer(string: request.body)
        let response = try await application.test(.router) { client in
            try await client.executeRequest(uri: request.target, method: method, headers: headers, body: body)
        }
        HubReference.expect(response, to: method, request.target)
        return ClientAnswer(
            status: response.status.code,
            headers: Dictionary(
                response.headers.map { ($0.name.canonicalName, $0.value) }, uniquingKeysWith: { first, _ in first }),
            body: String(buffer: response.body))
    }

    /// Sends a request with what the client adds: its fixed headers and its signature, made with the full key unless `listens`.
    func call(_ client: HubClient, _ request: ClientRequest, listens: Bool = false) async throws -> ClientAnswer {
        var signed = request
        let token = try client.authorization(
            url: Self.url(request.target), key: listens ? Self.listenKey : Self.fullKey,
            rule: listens ? AccessRule.listenName : AccessRule.fullName, now: clock.now.seconds)
        signed.headers += [("Host", Self.authority), ("Authorization", token)] + client.fixedHeaders
        return try await call(signed)
    }

    static func url(_ target: String) -> String { "https://\(authority)\(target)" }
}

/// A push service that says the same to everything, at first that it takes it.
final class AcceptingTransport: PushTransport {
    private let batches = NIOLockedValueBox<[PushBatch]>([])
    private let outcome = NIOLockedValueBox(PushOutcome.accepted)

    var sent: [PushBatch] { batches.withLockedValue { $0 } }

    /// What it says from now on.
    func answer(_ outcome: PushOutcome) { self.outcome.withLockedValue { $0 = outcome } }

    func send(_ batch: PushBatch) async -> PushOutcomes {
        batches.withLockedValue { $0.append(batch) }
        return PushOutcomes(batch.targets.map { _ in outcome.withLockedValue { $0 } })
    }
}

/// The router test knows one authority only; here the `Host` of the request is it, as on a connection.
private struct AddressedResponder: HTTPResponder {
    typealias Context = ServiceRequestContext

    let base: ServiceResponder

    func respond(to request: Request, context: ServiceRequestContext) async throws -> Response {
        var head = request.head
        if let name = HTTPField.Name("Host"), let host = head.headerFields[name] {
            head.authority = host
            head.headerFields[name] = nil
        }
        return try await base.respond(to: Request(head: head, body: request.body), context: context)
    }
}
