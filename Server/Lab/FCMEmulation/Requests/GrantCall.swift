import Crypto
import CryptoExtras
import RichPushModel
import WireText

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The request for an access token (Reference/FCM.md#1): a form with a signed assertion of a service account.
struct GrantCall: Sendable {
    static let grantType = "urn:ietf:params:oauth:grant-type:jwt-bearer"

    /// What a service account says of itself.
    struct Assertion: Sendable {
        let algorithm: JSONValue?
        let keyID: String?
        let issuer: String?
        let audience: String?
        let scopes: [String]
        /// Seconds since 1970.
        let issuedAt: Double?
        let expiry: Double?
        fileprivate let signed: [UInt8]
        fileprivate let signature: [UInt8]

        /// `nil` for what is not three parts, of which two are objects.
        init?(_ text: String) {
            let parts = text.split(separator: ".", omittingEmptySubsequences: false)
            guard parts.count == 3, let header = Self.object(parts[0]), let claims = Self.object(parts[1]),
                let signature = Base64URL.bytes(of: parts[2])
            else { return nil }
            (algorithm, keyID) = (header["alg"], header["kid"]?.asText)
            (issuer, audience) = (claims["iss"]?.asText, claims["aud"]?.asText)
            scopes = (claims["scope"]?.asText ?? "").split(separator: " ").map(String.init)
            (issuedAt, expiry) = (Self.number(claims["iat"]), Self.number(claims["exp"]))
            (signed, self.signature) = (Array("\(parts[0]).\(parts[1])".utf8), signature)
        }

        /// RS256 (RFC 7518, 3.3).
        func isSigned(by key: _RSA.Signing.PublicKey) -> Bool {
            key.isValidSignature(
                .init(rawRepresentation: Data(signature)), for: SHA256.hash(data: signed), padding: .insecurePKCS1v1_5)
        }

        private static func object(_ text: Substring) -> [String: JSONValue]? {
            Base64URL.bytes(of: text).flatMap { (try? ProtoTree($0))?.plain.members }
        }

        private static func number(_ value: JSONValue?) -> Double? {
            switch value {
            case .integer(let number): Double(number)
            case .number(let number): number
            default: nil
            }
        }
    }

    /// What was broken without a look at the assertion.
    private(set) var violations: [FCMViolation] = []
    private(set) var assertion: Assertion?

    init(_ request: GoogleRequest) {
        if request.contentType != "application/x-www-form-urlencoded" { violations.append(FCMViolation(.grantForm)) }
        let fields = GooglePath.fields(of: Substring(decoding: request.body, as: UTF8.self))
        if let type = fields["grant_type"] {
            if type != Self.grantType { violations.append(FCMViolation(.grantType)) }
        } else {
            violations.append(FCMViolation(.grantTypePresent))
        }
        let text = fields["assertion"] ?? ""
        assertion = Assertion(text)
        if assertion == nil { violations.append(FCMViolation(text.isEmpty ? .assertionPresent : .assertionForm)) }
    }
}

extension GrantCall.Assertion {
    /// A clock may be so many seconds ahead.
    static let allowance = 60.0

    /// What is wrong with it.
    ///
    /// - Parameters:
    ///   - keys: the keys of the issuer by their ids; `nil` for an unknown issuer.
    ///   - audiences: the URLs of the token endpoint.
    func violations(keys: [String: _RSA.Signing.PublicKey]?, audiences: Set<String>, now: Timestamp) -> [FCMViolation] {
        var broken: [FCMRule] = []
        if algorithm != .text("RS256") { broken.append(.assertionAlgorithm) }
        if let keys {
            // Google takes an assertion without the id of its key.
            let candidates = keyID.map { id in keys[id].map { [$0] } ?? [] } ?? Array(keys.values)
            if !candidates.contains(where: isSigned) { broken.append(.assertionSignature) }
        } else {
            broken.append(.issuerKnown)
        }
        if !(audience.map(audiences.contains) ?? false) { broken.append(.audience) }
        broken += timeRules(now: Double(now.milliseconds) / 1_000)
        if scopes.isEmpty { broken.append(.scopePresent) }
        if !scopes.allSatisfy(Self.isKnown) { broken.append(.scopeKnown) }
        return broken.map { FCMViolation($0) }
    }

    private func timeRules(now: Double) -> [FCMRule] {
        guard let issuedAt, let expiry else { return [.assertionTimes] }
        var broken: [FCMRule] = []
        if expiry <= now { broken.append(.assertionFresh) }
        if expiry - issuedAt > 3_600 { broken.append(.assertionLifetime) }
        if issuedAt > now + Self.allowance { broken.append(.assertionNotFuture) }
        return broken
    }

    private static let scopeRoot = "https://www.googleapis.com/auth/"

    private static func isKnown(_ scope: String) -> Bool {
        let isGoogles = scope.hasPrefix(scopeRoot) && scope.utf8.count > scopeRoot.utf8.count
        return isGoogles || ["openid", "email", "profile"].contains(scope)
    }

    /// Whether one of the scopes is for messaging.
    static func isSufficient(_ scopes: [String]) -> Bool {
        !Set(scopes).isDisjoint(with: [scopeRoot + "firebase.messaging", scopeRoot + "cloud-platform"])
    }
}
