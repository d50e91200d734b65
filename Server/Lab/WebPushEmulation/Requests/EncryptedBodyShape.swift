import Crypto

/// What can be seen of an encrypted body without a key of the browser (Reference/WebPush.md#3-3).
///
/// The product has a reader of its own for this. This one stands apart, because two that are one would agree on a mistake.
struct EncryptedBodyShape: Sendable {
    /// The least bytes of a record: a delimiter and a tag.
    static let smallestRecord = 17

    let salt: [UInt8]
    let recordSize: Int
    let keyID: [UInt8]
    /// How many bytes stand behind the header.
    let recordBytes: Int

    /// `nil` for a body that ends within its header.
    init?(_ body: [UInt8]) {
        guard body.count >= 21, body.count >= 21 + Int(body[20]) else { return nil }
        salt = Array(body[..<16])
        recordSize = body[16..<20].reduce(0) { $0 << 8 | Int($1) }
        keyID = Array(body[21..<21 + Int(body[20])])
        recordBytes = body.count - 21 - keyID.count
    }

    var isKeyOnCurve: Bool { (try? P256.KeyAgreement.PublicKey(x963Representation: keyID)) != nil }

    /// More than one record: all have the record size but the last one, which needs room for a delimiter and a tag.
    var dividesIntoRecords: Bool {
        guard recordSize > 0, recordBytes > recordSize else { return true }
        let rest = recordBytes % recordSize
        return rest == 0 || rest >= Self.smallestRecord
    }

    /// Names the pair of salt and key. With it each message has the same key and nonce of AES-GCM, which a second message may not have.
    var keyDigest: [UInt8] { Array(SHA256.hash(data: salt + keyID)) }
}
