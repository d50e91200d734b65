import ContentStorage
import SQLStorage

/// Whose contents lie in a bucket, as a database sees it. A value without I/O.
package enum ContentStanding: Hashable, Sendable {
    /// The database's own.
    case own
    /// Nobody has said so yet.
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
