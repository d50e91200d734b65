import ClarionTesting
import Foundation
import Logging
import RichPushModel
import SQLStorage
import ServiceErrors
import Testing

@testable import AppBackend
@testable import ContentStorage
@testable import ServerComposition
@testable import ServerOperations
@testable import ServerStorage

/// One bucket and several databases: each deletes what it does not name, so only one may have it.
struct ContentOwnerTests {
    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// The sentence with which a server refuses to start.
    private func refusal(_ options: ServerProcess.Options) async throws -> String {
        do {
            let node = try await ServerNode.make(options.settings(), logger: logger)
            await node.storage.close()
        } catch let error as ServiceError { return error.detail ?? "no sentence" }
        return "it starts"
    }

    /// Sweeps as if it were two hours later, so that no request can be about to use any bytes.
    private func sweep(_ node: ServerNode) async throws {
        var parts = node.backend.parts
        parts.clock = WrongClock(ahead: .seconds(7_200))
        _ = try await BackendUpkeep(of: RichPushBackend(parts: parts)).sweep()
    }

    private func doctor(_ options: ServerProcess.Options) async throws -> DoctorCheck.Finding {
        try await #require(Doctor.contentOwnerCheck(options.settings())).look()
    }

    /// Options with another data directory that holds what a backup of the database made.
    private func restored(_ options: ServerProcess.Options, at folder: String) async throws -> ServerProcess.Options {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try await DatabaseAdministration(settings: options.settings()).backUp(to: folder + "/clarion.sqlite")
        var copy = options
        copy.dataDirectory = folder
        return copy
    }

    private func run(_ body: (_ folder: String, _ fleet: Fleet, _ bucket: S3ContentStore) async throws -> Void) async throws {
        try await TemporaryFolder.use { folder in
            let shared = try await SharedPlaces.bucket().merging(SharedPlaces.masterKey) { $1 }
            let fleet = try await Fleet(folder: folder, size: 0, shared: shared)
            let bucket = try await SharedPlaces.open(shared)
            try await body(folder, fleet, bucket)
            await bucket.shutDown()
            await fleet.apns.shutdown()
        }
    }

    @Test("a copy of the database is refused, deletes nothing though it runs, and has the contents once they are adopted")
    func copy() async throws {
        try await run { folder, fleet, bucket in
            let first = try await ServerNode.make(fleet.options.settings(), logger: logger)
            #expect(try await doctor(fleet.options).found == "those of this database")
            var copy = try await restored(fleet.options, at: folder + "/copy")
            // What the first has taken since.
            try await first.backend.setDefaultPicture(Array(Picture.random(side: 8)), fileName: "new.gif")
            let before = try await bucket.digests(after: nil, limit: 10)
            #expect(before.count == 2)
            let sentence = try await refusal(copy)
            #expect(sentence.contains("is a copy of the one whose contents bucket test-"))
            #expect(sentence.contains("content adopt"))
            #expect(sentence.contains(fleet.options.dataDirectory))
            let finding = try await doctor(copy)
            #expect(finding.verdict == .bad)
            #expect(finding.found == sentence)
            // Started while the bucket was unavailable, so that the start could not check it.
            let proxy = try await FaultProxy(to: try await ThrowAwayS3.running().plain)
            let direct = copy.shared["CLARION_S3_ENDPOINT"]
            copy.shared["CLARION_S3_ENDPOINT"] = "http://127.0.0.1:\(proxy.port)"
            try await proxy.stop()
            let second = try await ServerNode.make(copy.settings(), logger: logger)
            try await proxy.restart()
            let error = await #expect(throws: ServiceError.self) { try await sweep(second) }
            #expect(error?.code == .notReady)
            #expect(error?.detail?.contains("is a copy of the one") == true)
            await #expect(throws: ServiceError.self) { try await second.storage.contents.check() }
            let upload = await #expect(throws: ServiceError.self) {
                try await second.backend.setDefaultPicture(Array(Picture.random(side: 4)), fileName: "other.gif")
            }
            #expect(upload?.code == .storageUnavailable)
            #expect(upload?.detail?.contains("clarion") == false)
            #expect(try await bucket.digests(after: nil, limit: 10) == before)
            await second.storage.close()
            try await proxy.stop()
            copy.shared["CLARION_S3_ENDPOINT"] = direct
            let administration = ContentAdministration(settings: try copy.settings())
            #expect(try await administration.adopt())
            #expect(try await !administration.adopt())
            let third = try await ServerNode.make(copy.settings(), logger: logger)
            #expect(try await doctor(copy).verdict == .good)
            // The one that lost them goes on, and deletes nothing.
            await #expect(throws: ServiceError.self) { try await sweep(first) }
            #expect(try await bucket.digests(after: nil, limit: 10) == before)
            await first.storage.close()
            #expect(try await refusal(fleet.options).contains("keeps the contents of another database (\(copy.dataDirectory)"))
            try await sweep(third)
            #expect(try await bucket.digests(after: nil, limit: 10).count == 1)
            await third.storage.close()
        }
    }

    @Test("a new database is refused where another's contents lie, and is taken beside them below a prefix of its own")
    func another() async throws {
        try await run { folder, fleet, bucket in
            #expect(try await doctor(fleet.options).found.contains("no database yet"))
            #expect(try await refusal(fleet.options) == "it starts")
            let before = try await bucket.digests(after: nil, limit: 10)
            var other = fleet.options
            other.dataDirectory = folder + "/other"
            let finding = try await doctor(other)
            #expect(finding.verdict == .bad)
            #expect(finding.found.contains("keeps the contents of another database"))
            #expect(try await refusal(other) == finding.found)
            let moving = await #expect(throws: ServiceError.self) {
                try await ContentAdministration(settings: other.settings()).move()
            }
            #expect(moving?.detail == finding.found)
            #expect(try await ContentAdministration(settings: fleet.options.settings()).move().copied == 0)
            #expect(try await bucket.digests(after: nil, limit: 10) == before)
            other.shared["CLARION_S3_PREFIX"] = "staging"
            #expect(try await refusal(other) == "it starts")
            #expect(try await refusal(fleet.options) == "it starts")
        }
    }

    @Test("a bucket of before the mark is taken by the first start, with what lies there, and by none that comes after")
    func upgrade() async throws {
        try await run { folder, fleet, bucket in
            #expect(try await refusal(fleet.options) == "it starts")
            let mark = try #require(try await bucket.owner())
            let copy = try await restored(fleet.options, at: folder + "/copy")
            try await bucket.client.delete(S3Keys.owner)
            #expect(try await refusal(fleet.options) == "it starts")
            #expect(try await bucket.owner() == mark)
            // A copy that comes first gets a mark of its own, so that the two never have one together.
            try await bucket.client.delete(S3Keys.owner)
            #expect(try await refusal(copy) == "it starts")
            #expect(try await bucket.owner()?.mark != mark.mark)
            #expect(try await refusal(fleet.options).contains("another database"))
        }
    }

    @Test("nodes of one database that start at once on a new bucket all have it; a copy of the database beside it has not")
    func atOnce() async throws {
        try await TemporaryFolder.use { folder in
            let postgres = try await ThrowAwayPostgreSQL.ofProcess()
            let shared = try await SharedPlaces.database(at: postgres).merging(SharedPlaces.bucket()) { $1 }
            let fleet = try await Fleet(folder: folder, size: 0, shared: shared)
            let sentences = try await withThrowingTaskGroup(of: String.self) { group in
                for number in 1...4 {
                    var options = fleet.options
                    options.dataDirectory += "-\(number)"
                    group.addTask { [options] in try await refusal(options) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(sentences == Array(repeating: "it starts", count: 4))
            let name = try #require(shared["CLARION_DATABASE_URL"]?.split(separator: "/").last?.prefix { $0 != "?" })
            try await postgres.copy(database: String(name), to: "\(name)_copy")
            var copy = fleet.options
            copy.shared["CLARION_DATABASE_URL"] = postgres.url(database: "\(name)_copy")
            #expect(try await refusal(copy).contains("is a copy of the one whose contents"))
            #expect(try await doctor(copy).verdict == .bad)
            #expect(try await doctor(fleet.options).verdict == .good)
            await fleet.apns.shutdown()
        }
    }

    @Test("a move to PostgreSQL takes the bucket along, unless the file was itself a copy")
    func moved() async throws {
        try await run { folder, fleet, _ in
            #expect(try await refusal(fleet.options) == "it starts")
            let copy = try await restored(fleet.options, at: folder + "/copy")
            for (options, starts) in [(fleet.options, true), (copy, false)] {
                var options = options
                let database = try await SharedPlaces.database(at: try await ThrowAwayPostgreSQL.ofProcess())
                options.shared.merge(database) { $1 }
                _ = try await DatabaseAdministration(settings: options.settings()).move { _ in }
                let sentence = try await refusal(options)
                #expect(starts ? sentence == "it starts" : sentence.contains("is a copy of the one"), "\(sentence)")
            }
        }
    }

    @Test(
        "what a mark in the bucket and one in the database come to",
        arguments: [
            (nil, nil, BucketOwnership.free), (nil, ContentOwner(mark: "a", place: "here"), .free),
            ("a", ContentOwner(mark: "a", place: "here"), .own),
            ("a", ContentOwner(mark: "a", place: "there"), .copied(S3OwnerMark(mark: "a", name: "n"))),
            ("a", ContentOwner(mark: "b", place: "here"), .foreign(S3OwnerMark(mark: "a", name: "n"))),
            ("a", nil, .foreign(S3OwnerMark(mark: "a", name: "n"))),
        ] as [(String?, ContentOwner?, BucketOwnership)])
    func standing(bucket: String?, database: ContentOwner?, expected: BucketOwnership) {
        let mark = bucket.map { S3OwnerMark(mark: $0, name: "n") }
        #expect(BucketOwnership(bucket: mark, database: database, place: "here") == expected)
        #expect((expected.refusal(bucket: "b") == nil) == (expected == .own || expected == .free))
    }
}
