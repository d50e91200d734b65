import APNsProtocol
import RichPushModel

/// What a client certificate of the local authority is to say.
public struct ClientCertificateRequest: Sendable, Hashable {
    /// The app; becomes the UID of the subject.
    public var bundleID: String
    /// Both for a "Sandbox & Production" certificate, none for one that no environment takes.
    public var environments: Set<APNsEnvironment>
    /// Topics beyond the bundle id. With one topic `apns-topic` may be left out, with several it may not
    /// (Reference/APNs.md#2-4).
    public var furtherTopics: [String]
    /// When it begins to be valid; `nil` is a day ago.
    public var notBefore: Timestamp?
    /// When it ends; `nil` is in a year, as Apple's do.
    public var notAfter: Timestamp?

    /// Creates a request; by default for both environments and the app's own topic alone.
    public init(
        bundleID: String, environments: Set<APNsEnvironment> = [.sandbox, .production], furtherTopics: [String] = [],
        notBefore: Timestamp? = nil, notAfter: Timestamp? = nil
    ) {
        self.bundleID = bundleID
        self.environments = environments
        self.furtherTopics = furtherTopics
        self.notBefore = notBefore
        self.notAfter = notAfter
    }
}
