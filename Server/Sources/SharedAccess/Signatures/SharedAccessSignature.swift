import RichPushModel
import WireText

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The value of an `Authorization: SharedAccessSignature …` header (Reference/AzureNotificationHubs.md#1-2), read but not
/// believed before `verify`.
public struct SharedAccessSignature: Sendable {
    /// The most bytes of a header that are looked at. Clients sign whole addresses with encoded filters in them.
    public static let maximumHeaderLength = 8192
    /// How long after its expiry a token still counts, for clocks that differ (Reference/AzureNotificationHubs.md#1-4).
    public static let tolerance = Duration.seconds(300)

    private static let scheme = "sharedaccesssignature"
    private static let maximumFieldCount = 16

    /// The audience as written: this very text was signed.
    let audience: String
    /// The expiry as written, decimal digits.
    let expiry: String
    let expiresAt: Timestamp
    /// The decoded name of the rule.
    public let ruleName: String
    let code: [UInt8]

    /// Reads the header's value; `nil` stands for a missing header.
    public init(header: String?) throws(SharedAccessFault) {
        guard let header, !header.isEmpty else { throw .missingToken }
        let fields = try Self.fields(of: header)
        guard let audience = fields["sr"], !audience.isEmpty else { throw .missingAudience }
        guard let expiry = fields["se"], !expiry.isEmpty else { throw .missingExpiry }
        guard let issuer = fields["skn"], !issuer.isEmpty else { throw .missingIssuer }
        guard let code = fields["sig"], !code.isEmpty else { throw .missingSignature }
        guard let expiresAt = Self.moment(expiry), let name = PercentEncoding.decodeVisible(issuer, plusIsBlank: true),
            name.utf8.count <= AccessRule.maximumNameLength
        else { throw .malformedToken }
        self.audience = String(audience)
        self.expiry = String(expiry)
        self.expiresAt = expiresAt
        ruleName = name
        self.code = try Self.code(code)
    }

    /// The fields by name. A field that comes twice has no one meaning; fields of other names are not ours and are left alone.
    private static func fields(of header: String) throws(SharedAccessFault) -> [Substring: Substring] {
        guard header.utf8.count <= maximumHeaderLength, header.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }),
            let blank = header.firstIndex(of: " "), header[..<blank].lowercased() == scheme
        else { throw .malformedToken }
        let parts = header[blank...].drop { $0 == " " }.split(separator: "&", omittingEmptySubsequences: false)
        guard parts.count <= maximumFieldCount else { throw .malformedToken }
        var fields: [Substring: Substring] = [:]
        for part in parts {
            guard let equals = part.firstIndex(of: "=") else { throw .malformedToken }
            guard fields.updateValue(part[part.index(after: equals)...], forKey: part[..<equals]) == nil else {
                throw .malformedToken
            }
        }
        return fields
    }

    private static func moment(_ digits: Substring) -> Timestamp? {
        guard digits.utf8.count <= 18, digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return Int64(digits).map(Timestamp.init(seconds:))
    }

    /// A `+` that was not escaped is the character of Base64: one of the clients leaves part of its signature as it is.
    private static func code(_ text: Substring) throws(SharedAccessFault) -> [UInt8] {
        guard let decoded = PercentEncoding.decodeVisible(text), decoded.utf8.count == 44,
            let code = Data(base64Encoded: decoded),
            code.count == 32
        else { throw .invalidSignature }
        return Array(code)
    }
}

extension SharedAccessSignature: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "shared access signature (not shown)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
