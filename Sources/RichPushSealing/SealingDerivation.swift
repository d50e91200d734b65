import RichPushModel

#if canImport(CryptoKit)
    import CryptoKit
#else
    import Crypto
#endif
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// How the keys of a seal come from one another, and what is authenticated with them (Reference/IOSClient.md#10).
///
/// Every text begins with the name and version of the format, so that a key or a tag of one purpose is none of another.
enum SealingDerivation {
    static let name = "clarion seal 1"

    /// What a key of the seal is for.
    enum Purpose: String {
        case words, thumb, content
    }

    /// The key for one purpose, from the seal's own.
    static func key(for purpose: Purpose, of seal: SymmetricKey) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: seal, salt: Data(), info: Data("\(name) \(purpose.rawValue)".utf8), outputByteCount: 32)
    }

    /// The key that wraps the seal's own for one recipient. Both public keys are in it, so that it belongs to these two alone.
    static func wrappingKey(
        _ secret: SharedSecret, ephemeral: Data, recipient: SealingPublicKey
    ) -> SymmetricKey {
        secret.hkdfDerivedSymmetricKey(
            using: SHA256.self, salt: ephemeral + recipient.bytes, sharedInfo: Data("\(name) wrap".utf8), outputByteCount: 32)
    }

    /// What two keys agree on. A point of small order makes it zero for everybody (RFC 7748, 6.1), so zero is refused.
    static func secret(
        of own: Curve25519.KeyAgreement.PrivateKey, with other: Data
    ) throws(SealingError) -> SharedSecret {
        guard let key = try? Curve25519.KeyAgreement.PublicKey(rawRepresentation: other),
            let secret = try? own.sharedSecretFromKeyAgreement(with: key),
            secret.withUnsafeBytes({ $0.contains { $0 != 0 } })
        else { throw .badKey }
        return secret
    }

    /// Binds a wrapped key to its notification and its installation.
    static func wrapData(_ id: RichID, _ installation: InstallationID) -> Data {
        Data("\(name)\nwrap\n\(id)\n\(installation)".utf8)
    }

    /// Binds the words to their notification.
    static func wordsData(_ id: RichID) -> Data { Data("\(name)\nwords\n\(id)".utf8) }

    /// Under which name a recipient finds their wrapped key. It differs in every seal, so nobody but the server, which knows
    /// the recipients anyway, learns from it who else got the message.
    static func hint(ephemeral: Data, recipient: SealingPublicKey) -> String {
        hexadecimal(SHA256.hash(data: Data("\(name) hint".utf8) + ephemeral + recipient.bytes).prefix(8))
    }

    static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
