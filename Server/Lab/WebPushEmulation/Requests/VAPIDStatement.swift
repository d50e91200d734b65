import Crypto
import RichPushModel
import WireText

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What a VAPID header says of its sender (Reference/WebPush.md#4-2 and #4-3). Read here without any code of a sender, so that a mistake
/// cannot hide on both sides.
struct VAPIDStatement: Sendable {
    /// `k`: 65 bytes.
    let publicKey: [UInt8]
    /// The header says JWT and ES256.
    let hasRightHeader: Bool
    /// The signature is that of `publicKey`.
    let isSigned: Bool
    let audience: String?
    /// Seconds since 1970.
    let expiry: Double?
    let subject: String?

    /// `nil` for a header of another form.
    init?(authorization: String) {
        guard let (token, point) = Self.parts(of: authorization), let bytes = Base64URL.bytes(of: point),
            let key = try? P256.Signing.PublicKey(x963Representation: bytes)
        else { return nil }
        let pieces = token.split(separator: ".", omittingEmptySubsequences: false)
        guard pieces.count == 3, let header = Self.object(pieces[0]), let claims = Self.object(pieces[1]),
            let signature = Base64URL.bytes(of: pieces[2])
        else { return nil }
        publicKey = bytes
        hasRightHeader = header["typ"] == .text("JWT") && header["alg"] == .text("ES256")
        // 64 raw bytes; the DER form of other protocols has more.
        let signed = Array("\(pieces[0]).\(pieces[1])".utf8)
        let read = try? P256.Signing.ECDSASignature(rawRepresentation: signature)
        isSigned = read.map { key.isValidSignature($0, for: signed) } ?? false
        audience = Self.text(claims["aud"])
        subject = Self.text(claims["sub"])
        expiry =
            switch claims["exp"] {
            case .integer(let seconds): Double(seconds)
            case .number(let seconds): seconds
            default: nil
            }
    }

    /// The values of `t` and `k`.
    private static func parts(of authorization: String) -> (token: String, key: String)? {
        guard let blank = authorization.firstIndex(of: " "), authorization[..<blank].lowercased() == "vapid" else { return nil }
        var values: [String: String] = [:]
        for parameter in authorization[blank...].split(separator: ",") {
            let sides = parameter.split(separator: "=", maxSplits: 1).map(\.trimmingBlanks)
            guard sides.count == 2, values.updateValue(sides[1], forKey: sides[0]) == nil else { return nil }
        }
        guard let token = values["t"], let key = values["k"] else { return nil }
        return (token, key)
    }

    private static func object(_ text: Substring) -> [String: JSONValue]? {
        Base64URL.bytes(of: text).flatMap { try? JSONDecoder().decode([String: JSONValue].self, from: Data($0)) }
    }

    private static func text(_ value: JSONValue?) -> String? { if case .text(let text)? = value { text } else { nil } }
}
