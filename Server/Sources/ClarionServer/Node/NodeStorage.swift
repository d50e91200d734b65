import AppBackend
import ContentStorage
import Metrics
import PushHub
import RichPushModel
import SQLStorage
import ServerObservability
import ServiceErrors
import SharedAccess

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What a node keeps: the database, in the data directory or in PostgreSQL, and the contents, in the data directory or a bucket.
struct NodeStorage: Sendable {
    /// Who opens the storage.
    enum Access: Sendable {
        case server
        /// A short command, perhaps beside a running server.
        case command
    }

    let database: any SQLDatabase
    private let settings: Settings
    let contents: NodeContents
    /// That of the database when nodes share it.
    let clock: WatchedClock
    /// The clock that is put right by the database; absent when there are no other nodes.
    let sharedClock: NodeClock?
    /// What other nodes can know this one by; absent when there can be no others.
    let identity: NodeIdentity?
    let hub: HubID
    /// Seals the secrets of hubs.
    let box: SecretBox
    let hubs: HubRegistry
    /// Signs the links to the files of jobs.
    let signer: ContainerSigner
    /// Signs tickets for contents.
    let tickets: ContentTicketSigner
    /// The files of jobs; only a server has them open.
    let containers: (any ContainerStore)?

    /// Opens the storage, creating the data directory if it is absent. The server brings the schema up to date; a command
    /// refuses one that is not, unless there is none yet.
    ///
    /// Throws `ServiceError` with a sentence for the operator: a directory that cannot be made, a second server on the same
    /// file, a database of a newer version, or one that cannot be reached.
    ///
    /// With `metrics` the operations of the database are timed there. `migrator` knows the steps of the program.
    static func open(
        _ settings: Settings, access: Access, clock: any ServiceClock, metrics: (any MetricsFactory)? = nil,
        migrator: SchemaMigrator = SchemaMigrator()
    ) async throws -> NodeStorage {
        try requireWholeRows(settings)
        let opened = try NodeDatabase.open(settings, access)
        let database = metrics.map { MeasuredDatabase(opened, clock: clock, factory: $0) } ?? opened
        do {
            try await NodeDatabase.prepare(database, settings, access, clock, migrator)
            return try await NodeStorage(database, settings, access, clock)
        } catch {
            try? database.close()
            throw error
        }
    }

    private init(
        _ database: any SQLDatabase, _ settings: Settings, _ access: Access, _ clock: any ServiceClock
    ) async throws {
        let master = try MasterKeyFile.key(settings)
        let isServer = access == .server
        identity = isServer && settings.database != nil ? try NodeIdentity(dataDirectory: settings.dataDirectory) : nil
        sharedClock = try await Self.sharedClock(database, settings, clock)
        let clock = WatchedClock(sharedClock ?? clock)
        self.clock = clock
        self.database = database
        self.settings = settings
        box = SecretBox(master)
        signer = ContainerSigner(master)
        tickets = ContentTicketSigner(master)
        let name = try HubRegistry.name(settings.notifications.hubName)
        hubs = HubRegistry(
            store: SQLHubStore(database), box: box, clock: clock, kept: [name],
            checkCredential: { try HubCredentialCheck.check($0) })
        hub = try await NodeDatabase.patiently(settings, clock) { [hubs] in
            let hub = try await hubs.ensure(name)
            // Tells at once, and not at the first request, that the master key is another one.
            _ = try await (hubs.rules(of: name), hubs.rules(of: nil))
            return hub
        }
        // What another process is just uploading must not be taken for leftovers.
        let isAlone = isServer && settings.database == nil
        let claimant = try await Self.claimant(database, settings, clock)
        contents = try NodeContents(settings, claimant: claimant, isAlone: isAlone, clock: clock)
        containers = isServer ? try contents.containers(settings) : nil
    }

    private static func sharedClock(
        _ database: any SQLDatabase, _ settings: Settings, _ clock: any ServiceClock
    ) async throws -> NodeClock? {
        guard settings.database != nil else { return nil }
        let shared = NodeClock(clock)
        let store = SQLNodeStore(database)
        // Twice: the first answer comes with a new connection, which takes the longest.
        for _ in 1...2 {
            try await NodeDatabase.patiently(settings, clock) { try await shared.measure { try await store.time() } }
        }
        return shared
    }

    /// What a bucket has to belong to; absent without one.
    private static func claimant(
        _ database: any SQLDatabase, _ settings: Settings, _ clock: any ServiceClock
    ) async throws -> ContentClaimant? {
        guard settings.contentStore != nil else { return nil }
        return try await NodeDatabase.patiently(settings, clock) { try await ContentClaimant(database, settings) }
    }

    /// Throws `notFound` where no node has been: a command with a mistyped directory must not find an empty one there.
    static func requireData(_ settings: Settings) throws {
        try requireWholeRows(settings)
        guard !hasDatabase(settings) else { return }
        throw ServiceError(
            .notFound,
            "there is no node's data in \(settings.dataDirectory); is data-directory right? `clarion serve` begins there")
    }

    /// Throws where the database would begin without rows that lie beside it: in a file that is still to be moved, or that was moved
    /// elsewhere. Only looks.
    static func requireWholeRows(_ settings: Settings) throws {
        let file = RetiredDatabaseFile(path: settings.dataDirectory + "/clarion.sqlite")
        if settings.database == nil { try file.requireNotRetired() } else { try file.requireNoneLeft() }
    }

    /// Whether there is a file, or one is not needed. What is in PostgreSQL only a connection tells.
    private static func hasDatabase(_ settings: Settings) -> Bool {
        settings.database != nil || FileManager.default.fileExists(atPath: settings.dataDirectory + "/clarion.sqlite")
    }

    /// Opens the storage for the length of a command.
    static func during<Result: Sendable>(
        command settings: Settings, _ body: (NodeStorage) async throws -> Result
    ) async throws -> Result {
        let storage = try await open(settings, access: .command, clock: .system)
        do {
            let result = try await body(storage)
            await storage.close()
            return result
        } catch {
            await storage.close()
            throw error
        }
    }

    /// Closes what is open.
    func close() async {
        await contents.shutDown()
        try? database.close()
    }

    /// Brings the schema up to date and nothing else; returns its number before and after. Throws `notFound` where there is no
    /// database file: a mistyped directory is no place for a new node.
    static func upgrade(
        _ settings: Settings, clock: any ServiceClock, migrator: SchemaMigrator = SchemaMigrator()
    ) async throws -> (from: Int, to: Int) {
        try requireWholeRows(settings)
        guard hasDatabase(settings) else {
            throw ServiceError(.notFound, "there is no database in \(settings.dataDirectory); `clarion serve` begins one")
        }
        let database = try NodeDatabase.open(settings, .server)
        defer { try? database.close() }
        return try await NodeDatabase.explained(settings) {
            let before = try await SchemaMigrator.version(of: database)
            let steps = try await SchemaTakeover(database: database, clock: clock, migrator: migrator).run()
            return (before, steps.last ?? before)
        }
    }

    /// Creates the directory for its owner alone, and keeps its name and those of the folders on the way there.
    static func makeDirectory(_ path: String) throws { try PrivateFile.makeFolder(path) }

    /// How long a change that was kept proves that the next one will be.
    private static let trust: Duration = .seconds(5)

    /// Throws while the storage cannot be read or cannot keep a write, in words where they may be shown. Unless a change was kept within
    /// the last seconds it writes a row as it is: a node that gets no requests because it is not ready would never write again.
    func check() async throws {
        _ = try await hubStore.record(of: hub)
        if let loss = try await DatabaseSafety.findings(database, settings).first(where: {
            DatabaseSafety.refusal(of: $0, settings) != nil
        }) {
            throw ReadinessFault(loss.sentence)
        }
        if database.lastWriteFault == nil, let kept = database.sinceLastKeptWrite, kept < Self.trust { return }
        do { try await SQLHubStore(database).rewrite(hub) } catch {
            // Others in its way say nothing of whether the database keeps writes.
            guard database.lastWriteFault != nil else { return }
        }
        guard let fault = database.lastWriteFault else { return }
        throw ReadinessFault(WriteHealth.text(fault))
    }

    /// The storage ports of the app backend.
    var backendStores: BackendStores { .sql(database) }

    /// The storage ports of the hub.
    var hubStores: NotificationHub.Stores {
        NotificationHub.Stores(
            devices: SQLDeviceStore(database), intake: SQLIntakeStore(database), telemetry: SQLTelemetryStore(database))
    }

    /// Which hubs there are.
    var hubStore: SQLHubStore { SQLHubStore(database) }

    /// Import and export jobs.
    var jobStore: SQLJobStore { SQLJobStore(database) }

    /// The queue that the dispatcher works on.
    var sliceQueue: SQLSliceQueue { SQLSliceQueue(database) }
}
