import WireText

/// A signed token in its compact form ([RFC 7515 section 3.1](https://www.rfc-editor.org/rfc/rfc7515#section-3.1)), read but not
/// verified.
struct CompactToken: Sendable {
    let header: ClaimValue
    let claims: ClaimValue
    let signature: [UInt8]
    /// What is signed: header, dot and payload as they came.
    let signed: ArraySlice<UInt8>

    static let maximumLength = 8_192

    /// Reads a token. The header's `jku`, `jwk`, `x5u` and `x5c` are never looked at: keys come from the settings alone
    /// ([RFC 8725 section 3.10](https://www.rfc-editor.org/rfc/rfc8725#section-3.10)).
    init(_ text: String) throws(TokenError) {
        // Counting the bytes of a native text takes no time, so a large one costs nothing.
        guard text.utf8.count <= Self.maximumLength else { throw TokenError(.tooLong) }
        let bytes = Array(text.utf8)
        let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3 else { throw TokenError(parts.count == 5 ? .encrypted : .malformed) }
        guard let header = Self.object(parts[0]), let claims = Self.object(parts[1]), !parts[2].isEmpty,
            let signature = Self.bytes(parts[2])
        else { throw TokenError(.malformed) }
        guard header["crit"] == nil else { throw TokenError(.criticalHeader) }
        guard header["zip"] == nil else { throw TokenError(.compressed) }
        guard header["enc"] == nil else { throw TokenError(.encrypted) }
        // An unencoded payload (RFC 7797) is an extension that crit must name, and a reader without it would see another text.
        guard header["b64"] == nil else { throw TokenError(.criticalHeader) }
        self.header = header
        self.claims = claims
        self.signature = signature
        signed = bytes[..<(parts[2].startIndex - 1)]
    }

    /// The algorithm of the header, if it is one that can be allowed at all.
    var algorithm: SignatureAlgorithm? { header["alg"]?.text.flatMap(SignatureAlgorithm.init(name:)) }

    /// The key id, an opaque text that is only ever compared ([RFC 7515 section 4.1.4](https://www.rfc-editor.org/rfc/rfc7515#section-4.1.4)).
    func keyID() throws(TokenError) -> String? {
        guard let value = header["kid"] else { return nil }
        guard let id = value.text, id.utf8.count <= VerificationKey.maximumIDLength else { throw TokenError(.keyID) }
        return id
    }

    private static func object(_ part: ArraySlice<UInt8>) -> ClaimValue? {
        guard let bytes = bytes(part), let value = ClaimValue(bytes), case .object = value, !value.isAmbiguous else { return nil }
        return value
    }

    private static func bytes(_ part: ArraySlice<UInt8>) -> [UInt8]? {
        Base64URL.bytes(of: String(decoding: part, as: UTF8.self))
    }
}
