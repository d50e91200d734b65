import EngineTesting
import PushHub
import RichPushModel
import SQLiteDatabase
import StorageConformance
import Synchronization
import TagExpressions
import Testing

import struct RichPushModel.Tag

@testable import SQLStorage

@Suite("The walk over an audience")
struct AudienceWalkTests {
    /// 150 records of 100 devices, each with some of the tags; every fifth has a template.
    private func fill(_ bench: HubBench) async throws {
        try await register(
            try (0..<150).map { number in
                let tags = ["all"] + (0..<25).filter { number % ($0 + 2) == 0 }.map { "t\($0)" }
                return DeviceUpsert(
                    id: try #require(RecordID("d\(number)")), kind: .registration, handle: HubBench.handle(number % 100),
                    tags: tags.compactMap { Tag($0) },
                    template: number % 5 == 0 ? DeviceTemplate(name: "n", body: #"{"aps":{"alert":"$(text)"}}"#) : nil)
            }, bench)
    }

    private func register(_ requests: [DeviceUpsert], _ bench: HubBench) async throws {
        try await withThrowingTaskGroup { group in
            for request in requests { group.addTask { _ = try await bench.hub.upsert(request) } }
            try await group.waitForAll()
        }
    }

    private func send(_ bench: HubBench, _ audience: String?, _ format: SendFormat) async throws -> SendReceipt {
        let expression = try audience.map { try TagExpression(parsing: $0) }
        let body = format == .template ? #"{"text":"x"}"# : #"{"aps":{"alert":"x"}}"#
        return try await bench.hub.send(
            SendCommand(
                message: PushMessage(body: Array(body.utf8)), format: format, recipients: SendRecipients(expression)))
    }

    private func lease(_ queue: SQLSliceQueue, _ bench: HubBench) async throws -> SliceLease {
        let now = bench.clock.now
        let request = LeaseRequest(
            owner: "a", now: now, until: now + .seconds(60), limit: 1, smallLimit: 1, largeLimit: 1, singleLimit: 1)
        return try #require(try await queue.lease(request).first)
    }

    /// What a walk to the end of the slice finds, page by page.
    private func walked(
        _ queue: SQLSliceQueue, _ lease: SliceLease, _ bench: HubBench, limit: Int = 20, page: () -> Void = {}
    ) async throws -> [SliceKey] {
        var lease = lease
        var passed: [SliceKey] = []
        while lease.cursor < lease.last {
            let request = PageRequest(
                lease: lease, now: bench.clock.now, limit: limit, scanLimit: 10_000, pendingLimit: 50)
            guard case .walk(let walk) = try await queue.page(request)?.work else { break }
            page()
            passed += walk.targets.map(\.key)
            lease.cursor = walk.through
        }
        return passed
    }

    private static let twenty = (0..<20).map { "t\($0)" }.joined(separator: " || ")

    @Test(
        "the records of a page are read by one statement, whatever the audience",
        arguments: [
            nil, "all", "t0 || t1", "t0 || t1 || t2", twenty, "all && t5", "!t0", "(t0 || t1) && !t2",
            "t0 && t1 || !t2 && (t3 || t4)", "$InstallationId:{d3}",
        ], [SendFormat.native(.apns), .template])
    func oneStatement(_ audience: String?, _ format: SendFormat) async throws {
        let bench = try await HubBench()
        try await fill(bench)
        let receipt = try await send(bench, audience, format)
        let database = CountingDatabase(bench.store.database)
        let queue = SQLSliceQueue(database)
        let lease = try await lease(queue, bench)
        var pages = 0
        let passed = try await walked(queue, lease, bench) {
            pages += 1
            let asked = database.lastRead
            #expect(asked.filter { $0.contains("devices") || $0.contains("device_tags") }.count == 1, "\(asked)")
            // Besides them only the send, and in a template send the contents of the page's templates.
            #expect(asked.count <= (format == .template ? 3 : 2), "\(asked)")
        }
        let found = try await bench.telemetry(receipt)
        #expect(pages > 0 && passed == passed.sorted() && Set(passed).count == passed.count, "\(found.state)")
    }

    @Test("a page that takes one target passes many entries that do not match", arguments: ["(a || b) && !c", "a || b"])
    func fewTargets(_ audience: String) async throws {
        let bench = try await HubBench()
        // A native send means no record with a template.
        let template = audience.contains("!c") ? nil : DeviceTemplate(name: "n", body: #"{"aps":{"alert":"$(text)"}}"#)
        try await register(
            try (0..<600).map { number in
                DeviceUpsert(
                    id: try #require(RecordID("d\(number)")), kind: .registration, handle: HubBench.handle(number),
                    tags: ["a", "c"].compactMap { Tag($0) }, template: template)
            }, bench)
        _ = try await send(bench, audience, .native(.apns))
        let queue = SQLSliceQueue(bench.store.database)
        let lease = try await lease(queue, bench)
        var pages = 0
        let found = try await walked(queue, lease, bench, limit: 1) { pages += 1 }
        #expect(found.isEmpty)
        #expect(pages <= 7, "\(pages)")
    }

    @Test("retries that are due are read by one statement")
    func oneStatementForRetries() async throws {
        let bench = try await HubBench()
        try await fill(bench)
        for format in [SendFormat.native(.apns), .template] {
            _ = try await send(bench, "(t0 || t1) && !t2", format)
            let database = CountingDatabase(bench.store.database)
            let queue = SQLSliceQueue(database)
            var lease = try await lease(queue, bench)
            let keys = try await walked(queue, lease, bench)
            lease.cursor = lease.last
            let now = bench.clock.now
            var checkpoint = SliceCheckpoint(lease: lease, now: now, disposition: .keep(until: now + .seconds(60)))
            checkpoint.pending = keys.map {
                PendingTarget(key: $0, cause: .retry, attempts: 1, firstAt: now, notBefore: now)
            }
            _ = try await queue.checkpoint(checkpoint)
            let request = PageRequest(lease: lease, now: now, limit: 1_000, scanLimit: 10_000, pendingLimit: 50)
            guard case .retries(let due) = try await queue.page(request)?.work else {
                Issue.record("retries are due")
                return
            }
            #expect(due.count == keys.count)
            #expect(due.allSatisfy { $0.member != nil })
            let asked = database.lastRead
            #expect(asked.filter { $0.contains("devices") }.count == 1, "\(asked)")
            _ = try await queue.checkpoint(SliceCheckpoint(lease: lease, now: now, disposition: .finish))
        }
    }

    @Test("a send that was stored without its compiled audience, or with one of a newer form, reaches the same records")
    func otherVersions() async throws {
        let bench = try await HubBench()
        try await fill(bench)
        for audience in ["t0 || t1", "(t0 || t1) && !t2", "!t0"] {
            let queue = SQLSliceQueue(bench.store.database)
            _ = try await send(bench, audience, .native(.apns))
            let lease = try await lease(queue, bench)
            let expected = try await walked(queue, lease, bench)
            #expect(!expected.isEmpty)
            for stored in ["NULL", "'9 of a newer form'", "''"] {
                try await set(stored, in: bench.store.database)
                #expect(try await walked(queue, lease, bench) == expected, "\(audience) as \(stored)")
            }
            _ = try await queue.checkpoint(SliceCheckpoint(lease: lease, now: bench.clock.now, disposition: .finish))
        }
    }

    private func set(_ query: String, in database: any SQLDatabase) async throws {
        _ = try await database.write {
            try $0.run(SQLStatement(composed: "UPDATE notifications SET audience_query = \(query)"), [])
        }
    }

    @Test("what was compiled is kept while a send is under way, and not after it was finished or cancelled")
    func keptWhileUnderWay() async throws {
        let bench = try await HubBench()
        try await fill(bench)
        let queue = SQLSliceQueue(bench.store.database)
        for isCancelled in [false, true] {
            let receipt = try await send(bench, "t0 && t1", .native(.apns))
            let lease = try await lease(queue, bench)
            let kept = try await queries(bench.store.database)
            #expect(kept.count == 1 && kept.allSatisfy { AudienceQuery(stored: $0) != nil }, "\(kept)")
            if isCancelled { #expect(try await bench.hub.cancel(receipt.id)) }
            _ = try await queue.checkpoint(SliceCheckpoint(lease: lease, now: bench.clock.now, disposition: .finish))
            #expect(try await queries(bench.store.database).isEmpty)
        }
    }

    private func queries(_ database: any SQLDatabase) async throws -> [String] {
        let select = SQLStatement("SELECT audience_query FROM notifications WHERE audience_query IS NOT NULL")
        return try await database.read { try $0.rows(select, []).map { try $0.text(0) } }
    }

    @Test("the cover is chosen by what the index holds when the send is accepted")
    func cover() async throws {
        let bench = try await HubBench()
        try await fill(bench)
        let audience = try TagExpression(parsing: "all && t9")
        let compiled = try await bench.store.hub.intake.compile(audience, in: bench.hubID, limit: 1_000, counting: [])
        #expect(compiled.query.cover == .tags(["t9"]))
        #expect(compiled.query.rest?.tags == ["all"])
        #expect(compiled.size == 14)
    }

    @Test("an index entry whose record is gone does not end the walk", arguments: ["all", "all || t3", "all && !none"])
    func orphans(_ audience: String) async throws {
        let bench = try await HubBench()
        try await bench.register(0..<150, tags: ["all"])
        _ = try await send(bench, audience, .native(.apns))
        let queue = SQLSliceQueue(bench.store.database)
        let lease = try await lease(queue, bench)
        let keys = try await walked(queue, lease, bench)
        #expect(keys.count == 150)
        let gone = keys[50]
        let hub = bench.hubID
        _ = try await bench.store.database.write { connection in
            try connection.run(
                SQLStatement("DELETE FROM devices WHERE hub_id = $1 AND slice_key = $2"),
                [.integer(hub.number), .integer(gone.number)])
        }
        #expect(try await walked(queue, lease, bench) == keys.filter { $0 != gone })
    }

    @Test("a search for twins passes records that do not match once, however many there are")
    func manyTwins() async throws {
        let bench = try await HubBench()
        let names = (0..<400).compactMap { RecordID("d\($0)") }.sorted { SliceKey(of: $0) < SliceKey(of: $1) }
        // In order of key the last hundred match: each of the others is before all of them.
        let requests = names.enumerated().map { place, name in
            DeviceUpsert(
                id: name, kind: .registration, handle: HubBench.handle(1), tags: [Tag(place < 300 ? "u" : "t")].compactMap(\.self)
            )
        }
        try await register(requests, bench)
        _ = try await send(bench, "t", .native(.apns))
        let queue = SQLSliceQueue(bench.store.database)
        let lease = try await lease(queue, bench)
        let request = PageRequest(lease: lease, now: bench.clock.now, limit: 1_000, scanLimit: 10_000, pendingLimit: 50)
        guard case .walk(let walk) = try await queue.page(request)?.work else {
            Issue.record("there is something to walk")
            return
        }
        #expect(walk.targets.map(\.record) == names.suffix(100))
        #expect(walk.targets.map(\.isSkipped) == [false] + Array(repeating: true, count: 99))
    }
}

@Suite("The shapes of audience statements")
struct AudienceShapeTests {
    @Test("there are few statements, and every query within the limits has one of them")
    func shapes() throws {
        #expect(AudienceShape.all.count == Set(AudienceShape.all).count)
        #expect(AudienceStatements.all.count < 100)
        let tags = (1...6).map { "t\($0)" }
        var texts: [String?] = [nil] + (1...20).map { count in (0..<count).map { "t\($0)" }.joined(separator: " || ") }
        for count in 1...5 {
            let (cover, rest) = (tags.prefix(count), tags.dropFirst(count))
            texts.append("(\(cover.joined(separator: " || "))) && \(rest.joined(separator: " && "))")
            texts.append(rest.map { "!\($0)" }.joined(separator: " || "))
        }
        for text in texts {
            let expression = try text.map { try TagExpression(parsing: $0) }
            for format in [SendFormat.native(.apns), .template] {
                let send = SendAudience(
                    hub: HubID(1), query: try AudienceQuery(expression), format: format, mark: .last,
                    now: Timestamp(milliseconds: 0))
                #expect(AudienceShape.all.contains(send.shape), "\(text ?? "all")")
                let condition = AudienceCondition(shape: send.shape)
                #expect(send.values(send.shape).count == condition.next - 1, "\(text ?? "all")")
                let own = AudienceStatements.values(send.shape, after: .beforeAll, last: .last, limit: 1, scanned: 1)
                let needed = AudienceStatements.walk(send.shape).appearance.max()
                #expect(needed == condition.next - 1 + own.count, "\(text ?? "all")")
                let bounded = AudienceStatements.values(
                    send.shape, isBounded: true, after: .beforeAll, last: .last, limit: 1, scanned: 1)
                let ofBounded = AudienceStatements.boundedWalk(send.shape).appearance.max()
                #expect(ofBounded == condition.next - 1 + bounded.count, "\(text ?? "all")")
            }
        }
    }
}

/// A database that notes the statements of each transaction that reads.
private final class CountingDatabase: SQLDatabase {
    private let inner: any SQLDatabase
    private let asked = Asked()

    init(_ inner: any SQLDatabase) { self.inner = inner }

    /// The texts of the statements of the last transaction.
    var lastRead: [String] { asked.texts.withLock { $0 } }

    var dialect: SQLDialect { inner.dialect }
    var lastWriteFault: String? { inner.lastWriteFault }

    func read<Result: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Result
    ) async throws -> Result {
        try await inner.read { [asked] connection in
            asked.texts.withLock { $0 = [] }
            return try body(CountingConnection(inner: connection, asked: asked))
        }
    }

    func write<Result: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Result
    ) async throws -> Result { try await inner.write(body) }

    func close() throws { try inner.close() }
}

private final class Asked: Sendable {
    let texts = Mutex<[String]>([])
}

private struct CountingConnection: SQLConnection {
    let inner: any SQLConnection
    let asked: Asked

    var dialect: SQLDialect { inner.dialect }

    func rows(_ statement: SQLStatement, _ values: [SQLValue]) throws -> [SQLRow] {
        asked.texts.withLock { $0.append(statement.text) }
        return try inner.rows(statement, values)
    }

    func forEachRow(_ statement: SQLStatement, _ values: [SQLValue], _ body: (any SQLColumns) throws -> Void) throws {
        asked.texts.withLock { $0.append(statement.text) }
        try inner.forEachRow(statement, values, body)
    }

    @discardableResult
    func run(_ statement: SQLStatement, _ values: [SQLValue]) throws -> Int {
        asked.texts.withLock { $0.append(statement.text) }
        return try inner.run(statement, values)
    }

    func script(_ text: String) throws { try inner.script(text) }
}
