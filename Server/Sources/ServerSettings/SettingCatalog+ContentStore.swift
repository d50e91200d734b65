import ContentStorage

extension SettingCatalog {
    static let s3Bucket = Setting(
        "s3-bucket", .optional(.bucket), default: nil, in: .contentStore,
        """
        The bucket that contents are kept in, and the files of imports, exports and feedback, at Amazon's S3 or a store that speaks \
        its protocol. Nodes that share a database share it. Without it both lie in the data directory.
        """)
    static let s3Region = Setting(
        "s3-region", .region, default: "us-east-1", in: .contentStore,
        "The region of the bucket. Stores that have none take any word, customarily us-east-1.")
    static let s3Endpoint = Setting(
        "s3-endpoint", .optional(.storeAddress), default: nil, in: .contentStore,
        "Where the store answers. Without it Amazon's of s3-region, https://s3.REGION.amazonaws.com.")
    static let s3Addressing = Setting(
        "s3-addressing", .choice, default: S3Addressing.path, in: .contentStore,
        "How the bucket is named in a request: path for https://host/bucket/key, virtual-host for https://bucket.host/key.")
    static let s3Prefix = Setting(
        "s3-prefix", .optional(.keyPrefix), default: nil, in: .contentStore,
        "The beginning of every key in the bucket, for a bucket that others use too.")
    static let s3KeyID = Setting(
        "s3-key-id", .optional(.storeKeyID), default: nil, in: .contentStore,
        """
        The id of the access key. It has to be allowed to list the bucket and its uploads under way, and to read, write and remove \
        objects below s3-prefix.
        """)
    static let s3Secret = Setting(
        "s3-secret", .optional(.secretWord), default: nil, in: .contentStore, secret: true,
        "The secret of the access key.")
    static let s3SessionToken = Setting(
        "s3-session-token", .optional(.secretWord), default: nil, in: .contentStore, secret: true,
        "The token that belongs to a key that was lent for a time. The node has to be started anew before that time is over.")
    static let s3TrustRootsPath = Setting(
        "s3-trust-roots-path", .optional(.path), default: nil, in: .contentStore,
        "The certificates (PEM) that vouch for s3-endpoint besides the system's.")
    static let s3Insecure = Setting(
        "s3-insecure", .flag, default: false, in: .contentStore,
        "Allows an s3-endpoint of http beyond this machine. Contents can then be read on the way; for closed networks only.")
    static let s3Links = Setting(
        "s3-links", .flag, default: false, in: .contentStore,
        """
        Lets phones fetch contents of more than 64 KiB from the store itself: the node checks who asks and answers with a link that \
        is valid for five minutes, to whoever has it. Only on the routes below /api/v1; phones have to reach s3-endpoint.
        """)

    /// The settings of this chapter.
    static let contentStore: [SettingDeclaration] = [
        s3Bucket.declaration, s3Region.declaration, s3Endpoint.declaration, s3Addressing.declaration, s3Prefix.declaration,
        s3KeyID.declaration, s3Secret.declaration, s3SessionToken.declaration, s3TrustRootsPath.declaration,
        s3Insecure.declaration, s3Links.declaration,
    ]
}
