import Crypto

/// A key with which provider tokens are signed: the `.p8` file of Apple's developer pages, its id and the team
/// (Reference/APNs.md#2-1). It signs and is never printed.
public struct ProviderTokenKey: Sendable {
    /// The ten characters that name the key; the `kid` of the token.
    public let keyID: String
    /// The ten characters that name the developer team; the `iss` of the token.
    public let teamID: String
    private let privateKey: P256.Signing.PrivateKey

    /// Reads a key file.
    ///
    /// - Parameter pem: the text of the `.p8` file: PKCS#8 in PEM, holding a P-256 private key.
    /// - Throws: what is wrong with the file or an id, in words that show nothing of the key.
    public init(pem: String, keyID: String, teamID: String) throws(ProviderTokenKeyFault) {
        guard Self.isIdentifier(keyID) else { throw .malformedKeyID }
        guard Self.isIdentifier(teamID) else { throw .malformedTeamID }
        privateKey = try ProviderTokenKeyFile.privateKey(pem: pem)
        self.keyID = keyID
        self.teamID = teamID
    }

    /// Takes a key that is in memory already, for example one that a test or a local APNs has just made.
    public init(privateKey: P256.Signing.PrivateKey, keyID: String, teamID: String) throws(ProviderTokenKeyFault) {
        guard Self.isIdentifier(keyID) else { throw .malformedKeyID }
        guard Self.isIdentifier(teamID) else { throw .malformedTeamID }
        self.privateKey = privateKey
        self.keyID = keyID
        self.teamID = teamID
    }

    /// The 64 bytes r and s of the signature of `message` (RFC 7515, not DER).
    func signature(of message: some Sequence<UInt8>) throws -> [UInt8] {
        Array(try privateKey.signature(for: Array(message)).rawRepresentation)
    }

    private static func isIdentifier(_ text: String) -> Bool {
        text.utf8.count == 10
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "a")...UInt8(ascii: "z"):
                    true
                default: false
                }
            }
    }
}

extension ProviderTokenKey: CustomStringConvertible {
    /// The ids, which are no secrets. The key itself is never printed.
    public var description: String { "key \(keyID) of team \(teamID)" }
}
