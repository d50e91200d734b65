import ClarionTesting
import Foundation
import Logging
import PushHub
import RichPushModel
import Testing

@testable import ContentStorage
@testable import ServerStorage

/// Files of jobs in a data directory whose contents have moved to a bucket since.
struct FormerFilesTests {
    @Test("files of jobs from before the bucket go when they are old, whether the bucket is there or away, and no others")
    func sweep() async throws {
        try await TemporaryFolder.use { folder in
            let proxy = try await FaultProxy(to: try await ThrowAwayS3.running().plain)
            var options = try await Fleet(
                folder: folder, size: 0,
                shared: SharedPlaces.bucket(through: proxy.port).merging(SharedPlaces.masterKey) { $1 }
            ).options
            options.dataDirectory = folder + "/data"
            var settings = try options.settings()
            settings.dataDirectory = options.dataDirectory
            let disk = try DiskContainerStore(root: settings.dataDirectory + "/containers", maximumBytes: 1 << 20)
            let blobs = try ["old.txt", "young.txt"].map { name in
                BlobReference(hub: HubID(1), container: ContainerName.random(), name: try #require(BlobName(name)))
            }
            for blob in blobs {
                let upload = try await disk.put(blob, limit: 100)
                try await upload.write([1, 2, 3])
                try await upload.finish()
            }
            let paths =
                FileManager.default.enumerator(atPath: settings.dataDirectory + "/containers")?
                .compactMap { $0 as? String } ?? []
            let old = try #require(paths.first { $0.hasSuffix("old.txt") })
            let age = Date(timeIntervalSinceNow: 0 - Double(Upkeep.jobRetention.components.seconds) - 60)
            try FileManager.default.setAttributes(
                [.modificationDate: age], ofItemAtPath: settings.dataDirectory + "/containers/" + old)
            let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            let contents = try NodeContents(settings, claimant: nil, isAlone: false, clock: .system)
            #expect(contents.isShared)
            try await proxy.stop()
            await #expect(throws: (any Error).self) { try await contents.upkeep(logger: logger)?.turn() }
            #expect(try await disk.open(blobs[0]) == nil)
            #expect(try await disk.open(blobs[1]) != nil)
            await contents.shutDown()
        }
    }
}
