/// Where a push to one phone goes: what a developer needs to send it from elsewhere, with curl for instance.
public struct PushTarget: Hashable, Sendable, Codable {
    public var host: String
    public var port: Int
    /// The device token of the app on the phone.
    public var deviceToken: String
    /// The bundle id of the app.
    public var topic: String
    /// A provider token that the local APNs accepts for an hour. It opens nothing at Apple.
    public var authorization: String
    /// The file of the certificate authority that a client has to trust.
    public var authorityPath: String

    /// Creates a target.
    public init(host: String, port: Int, deviceToken: String, topic: String, authorization: String, authorityPath: String) {
        self.host = host
        self.port = port
        self.deviceToken = deviceToken
        self.topic = topic
        self.authorization = authorization
        self.authorityPath = authorityPath
    }
}
