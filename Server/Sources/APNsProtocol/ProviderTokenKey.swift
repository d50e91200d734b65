import Crypto

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

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
    /// - Throws: what is wrong with the file or an id, without key material.
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

/// Reads a `.p8` file and says precisely what is wrong with one that is none.
private enum ProviderTokenKeyFile {
    /// The labels that a misplaced file may carry. Only these are quoted in an error; anything else could be content.
    private static let knownLabels: Set<String> = [
        "CERTIFICATE", "CERTIFICATE REQUEST", "PUBLIC KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY", "EC PARAMETERS",
        "OPENSSH PRIVATE KEY", "DSA PRIVATE KEY",
    ]

    static func privateKey(pem: String) throws(ProviderTokenKeyFault) -> P256.Signing.PrivateKey {
        switch label(of: pem) {
        case nil: throw .notPEM
        case "PRIVATE KEY": break
        case "ENCRYPTED PRIVATE KEY": throw .encrypted
        case let label? where label.hasSuffix("PRIVATE KEY"): throw .notPKCS8(found: shown(label))
        case let label?: throw .notPrivateKey(found: shown(label))
        }
        if let key = try? P256.Signing.PrivateKey(pemRepresentation: pem) { return key }
        throw isReadable(pem: pem) ? .notP256 : .damaged
    }

    private static func label(of pem: String) -> String? {
        guard let begin = pem.firstRange(of: "-----BEGIN "), let end = pem[begin.upperBound...].firstRange(of: "-----") else {
            return nil
        }
        return String(pem[begin.upperBound..<end.lowerBound])
    }

    private static func shown(_ label: String) -> String { knownLabels.contains(label) ? label : "block of an unknown kind" }

    /// Whether the block is a PKCS#8 structure at all: a DER sequence as long as it says, that begins with version 0 or 1.
    private static func isReadable(pem: String) -> Bool {
        let lines = pem.split(whereSeparator: \.isNewline)
        guard let first = lines.firstIndex(where: { $0.hasPrefix("-----BEGIN ") }),
            let last = lines[first...].firstIndex(where: { $0.hasPrefix("-----END ") }),
            let der = Data(base64Encoded: lines[(first + 1)..<last].joined())
        else { return false }
        let bytes = [UInt8](der)
        guard bytes.count > 4, bytes[0] == 0x30 else { return false }
        let lengthBytes = bytes[1] < 0x80 ? 0 : Int(bytes[1] & 0x7F)
        guard lengthBytes <= 3, bytes.count > 5 + lengthBytes else { return false }
        let length = lengthBytes == 0 ? Int(bytes[1]) : bytes[2..<(2 + lengthBytes)].reduce(0) { $0 << 8 | Int($1) }
        let content = bytes[(2 + lengthBytes)...]
        return content.count == length && content.starts(with: [0x02, 0x01]) && !namesP256(bytes)
    }

    /// Whether the object identifier of P-256 (1.2.840.10045.3.1.7) stands in the bytes: then the key is damaged, not foreign.
    private static func namesP256(_ bytes: [UInt8]) -> Bool {
        let identifier: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]
        return bytes.firstRange(of: identifier) != nil
    }
}

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
