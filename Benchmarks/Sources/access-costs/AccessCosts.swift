import AppBackend
import AuditTrail
import ContentStorage
import Foundation
import Logging
import PushHub
import RichPushModel
import SQLStorage
import SQLiteDatabase
import SharedAccess
import TrustedIssuers
import WireText

/// `access-costs SENDS PORT CERTIFICATE` measures once what a caller's credential costs, what the audit adds to a send of a service, and what a
/// push for a browser costs, with encryption alone and over a connection to a sink at that port. Prints the figures as one JSON object: microseconds of the processor, shares in percent.
@main
enum AccessCosts {
    private static let verifications = 5_000
    private static let keyChecks = 20_000
    /// As many callers send at a time.
    private static let callers = 64
    private static let source = SourceAddress("192.0.2.7")
    private static let logger = Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() }

    static func main() async throws {
        let words = CommandLine.arguments.dropFirst()
        let numbers = words.prefix(2).compactMap { Int($0) }
        guard words.count == 3, numbers.count == 2, numbers[0] >= callers, let certificate = words.last else {
            print("usage: access-costs SENDS PORT CERTIFICATE")
            exit(64)
        }
        let sends = numbers[0]
        var figures: [String: Double] = [:]
        for key in try BenchKey.all() {
            let (whole, signature) = try await verification(of: try key.token(), by: key)
            figures["token, \(key.algorithm)"] = whole
            figures["token but for its signature, \(key.algorithm)"] = whole - signature
        }
        let browser = try await WebPushCosts(measured)
        figures["web push, encryption"] = browser.encryption
        figures["web push, key agreement and AES-GCM alone"] = browser.reference
        figures["web push, encryption over the two alone"] = browser.encryption / browser.reference * 100
        let whole = try await BrowserPushes(
            port: numbers[1], certificate: certificate, body: WebPushCosts.message
        ).cost(processorSeconds)
        figures["web push, whole"] = whole
        figures["web push, whole over the two alone"] = whole / browser.reference * 100
        let folder = FileManager.default.temporaryDirectory.appending(path: "clarion-access-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        figures["service key"] = try await keyCheck(in: folder.appending(path: "key"))
        let without = try await self.sends(sends, isAudited: false, in: folder.appending(path: "without"))
        let with = try await self.sends(sends, isAudited: true, in: folder.appending(path: "with"))
        figures["send without audit"] = without.processor
        figures["send with audit"] = with.processor
        figures["audit, of the processor time of a send"] = (with.processor / without.processor - 1) * 100
        figures["audit, of the time of a send"] = (with.time / without.time - 1) * 100
        print(String(decoding: try JSONEncoder().encode(figures), as: UTF8.self))
    }

    /// A token whose key is known, and the check of its signature alone.
    private static func verification(of token: String, by key: BenchKey) async throws -> (whole: Double, signature: Double) {
        let issuer = try await TrustedIssuer(fields: [
            "issuer": [BenchKey.issuer], "audiences": ["app"], "algorithms": [key.algorithm], "keys-document": [key.keySet],
        ])
        let verifier = await TokenVerifier(
            issuers: [issuer], fetching: NoFetching(), store: nil, clock: .system, logger: logger)
        let whole = try await measured(verifications) { _ = try await verifier.verify(token) }
        let parts = token.split(separator: ".")
        guard parts.count == 3, let signature = Base64URL.bytes(of: parts[2]) else { throw BenchError.token }
        let signed = Array("\(parts[0]).\(parts[1])".utf8)
        let alone = try await measured(verifications) {
            guard key.verifies(signature, signed) else { throw BenchError.token }
        }
        return (whole, alone)
    }

    /// A key that was looked up within the last seconds, as a busy service's is.
    private static func keyCheck(in folder: URL) async throws -> Double {
        let (database, backend) = try await open(folder, isAudited: true)
        defer { try? database.close() }
        let credential = PresentedCredential.bearer(try await key(of: backend))
        return try await measured(keyChecks) { _ = try await backend.authenticate(credential, from: source) }
    }

    /// Processor time and time of a send, in microseconds. The audit is sealed beside the sends, as on a node.
    private static func sends(_ count: Int, isAudited: Bool, in folder: URL) async throws -> (processor: Double, time: Double) {
        let (database, backend) = try await open(folder, isAudited: isAudited)
        defer { try? database.close() }
        let keeper = AuditKeeper(
            store: SQLBackendStore(database), key: try AuditSigningKey(seed: Array(repeating: 7, count: 32)),
            retention: .seconds(86_400), clock: .system, logger: logger)
        let principal = try await backend.authenticate(.bearer(try await key(of: backend)), from: source)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await keeper.run() }
            try await send(callers * 4, by: principal, backend)
            let (start, before) = (ContinuousClock.now, processorSeconds())
            try await send(count, by: principal, backend)
            let (time, processor) = ((ContinuousClock.now - start) / .seconds(1), processorSeconds() - before)
            group.cancelAll()
            return (processor / Double(count) * 1_000_000, time / Double(count) * 1_000_000)
        }
    }

    private static func send(_ count: Int, by principal: Principal, _ backend: RichPushBackend) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<callers {
                group.addTask {
                    for _ in 0..<count / callers {
                        var request = SendRequest(message: "Hello")
                        request.audience = "news"
                        _ = try await backend.send(request, idempotencyKey: nil, for: principal)
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    private static func key(of backend: RichPushBackend) async throws -> String {
        try await backend.createKey(ServiceKeyRequest(name: "bench", scopes: ["send"])).key ?? ""
    }

    /// A backend on a new database, with a hub in it.
    private static func open(_ folder: URL, isAudited: Bool) async throws -> (any SQLDatabase, RichPushBackend) {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = try SQLiteDatabase(path: folder.appending(path: "clarion.sqlite").path(), access: .server)
        let clock = SystemClock()
        try await SchemaMigrator().migrate(file, at: clock.now)
        let database: any SQLDatabase = isAudited ? file : DatabaseWithoutAudit(file)
        let hub = NotificationHub(
            id: try await SQLHubStore(database).ensureHub(named: "bench", at: clock.now),
            stores: NotificationHub.Stores(
                devices: SQLDeviceStore(database), intake: SQLIntakeStore(database), telemetry: SQLTelemetryStore(database)),
            clock: clock, logger: logger)
        let store = SQLBackendStore(database)
        let hasher = PasswordHasher()
        var settings = BackendSettings()
        settings.senderSendsPerMinute = 100_000_000
        let parts = BackendParts(
            settings: settings, clock: clock, hub: hub, store: store,
            contentStore: try DiskContentStore(root: folder.appending(path: "content").path()),
            authenticator: try await PasswordAuthenticator(users: store, counts: store, hasher: hasher, clock: clock),
            hasher: hasher, logger: logger)
        return (database, RichPushBackend(parts: parts))
    }

    /// Microseconds of the processor for one call, after some that are not counted.
    private static func measured(_ count: Int, _ work: () async throws -> Void) async throws -> Double {
        for _ in 0..<count / 10 { try await work() }
        let before = processorSeconds()
        for _ in 0..<count { try await work() }
        return (processorSeconds() - before) / Double(count) * 1_000_000
    }

    private static func processorSeconds() -> Double {
        var usage = rusage()
        // 0 is RUSAGE_SELF, which has another type on each platform.
        getrusage(0, &usage)
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1_000_000 }
        return seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }
}

/// The keys are in a file: nothing is fetched.
private struct NoFetching: KeySetFetching {
    func fetch(_ address: WebAddress) async throws(KeySetFault) -> FetchedDocument { throw KeySetFault("nothing is fetched") }
}

/// A figure that would measure nothing.
enum BenchError: Error {
    /// A token of the measurement does not verify.
    case token
    /// A push was not accepted.
    case refused
}
