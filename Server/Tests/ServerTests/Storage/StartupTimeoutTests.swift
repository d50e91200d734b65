import ClarionTesting
import Foundation
import Logging
import Metrics
import PushHub
import RichPushModel
import SQLStorage
import SQLiteDatabase
import ServiceErrors
import Synchronization
import Testing

@testable import ServerStorage

@Suite("A start while the shared database is unreachable")
struct StartupTimeoutTests {
    /// A database that is unreachable for a number of transactions.
    private final class LeavingDatabase: SQLDatabase {
        private let inner: any SQLDatabase
        private let left: Mutex<Int>

        init(_ inner: any SQLDatabase, awayFor count: Int) {
            self.inner = inner
            left = Mutex(count)
        }

        var dialect: SQLDialect { inner.dialect }
        var lastWriteFault: String? { inner.lastWriteFault }
        func tableNames() async throws -> [String] { try await inner.tableNames() }
        func close() throws { try inner.close() }

        private func pass() throws {
            let isAway = left.withLock { left in
                left -= 1
                return left >= 0
            }
            if isAway { throw SQLFault.unavailable(reason: "connection_failure: gone") }
        }

        func read<Result: Sendable>(
            _ body: @escaping @Sendable (any SQLConnection) throws -> Result
        ) async throws -> Result {
            try pass()
            return try await inner.read(body)
        }

        func write<Result: Sendable>(
            _ body: @escaping @Sendable (any SQLConnection) throws -> Result
        ) async throws -> Result {
            try pass()
            return try await inner.write(body)
        }
    }

    /// A node that is about to enter, on a database that is unreachable for so many transactions.
    private func use(
        awayFor count: Int,
        _ body: (_ node: NodeMembership, _ clock: ManualClock, _ database: any SQLDatabase) async throws -> Void
    ) async throws {
        let folder = NSTemporaryDirectory() + "clarion-start-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let inner = try SQLiteDatabase(path: folder + "/clarion.sqlite", access: .server)
        try await SchemaMigrator().migrate(inner, at: Timestamp(seconds: 1))
        let database = LeavingDatabase(inner, awayFor: count)
        let settings = try #require(
            SettingsFixture(environment: ["CLARION_DATABASE_URL": "postgres://u:secret@db.test:5432/x"]).read().settings)
        let place = try #require(settings.database)
        let clock = ManualClock()
        let node = NodeMembership(
            store: SQLNodeStore(database), fence: SchemaFence(database), clock: NodeClock(clock),
            identity: try NodeIdentity(dataDirectory: folder), role: .all, database: place, signal: DispatchSignal(),
            metrics: NOOPMetricsHandler.instance, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        try await body(node, clock, inner)
        try inner.close()
    }

    /// Enters, moving time on whenever the node waits.
    private func enter(_ node: NodeMembership, _ clock: ManualClock) async throws {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                try await node.enter()
                return true
            }
            group.addTask {
                while !Task.isCancelled {
                    if clock.sleeperCount > 0 { clock.advance(by: .milliseconds(100)) }
                    await Task.yield()
                }
                return false
            }
            defer { group.cancelAll() }
            _ = try await group.next()
        }
    }

    @Test("a database that is back after a moment is all that a node needs", arguments: [1, 2, 5])
    func comesBack(after count: Int) async throws {
        try await use(awayFor: count) { node, clock, database in
            try await enter(node, clock)
            let members = try await SQLNodeStore(database).members(seenSince: Timestamp(seconds: 0))
            #expect(members.map(\.id) == [node.identity.name])
            #expect(clock.uptime < StartupTimeout.total)
        }
    }

    @Test("one that stays away ends the start after a while, with a sentence that names it")
    func staysAway() async throws {
        try await use(awayFor: .max) { node, clock, _ in
            let error = await #expect(throws: ServiceError.self) { try await enter(node, clock) }
            #expect(error?.code == .storageUnavailable)
            #expect(error?.detail?.contains("db.test") == true)
            #expect(error?.detail?.contains("for 20 seconds") == true)
            #expect(error?.detail?.contains("secret") == false)
            #expect(clock.uptime >= StartupTimeout.total)
            #expect(clock.uptime <= StartupTimeout.total + .seconds(3))
        }
    }

    @Test("what another try would not fix ends it at once")
    func refused() async throws {
        try await use(awayFor: 0) { node, clock, database in
            try await SchemaFence(database).raise(to: SchemaMigrator().known + 1)
            let error = await #expect(throws: ServiceError.self) { try await node.enter() }
            #expect(error?.code == .notReady)
            #expect(clock.uptime == .zero)
            #expect(try await SQLNodeStore(database).members(seenSince: Timestamp(seconds: 0)).isEmpty, "it has taken its leave")
        }
        let timeout = StartupTimeout(clock: ManualClock(), place: "here")
        let failures: [any Error] = [
            SQLFault.duplicate, SQLFault.misconfigured(reason: "password authentication failed"),
            ServiceError(.notReady, "the master key is another one"),
        ]
        for failure in failures {
            let refuse: () async throws -> Void = { throw failure }
            let error = await #expect(throws: (any Error).self) { try await timeout(refuse) }
            #expect(error.map { "\($0)" } == "\(failure)")
        }
    }
}
