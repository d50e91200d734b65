/// Who asks an S3-compatible store. Printing it shows the key's id and nothing else.
public struct S3Credentials: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The id of the key, which is no secret.
    public let keyID: String
    let secret: String
    let sessionToken: String?

    /// Creates credentials; a session token belongs to a key that was lent for a time.
    public init(keyID: String, secret: String, sessionToken: String? = nil) {
        self.keyID = keyID
        self.secret = secret
        self.sessionToken = sessionToken
    }

    public var description: String { "key \(keyID)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["keyID": keyID]) }
}
