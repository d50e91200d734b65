/// What an owner may say of a hub beside its keys and credentials.
public struct HubDetails: Hashable, Sendable {
    /// The most characters of the owner's own text.
    public static let maximumMetadataLength = 1024

    /// Free text of the owner, given back as it is.
    public var userMetadata: String?
    /// How long a registration lives that says nothing itself; absent means for ever.
    public var registrationLifetime: Duration?
    /// Whether a key that may only listen, which apps carry, may claim tags that are the server's to set.
    public var allowsProtectedTags: Bool

    /// Creates details.
    public init(userMetadata: String? = nil, registrationLifetime: Duration? = nil, allowsProtectedTags: Bool = false) {
        self.userMetadata = userMetadata
        self.registrationLifetime = registrationLifetime
        self.allowsProtectedTags = allowsProtectedTags
    }
}
