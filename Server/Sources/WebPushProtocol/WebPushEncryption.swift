import Crypto

/// Encrypts a message for one browser (RFC 8291 with the coding `aes128gcm` of RFC 8188; Reference/WebPush.md#3-2).
public enum WebPushEncryption {
    /// The most bytes of a body that every push service takes.
    public static let largestBody = 4_096
    /// The bytes that encryption adds: header, delimiter and tag.
    public static let overhead = 103
    /// The most bytes of a message.
    public static let largestMessage = largestBody - overhead
    /// The most bytes of a record, as the header says it. There is one record.
    private static let recordSize: [UInt8] = [0, 0, 0x10, 0]

    /// Encrypts with a key pair and a salt that are used for nothing else.
    ///
    /// - Throws: an error of the library.
    public static func body(of message: [UInt8], for subscription: WebPushSubscription) throws -> [UInt8] {
        let (key, salt) = newKey()
        return try body(of: message, for: subscription, key: key, salt: salt)
    }

    /// A new key pair from 32 random bytes, and 16 more as a salt, drawn together. The library's own way also signs with each pair and checks
    /// the signature, since pairs may be for that, and takes nine times as long.
    private static func newKey() -> (P256.KeyAgreement.PrivateKey, salt: [UInt8]) {
        while true {
            let drawn = SymmetricKey(size: SymmetricKeySize(bitCount: 384))
            // Of all numbers of 32 bytes only one in four thousand million is none of the curve: then others are drawn.
            let pair = drawn.withUnsafeBytes { bytes in
                (try? P256.KeyAgreement.PrivateKey(rawRepresentation: bytes[..<32])).map { ($0, salt: Array(bytes[32...])) }
            }
            if let pair { return pair }
        }
    }

    /// The same with a key pair and a salt that are given, which makes it repeatable.
    static func body(
        of message: [UInt8], for subscription: WebPushSubscription, key: P256.KeyAgreement.PrivateKey, salt: [UInt8]
    ) throws -> [UInt8] {
        // 2 marks the end of the last record. There is no padding: sizes of pushes are no secret here.
        try body(sealing: message + [2], for: subscription, key: key, salt: salt)
    }

    /// The same of a record as it stands, so that tests can make one that is wrong.
    static func body(
        sealing record: [UInt8], for subscription: WebPushSubscription, key: P256.KeyAgreement.PrivateKey, salt: [UInt8]
    ) throws -> [UInt8] {
        let own = Array(key.publicKey.x963Representation)
        let keys = try ContentKeys(
            shared: key.sharedSecretFromKeyAgreement(with: subscription.point),
            secret: subscription.secret, receiver: subscription.publicKey, sender: own, salt: salt)
        let sealed = try AES.GCM.seal(record, using: keys.key, nonce: keys.nonce)
        var body: [UInt8] = []
        body.reserveCapacity(record.count + overhead - 1)
        body += salt
        body += recordSize
        body.append(UInt8(own.count))
        body += own
        body += sealed.ciphertext
        body += sealed.tag
        return body
    }

    /// Reads a body as the browser does.
    ///
    /// - Throws: what is wrong with the body.
    public static func message(
        in body: [UInt8], for key: P256.KeyAgreement.PrivateKey, secret: [UInt8]
    ) throws(WebPushBodyFault) -> [UInt8] {
        let header = try WebPushBodyHeader(body)
        guard let sender = try? P256.KeyAgreement.PublicKey(x963Representation: header.senderKey),
            let shared = try? key.sharedSecretFromKeyAgreement(with: sender)
        else { throw .senderKey }
        guard
            let keys = try? ContentKeys(
                shared: shared, secret: secret, receiver: Array(key.publicKey.x963Representation), sender: header.senderKey,
                salt: header.salt),
            let box = try? AES.GCM.SealedBox(
                nonce: keys.nonce, ciphertext: header.record.dropLast(16), tag: header.record.suffix(16)),
            let record = try? AES.GCM.open(box, using: keys.key)
        else { throw .notForThisKey }
        // Zeros after the delimiter are padding.
        guard let end = record.lastIndex(where: { $0 != 0 }), record[end] == 2 else { throw .delimiter }
        return Array(record[record.startIndex..<end])
    }

    /// The key and the nonce of the one record (Reference/WebPush.md#3-2). Nothing is longer than one hash, so each step of HKDF is one HMAC.
    private struct ContentKeys {
        let key: SymmetricKey
        let nonce: AES.GCM.Nonce

        private static let pairing = Array("WebPush: info\0".utf8)
        private static let ofKey = Array("Content-Encoding: aes128gcm\0\u{1}".utf8)
        private static let ofNonce = Array("Content-Encoding: nonce\0\u{1}".utf8)

        init(shared: SharedSecret, secret: [UInt8], receiver: [UInt8], sender: [UInt8], salt: [UInt8]) throws {
            let first = shared.withUnsafeBytes { HMAC<SHA256>.authenticationCode(for: $0, using: SymmetricKey(data: secret)) }
            let material = HMAC<SHA256>.authenticationCode(
                for: Self.pairing + receiver + sender + [1], using: SymmetricKey(data: first))
            let extracted = material.withUnsafeBytes {
                HMAC<SHA256>.authenticationCode(for: $0, using: SymmetricKey(data: salt))
            }
            let expanding = HMAC<SHA256>(key: SymmetricKey(data: extracted))
            func expanded(_ purpose: [UInt8]) -> HMAC<SHA256>.MAC {
                var code = expanding
                code.update(data: purpose)
                return code.finalize()
            }
            key = expanded(Self.ofKey).withUnsafeBytes { SymmetricKey(data: $0[..<16]) }
            nonce = try expanded(Self.ofNonce).withUnsafeBytes { try AES.GCM.Nonce(data: $0[..<12]) }
        }
    }
}

/// What stands before the record of an encrypted body (RFC 8188, section 2.1).
public struct WebPushBodyHeader: Hashable, Sendable {
    public let salt: [UInt8]
    public let recordSize: Int
    /// The sender's point on P-256, uncompressed.
    public let senderKey: [UInt8]
    /// The one record, with its tag of 16 bytes.
    public let record: [UInt8]

    /// Reads a body. Throws which rule of RFC 8291, section 4, it breaks.
    public init(_ body: [UInt8]) throws(WebPushBodyFault) {
        guard body.count > 21 else { throw .tooShort }
        salt = Array(body[..<16])
        recordSize = body[16..<20].reduce(0) { $0 << 8 | Int($1) }
        guard body[20] == 65 else { throw .senderKey }
        // A delimiter and a tag are in every record.
        guard body.count >= 86 + 17 else { throw .tooShort }
        senderKey = Array(body[21..<86])
        record = Array(body[86...])
        guard recordSize >= 18, record.count <= recordSize else { throw .recordSize }
    }
}

/// What is wrong with an encrypted body.
public enum WebPushBodyFault: Error, Hashable, Sendable {
    case tooShort
    /// Smaller than 18, or the body has more than one record.
    case recordSize
    /// No point on P-256 of 65 bytes.
    case senderKey
    /// Another key or secret was used, or bytes were changed.
    case notForThisKey
    /// The record does not end as the last one does.
    case delimiter
}
