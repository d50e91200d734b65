import ContentStorage

extension Settings {
    /// A bucket of an S3-compatible store that keeps the contents.
    public struct ContentStore: Hashable, Sendable {
        public var location: S3Location
        /// Who asks; prints without the secret.
        public var credentials: S3Credentials
        /// A PEM file with certificates that vouch for the store besides the system's.
        public var trustRootsPath: String?
        /// Whether phones are sent to the store itself for large contents.
        public var handsOutLinks: Bool
    }
}

extension Settings.ContentStore {
    /// The store, if a bucket is named; then its key must be too. Without a bucket the others are mistakes.
    init?(from resolver: inout SettingsResolver) {
        let bucket = resolver.value(SettingCatalog.s3Bucket)
        let region = resolver.value(SettingCatalog.s3Region)
        let endpoint =
            resolver.value(SettingCatalog.s3Endpoint) ?? S3Endpoint("https://s3.\(region).amazonaws.com")
        let addressing = resolver.value(SettingCatalog.s3Addressing)
        let prefix = resolver.value(SettingCatalog.s3Prefix)
        let keyID = resolver.value(SettingCatalog.s3KeyID)
        let secret = resolver.value(SettingCatalog.s3Secret)
        let token = resolver.value(SettingCatalog.s3SessionToken)
        trustRootsPath = resolver.value(SettingCatalog.s3TrustRootsPath)
        let isInsecure = resolver.value(SettingCatalog.s3Insecure)
        handsOutLinks = resolver.value(SettingCatalog.s3Links)
        if let trustRootsPath { resolver.checkTrustRoots(trustRootsPath, for: SettingCatalog.s3TrustRootsPath) }
        guard let bucket else {
            resolver.complainOfIdleContentStore()
            return nil
        }
        let sentence = "is needed too: s3-bucket, s3-key-id and s3-secret belong together"
        if keyID == nil { resolver.complain(SettingCatalog.s3KeyID, sentence) }
        if secret == nil { resolver.complain(SettingCatalog.s3Secret, sentence) }
        guard let endpoint, let keyID, let secret else { return nil }
        location = S3Location(
            endpoint: endpoint, region: region, bucket: bucket, prefix: prefix ?? "", addressing: addressing)
        credentials = S3Credentials(keyID: keyID, secret: secret.reveal(), sessionToken: token?.reveal())
        check(isInsecure: isInsecure, &resolver)
    }

    private func check(isInsecure: Bool, _ resolver: inout SettingsResolver) {
        let endpoint = location.endpoint
        let isHere = AddressRange.isLoopback(host: endpoint.host)
        if !endpoint.isSecure, !isHere, !isInsecure {
            resolver.complain(
                SettingCatalog.s3Endpoint,
                "is http beyond this machine, so contents could be read on the way; use https, or set s3-insecure: true")
        }
        if !endpoint.isSecure, trustRootsPath != nil {
            resolver.complain(SettingCatalog.s3TrustRootsPath, "is for an s3-endpoint of https")
        }
        if handsOutLinks, !endpoint.isSecure, !isHere {
            resolver.complain(SettingCatalog.s3Links, "needs an s3-endpoint of https, because phones follow no other link")
        }
        guard location.addressing == .virtualHost else { return }
        if AddressRange.bytes(ofAddress: endpoint.host) != nil || endpoint.host.hasPrefix("[") {
            resolver.complain(SettingCatalog.s3Addressing, "has no name to put the bucket before; set s3-addressing: path")
        } else if endpoint.isSecure, location.bucket.contains(".") {
            resolver.complain(
                SettingCatalog.s3Addressing, "fits no certificate when the bucket's name has a dot; set s3-addressing: path")
        }
    }
}

extension SettingsResolver {
    /// A problem for each setting of a store that no bucket makes one of.
    fileprivate mutating func complainOfIdleContentStore() {
        let idle = SettingCatalog.contentStore.filter { $0.key != SettingCatalog.s3Bucket.declaration.key }
        for declaration in idle { complainIfChanged(declaration, "is for contents on S3; set s3-bucket as well") }
    }
}
