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
    /// How long a store that answered counts as being there, so that whoever asks often costs no requests.
    private static let trust: Duration = .seconds(5)
    /// How old an upload under way has to be to count as cut off. Uploads take ten minutes at most.
    private static let leftoverAge: Duration = .seconds(24 * 3600)

    package let store: any ContentStore
    private let bucket: S3ContentStore?
    private let disk: DiskContentStore?
    /// Whose contents lie in the bucket; absent with one that nothing is removed from by name.
    private let ownership: ContentOwnership?
    /// Files of jobs that lay in the data directory before there was a bucket: nobody reads them any more, and they go by age.
    private let formerFiles: DiskContainerStore?
    private let clock: any ServiceClock
    private let lastAnswer = Mutex<Duration?>(nil)
    /// Whether the contents of the bucket were found to be the database's.
    private let isOwn = Mutex(false)

    /// Opens the contents; a bucket is not asked yet. `isAlone`: no other process uploads to the same data directory. `claimant` is the
    /// database that the contents of a bucket have to belong to.
    init(_ settings: Settings, claimant: ContentClaimant?, isAlone: Bool, clock: any ServiceClock) throws {
        self.clock = clock
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

    /// Looks at the bucket before the start. Throws `not-ready` with a sentence for the operator when it refuses, or keeps the contents of
    /// another database; one that is away for the moment only keeps the node from being ready.
    package func prepare(logger: Logger) async throws {
        guard let bucket else { return }
        switch try await bucket.condition() {
        case .good:
            try await requireOwn()
            lastAnswer.withLock { $0 = clock.uptime }
        case .refused(let sentence): throw ServiceError(.notReady, sentence)
        case .away(let sentence):
            logger.warning(
                "The content store is away: the node starts and is not ready before it is back",
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

    /// Counts the files in a bucket until the task is cancelled, beside everything else: a start does not wait for it, and a request for
    /// some seconds at most. A bucket that is away is counted when it is back.
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
