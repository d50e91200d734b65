import ContentStorage
import SQLStorage
import ServerSettings
import ServiceErrors

/// Ties the database of a node to the bucket that keeps its contents: what a database does not name is deleted from its bucket, so two
/// databases in one would delete each other's.
///
/// The database has a mark by chance and the bucket the same. The first start makes both; `clarion content adopt` makes them anew.
package struct ContentOwnership: Sendable {
    let claimant: ContentClaimant
    let bucket: S3ContentStore
    /// What an operator knows the bucket by.
    let bucketName: String

    init(_ claimant: ContentClaimant, _ bucket: S3ContentStore, _ place: Settings.ContentStore) {
        self.claimant = claimant
        self.bucket = bucket
        bucketName = Self.name(of: place)
    }

    /// A bucket with its prefix, as settings name it.
    package static func name(of place: Settings.ContentStore) -> String {
        let prefix = place.location.prefix
        let name = "bucket \(place.location.bucket) at \(place.location.endpoint)"
        return prefix.isEmpty ? name : "\(name), prefix \(prefix),"
    }

    /// Whose contents lie in the bucket. Changes nothing.
    func standing() async throws -> ContentStanding {
        // The bucket first: its mark is never older than the database's.
        let mark = try await bucket.owner()
        return ContentStanding(bucket: mark, database: try await claimant.store.owner(), place: claimant.place)
    }

    /// Makes sure that the contents in the bucket are the database's; those that are nobody's are made so. Throws `not-ready` with a sentence
    /// for the operator when they are another's; nothing has changed then.
    func require() async throws {
        var standing = try await standing()
        if standing == .free {
            // Every node of a database comes to the same mark, so it does not matter whose arrives.
            let owner = try await claimant.store.claim(claimant.newOwner())
            try await bucket.claim(S3OwnerMark(mark: owner.mark, name: claimant.name))
            standing = try await self.standing()
        }
        if let refusal = standing.refusal(bucket: bucketName) { throw ServiceError(.notReady, refusal) }
        guard standing == .own else { throw ServiceError(.notReady, "\(bucketName) does not keep what was written: its owner") }
    }

    /// Makes the contents in the bucket the database's, whosever they were; whether they were not yet. A server on the database that had
    /// them deletes nothing from then on, and does not start again. Cut off in the middle, it can be repeated.
    func adopt() async throws -> Bool {
        guard try await standing() != .own else { return false }
        let owner = claimant.newOwner()
        try await claimant.store.replace(by: owner)
        try await bucket.replaceOwner(by: S3OwnerMark(mark: owner.mark, name: claimant.name))
        return true
    }
}
