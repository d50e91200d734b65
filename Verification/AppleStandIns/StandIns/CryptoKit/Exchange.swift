// Stand-ins with the shape of a key agreement and a cipher and nothing of their strength: a client with the public key knows the
// private one. They let the sources compile and run here; the real ones, of swift-crypto, are tested with the engine.
import Foundation

public enum CryptoKitError: Error {
    case incorrectParameterSize
    case authenticationFailure
}

public struct SymmetricKeySize: Sendable {
    public static let bits256 = SymmetricKeySize()
}

public struct SymmetricKey: Equatable, Sendable {
    let bytes: [UInt8]

    public init(size: SymmetricKeySize) { bytes = (0..<32).map { _ in UInt8.random(in: .min ... .max) } }

    public init(data: some Sequence<UInt8>) { bytes = Array(data) }

    public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try bytes.withUnsafeBytes(body)
    }
}

public struct HKDF<H> {
    public static func deriveKey(
        inputKeyMaterial: SymmetricKey, salt: some Sequence<UInt8>, info: some Sequence<UInt8>, outputByteCount: Int
    ) -> SymmetricKey {
        SymmetricKey(data: SHA256.hash(data: inputKeyMaterial.bytes + Array(salt) + Array(info)))
    }
}

public struct SharedSecret: Sendable {
    let bytes: [UInt8]

    public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try bytes.withUnsafeBytes(body)
    }

    public func hkdfDerivedSymmetricKey<H>(
        using hash: H.Type, salt: some Sequence<UInt8>, sharedInfo: some Sequence<UInt8>, outputByteCount: Int
    ) -> SymmetricKey {
        HKDF<H>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: bytes), salt: salt, info: sharedInfo, outputByteCount: outputByteCount)
    }
}

public enum Curve25519 {
    public enum KeyAgreement {
        public struct PublicKey: Sendable {
            public let rawRepresentation: Data

            public init(rawRepresentation: some Sequence<UInt8>) throws {
                self.rawRepresentation = Data(rawRepresentation)
                guard self.rawRepresentation.count == 32 else { throw CryptoKitError.incorrectParameterSize }
            }
        }

        public struct PrivateKey: Sendable {
            public let rawRepresentation: Data
            public let publicKey: PublicKey

            public init() {
                let bytes = Data((0..<32).map { _ in UInt8.random(in: .min ... .max) })
                guard let key = try? PrivateKey(rawRepresentation: bytes) else { preconditionFailure("32 bytes are a key") }
                self = key
            }

            public init(rawRepresentation: some Sequence<UInt8>) throws {
                self.rawRepresentation = Data(rawRepresentation)
                publicKey = try PublicKey(rawRepresentation: self.rawRepresentation)
            }

            public func sharedSecretFromKeyAgreement(with other: PublicKey) throws -> SharedSecret {
                let pair = [rawRepresentation, other.rawRepresentation].sorted { $0.lexicographicallyPrecedes($1) }
                return SharedSecret(bytes: Array(SHA256.hash(data: pair[0] + pair[1])))
            }
        }
    }
}
