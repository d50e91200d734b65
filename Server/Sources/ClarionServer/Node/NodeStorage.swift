import AppBackend
import ContentStorage
import PushHub
import RichPushModel
import SQLStorage
import SQLiteDatabase
import ServiceErrors
import SharedAccess

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What a node keeps: the database and the content, both in the data directory.
struct NodeStorage: Sendable {
    let database: SQLiteDatabase
    let content: DiskContentStore
    let hub: HubID
    /// Seals the secrets of hubs.
    let box: SecretBox
    let hubs: HubRegistry
    /// Signs the links to the files of jobs.
    let signer: ContainerSigner
    /// The files of jobs; only a server has them open.
    let containers: DiskContainerStore?

    /// All files of jobs and of feedback together, in bytes.
    static let containerLimit: Int64 = 8 << 30

    /// Opens the data directory, creating it if it is absent. The server brings the schema up to date; a command refuses one
    /// that is not, unless there is none yet.
    ///
    /// Throws `ServiceError` with a sentence for the operator: a directory that cannot be made, a second server on the same
    /// data, a database of a newer version.
    static func open(_ settings: Settings, access: SQLiteDatabase.Access, clock: any ServiceClock) async throws -> NodeStorage {
        let database = try openDatabase(settings, access: access)
        return try await explained(settings) {
            switch access {
            case .server: try await SchemaMigrator().migrate(database, at: clock.now)
            // Beside a running server of another version a change of the schema would break that server.
            case .command: try await SchemaMigrator().requireCurrent(database, at: clock.now)
            }
            let master = try MasterKeyFile.key(settings)
            let box = SecretBox(master)
            let name = try HubRegistry.name(settings.notifications.hubName)
            let hubs = HubRegistry(
                store: SQLHubStore(database), box: box, clock: clock, kept: [name],
                checkCredential: { try HubCredentialCheck.check($0) })
            let hub = try await hubs.ensure(name)
            // Tells at once, and not at the first request, that the master key is another one.
            _ = try await (hubs.rules(of: name), hubs.rules(of: nil))
            // A command beside a running server must not take its uploads for leftovers.
            let content = try DiskContentStore(
                root: settings.dataDirectory + "/content", removesLeftovers: access == .server)
            let containers =
                access == .server
                ? try DiskContainerStore(root: settings.dataDirectory + "/containers", maximumBytes: containerLimit) : nil
            return NodeStorage(
                database: database, content: content, hub: hub, box: box, hubs: hubs, signer: ContainerSigner(master),
                containers: containers)
        }
    }

    /// Brings the schema up to date and nothing else; returns its number before and after.
    static func upgrade(_ settings: Settings, at now: Timestamp) async throws -> (from: Int, to: Int) {
        let database = try openDatabase(settings, access: .server)
        defer { try? database.close() }
        return try await explained(settings) {
            let before = try await SchemaMigrator.version(of: database)
            let steps = try await SchemaMigrator().migrate(database, at: now)
            return (before, steps.last ?? before)
        }
    }

    private static func openDatabase(_ settings: Settings, access: SQLiteDatabase.Access) throws -> SQLiteDatabase {
        try makeDirectory(settings.dataDirectory)
        do {
            return try SQLiteDatabase(path: settings.dataDirectory + "/clarion.sqlite", access: access)
        } catch let fault as SQLFault {
            throw ServiceError(.storageUnavailable, sentence(fault, directory: settings.dataDirectory))
        }
    }

    private static func explained<Value>(_ settings: Settings, _ work: () async throws -> Value) async throws -> Value {
        do { return try await work() } catch let fault as SQLFault {
            throw ServiceError(.storageUnavailable, sentence(fault, directory: settings.dataDirectory))
        }
    }

    /// Creates the directory for its owner alone.
    static func makeDirectory(_ path: String) throws {
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw ServiceError(.storageUnavailable, "the directory \(path) cannot be created or is not a directory")
        }
    }

    /// Throws while the storage cannot be read, or cannot keep a write. After one that failed another is tried: a node that gets
    /// no requests because it is not ready would never write again. What failed stands in the log.
    func check() async throws {
        _ = try await hubStores.devices.count(in: hub)
        if database.lastWriteFault != nil { try await SQLHubStore(database).rewrite(hub) }
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

    private static func sentence(_ fault: SQLFault, directory: String) -> String {
        switch fault {
        case .lockedByAnotherProcess: "another server uses \(directory); stop it, or give this one another data-directory"
        case .newerSchema(let found, let known):
            "the database in \(directory) has schema \(found), this version knows up to \(known); run the newer version of clarion"
        case .olderSchema(let found, let known):
            """
            the database in \(directory) has schema \(found), this command needs \(known); start this version's server once, or stop \
            the server and run clarion database upgrade
            """
        default: "the database in \(directory) cannot be opened: \(fault)"
        }
    }
}
