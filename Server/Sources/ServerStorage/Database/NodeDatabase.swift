import Logging
import LongWork
import PostgresDatabase
import RichPushModel
import SQLStorage
import SQLiteDatabase
import ServerSettings
import ServiceErrors
import Synchronization

/// The database that the settings name, and the messages about it for the operator.
package enum NodeDatabase {
    /// What kind of process opens the database.
    package enum Access: Sendable {
        case server
        /// A short command on the node that is there, perhaps beside its running server.
        case command
        /// A short command that begins a node where there is none.
        case beginning
    }

    package static func open(_ settings: Settings, _ access: Access) throws -> any SQLDatabase {
        guard let place = settings.database else { return try openFile(settings, access) }
        // A command has nothing to keep there before it is known that the database has a node.
        if access != .command { try PrivateFile.makeFolder(settings.dataDirectory) }
        return try explained(settings) {
            try PostgresDatabase(place.url, limits: PostgresLimits(connections: place.connections), pooler: place.pooler)
        }
    }

    /// Opens the database file of the data directory, whether the settings name a database elsewhere or not.
    package static func openFile(_ settings: Settings, _ access: Access) throws -> SQLiteDatabase {
        try PrivateFile.makeFolder(settings.dataDirectory)
        return try explained(settings) {
            let path = settings.dataDirectory + "/clarion.sqlite"
            // Checked under the lock: without it another process could be retiring the file at this moment.
            return try SQLiteDatabase(path: path, access: access == .server ? .server : .command) {
                try RetiredDatabaseFile(path: path).requireNotRetired()
            }
        }
    }

    /// Retries a step of a start while a shared database may still be starting. A file in the data directory is not waited for.
    static func retryingAtStart<Value>(
        _ settings: Settings, _ clock: any ServiceClock, _ step: () async throws -> Value
    ) async throws -> Value {
        guard settings.database != nil else { return try await step() }
        return try await StartupTimeout(clock: clock, place: place(settings))(step)
    }

    /// Brings the schema to what this program needs, as far as the access allows.
    package static func prepare(
        _ database: any SQLDatabase, _ settings: Settings, _ access: Access, _ clock: any ServiceClock,
        _ migrator: SchemaMigrator = SchemaMigrator()
    ) async throws {
        try await explained(settings) {
            switch access {
            case .server:
                let takeover = SchemaTakeover(database: database, clock: clock, migrator: migrator)
                try await retryingAtStart(settings, clock) { _ = try await takeover.run() }
            // Beside a running server of another version a change of the schema would break that server.
            case .command:
                guard try await holdsNode(database) else { throw noNode(settings) }
                try await migrator.requireCurrent(database, at: clock.now)
                try PrivateFile.makeFolder(settings.dataDirectory)
            case .beginning: try await migrator.requireCurrent(database, at: clock.now)
            }
        }
    }

    /// Whether a start has brought the database to any schema. Only looks.
    static func holdsNode(_ database: any SQLDatabase) async throws -> Bool {
        guard try await database.tableNames().contains(SchemaMigrator.table) else { return false }
        return try await database.read { try SchemaMigrator.version($0) } > 0
    }

    /// The refusal of a command where no node has been: it must not begin one in a place that may be mistyped.
    static func noNode(_ settings: Settings) -> ServiceError {
        let setting = settings.database == nil ? "data-directory" : "database-url"
        return ServiceError(
            .notFound,
            "there is no node \(place(settings)); is \(setting) right? `clarion init` begins one, and so does `clarion serve`")
    }

    /// Faults of the database become sentences for the operator.
    package static func explained<Value>(_ settings: Settings, _ work: () async throws -> Value) async throws -> Value {
        do { return try await work() } catch let fault as SQLFault {
            throw ServiceError(.storageUnavailable, sentence(fault, settings))
        }
    }

    private static func explained<Value>(_ settings: Settings, _ work: () throws -> Value) throws -> Value {
        do { return try work() } catch let fault as SQLFault {
            throw ServiceError(.storageUnavailable, sentence(fault, settings))
        }
    }

    private static func place(_ settings: Settings) -> String {
        settings.database.map { "at \($0.url)" } ?? "in \(settings.dataDirectory)"
    }

    private static func sentence(_ fault: SQLFault, _ settings: Settings) -> String {
        let place = place(settings)
        return switch fault {
        case .lockedByAnotherProcess:
            "another server uses \(settings.dataDirectory); stop it, or name another directory for this one"
        case .newerSchema(DatabaseMove.mark, _):
            "a move into the database \(place) is not finished; run clarion database move again"
        case .newerSchema(let found, let known):
            "the database \(place) has schema \(found), this version knows up to \(known); run the newer version of clarion"
        case .olderSchema(let found, let known):
            """
            the database \(place) has schema \(found), this command needs \(known); start this version's server once, or stop \
            the server and run clarion database upgrade
            """
        case .unreleasedSchema:
            """
            the database \(place) was made by a development version before 1.0; there is no upgrade from it. Start on an empty \
            database, or go on with the version that made this one
            """
        case .unavailable(let reason), .misconfigured(let reason): "the database \(place) cannot be used: \(reason)"
        case .damaged(let reason):
            "the database \(place) is damaged or is none (\(reason)); restore a backup, see Backup and restoration in Documentation/Operations.md"
        default: "the database \(place) cannot be opened: \(fault)"
        }
    }
}

/// Whether the settings of a PostgreSQL server keep what Clarion has acknowledged. A database file sets all of this for itself.
package enum DatabaseSafety {
    /// What is found before a start. Logs what the operator has to know.
    ///
    /// Throws `not-ready` with the remedy when a crash of the database loses acknowledged writes and no setting allows that.
    package static func require(_ database: any SQLDatabase, _ settings: Settings, logger: Logger) async throws {
        for finding in try await findings(database, settings) {
            if let refusal = refusal(of: finding, settings) { throw ServiceError(.notReady, refusal) }
            guard finding.weight != .covered else {
                logger.notice("\(finding.sentence)")
                continue
            }
            logger.warning(
                "The settings of the database can lose acknowledged writes",
                metadata: ["error_detail": "\(finding.sentence); \(finding.remedy)"])
        }
    }

    /// Why a server may not use a database with such a setting; `nil` when it may.
    package static func refusal(of finding: PostgresSettings.Finding, _ settings: Settings) -> String? {
        guard finding.weight == .loses, let place = settings.database, !place.isWithoutFsync else { return nil }
        return "\(place.url): \(finding.sentence); \(finding.remedy), or allow it with database-without-fsync"
    }

    /// Nothing for a database file.
    package static func findings(_ database: any SQLDatabase, _ settings: Settings) async throws -> [PostgresSettings.Finding] {
        guard let server = database.driver as? PostgresDatabase else { return [] }
        return try await NodeDatabase.explained(settings) { try await server.settings().findings }
    }
}

/// The write-ahead log of a database file. It begins anew when everything in it is in the file and no reader needs it; a reader that
/// does not end keeps it, and it grows with each write.
package final class DatabaseLogWatch: Sendable {
    /// The engine begins anew at 32 MiB and cuts the file to 64 MiB then: beyond twice as much something keeps it from that.
    static let bound: Int64 = 128 << 20

    private let bytes: @Sendable () -> Int64
    private let logger: Logger
    private let isLong = Mutex(false)

    /// `nil` for a database that is no file.
    package convenience init?(_ database: any SQLDatabase, logger: Logger) {
        guard let file = database.driver as? SQLiteDatabase else { return nil }
        self.init(bytes: { file.logBytes }, logger: logger)
    }

    init(bytes: @escaping @Sendable () -> Int64, logger: Logger) {
        self.bytes = bytes
        self.logger = logger
    }

    /// The size in bytes. The log of the node says once that it is beyond the bound, and once that it is not any more.
    package func look() -> Int64 {
        let bytes = bytes()
        let isNews = isLong.withLock { isLong in
            defer { isLong = bytes > Self.bound }
            return isLong != (bytes > Self.bound)
        }
        guard isNews else { return bytes }
        if bytes > Self.bound {
            logger.warning(
                "The write-ahead log of the database grows: a reader keeps it. See which program has the file open, such as a backup",
                metadata: ["count": "\(bytes)", "limit": "\(Self.bound)"])
        } else {
            logger.notice("The write-ahead log of the database was reset", metadata: ["count": "\(bytes)"])
        }
        return bytes
    }
}

/// Migrates a shared database to the schema of this program without harm to nodes of an older version. Compatible steps run beside
/// them; incompatible steps wait until the old nodes have stopped.
struct SchemaTakeover: Sendable {
    /// How long nodes of an older version may take: they look every five seconds, and end what they have begun.
    static let stopTimeout: Duration = .seconds(60)
    private static let look: Duration = .milliseconds(500)

    let database: any SQLDatabase
    let clock: any ServiceClock
    var migrator = SchemaMigrator()
    var progress = WorkProgress()

    /// Runs the steps that are missing; returns their numbers. Throws `SQLFault`, and `ServiceError` with a sentence for the operator when
    /// older nodes stay.
    @discardableResult
    func run() async throws -> [Int] {
        if let step = try await migrator.fence(of: database) {
            let fence = SchemaFence(database)
            try await fence.raise(to: step)
            progress.begin("waiting for nodes of an older version to stop")
            try await awaitEnd(below: step, fence)
        }
        return try await migrator.migrate(database, at: clock.now) { step, place, count in
            progress.begin("step \(place) of \(count) (\(step.name))")
        }
    }

    private func awaitEnd(below step: Int, _ fence: SchemaFence) async throws {
        let end = clock.uptime + Self.stopTimeout
        while true {
            // By the clock of the database, which is the one that all nodes share.
            let now = try await SQLNodeStore(database).time()
            let left = try await fence.nodes(below: step, seenSince: now - NodeMembership.absence)
            guard !left.isEmpty else { return }
            guard clock.uptime < end else { throw Self.refusal(left, step) }
            try await clock.sleep(for: Self.look)
        }
    }

    private static func refusal(_ nodes: [NodeMember], _ step: Int) -> ServiceError {
        let names = nodes.map { "\($0.id) (version \($0.version))" }.joined(separator: ", ")
        return ServiceError(
            .notReady,
            """
            nodes of an older version still serve the database: \(names). Schema \(step) is not for them; they were asked to stop and \
            have not. Stop them and start this one again
            """)
    }
}
