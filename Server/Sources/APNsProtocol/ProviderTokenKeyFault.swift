/// What is wrong with a provider token key. The sentence is safe to show: it says nothing of the key.
public enum ProviderTokenKeyFault: Error, Hashable, Sendable {
    /// There is no `-----BEGIN …-----` block in the text.
    case notPEM
    /// The file holds something else: `found` is the PEM label, for example `CERTIFICATE`.
    case notPrivateKey(found: String)
    /// A private key, but in another wrapping than PKCS#8: `found` is the PEM label, for example `EC PRIVATE KEY`.
    case notPKCS8(found: String)
    /// The key is encrypted with a pass phrase.
    case encrypted
    /// A PKCS#8 private key, but not on the curve P-256.
    case notP256
    /// The PEM label is right and the content cannot be read: truncated or changed.
    case damaged
    /// The key id is not ten letters and digits.
    case malformedKeyID
    /// The team id is not ten letters and digits.
    case malformedTeamID
}

extension ProviderTokenKeyFault: CustomStringConvertible {
    public var description: String {
        switch self {
        case .notPEM: "the key file is not PEM: it has no -----BEGIN PRIVATE KEY----- block"
        case .notPrivateKey(let found): "the key file holds no private key but a \(found)"
        case .notPKCS8(let found): "the key file is not PKCS#8: it holds a \(found), expected PRIVATE KEY"
        case .encrypted: "the key file is encrypted; APNs keys (.p8) are not"
        case .notP256: "the key in the key file is not a P-256 key, which ES256 needs"
        case .damaged: "the key file is damaged: its PRIVATE KEY block cannot be read"
        case .malformedKeyID: "the key id is not ten letters and digits"
        case .malformedTeamID: "the team id is not ten letters and digits"
        }
    }
}
