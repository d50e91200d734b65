import RichPushModel
import WireText

/// A signed provider token: a JWT with `alg` and `kid`, `iss` and `iat`, ES256 (Reference/APNs.md#2-1).
///
/// Signing the same claims again gives other bytes, which APNs counts as a new token. So the text is what is kept and shared.
public struct ProviderToken: Sendable, Hashable {
    /// The compact form, without the word `bearer`. A secret: never log it.
    public let text: String
    /// The wall-clock moment in its `iat`.
    public let issuedAt: Timestamp
    /// Counts the tokens of one cache; a greater number is a younger token.
    public let generation: UInt64

    /// Wraps a token that was signed elsewhere, for example one that several processes share.
    public init(text: String, issuedAt: Timestamp, generation: UInt64) {
        self.text = text
        self.issuedAt = issuedAt
        self.generation = generation
    }

    /// Signs a token.
    public init(signedBy key: ProviderTokenKey, issuedAt: Timestamp, generation: UInt64 = 0) throws {
        // Written by hand, because both ids are letters and digits only and the shortest form is wanted on the wire.
        let header = Base64URL.text(of: Array(#"{"alg":"ES256","kid":"\#(key.keyID)"}"#.utf8))
        let claims = Base64URL.text(of: Array(#"{"iss":"\#(key.teamID)","iat":\#(issuedAt.seconds)}"#.utf8))
        let message = header + "." + claims
        let signature = try key.signature(of: message.utf8)
        self.init(text: message + "." + Base64URL.text(of: signature), issuedAt: issuedAt, generation: generation)
    }

    /// The value of the `authorization` header.
    public var authorization: String { "bearer " + text }
}

extension ProviderToken: CustomStringConvertible {
    /// Never the token itself.
    public var description: String { "provider token \(generation), issued at \(issuedAt.seconds)" }
}
