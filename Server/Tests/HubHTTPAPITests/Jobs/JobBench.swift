import ClarionTesting
import EngineTesting
import Foundation
import HTTPService
import HTTPTypes
import HubHTTPAPI
import HubProtocol
import Hummingbird
import HummingbirdTesting
import Logging
import NIOCore
import PushHub
import RichPushModel
import SQLStorage
import SharedAccess
import Testing

/// Jobs through the hub protocol over real storage in a temporary folder, called without a socket.
final class JobBench: Sendable {
    let clock = ManualClock(start: Timestamp(seconds: 1_795_220_000))
    let hub: NotificationHub
    let jobStore: SQLJobStore
    let deviceStore: SQLDeviceStore
    let containers: any ContainerStore
    let jobs: HubJobs
    let database: any SQLDatabase
    private let key = SharedAccessKey.random()
    private let listenKey = SharedAccessKey.random()
    private let sendKey = SharedAccessKey.random()
    private let manageKey = SharedAccessKey.random()
    private let folder = NSTemporaryDirectory() + "clarion-jobs-\(UUID().uuidString)"
    private let application: Application<ServiceResponder>

    static let host = "push.example.test"

    /// The files lie in a new place, or where they are said to.
    init(_ place: JobFilePlace = .disk, containers: (any ContainerStore)? = nil) async throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        database = try await TestEngine.chosen.open(folder + "/clarion.sqlite")
        let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let (clock, devices) = (clock, SQLDeviceStore(database))
        deviceStore = devices
        let stores = NotificationHub.Stores(
            devices: devices, intake: SQLIntakeStore(database), telemetry: SQLTelemetryStore(database))
        let master = MasterKey.random()
        let hubStore = SQLHubStore(database)
        let registry = HubRegistry(store: hubStore, box: SecretBox(master), clock: clock)
        let rules = [
            AccessRule(name: AccessRule.fullName, rights: Set(AccessRight.allCases), primary: key),
            AccessRule(name: AccessRule.listenName, rights: [.listen], primary: listenKey),
            AccessRule(name: "send", rights: [.send], primary: sendKey),
            AccessRule(name: "manage", rights: [.manage], primary: manageKey),
        ]
        for name in ["demo", "other"] {
            _ = try await registry.create(try HubRegistry.name(name), HubChange(rules: rules))
        }
        let record = try #require(try await registry.hub(named: try HubRegistry.name("demo")))
        let makeHub: @Sendable (HubID) -> NotificationHub = {
            NotificationHub(id: $0, stores: stores, clock: clock, logger: quiet)
        }
        hub = makeHub(record.id)
        var store = SQLJobStore(database)
        // As where many write.
        store.feedbackSettling = .seconds(180)
        jobStore = store
        if let containers { self.containers = containers } else { self.containers = try await place.open(folder) }
        jobs = HubJobs(
            store: jobStore, containers: self.containers, devices: devices, format: RegistrationFileFormat(),
            hub: { makeHub($0) },
            clock: clock, logger: quiet)
        let directory = HubDirectory(
            catalog: HubCatalog(store: hubStore, box: SecretBox(master), clock: clock), registry: registry
        ) { makeHub($0.id) }
        let options = HubHTTPOptions(
            clock: clock, publicHosts: [Self.host], transport: AcceptingTransport(),
            files: HubFiles(jobs: jobs, signer: ContainerSigner(master)))
        let router = ServiceRouter(options: ServiceOptions(clock: clock))
        router.add(HubRoutes(directory: directory, options: options))
        application = Application(router: router, logger: quiet)
    }

    deinit {
        try? database.close()
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// Another service on the same storage, as a node has after a restart. With an `owner` it is the one process of that name.
    func restarted(
        store: any JobStore, containers: any ContainerStore, batchBytes: Int? = nil, findsHub: Bool = true,
        owner: String? = nil
    ) -> HubJobs {
        let hub = findsHub ? hub : nil
        var settings = HubJobs.Settings()
        if let batchBytes { settings.batchBytes = batchBytes }
        if let owner { (settings.owner, settings.takeover) = (owner, .own) }
        return HubJobs(
            store: store, containers: containers, devices: deviceStore, format: RegistrationFileFormat(), hub: { _ in hub },
            clock: clock, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, settings: settings)
    }

    /// Calls with the full key, with a key of one right, or without one.
    enum Caller { case full, listen, send, manage, anonymous }

    func call(
        _ method: HTTPRequest.Method, _ uri: String, _ body: String = "", as caller: Caller = .full, headers: HTTPFields = [:]
    ) async throws -> TestResponse {
        var headers = headers
        switch caller {
        case .full: headers[.authorization] = token(AccessRule.fullName, key)
        case .listen: headers[.authorization] = token(AccessRule.listenName, listenKey)
        case .send: headers[.authorization] = token("send", sendKey)
        case .manage: headers[.authorization] = token("manage", manageKey)
        case .anonymous: break
        }
        let response = try await application.test(.router) { [headers] client in
            try await client.executeRequest(
                uri: uri, method: method, headers: headers, body: body.isEmpty ? nil : ByteBuffer(string: body))
        }
        HubReference.expect(response, to: method, uri)
        return response
    }

    private func token(_ rule: String, _ key: SharedAccessKey) -> String {
        SharedAccessSigner(ruleName: rule, key: key).token(
            audience: "https://\(Self.host)/", expiresAt: clock.now + .seconds(600))
    }

    /// A new container; its link.
    func makeContainer(_ hub: String = "demo") async throws -> String {
        let answer = try await call(.post, "/$containers/\(hub)")
        #expect(answer.status == .created)
        return try #require(answer.headers[.location])
    }

    /// The path and query of a link; with a file name behind the container if one is given.
    static func target(_ link: String, _ file: String? = nil, _ query: String = "") -> String {
        let rest = link.dropFirst(origin(link).count)
        let path = rest.prefix { $0 != "?" }
        return "\(path)\(file.map { "/\($0)" } ?? "")\(rest[path.endIndex...])\(query)"
    }

    /// The link to a file in a container.
    static func link(_ link: String, file: String) -> String {
        origin(link) + target(link, file)
    }

    /// Scheme and authority of a link.
    private static func origin(_ link: String) -> String {
        let parts = link.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        return parts.prefix(3).joined(separator: "/")
    }

    /// Submits a job; its document.
    func submit(_ type: HubJobDocument.JobType, output: String, file: String? = nil) async throws -> HubJobDocument {
        let document = HubJobDocument(type, outputContainer: output, importFile: file)
        let answer = try await call(.post, "/demo/jobs?api-version=2020-06", document.request())
        #expect(answer.status == .created, "\(String(buffer: answer.body))")
        return try HubJobDocument.read(entry: Array(answer.body.readableBytesView))
    }

    /// The job as the protocol reports it now.
    func job(_ id: String?) async throws -> HubJobDocument {
        let answer = try await call(.get, "/demo/jobs/\(id ?? "")?api-version=2020-06")
        #expect(answer.status == .ok)
        return try HubJobDocument.read(entry: Array(answer.body.readableBytesView))
    }

    /// A file of a job, without a key but with the job's own link.
    func file(_ job: HubJobDocument, _ property: String) async throws -> String {
        let name = try #require(job.outputProperties.first { $0.name == property }?.value)
        let answer = try await call(.get, Self.target(job.outputContainer, name), as: .anonymous)
        #expect(answer.status == .ok)
        return String(buffer: answer.body)
    }
}
