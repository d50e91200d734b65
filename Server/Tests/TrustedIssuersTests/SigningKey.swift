import Crypto
import CryptoExtras
import Foundation
import WireText

/// A key of a made-up issuer. It signs whatever a test wants, well formed or not.
enum SigningKey: Sendable {
    case es256(P256.Signing.PrivateKey)
    case es384(P384.Signing.PrivateKey)
    case ed25519(Curve25519.Signing.PrivateKey)
    case rs256(_RSA.Signing.PrivateKey)
    case ps256(_RSA.Signing.PrivateKey)

    static let es256 = SigningKey.es256(P256.Signing.PrivateKey())
    static let otherES256 = SigningKey.es256(P256.Signing.PrivateKey())
    static let es384 = SigningKey.es384(P384.Signing.PrivateKey())
    static let ed25519 = SigningKey.ed25519(Curve25519.Signing.PrivateKey())
    // Made once: an RSA key takes long.
    static let rsa = try! _RSA.Signing.PrivateKey(keySize: .bits2048)
    static let rs256 = SigningKey.rs256(rsa)
    static let ps256 = SigningKey.ps256(rsa)

    /// The name in a token's header.
    var algorithm: String {
        switch self {
        case .es256: "ES256"
        case .es384: "ES384"
        case .ed25519: "EdDSA"
        case .rs256: "RS256"
        case .ps256: "PS256"
        }
    }

    func signature(over bytes: [UInt8]) -> [UInt8] {
        switch self {
        case .es256(let key): Array(try! key.signature(for: bytes).rawRepresentation)
        case .es384(let key): Array(try! key.signature(for: bytes).rawRepresentation)
        case .ed25519(let key): Array(try! key.signature(for: bytes))
        case .rs256(let key):
            Array(try! key.signature(for: SHA256.hash(data: bytes), padding: .insecurePKCS1v1_5).rawRepresentation)
        case .ps256(let key): Array(try! key.signature(for: SHA256.hash(data: bytes), padding: .PSS).rawRepresentation)
        }
    }

    /// The entry of a key set, with the members that a test adds or replaces as raw JSON; `nil` removes one.
    func jwk(_ id: String? = "k1", _ changes: [String: String?] = [:]) -> String {
        var members = publicMembers.mapValues { "\"\($0)\"" }
        members["kid"] = id.map(JSONText.string)
        return Raw.object(members, changes)
    }

    /// The public key as a text, as a symmetric secret would be made of it.
    var pem: String {
        switch self {
        case .es256(let key): key.publicKey.pemRepresentation
        case .es384(let key): key.publicKey.pemRepresentation
        case .ed25519(let key): Base64URL.text(of: Array(key.publicKey.rawRepresentation))
        case .rs256(let key), .ps256(let key): key.publicKey.pemRepresentation
        }
    }

    private var publicMembers: [String: String] {
        switch self {
        case .es256(let key): Self.point("P-256", Array(key.publicKey.rawRepresentation))
        case .es384(let key): Self.point("P-384", Array(key.publicKey.rawRepresentation))
        case .ed25519(let key):
            ["kty": "OKP", "crv": "Ed25519", "x": Base64URL.text(of: Array(key.publicKey.rawRepresentation))]
        case .rs256(let key), .ps256(let key):
            (try? key.publicKey.getKeyPrimitives()).map {
                ["kty": "RSA", "n": Base64URL.text(of: Array($0.modulus)), "e": Base64URL.text(of: Array($0.publicExponent))]
            } ?? [:]
        }
    }

    private static func point(_ curve: String, _ bytes: [UInt8]) -> [String: String] {
        let half = bytes.count / 2
        return [
            "kty": "EC", "crv": curve, "x": Base64URL.text(of: Array(bytes[..<half])),
            "y": Base64URL.text(of: Array(bytes[half...])),
        ]
    }
}

/// Raw JSON, so that a test can write what no encoder would.
enum Raw {
    static func object(_ members: [String: String], _ changes: [String: String?] = [:]) -> String {
        var members = members
        for (name, value) in changes { members[name] = value }
        let written = members.sorted { $0.key < $1.key }.map { "\(JSONText.string($0.key)):\($0.value)" }
        return "{\(written.joined(separator: ","))}"
    }

    static func keySet(_ entries: String...) -> String { "{\"keys\":[\(entries.joined(separator: ","))]}" }
}
