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

/// The private key of one installation: X25519 (RFC 7748). Made on the device, and it never leaves it.
public struct SealingPrivateKey: Sendable {
    let key: Curve25519.KeyAgreement.PrivateKey

    /// Makes a new key from the system's random numbers.
    public init() { key = Curve25519.KeyAgreement.PrivateKey() }

    /// Reads a key as `secretText` gave it.
    public init(secretText: String) throws(SealingError) {
        guard let data = Data(base64Encoded: secretText), data.count == 32,
            let key = try? Curve25519.KeyAgreement.PrivateKey(rawRepresentation: data)
        else { throw .badKey }
        self.key = key
    }

    /// The key itself, for the device's secret store and for nothing else.
    public var secretText: String { key.rawRepresentation.base64EncodedString() }

    /// What senders need.
    public var publicKey: SealingPublicKey { SealingPublicKey(key.publicKey) }
}

/// The public key of one installation.
public struct SealingPublicKey: Hashable, Sendable {
    /// The 32 bytes.
    let bytes: Data

    init(_ key: Curve25519.KeyAgreement.PublicKey) { bytes = key.rawRepresentation }

    /// Reads a key: base64 of 32 bytes (44 characters).
    public init(_ text: String) throws(SealingError) {
        guard text.utf8.count == 44, let data = Data(base64Encoded: text), data.count == 32 else { throw .badKey }
        bytes = data
    }

    /// As `init` reads it.
    public var text: String { bytes.base64EncodedString() }

    /// What two users compare to check that the server named the right key: 8 groups of 4 hexadecimal digits.
    public var fingerprint: String {
        let digits = SealingDerivation.hexadecimal(SHA256.hash(data: bytes).prefix(16))
        return stride(from: 0, to: 32, by: 4).map { String(digits.dropFirst($0).prefix(4)) }.joined(separator: " ")
    }
}
