import AppBackend

/// The keys of contents, below the prefix. Only a `ContentDigest` and numbers by chance become keys.
///
/// `objects/{digest}` are the contents. `incoming/{chance}` are large uploads under way: their digest is known only at their end.
/// `removing/{digest}/{chance}` says that somebody is about to remove a content, see `S3Removal`. `files/` is `S3FileKeys`.
/// `owner` is `S3OwnerMark`.
enum S3Keys {
    static let objects = "objects/"
    static let incoming = "incoming/"
    static let removing = "removing/"
    static let owner = "owner"
    /// Nothing lies there: who asks for it learns whether the store answers.
    static let probe = "incoming/probe"

    static func object(_ digest: ContentDigest) -> String { objects + digest.text }

    static func upload() -> String { incoming + chance() }

    static func removals(of digest: ContentDigest) -> String { "\(removing)\(digest.text)/" }

    static func removal(of digest: ContentDigest) -> String { removals(of: digest) + chance() }

    /// Whether a key is one of these.
    static func isOurs(_ key: String) -> Bool { [objects, incoming, removing, S3FileKeys.files].contains { key.hasPrefix($0) } }

    private static func chance() -> String {
        "\(String(UInt64.random(in: .min ... .max), radix: 16))-\(String(UInt64.random(in: .min ... .max), radix: 16))"
    }
}
