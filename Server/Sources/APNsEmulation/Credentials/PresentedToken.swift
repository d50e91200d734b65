import Crypto

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A provider token taken apart, not yet believed (Reference/APNs.md#2-1).
struct PresentedToken: Sendable, Hashable {
    var keyID: String
    var teamID: String
    /// Seconds since 1970.
    var issuedAt: Int64
    private var signedText: String
    private var signature: [UInt8]

    private struct Header: Decodable {
        var alg: String
        var kid: String
    }

    private struct Claims: Decodable {
        var iss: String
        var iat: IssuedAt
    }

    /// A number, also one with a fraction (RFC 7519, 2), or a numeric string: Apple's sample and the main Swift client send a string,
    /// a well-known Python client the time as it is.
    private struct IssuedAt: Decodable {
        var seconds: Int64

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let number = try? container.decode(Int64.self) {
                seconds = number
            } else if let number = try? container.decode(Double.self), let whole = Int64(exactly: number.rounded(.down)) {
                seconds = whole
            } else if let number = Int64(try container.decode(String.self)) {
                seconds = number
            } else {
                throw DecodingError.dataCorruptedError(in: container, debugDescription: "iat is no number")
            }
        }
    }

    /// `nil` if the text is not three base64url parts with ES256, key id, team id and time.
    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard text.utf8.count <= 4_096, parts.count == 3,
            let headerBytes = APNsText.base64URL(parts[0]), let claimBytes = APNsText.base64URL(parts[1]),
            let signature = APNsText.base64URL(parts[2]), !signature.isEmpty
        else { return nil }
        let decoder = JSONDecoder()
        guard let header = try? decoder.decode(Header.self, from: Data(headerBytes)), header.alg == "ES256",
            let claims = try? decoder.decode(Claims.self, from: Data(claimBytes))
        else { return nil }
        keyID = header.kid
        teamID = claims.iss
        issuedAt = claims.iat.seconds
        signedText = parts[0] + "." + parts[1]
        self.signature = signature
    }

    /// Whether the key signed it, in the raw form of RFC 7515 or in the DER form of Apple's own command-line recipe.
    func isSigned(by key: P256.Signing.PublicKey) -> Bool {
        let text = Data(signedText.utf8)
        if signature.count == 64, let raw = try? P256.Signing.ECDSASignature(rawRepresentation: Data(signature)),
            key.isValidSignature(raw, for: text)
        {
            return true
        }
        guard let der = try? P256.Signing.ECDSASignature(derRepresentation: Data(signature)) else { return false }
        return key.isValidSignature(der, for: text)
    }
}
