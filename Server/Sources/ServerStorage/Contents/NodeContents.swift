import AppBackend
import ContentStorage
import Logging
import PushHub
import RichPushModel
import ServerObservability
import ServerSettings
import ServiceErrors
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Where the contents of a node lie: in its data directory, or in a bucket that nodes share.
package final class NodeContents: Sendable {
    /// How long a store that answered counts as reachable, so that frequent readiness checks cost no requests.
    private static let trust: Duration = .seconds(5)
    /// How old an upload under way has to be to count as cut off. Uploads take ten minutes at most.
    private static let leftoverAge: Duration = .seconds(24 * 3600)

    package let store: any ContentStore
    private let bucket: S3ContentStore?
    private let disk: DiskContentStore?
    /// Whose contents lie in the bucket; absent with one that nothing is removed from by name.
    private let ownership: ContentOwnership?
    /// Files of jobs that lay in the data directory before there was a bucket. They are not read any more and are removed by age.
    private let formerFiles: DiskContainerStore?
    private let clock: any ServiceClock
    private let freeBytes: @Sendable () -> Int64?
    private let lastAnswer = Mutex<Duration?>(nil)
    /// Whether the contents of the bucket were found to be the database's.
    private let isOwn = Mutex(false)

    /// What has to be free on the disk of a folder. A few pictures fit into it. A node that stopped at the largest content that is
    /// permitted would take no requests while most uploads and all sends without content still work.
    static let leastFreeSpace: Int64 = 16 << 20

    /// Opens the contents; a bucket is not asked yet. `isAlone`: no other process uploads to the same data directory. `claimant` is the
    /// database that the contents of a bucket have to belong to.
    /// `freeBytes` says how much may be written to the disk of the data directory; `nil` when the system does not say.
    init(
        _ settings: Settings, claimant: BucketOwner?, isAlone: Bool, clock: any ServiceClock,
        freeBytes: (@Sendable () -> Int64?)? = nil
    ) throws {
        self.clock = clock
        self.freeBytes = freeBytes ?? { [folder = settings.dataDirectory + "/content"] in DiskSpace.free(at: folder) }
        if let place = settings.contentStore {
            let former = settings.dataDirectory + "/containers"
            formerFiles =
                FileManager.default.fileExists(atPath: former)
                ? try DiskContainerStore(root: former, maximumBytes: settings.hubBounds.fileSpace) : nil
            // The last that can fail: it has to be closed, which an initializer cannot wait for.
            let bucket = try S3ContentStore(S3Options(place), clock: clock)
            self.bucket = bucket
            disk = nil
            let owned = claimant.map { ContentOwnership($0, bucket, place) }
            ownership = owned
            if let owned {
                store = OwnedContentStore(bucket, clock: clock) { try await owned.require() }
            } else {
                store = bucket
            }
        } else {
            bucket = nil
            ownership = nil
            formerFiles = nil
            let disk = try DiskContentStore(root: settings.dataDirectory + "/content", removesLeftovers: isAlone)
            (store, self.disk) = (disk, disk)
        }
    }

    /// Whether they lie in a bucket.
    package var isShared: Bool { bucket != nil }

    /// Opens the files of jobs: they lie where the contents do.
    func containers(_ settings: Settings) throws -> any ContainerStore {
        let space = settings.hubBounds.fileSpace
        if let bucket { return S3ContainerStore(beside: bucket, maximumBytes: space) }
        return try DiskContainerStore(root: settings.dataDirectory + "/containers", maximumBytes: space)
    }

    /// Checks the bucket before the start. Throws `not-ready` with a sentence for the operator when it refuses access, or holds the
    /// contents of another database. An unreachable bucket only keeps the node from being ready.
    package func prepare(logger: Logger) async throws {
        guard let bucket else { return }
        switch try await bucket.condition() {
        case .good:
            try await requireOwn()
            lastAnswer.withLock { $0 = clock.uptime }
        case .refused(let sentence): throw ServiceError(.notReady, sentence)
        case .unavailable(let sentence):
            logger.warning(
                "The content store is unreachable: the node starts, and is not ready until the store answers",
                metadata: ["error_detail": "\(sentence)"])
        }
    }

    private func requireOwn() async throws {
        guard let ownership, !isOwn.withLock({ $0 }) else { return }
        try await ownership.require()
        isOwn.withLock { $0 = true }
    }

    /// Makes the contents of the bucket those of the database; whether they were not yet. `nil` without a bucket.
    package func adopt() async throws -> Bool? { try await ownership?.adopt() }

    /// Throws while the bucket cannot be read, or was away at the start and keeps the contents of another database. A folder has to take a file.
    package func check() async throws {
        guard let bucket else { return try await checkDisk() }
        let now = clock.uptime
        if let last = lastAnswer.withLock({ $0 }), now - last < Self.trust { return }
        try await bucket.ping()
        try await requireOwn()
        lastAnswer.withLock { $0 = now }
    }

    private func checkDisk() async throws {
        do { try await disk?.check() } catch let error as ServiceError {
            // The sentence for a folder has no path.
            throw ReadinessFault(error.detail ?? error.code.rawValue)
        }
        // The few bytes of the check fit on a disk that has no room for a picture any more.
        if let free = freeBytes(), free < Self.leastFreeSpace {
            throw ReadinessFault("the disk of the content store is almost full: less than 16 MiB are free")
        }
    }

    /// Removes what uploads to a bucket left behind that were cut off, and files of jobs that lie where files lay before there was one;
    /// `nil` for the data directory, where the start and the jobs do it.
    package func upkeep(logger: Logger) -> Upkeep? {
        guard let bucket else { return nil }
        let (clock, formerFiles) = (clock, formerFiles)
        return Upkeep(
            name: .uploads, interval: .seconds(3600), failure: "Uploads that were cut off could not be removed", clock: clock,
            logger: logger
        ) {
            // First what needs no bucket, which may be away.
            let files = try await formerFiles?.sweep(writtenBefore: clock.now - Upkeep.jobRetention) ?? 0
            return try await files + bucket.removeLeftovers(begunBefore: clock.now - Self.leftoverAge)
        }
    }

    /// Counts the files in a bucket until the task is cancelled, in the background: a start does not wait for it, and a request waits
    /// some seconds at most. An unreachable bucket is counted once it answers.
    package func keepCounting(_ containers: (any ContainerStore)?, logger: Logger) async {
        guard let files = containers as? S3ContainerStore else { return }
        await files.keepCounting { error in
            let reason = (error as? ServiceError)?.description ?? "\(type(of: error))"
            logger.warning("The files in the bucket could not be counted", metadata: ["error": "\(reason)"])
        }
    }

    /// Closes the connections to a bucket.
    func shutDown() async { await bucket?.shutDown() }
}

extension S3Options {
    /// The options of a bucket that settings name.
    package init(_ place: Settings.ContentStore) {
        self.init(location: place.location, credentials: place.credentials)
        trustRootsPath = place.trustRootsPath
        handsOutLinks = place.handsOutLinks
    }
}

/// A bucket from which nothing is removed or listed for removal unless its contents are the database's.
///
/// The start checks that only if it reaches the bucket, and another database may have adopted the contents since.
final class OwnedContentStore: ContentStore {
    /// How long an answer counts: a sweep removes many at a time.
    private static let trust: Duration = .seconds(10)

    private let base: any ContentStore
    private let clock: any ServiceClock
    private let require: @Sendable () async throws -> Void
    private let lastAnswer = Mutex<Duration?>(nil)
    private let wasOwn = Mutex(false)

    /// - Parameter require: throws unless the contents are the database's.
    init(_ base: any ContentStore, clock: any ServiceClock, require: @escaping @Sendable () async throws -> Void) {
        self.base = base
        self.clock = clock
        self.require = require
    }

    /// Where the start could not look, the first upload does: another database would remove the bytes within an hour.
    func beginUpload(limit: Int64) async throws -> any ContentUpload {
        if !wasOwn.withLock({ $0 }) {
            // Whose it is, is for the operator alone. A removal asks by itself: the contents may have been adopted since.
            do { try await require() } catch { throw ServiceError(.storageUnavailable, "the content store cannot be used now") }
            wasOwn.withLock { $0 = true }
        }
        return try await base.beginUpload(limit: limit)
    }

    func open(_ digest: ContentDigest) async throws -> (any ContentReader)? { try await base.open(digest) }

    func remove(_ digest: ContentDigest, storedBefore moment: Timestamp) async throws -> Bool {
        try await look()
        return try await base.remove(digest, storedBefore: moment)
    }

    func digests(after digest: ContentDigest?, limit: Int) async throws -> [ContentDigest] {
        try await look()
        return try await base.digests(after: digest, limit: limit)
    }

    var handsOutLinks: Bool { base.handsOutLinks }

    func link(to digest: ContentDigest, mediaType: String, disposition: String, lifetime: Duration) -> String? {
        base.link(to: digest, mediaType: mediaType, disposition: disposition, lifetime: lifetime)
    }

    private func look() async throws {
        let now = clock.uptime
        if let last = lastAnswer.withLock({ $0 }), now - last < Self.trust { return }
        try await require()
        lastAnswer.withLock { $0 = now }
    }
}
