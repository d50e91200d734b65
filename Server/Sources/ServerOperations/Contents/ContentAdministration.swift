import AppBackend
import AuditTrail
import ContentStorage
import LongWork
import RichPushModel
import ServerSettings
import ServerStorage
import ServiceErrors

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What the operator does with the contents themselves.
public struct ContentAdministration: Sendable {
    private static let page = 200
    /// Names are all that is read to count them.
    private static let countedPage = 10_000

    private let settings: Settings

    /// Works on the data directory and the bucket of these settings.
    public init(settings: Settings) { self.settings = settings }

    /// Copies every content of the data directory into the bucket, however often it is called: what is there already is passed over.
    /// The files stay. Returns how many there are and how many were copied.
    ///
    /// Throws `ServiceError` with a sentence for the operator, and copies nothing, where the bucket keeps another database's contents: that one
    /// would delete the copies.
    public func move(progress: WorkProgress = WorkProgress()) async throws -> (seen: Int, copied: Int) {
        guard let place = settings.contentStore else {
            throw ServiceError(.notReady, "s3-bucket does not say where to move to")
        }
        let bucket = try S3ContentStore(S3Options(place))
        do {
            try await bucket.check()
            try await requireOwn(bucket, place)
            if settings.database == nil { try NodeStorage.requireData(settings) }
            let result = try await copyDisk(to: bucket, progress)
            await bucket.shutDown()
            return result
        } catch {
            await bucket.shutDown()
            throw error
        }
    }

    /// Makes the contents in the bucket those of the database of the settings, whosever they were; whether they were not yet. The database
    /// that had them must be off for good: what this one does not name is deleted.
    ///
    /// Throws `ServiceError` with a sentence for the operator.
    public func adopt() async throws -> Bool {
        try await NodeStorage.during(command: settings) { storage in
            guard let isNews = try await storage.contents.adopt() else {
                throw ServiceError(
                    .notReady, "s3-bucket does not say whose contents to adopt; those of the data directory are its own")
            }
            if isNews { try await storage.backendStore.record(AuditEntry(.contentsAdopted, by: .command, at: storage.clock.now)) }
            return isNews
        }
    }

    /// A node that began with a bucket has no folder of contents, and gets none.
    private func copyDisk(to bucket: S3ContentStore, _ progress: WorkProgress) async throws -> (seen: Int, copied: Int) {
        let folder = settings.dataDirectory + "/content"
        guard FileManager.default.fileExists(atPath: folder) else { return (0, 0) }
        return try await Self.copy(from: try DiskContentStore(root: folder, removesLeftovers: false), to: bucket, progress)
    }

    /// Beside a server on a file that is to be moved to PostgreSQL, the contents may be those of either.
    private func requireOwn(_ bucket: S3ContentStore, _ place: Settings.ContentStore) async throws {
        guard let mark = try await bucket.owner() else { return }
        var ofFile = settings
        ofFile.database = nil
        var last = BucketOwnership.foreign(mark)
        for candidate in settings.database == nil ? [settings] : [ofFile, settings] {
            last = try await Self.standing(of: candidate, mark)
            if last == .own { return }
        }
        throw ServiceError(.notReady, last.refusal(bucket: ContentOwnership.name(of: place)))
    }

    private static func standing(of settings: Settings, _ mark: S3OwnerMark) async throws -> BucketOwnership {
        try await NodeDatabase.explained(settings) {
            guard let database = try Doctor.existing(settings) else { return .foreign(mark) }
            defer { try? database.close() }
            let claimant = try await BucketOwner(database, settings)
            return BucketOwnership(bucket: mark, database: try await claimant.store.owner(), place: claimant.place)
        }
    }

    static func copy(
        from old: any ContentStore, to new: any ContentStore, _ progress: WorkProgress
    ) async throws -> (seen: Int, copied: Int) {
        progress.begin("counting contents")
        progress.begin("copying contents", total: try await count(old), unit: .counted("contents"))
        var (seen, copied) = (0, 0)
        var last: ContentDigest?
        while true {
            let digests = try await old.digests(after: last, limit: page)
            guard let end = digests.last else { return (seen, copied) }
            last = end
            for digest in digests {
                if try await copy(digest, from: old, to: new) { copied += 1 }
                seen += 1
                progress.advance(to: Int64(seen))
            }
        }
    }

    private static func count(_ store: any ContentStore) async throws -> Int64 {
        var (count, last): (Int64, ContentDigest?) = (0, nil)
        while true {
            let digests = try await store.digests(after: last, limit: countedPage)
            guard let end = digests.last else { return count }
            count += Int64(digests.count)
            last = end
        }
    }

    /// Whether it had to be copied. A content that went meanwhile is none any more.
    private static func copy(
        _ digest: ContentDigest, from old: any ContentStore, to new: any ContentStore
    ) async throws -> Bool {
        guard try await new.open(digest) == nil, let reader = try await old.open(digest) else { return false }
        let upload = try await new.beginUpload(limit: reader.size)
        do {
            var offset: Int64 = 0
            while offset < reader.size {
                let count = Int(min(Int64(ReadableContent.chunkSize), reader.size - offset))
                try await upload.write(try await reader.read(at: offset, count: count))
                offset += Int64(count)
            }
            guard try await upload.finish().digest == digest else {
                throw ServiceError(.storageUnavailable, "a content of the data directory is damaged: \(digest.text)")
            }
            return true
        } catch {
            await upload.abort()
            throw error
        }
    }
}
