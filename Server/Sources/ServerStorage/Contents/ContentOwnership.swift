import ContentStorage
import Crypto
import Foundation
import SQLStorage
import ServerSettings
import ServiceErrors

/// Ties the database of a node to the bucket that keeps its contents: what a database does not name is deleted from its bucket, so two
/// databases in one would delete each other's.
///
/// The database has a mark by chance and the bucket the same. The first start makes both; `clarion content adopt` makes them anew.
package struct ContentOwnership: Sendable {
    let claimant: BucketOwner
    let bucket: S3ContentStore
    /// What an operator knows the bucket by.
    let bucketName: String

    init(_ claimant: BucketOwner, _ bucket: S3ContentStore, _ place: Settings.ContentStore) {
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
    func standing() async throws -> BucketOwnership {
        // The bucket first: its mark is never older than the database's.
        let mark = try await bucket.owner()
        return BucketOwnership(bucket: mark, database: try await claimant.store.owner(), place: claimant.place)
    }

    /// Makes sure that the contents in the bucket are the database's, and claims them if no database owns them. Throws `not-ready` with
    /// a sentence for the operator when another database owns them; nothing has changed then.
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

    /// Makes the contents in the bucket the database's, whichever database owned them, and returns whether that changed the owner. A
    /// server on the former owner deletes nothing from then on, and does not start again. It can be run again after an interruption.
    func adopt() async throws -> Bool {
        guard try await standing() != .own else { return false }
        let owner = claimant.newOwner()
        try await claimant.store.replace(by: owner)
        try await bucket.replaceOwner(by: S3OwnerMark(mark: owner.mark, name: claimant.name))
        return true
    }
}

/// A database as the owner of contents in a bucket: its mark, and where it lies.
package struct BucketOwner: Sendable {
    package let store: SQLContentOwnerStore
    /// What no copy of the database has. A file's is its number on the disk and the machine, so one that is restored or carried elsewhere
    /// counts as a copy; a server's is its own number and the database's, which a replica that takes over has too.
    package let place: String
    /// What an operator knows it by.
    let name: String

    /// Finds out where the database of these settings lies, which is open. Throws `ServiceError`.
    package init(_ database: any SQLDatabase, _ settings: Settings) async throws {
        store = SQLContentOwnerStore(database)
        if let place = settings.database {
            self.place = try await store.placeOnServer() ?? database.dialect.name
            name = "\(place.url)"
        } else {
            name = settings.dataDirectory + "/clarion.sqlite"
            place = Self.place(ofFile: name)
        }
    }

    /// Lets the mark go along to a database that got every row of this one.
    package func hand(to new: BucketOwner) async throws {
        guard let owner = try await store.owner(), owner.place == place else { return }
        try await new.store.replace(by: ContentOwner(mark: owner.mark, place: new.place))
    }

    /// A new mark for where the database lies now.
    func newOwner() -> ContentOwner { ContentOwner(mark: NodeIdentity.chance() + NodeIdentity.chance(), place: place) }

    private static func place(ofFile path: String) -> String {
        var information = stat()
        let number = stat(path, &information) == 0 ? "\(information.st_ino)" : "-"
        return "sqlite \(number) \(machine)"
    }

    /// Distinguishes machines without revealing their ids (machine-id(5)); empty where there is no id, as in most containers.
    private static let machine: String = {
        guard let id = try? Data(contentsOf: URL(filePath: "/etc/machine-id")), !id.isEmpty else { return "" }
        return SHA256.hash(data: Data("clarion ".utf8) + id).prefix(8).map { String($0, radix: 16) }.joined(separator: ".")
    }()
}

/// Whose contents lie in a bucket, as a database sees it. A value without I/O.
package enum BucketOwnership: Hashable, Sendable {
    /// The database's own.
    case own
    /// No database has claimed them yet.
    case free
    /// Those of the database that this one was copied from.
    case copied(S3OwnerMark)
    /// Those of another database.
    case foreign(S3OwnerMark)

    /// Decides by what the bucket says, what the database says, and where that lies now. A copy of a database has all its rows, the mark
    /// too, and lies elsewhere than where the mark was given.
    package init(bucket: S3OwnerMark?, database: ContentOwner?, place: String) {
        self =
            if let bucket {
                if let database, database.mark == bucket.mark {
                    database.place == place ? .own : .copied(bucket)
                } else {
                    .foreign(bucket)
                }
            } else { .free }
    }

    /// Why the database may not use the bucket, for the operator; `nil` when it may.
    package func refusal(bucket: String) -> String? {
        switch self {
        case .own, .free: nil
        case .copied(let owner):
            """
            this database is a copy of the one whose contents \(bucket) keeps (\(owner.name)); two would delete each other's. Give \
            this one another s3-bucket or s3-prefix. Only if it takes the place of the other, which is off for good, run clarion \
            content adopt
            """
        case .foreign(let owner):
            """
            \(bucket) keeps the contents of another database (\(owner.name)); two would delete each other's. Give this one another \
            s3-bucket or s3-prefix. Only if the other is off for good and this one is to have its contents, run clarion content adopt
            """
        }
    }
}

/// Contents in a data directory whose database begins anew: no row names them, and a sweep would remove them all.
package enum ContentsWithoutDatabase {
    /// Throws where the database file is missing or empty, and the content folder is not. Only looks: a file made here would be in the way of
    /// the right one.
    static func refuseFile(_ settings: Settings) throws {
        let path = settings.dataDirectory + "/clarion.sqlite"
        guard settings.database == nil, !holdsBytes(path), let folder = filledFolder(settings) else { return }
        throw refusal(folder, "\(path) is missing or empty")
    }

    /// Throws where the database, whose tables are there, has neither a hub nor a user, and the content folder holds something. An operator
    /// may remove every hub of a database; contents come from users.
    package static func refuseNew(_ database: any SQLDatabase, _ settings: Settings) async throws {
        guard let folder = filledFolder(settings) else { return }
        guard try await SQLHubStore(database).records(after: nil, limit: 1).isEmpty else { return }
        guard try await SQLBackendStore(database).users(after: nil, prefix: "", limit: 1).isEmpty else { return }
        throw refusal(folder, "the database is empty")
    }

    /// As `refuseNew`, for a database that is known to have no tables.
    package static func refuseEmpty(_ settings: Settings) throws {
        if let folder = filledFolder(settings) { throw refusal(folder, "the database is empty") }
    }

    private static func refusal(_ folder: String, _ state: String) -> ServiceError {
        ServiceError(
            .notReady,
            "\(folder) holds contents, and \(state): bring back the database from the backup, or move \(folder) away to begin anew"
        )
    }

    private static func holdsBytes(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_size > 0
    }

    /// The content folder if contents lie on the disk and there are any.
    private static func filledFolder(_ settings: Settings) -> String? {
        guard settings.contentStore == nil else { return nil }
        let folder = settings.dataDirectory + "/content"
        let objects = folder + "/objects"
        let isFilled = names(in: objects).contains { !names(in: objects + "/" + $0).isEmpty }
        return isFilled ? folder : nil
    }

    private static func names(in folder: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    }
}
