import AppBackend
import ClarionTesting
import EngineTesting
import Foundation
import SQLStorage
import StorageConformance
import Testing

extension PostgreSQLTests {
    @Suite("PostgreSQL keeps the promises of the app backend's storage")
    struct BackendConformanceTests {
        @Test("backend:", arguments: BackendStorePromises.all)
        func promises(_ promise: StoragePromise<any BackendStore>) async throws {
            let database = try await PostgreSQLPool.ofProcess().take()
            try await promise.check(SQLBackendStore(database))
            database.close()
        }

        @Test("both engines answer any series of calls alike", arguments: 0..<4)
        func agree(run: Int) async throws {
            let seed = SeededGenerator().seed &+ UInt64(run)
            let folder = NSTemporaryDirectory() + "clarion-series-\(UUID().uuidString)"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let (file, server) = (
                try await TestEngine.sqlite.open(folder + "/clarion.sqlite"), try await PostgreSQLPool.ofProcess().take()
            )
            let expected = try await BackendSequence.answers(of: SQLBackendStore(file), seed: seed, calls: 700)
            let found = try await BackendSequence.answers(of: SQLBackendStore(server), seed: seed, calls: 700)
            #expect(expected.count == found.count, "seed \(seed)")
            let first = zip(expected, found).enumerated().first { $1.0 != $1.1 }
            if let first {
                Issue.record("seed \(seed), answer \(first.offset): SQLite \(first.element.0), PostgreSQL \(first.element.1)")
            }
            // A series in which nothing comes about would prove nothing.
            for word in ["send: accepted", "bind: bound", "recall: true", "error conflict"] {
                #expect(expected.contains { $0.hasPrefix(word) || $0.hasSuffix(word) }, "seed \(seed): never \(word)")
            }
            try file.close()
            server.close()
        }
    }
}
