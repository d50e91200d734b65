import ClarionTesting
import EngineTesting
import Foundation
import LongWork
import RichPushModel
import SQLStorage
import SQLiteDatabase
import ServiceErrors
import Synchronization
import Testing

@testable import ServerStorage

@Suite("A newer version takes over a database that older nodes serve")
struct SchemaTakeoverTests {
    private static let known = SchemaMigrator().known
    private static let harmful = Migration(number: known + 1, name: "harmful", oldestBeside: known + 1) { _ in
        "CREATE TABLE harmful (id INTEGER PRIMARY KEY)"
    }
    private static let harmless = Migration(number: known + 1, name: "harmless") { _ in
        "CREATE TABLE harmless (id INTEGER PRIMARY KEY)"
    }

    /// A database with the schema of this version, and a node of it that was seen so long ago.
    private func use(
        silentFor silence: Duration = .zero, step: Int? = known, _ body: (SQLiteDatabase, SQLNodeStore) async throws -> Void
    ) async throws {
        let folder = NSTemporaryDirectory() + "clarion-takeover-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let database = try SQLiteDatabase(path: folder + "/clarion.sqlite", access: .server)
        try await SchemaMigrator().migrate(database, at: Timestamp(seconds: 1))
        let store = SQLNodeStore(database)
        let now = try await store.time()
        try await store.announce(
            NodeMember(
                id: "old-one", role: "all", version: "0.9", schemaStep: step, startedAt: now, seenAt: now - silence))
        try await body(database, store)
        try database.close()
    }

    private func takeover(
        _ database: any SQLDatabase, _ clock: any ServiceClock, _ steps: Migration..., progress: WorkProgress = WorkProgress()
    ) -> SchemaTakeover {
        SchemaTakeover(
            database: database, clock: clock, migrator: SchemaMigrator(Migration.all + steps), progress: progress)
    }

    @Test("a step that older nodes can live with runs beside them")
    func rolling() async throws {
        try await use { database, _ in
            let steps = try await takeover(database, ManualClock(), Self.harmless).run()
            let oldest = try await SchemaFence(database).oldest()
            #expect(steps == [Self.known + 1])
            #expect(oldest == 0)
        }
    }

    @Test("before an incompatible step older nodes are asked to stop, and it waits until they have", arguments: [known, nil])
    func waits(_ step: Int?) async throws {
        try await use(step: step) { database, store in
            let clock = ManualClock()
            try await withThrowingTaskGroup(of: [Int].self) { group in
                group.addTask { try await takeover(database, clock, Self.harmful).run() }
                #expect(await eventually { clock.sleeperCount > 0 })
                let oldest = try await SchemaFence(database).oldest()
                let version = try await SchemaMigrator.version(of: database)
                #expect(oldest == Self.known + 1)
                #expect(version == Self.known)
                try await store.leave("old-one")
                clock.advance(by: .milliseconds(500))
                let steps = try await group.next()
                #expect(steps == [Self.known + 1])
            }
        }
    }

    @Test("of a version with steps of both kinds none runs before older nodes are gone, and all run then")
    func wholeVersion() async throws {
        try await use { database, store in
            let clock = ManualClock()
            let takeover = SchemaTakeover(database: database, clock: clock, migrator: NextVersion.migrator)
            try await withThrowingTaskGroup(of: [Int].self) { group in
                group.addTask { try await takeover.run() }
                #expect(await eventually { clock.sleeperCount > 0 })
                let oldest = try await SchemaFence(database).oldest()
                let version = try await SchemaMigrator.version(of: database)
                #expect(oldest == NextVersion.migrator.known)
                #expect(version == Self.known)
                try await store.leave("old-one")
                clock.advance(by: .milliseconds(500))
                let steps = try await group.next()
                #expect(steps == NextVersion.steps.map(\.number))
            }
        }
    }

    @Test("older nodes that stay are named, and nothing is changed")
    func refuses() async throws {
        try await use { database, _ in
            let clock = ManualClock()
            let error = try await withThrowingTaskGroup(of: (any Error)?.self) { group in
                group.addTask {
                    do { try await takeover(database, clock, Self.harmful).run() } catch { return error }
                    return nil
                }
                #expect(await eventually { clock.sleeperCount > 0 })
                clock.advance(by: SchemaTakeover.stopTimeout)
                return try await group.next().flatMap(\.self)
            }
            let detail = try #require((error as? ServiceError)?.detail)
            #expect(detail.contains("old-one (version 0.9)"))
            #expect(detail.contains("Stop them"))
            let version = try await SchemaMigrator.version(of: database)
            #expect(version == Self.known)
        }
    }

    @Test("an operator sees what is waited for, and then which step runs and of how many")
    func progress() async throws {
        try await use { database, store in
            let clock = ManualClock()
            let progress = WorkProgress(clock: clock)
            let line = Mutex<String?>(nil)
            let second = Migration(number: Self.known + 2, name: "second") { _ in
                line.withLock { $0 = progress.line }
                return "CREATE TABLE second (id INTEGER PRIMARY KEY)"
            }
            try await withThrowingTaskGroup(of: [Int].self) { group in
                group.addTask { try await takeover(database, clock, Self.harmful, second, progress: progress).run() }
                #expect(await eventually { clock.sleeperCount > 0 })
                #expect(progress.line == "waiting for nodes of an older version to stop: 0 s so far")
                try await store.leave("old-one")
                clock.advance(by: .milliseconds(500))
                let steps = try await group.next()
                #expect(steps == [Self.known + 1, Self.known + 2])
            }
            #expect(line.withLock { $0 } == "step 2 of 2 (second): 0 s so far")
        }
    }

    @Test("a node that has not said for long that it is there is not waited for")
    func absent() async throws {
        try await use(silentFor: NodeMembership.absence + .seconds(1)) { database, _ in
            let steps = try await takeover(database, ManualClock(), Self.harmful).run()
            #expect(steps == [Self.known + 1])
        }
    }
}
