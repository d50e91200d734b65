// A stand-in with the shape of the cipher; see Exchange.swift.
import Foundation

public enum ChaChaPoly {
    public struct Nonce: Sendable {
        let bytes: [UInt8]

        public init() { bytes = (0..<12).map { _ in UInt8.random(in: .min ... .max) } }

        public init(data: some Sequence<UInt8>) throws {
            bytes = Array(data)
            guard bytes.count == 12 else { throw CryptoKitError.incorrectParameterSize }
        }
    }

    public struct SealedBox: Sendable {
        public let nonce: Nonce
        public let ciphertext: Data
        public let tag: Data

        public var combined: Data { Data(nonce.bytes) + ciphertext + tag }

        public init(nonce: Nonce, ciphertext: some Sequence<UInt8>, tag: some Sequence<UInt8>) throws {
            self.nonce = nonce
            self.ciphertext = Data(ciphertext)
            self.tag = Data(tag)
            guard self.tag.count == 16 else { throw CryptoKitError.incorrectParameterSize }
        }

        public init(combined: some Sequence<UInt8>) throws {
            let bytes = Array(combined)
            guard bytes.count >= 28 else { throw CryptoKitError.incorrectParameterSize }
            try self.init(
                nonce: Nonce(data: bytes.prefix(12)), ciphertext: bytes.dropFirst(12).dropLast(16), tag: bytes.suffix(16))
        }
    }

    public static func seal(_ message: some Sequence<UInt8>, using key: SymmetricKey, nonce: Nonce? = nil) throws -> SealedBox {
        try seal(message, using: key, nonce: nonce, authenticating: Data())
    }

    public static func seal(
        _ message: some Sequence<UInt8>, using key: SymmetricKey, nonce: Nonce? = nil, authenticating data: some Sequence<UInt8>
    ) throws -> SealedBox {
        let nonce = nonce ?? Nonce()
        let ciphertext = mixed(Array(message), key, nonce)
        return try SealedBox(nonce: nonce, ciphertext: ciphertext, tag: tag(ciphertext, key, nonce, Array(data)))
    }

    public static func open(_ box: SealedBox, using key: SymmetricKey) throws -> Data {
        try open(box, using: key, authenticating: Data())
    }

    public static func open(
        _ box: SealedBox, using key: SymmetricKey, authenticating data: some Sequence<UInt8>
    ) throws -> Data {
        let ciphertext = Array(box.ciphertext)
        guard tag(ciphertext, key, box.nonce, Array(data)) == Array(box.tag) else {
            throw CryptoKitError.authenticationFailure
        }
        return Data(mixed(ciphertext, key, box.nonce))
    }

    private static func mixed(_ bytes: [UInt8], _ key: SymmetricKey, _ nonce: Nonce) -> [UInt8] {
        let stream = Array(SHA256.hash(data: key.bytes + nonce.bytes))
        return bytes.enumerated().map { $1 ^ stream[$0 % stream.count] }
    }

    private static func tag(_ bytes: [UInt8], _ key: SymmetricKey, _ nonce: Nonce, _ data: [UInt8]) -> [UInt8] {
        Array(SHA256.hash(data: key.bytes + nonce.bytes + data + [0] + bytes).prefix(16))
    }
}
