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
    /// The most bytes of a header that are parsed. Clients sign whole addresses with encoded filters in them.
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
        guard digits.utf8.count <= 18, digits.utf8.allSatisfy(\.isASCIIDigit) else { return nil }
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

extension SharedAccessSignature {
    /// The keys that are tried at least, so that an unknown rule takes the time of a known one, at the hub and for all hubs.
    private static let leastAttempts = 4
    private static let decoy = SharedAccessKey.random()

    /// Reads and verifies the header of a request in one step.
    public static func verify(
        header: String?, for request: SharedAccessRequest, rules: [AccessRule]
    ) -> Result<AccessGrant, SharedAccessFault> {
        do throws(SharedAccessFault) {
            return try SharedAccessSignature(header: header).verify(for: request, rules: rules)
        } catch {
            return .failure(error)
        }
    }

    /// Decides whether the token admits the request (Reference/AzureNotificationHubs.md#1-4), given the rules of the hub and of
    /// all hubs.
    ///
    /// Expiry and audience are checked after the signature, so that only a holder of a key gets a more specific error.
    public func verify(for request: SharedAccessRequest, rules: [AccessRule]) -> Result<AccessGrant, SharedAccessFault> {
        guard let grant = signingGrant(among: rules) else { return .failure(.invalidSignature) }
        return admission(of: request, with: grant, address: SharedAccessAudience(encoded: audience))
    }

    /// What is decided for each request anew once the signature is known to be good.
    func admission(
        of request: SharedAccessRequest, with grant: AccessGrant, address: SharedAccessAudience?
    ) -> Result<AccessGrant, SharedAccessFault> {
        guard request.now < expiresAt + Self.tolerance else { return .failure(.expiredToken) }
        guard let address, address.admits(hosts: request.hosts, path: request.path) else { return .failure(.invalidAudience) }
        return .success(grant)
    }

    /// Every key of every rule of that name is tried, whether or not one fitted before.
    func signingGrant(among rules: [AccessRule]) -> AccessGrant? {
        var grant: AccessGrant?
        var attempts = 0
        for rule in rules where rule.name == ruleName {
            for (key, isSecondary) in [(rule.primary, false), (rule.secondary, true)] {
                attempts += 1
                if fits(key), grant == nil {
                    grant = AccessGrant(rule: rule.name, rights: rule.rights, usedSecondaryKey: isSecondary)
                }
            }
        }
        while attempts < Self.leastAttempts {
            _ = fits(Self.decoy)
            attempts += 1
        }
        return grant
    }

    private func fits(_ key: SharedAccessKey) -> Bool {
        ConstantTime.equal(key.signature(audience: audience, expiry: expiry), code)
    }
}

/// What is known of the request that a token came with.
public struct SharedAccessRequest: Sendable, Hashable {
    /// The names this server is known by, with or without port: the request's own authority, and public names in front of a proxy.
    public var hosts: [String]
    /// The path as sent, escapes and all; a query is ignored.
    public var path: String
    public var now: Timestamp

    /// Creates a description of a request.
    public init(hosts: [String], path: String, now: Timestamp) {
        self.hosts = hosts
        self.path = path
        self.now = now
    }
}

/// Why a token is refused. The sub-codes are those that clients know beside status 401 (Reference/AzureNotificationHubs.md#1-4).
public enum SharedAccessFault: Error, Hashable, Sendable, CaseIterable {
    /// The request needs TLS. Never found here; for the caller that requires it.
    case noTransportSecurity
    /// There is no authorization header.
    case missingToken
    /// The signature fits no key of the rule, or there is no rule of that name: the two are not distinguished.
    case invalidSignature
    /// The token was made for another host or another path.
    case invalidAudience
    /// The header is another scheme, too long, or not made of one field each.
    case malformedToken
    /// The token's time is over by more than the tolerance.
    case expiredToken
    /// There is no `sr`.
    case missingAudience
    /// There is no `se`.
    case missingExpiry
    /// There is no `skn`.
    case missingIssuer
    /// There is no `sig`.
    case missingSignature

    /// The five digits that go before the words in the answer's detail.
    public var subCode: Int {
        switch self {
        case .noTransportSecurity: 40101
        case .missingToken: 40102
        case .invalidSignature: 40103
        case .invalidAudience: 40104
        case .malformedToken: 40105
        case .expiredToken: 40106
        case .missingAudience: 40107
        case .missingExpiry: 40108
        case .missingIssuer: 40109
        case .missingSignature: 40110
        }
    }

    /// The words for the caller; nothing of the token is in them.
    public var detail: String {
        switch self {
        case .noTransportSecurity: "NoTransportSecurity: This operation needs a secure connection."
        case .missingToken: "MissingToken: The request has no authorization header."
        case .invalidSignature: "InvalidSignature: The token has an invalid signature."
        case .invalidAudience: "InvalidAudience: The token was made for another address than that of this request."
        case .malformedToken: "MalformedToken: The authorization header is not a shared access signature."
        case .expiredToken: "ExpiredToken: The token has expired."
        case .missingAudience: "MissingAudience: The token has no audience (sr)."
        case .missingExpiry: "MissingExpiry: The token has no expiry (se)."
        case .missingIssuer: "MissingIssuer: The token names no key (skn)."
        case .missingSignature: "MissingSignature: The token has no signature (sig)."
        }
    }
}

extension PercentEncoding {
    /// The text that a part of a signature stands for; `nil` also when a control character is in it.
    static func decodeVisible(_ text: some StringProtocol, plusIsBlank: Bool = false) -> String? {
        decode(text, plusIsBlank: plusIsBlank).flatMap { text in text.utf8.contains { $0 < 0x20 || $0 == 0x7F } ? nil : text }
    }
}
