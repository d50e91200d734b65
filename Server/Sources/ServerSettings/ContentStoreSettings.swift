import ContentStorage
import SharedAccess

/// A bucket of an S3-compatible store.
public struct ContentStoreSettings: SettingGroup {
    package let bucket = Setting(
        "s3-bucket", .optional(.bucket), default: nil,
        """
        The bucket that contents are kept in, and the files of imports, exports and feedback, at Amazon's S3 or a store that speaks \
        its protocol. Nodes that share a database share it. Without it both lie in the data directory.
        """)
    package let region = Setting(
        "s3-region", .region, default: "us-east-1",
        "The region of the bucket. Stores that have none take any word, customarily us-east-1.")
    package let endpoint = Setting(
        "s3-endpoint", .optional(.storeAddress), default: nil,
        "Where the store answers. Without it Amazon's of s3-region, https://s3.REGION.amazonaws.com.")
    package let addressing = Setting(
        "s3-addressing", .choice, default: S3Addressing.path,
        "How the bucket is named in a request: path for https://host/bucket/key, virtual-host for https://bucket.host/key.")
    package let prefix = Setting(
        "s3-prefix", .optional(.keyPrefix), default: nil,
        "The beginning of every key in the bucket, for a bucket that others use too.")
    package let keyID = Setting(
        "s3-key-id", .optional(.storeKeyID), default: nil,
        """
        The id of the access key. It has to be allowed to list the bucket and its uploads under way, and to read, write and remove \
        objects below s3-prefix.
        """)
    package let secret = Setting(
        "s3-secret", .optional(.secretWord), default: nil, secret: true,
        "The secret of the access key.")
    package let sessionToken = Setting(
        "s3-session-token", .optional(.secretWord), default: nil, secret: true,
        "The token that belongs to a key that was lent for a time. The node has to be started anew before that time is over.")
    package let trustRootsPath = Setting(
        "s3-trust-roots-path", .optional(.path), default: nil,
        "The certificates (PEM) that vouch for s3-endpoint besides the system's.")
    package let isInsecure = Setting(
        "s3-insecure", .flag, default: false,
        "Allows an s3-endpoint of http beyond this machine. Contents can then be read on the way; for closed networks only.")
    package let handsOutLinks = Setting(
        "s3-links", .flag, default: false,
        """
        Lets phones fetch contents of more than 64 KiB from the store itself: the node checks the access and answers with a link that \
        is valid for five minutes, for every holder. Only on the routes below /api/v1; phones have to reach s3-endpoint.
        """)
}

extension Settings {
    /// A bucket of an S3-compatible store that keeps the contents.
    public struct ContentStore: Hashable, Sendable {
        public var location: S3Location
        /// The credentials; printed without the secret.
        public var credentials: S3Credentials
        /// A PEM file with certificates that vouch for the store besides the system's.
        public var trustRootsPath: String?
        /// Whether phones are sent to the store itself for large contents.
        public var handsOutLinks: Bool
    }

    /// The bucket that keeps the contents; absent means the data directory.
    public var contentStore: ContentStore? {
        let endpoint = self.s3.endpoint ?? S3Endpoint("https://s3.\(self.s3.region).amazonaws.com")
        guard let endpoint, let bucket = self.s3.bucket, let keyID = self.s3.keyID, let secret = self.s3.secret else {
            return nil
        }
        return ContentStore(
            location: S3Location(
                endpoint: endpoint, region: self.s3.region, bucket: bucket, prefix: self.s3.prefix ?? "",
                addressing: self.s3.addressing),
            credentials: S3Credentials(keyID: keyID, secret: secret.reveal(), sessionToken: self.s3.sessionToken?.reveal()),
            trustRootsPath: self.s3.trustRootsPath, handsOutLinks: self.s3.handsOutLinks)
    }
}

extension SettingsResolver {
    /// A bucket needs a key. Without a bucket the other settings of a store are mistakes.
    mutating func checkContentStore() {
        checkTrustRoots(\.s3.trustRootsPath)
        guard settings.s3.bucket != nil else {
            let group = SettingCatalog.standard.s3
            for setting in SettingCatalog.settings(of: group) where setting.declaration.key != group.bucket.declaration.key {
                complainIfChanged(setting.declaration, "is for contents on S3; set s3-bucket as well")
            }
            return
        }
        let sentence = "is needed too: s3-bucket, s3-key-id and s3-secret belong together"
        if settings.s3.keyID == nil { complain(\.s3.keyID, sentence) }
        if settings.s3.secret == nil { complain(\.s3.secret, sentence) }
        if let store = settings.contentStore { checkContentStore(store.location) }
    }

    private mutating func checkContentStore(_ location: S3Location) {
        let endpoint = location.endpoint
        let isHere = AddressRange.isLoopback(host: endpoint.host)
        if !endpoint.isSecure, !isHere, !settings.s3.isInsecure {
            complain(
                \.s3.endpoint,
                "is http beyond this machine, so contents could be read on the way; use https, or set s3-insecure: true")
        }
        if !endpoint.isSecure, settings.s3.trustRootsPath != nil {
            complain(\.s3.trustRootsPath, "is for an s3-endpoint of https")
        }
        if settings.s3.handsOutLinks, !endpoint.isSecure, !isHere {
            complain(\.s3.handsOutLinks, "needs an s3-endpoint of https, because phones follow no other link")
        }
        guard location.addressing == .virtualHost else { return }
        if AddressRange.bytes(ofAddress: endpoint.host) != nil || endpoint.host.hasPrefix("[") {
            complain(\.s3.addressing, "has no name to put the bucket before; set s3-addressing: path")
        } else if endpoint.isSecure, location.bucket.contains(".") {
            complain(\.s3.addressing, "fits no certificate when the bucket's name has a dot; set s3-addressing: path")
        }
    }
}
