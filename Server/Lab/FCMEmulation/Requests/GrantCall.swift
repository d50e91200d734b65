import Crypto
import CryptoExtras
import RichPushModel
import WireText

/// The request for an access token (Reference/FCM.md#1): a form with a signed assertion of a service account.
struct GrantCall: Sendable {
    static let grantType = "urn:ietf:params:oauth:grant-type:jwt-bearer"

    /// What was broken without a look at the assertion.
    private(set) var violations: [FCMViolation] = []
    private(set) var assertion: Assertion?

    init(_ request: GoogleRequest) {
        let fields = GooglePath.fields(of: Substring(decoding: request.body, as: UTF8.self))
        let (type, text) = (fields["grant_type"], fields["assertion"] ?? "")
        assertion = Assertion(text)
        violations.note(.grantForm, if: request.contentType != "application/x-www-form-urlencoded")
        violations.note(.grantTypePresent, if: type == nil)
        violations.note(.grantType, if: type ?? Self.grantType != Self.grantType)
        violations.note(text.isEmpty ? .assertionPresent : .assertionForm, if: assertion == nil)
    }

    /// What a service account says of itself.
    struct Assertion: Sendable {
        /// A clock may be so many seconds ahead.
        private static let allowance = 60.0
        private static let scopeRoot = "https://www.googleapis.com/auth/"

        let issuer: String?
        let scopes: [String]
        private let header: [String: JSONValue]
        private let claims: [String: JSONValue]
        private let signed: [UInt8]
        private let signature: [UInt8]

        /// `nil` for what is not three parts, of which two are objects.
        init?(_ text: String) {
            let parts = text.split(separator: ".", omittingEmptySubsequences: false)
            let bytes = parts.compactMap { Base64URL.bytes(of: $0) }
            guard parts.count == 3, bytes.count == 3, let header = JSONValue(json: bytes[0])?.members,
                let claims = JSONValue(json: bytes[1])?.members
            else { return nil }
            (self.header, self.claims, issuer) = (header, claims, claims["iss"]?.asText)
            scopes = (claims["scope"]?.asText ?? "").split(separator: " ").map(String.init)
            (signed, signature) = (Array("\(parts[0]).\(parts[1])".utf8), bytes[2])
        }

        /// What is wrong with it, by the keys of the issuer, `nil` for an unknown one, and the URLs of the token endpoint.
        func violations(keys: [String: String]?, audiences: Set<String>, now: Timestamp) -> [FCMViolation] {
            var broken: [FCMViolation] = []
            broken.note(.assertionAlgorithm, if: header["alg"] != .text("RS256"))
            if let keys {
                // Google takes an assertion without the id of its key.
                let candidates = header["kid"]?.asText.map { id in keys.filter { $0.key == id } } ?? keys
                broken.note(.assertionSignature, if: !candidates.values.contains(where: isSigned))
            } else {
                broken.note(.issuerKnown)
            }
            broken.note(.audience, if: !(claims["aud"]?.asText.map(audiences.contains) ?? false))
            judgeTimes(Double(now.milliseconds) / 1_000, &broken)
            broken.note(.scopePresent, if: scopes.isEmpty)
            broken.note(.scopeKnown, if: !scopes.allSatisfy(Self.isKnown))
            return broken
        }

        /// RS256 (RFC 7518, 3.3).
        private func isSigned(by pem: String) -> Bool {
            let key = try? _RSA.Signing.PublicKey(pemRepresentation: pem)
            let digest = SHA256.hash(data: signed)
            return key?.isValidSignature(.init(rawRepresentation: signature), for: digest, padding: .insecurePKCS1v1_5) ?? false
        }

        private func judgeTimes(_ now: Double, _ broken: inout [FCMViolation]) {
            guard let issuedAt = seconds("iat"), let expiry = seconds("exp") else { return broken.note(.assertionTimes) }
            broken.note(.assertionFresh, if: expiry <= now)
            broken.note(.assertionLifetime, if: expiry - issuedAt > 3_600)
            broken.note(.assertionNotFuture, if: issuedAt > now + Self.allowance)
        }

        private func seconds(_ claim: String) -> Double? {
            switch claims[claim] {
            case .integer(let number): Double(number)
            case .number(let number): number
            default: nil
            }
        }

        private static func isKnown(_ scope: String) -> Bool {
            let isGoogles = scope.hasPrefix(scopeRoot) && scope.utf8.count > scopeRoot.utf8.count
            return isGoogles || ["openid", "email", "profile"].contains(scope)
        }

        /// Whether one of the scopes is for messaging.
        static func isSufficient(_ scopes: [String]) -> Bool {
            !Set(scopes).isDisjoint(with: [scopeRoot + "firebase.messaging", scopeRoot + "cloud-platform"])
        }
    }
}
