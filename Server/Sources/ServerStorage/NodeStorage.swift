import AppBackend
import AuditTrail
import ContentStorage
import Logging
import LongWork
import Metrics
import PushHub
import RichPushModel
import SQLStorage
import ServerDelivery
import ServerObservability
import ServerSettings
import ServiceErrors
import SharedAccess
import TrustedIssuers

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What a node keeps: the database, in the data directory or in PostgreSQL, and the contents, in the data directory or a bucket.
package struct NodeStorage: Sendable {
    package let database: any SQLDatabase
    let settings: Settings
    package let contents: NodeContents
    /// That of the database when nodes share it.
    package let clock: WatchedClock
    /// The clock that is put right by the database; absent when there are no other nodes.
    let sharedClock: NodeClock?
    /// What other nodes can know this one by; absent when there can be no others.
    package let identity: NodeIdentity?
    package let hub: HubID
    /// Seals the secrets of hubs.
    package let box: SecretBox
    package let hubs: HubRegistry
    /// Signs the links to the files of jobs.
    package let signer: ContainerSigner
    /// Signs the checkpoints of the audit.
    package let auditKey: AuditSigningKey
    /// Signs tickets for contents.
    package let tickets: ContentTicketSigner
    /// Derives the secrets of webhooks.
    package let webhookSecrets: WebhookSecrets
    /// Derives the secrets of second factors.
    package let timeCodes: TimeCodeSecrets
    /// The files of jobs; only a server has them open.
    package let containers: (any ContainerStore)?

    /// Opens the storage. The server brings the schema up to date, and begins where there is none; a command refuses both, and what
    /// begins a node the first.
    ///
    /// Throws `ServiceError` with a sentence for the operator: a directory that cannot be made, a second server on the same
    /// file, a database of a newer version, one that cannot be reached, or for a command `notFound` where no node has been.
    ///
    /// With `metrics` the operations of the database are timed there. `migrator` knows the steps of the program.
    package static func open(
        _ settings: Settings, access: NodeDatabase.Access, clock: any ServiceClock, metrics: (any MetricsFactory)? = nil,
        migrator: SchemaMigrator = SchemaMigrator()
    ) async throws -> NodeStorage {
        if access == .command { try requireData(settings) } else { try requireWholeRows(settings) }
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
        _ database: any SQLDatabase, _ settings: Settings, _ access: NodeDatabase.Access, _ clock: any ServiceClock
    ) async throws {
        let master = try await NodeDatabase.retryingAtStart(settings, clock) {
            try await ContentsWithoutDatabase.refuseNew(database, settings)
            return try await MasterKeyFile.key(settings, for: database)
        }
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
        webhookSecrets = WebhookSecrets(master)
        timeCodes = TimeCodeSecrets(master)
        auditKey = try AuditSigningKey(seed: master.auditSeed)
        let name = try HubRegistry.name(settings.notifications.hubName)
        hubs = HubRegistry(
            store: SQLHubStore(database), box: box, clock: clock, kept: [name],
            checkCredential: { try HubCredentialCheck.check($0) })
        hub = try await NodeDatabase.retryingAtStart(settings, clock) { [hubs] in
            let hub = try await hubs.ensure(name)
            // A wrong master key fails here and not at the first request.
            _ = try await (hubs.rules(of: name), hubs.rules(of: nil))
            return hub
        }
        if isServer { try await Self.compare(clock, with: database, settings) }
        // What another process is just uploading must not be taken for leftovers.
        let isAlone = isServer && settings.database == nil
        let claimant = try await Self.claimant(database, settings, clock)
        contents = try NodeContents(settings, claimant: claimant, isAlone: isAlone, clock: clock)
        containers = isServer ? try contents.containers(settings) : nil
    }

    /// Lets all sweeps rest at first where the clock may have been set while no process watched it.
    private static func compare(_ clock: WatchedClock, with database: any SQLDatabase, _ settings: Settings) async throws {
        let last = try await NodeDatabase.retryingAtStart(settings, clock) { try await SQLBackendStore(database).lastSweep() }
        guard let last, BackendUpkeep.mayHaveBeenSet(since: last, at: clock.now) else { return }
        clock.noteUnseenStep()
    }

    private static func sharedClock(
        _ database: any SQLDatabase, _ settings: Settings, _ clock: any ServiceClock
    ) async throws -> NodeClock? {
        guard settings.database != nil else { return nil }
        let shared = NodeClock(clock)
        let store = SQLNodeStore(database)
        // Twice: the first answer comes with a new connection, which takes the longest.
        for _ in 1...2 {
            try await NodeDatabase.retryingAtStart(settings, clock) { try await shared.measure { try await store.time() } }
        }
        return shared
    }

    /// What a bucket has to belong to; absent without one.
    private static func claimant(
        _ database: any SQLDatabase, _ settings: Settings, _ clock: any ServiceClock
    ) async throws -> BucketOwner? {
        guard settings.contentStore != nil else { return nil }
        return try await NodeDatabase.retryingAtStart(settings, clock) { try await BucketOwner(database, settings) }
    }

    /// Throws `notFound` where there is no database file: a command with a mistyped directory must not find an empty one there. Only looks.
    package static func requireData(_ settings: Settings) throws {
        try requireWholeRows(settings)
        guard hasDatabase(settings) else { throw NodeDatabase.noNode(settings) }
    }

    /// Throws where the database would begin without rows that lie beside it: in a file that is still to be moved, or that was moved
    /// elsewhere, or without the rows of contents that lie there. Only looks.
    package static func requireWholeRows(_ settings: Settings) throws {
        let file = RetiredDatabaseFile(path: settings.dataDirectory + "/clarion.sqlite")
        if settings.database == nil { try file.requireNotRetired() } else { try file.requireNoneLeft() }
        try ContentsWithoutDatabase.refuseFile(settings)
    }

    /// Whether there is a file, or none is needed. What PostgreSQL holds is known only after connecting.
    private static func hasDatabase(_ settings: Settings) -> Bool {
        settings.database != nil || FileManager.default.fileExists(atPath: settings.dataDirectory + "/clarion.sqlite")
    }

    /// Opens the storage for the length of a command, which may begin the node or needs one.
    package static func during<Result: Sendable>(
        command settings: Settings, mayBegin: Bool = false, _ body: (NodeStorage) async throws -> Result
    ) async throws -> Result {
        let storage = try await open(settings, access: mayBegin ? .beginning : .command, clock: .system)
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
    package func close() async {
        await contents.shutDown()
        try? database.close()
    }

    /// Brings the schema up to date and nothing else; returns its number before and after. Throws `notFound` where no node has been: a
    /// mistyped place is none for a new one.
    package static func upgrade(
        _ settings: Settings, clock: any ServiceClock, progress: WorkProgress,
        migrator: SchemaMigrator = SchemaMigrator()
    ) async throws -> (from: Int, to: Int) {
        try requireData(settings)
        // The lock of a server is that of a file. Elsewhere not even a folder is needed.
        let database = try NodeDatabase.open(settings, settings.database == nil ? .server : .command)
        defer { try? database.close() }
        return try await NodeDatabase.explained(settings) {
            guard try await NodeDatabase.holdsNode(database) else { throw NodeDatabase.noNode(settings) }
            let before = try await SchemaMigrator.version(of: database)
            let steps = try await SchemaTakeover(database: database, clock: clock, migrator: migrator, progress: progress).run()
            return (before, steps.last ?? before)
        }
    }

    /// How long a change that was kept proves that the next one will be.
    private static let trust: Duration = .seconds(5)

    /// Throws while the storage cannot be read or cannot keep a write, with a text that may be shown. Unless a change was kept within
    /// the last seconds it writes a row as it is: a node that gets no requests because it is not ready would never write again.
    package func check() async throws {
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

    package var backendStore: any BackendStore { SQLBackendStore(database) }
    package var keySetStore: any KeySetStore { SQLBackendStore(database) }

    package var hubStores: NotificationHub.Stores {
        NotificationHub.Stores(
            devices: SQLDeviceStore(database), intake: SQLIntakeStore(database), telemetry: SQLTelemetryStore(database))
    }

    /// Which hubs there are.
    package var hubStore: SQLHubStore { SQLHubStore(database) }

    package var jobStore: SQLJobStore { SQLJobStore(database) }

    /// The queue that the dispatcher works on.
    package var sliceQueue: SQLSliceQueue { SQLSliceQueue(database) }
}

extension NodeStorage {
    /// What there is to do on the database, and who does it.
    package func workload(at now: Timestamp) async throws -> Workload {
        let backlog = try await SQLTelemetryStore(database).backlog(at: now)
        guard settings.database != nil else { return Workload(backlog, nodes: nil) }
        let members = try await SQLNodeStore(database).members(seenSince: now - NodeMembership.absence)
        return Workload(
            backlog,
            nodes: members.map { Workload.Node(name: $0.id, role: $0.role, version: $0.version, startedAt: $0.startedAt) })
    }

    /// What the node does because there may be others; `nil` when there can be none.
    package func membership(signal: DispatchSignal, metrics: any MetricsFactory, logger: Logger) -> NodeMembership? {
        guard let place = settings.database, let identity, let sharedClock else { return nil }
        if !identity.isLasting {
            logger.warning(
                "Another process uses the data directory: this node has a name for its own life, and after a crash its work waits for a minute",
                metadata: ["path": "\(settings.dataDirectory)"])
        }
        return NodeMembership(
            store: SQLNodeStore(database), fence: SchemaFence(database), clock: sharedClock, identity: identity,
            role: settings.role, database: place, signal: signal, metrics: metrics, logger: logger)
    }
}
