import RichPushModel

/// A provider token that was made elsewhere: its text and when it was issued.
public struct SharedProviderToken: Sendable, Hashable {
    /// The compact form, without the word `bearer`. A secret.
    public var text: String
    /// Its `iat`.
    public var issuedAt: Timestamp

    /// Wraps a token.
    public init(text: String, issuedAt: Timestamp) {
        self.text = text
        self.issuedAt = issuedAt
    }
}

extension SharedProviderToken: CustomStringConvertible {
    /// Never the token itself.
    public var description: String { "shared provider token, issued at \(issuedAt.seconds)" }
}
