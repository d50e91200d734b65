import Crypto
import WireText

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What stands in the path of an endpoint: user and subscription, and with a key its digest, encrypted so that it cannot be guessed
/// (Reference/WebPush.md#6-5). Since the token says what it stands for, a subscription that ended is known from one that never was.
struct EndpointToken: Sendable, Hashable {
    /// 32 hexadecimal digits.
    let uaid: String
    /// A UUID in lower case.
    let channelID: String
    /// SHA-256 of the sender's key; `nil` for version 1.
    let keyDigest: [UInt8]?

    init(uaid: String, channelID: String, key: [UInt8]?) {
        (self.uaid, self.channelID) = (uaid, channelID)
        keyDigest = key.map { Array(SHA256.hash(data: $0)) }
    }

    /// The version of the path that it belongs to.
    var version: Int { keyDigest == nil ? 1 : 2 }

    /// - Parameter nonce: 12 bytes that were used for no other token.
    func text(sealedWith key: SymmetricKey, nonce: [UInt8]) -> String? {
        guard let user = PushText.bytes(ofHexadecimal: uaid),
            let channel = PushText.bytes(ofHexadecimal: channelID.replacing("-", with: "")),
            let nonce = try? AES.GCM.Nonce(data: nonce),
            let box = try? AES.GCM.seal(user + channel + (keyDigest ?? []), using: key, nonce: nonce)
        else { return nil }
        return Base64URL.text(of: Array(box.nonce) + Array(box.ciphertext) + Array(box.tag))
    }

    /// `nil` for a text that this service did not make.
    init?(_ text: String, key: SymmetricKey) {
        guard text.utf8.count <= 200, let bytes = Base64URL.bytes(of: text),
            let box = try? AES.GCM.SealedBox(combined: bytes), let plain = try? AES.GCM.open(box, using: key),
            plain.count == 32 || plain.count == 64
        else { return nil }
        let content = Array(plain)
        uaid = Hexadecimal.text(of: content[..<16])
        channelID = PushText.uuid(of: content[16..<32])
        keyDigest = content.count == 64 ? Array(content[32...]) : nil
    }
}

/// The forms of ids.
enum PushText {
    /// 32 hexadecimal digits in lower case, as `uaid` has them (Reference/WebPush.md#6-2).
    static func isUserID(_ text: String) -> Bool {
        text.utf8.count == 32 && text.utf8.allSatisfy { $0.isASCIIDigit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0) }
    }

    /// A UUID in lower case with hyphens. A service refuses other spellings (Reference/WebPush.md#6-1).
    static func isChannelID(_ text: String) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        return parts.map(\.utf8.count) == [8, 4, 4, 4, 12] && isUserID(parts.joined())
    }

    static func uuid(of bytes: some Collection<UInt8>) -> String {
        var rest = Hexadecimal.text(of: bytes)[...]
        let parts = [8, 4, 4, 4, 12].map { count in
            defer { rest = rest.dropFirst(count) }
            return String(rest.prefix(count))
        }
        return parts.joined(separator: "-")
    }

    static func bytes(ofHexadecimal text: String) -> [UInt8]? {
        let digits = text.utf8.compactMap(Hexadecimal.value)
        guard digits.count == text.utf8.count, digits.count.isMultiple(of: 2) else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}
