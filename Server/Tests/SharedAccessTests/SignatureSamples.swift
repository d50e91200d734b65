import Foundation
import RichPushModel
import WireText

@testable import SharedAccess

/// The rule, key and moment of the worked example in Reference/AzureNotificationHubs.md#1-3, and signing with any encoding.
enum SignatureSamples {
    static let keyText = "c2VjcmV0LWtleS1mb3ItZXhhbXBsZXMtMDEyMzQ1Njc4OTA="
    static let otherKeyText = "b3RoZXIta2V5LWZvci1leGFtcGxlcy0wMTIzNDU2Nzg5MDE="
    static let now = Timestamp(seconds: 1_899_999_000)
    static let expiry = "1900000000"
    static let example =
        "SharedAccessSignature sr=https%3a%2f%2fpush.example.test%2f&sig=RApAsvlEQaYK5X4ROe%2B6DDW8DZSnqAZ00D3SyFBvN24%3D"
        + "&se=1900000000&skn=DefaultFullSharedAccessSignature"

    static func key(_ text: String = keyText) -> SharedAccessKey { SharedAccessKey(text) ?? .random() }

    static let rule = AccessRule(
        name: AccessRule.fullName, rights: Set(AccessRight.allCases), primary: key(), secondary: key(otherKeyText))

    /// A header over an audience that is encoded already.
    static func header(
        encoded audience: String, expiry: String = expiry, name: String = AccessRule.fullName, key: SharedAccessKey = key()
    ) -> String {
        let code = Data(key.signature(audience: audience, expiry: expiry)).base64EncodedString()
        return
            "SharedAccessSignature sr=\(audience)&sig=\(PercentEncoding.encode(code, uppercase: false))&se=\(expiry)&skn=\(name)"
    }

    static func verify(
        _ header: String?, hosts: [String] = ["push.example.test:8443"], path: String = "/demo/messages", now: Timestamp = now,
        rules: [AccessRule] = [rule]
    ) -> Result<AccessGrant, SharedAccessFault> {
        SharedAccessSignature.verify(
            header: header, for: SharedAccessRequest(hosts: hosts, path: path, now: now), rules: rules)
    }

    static func fault(_ result: Result<AccessGrant, SharedAccessFault>) -> SharedAccessFault? {
        if case .failure(let fault) = result { fault } else { nil }
    }
}

/// The ways in which clients escape an audience (Reference/AzureNotificationHubs.md#1-3).
enum AudienceEncoding: CaseIterable {
    /// Letters, digits and `-._~` stay.
    case rfc3986
    /// Letters, digits and `-._*` stay, a blank is `+`.
    case form
    /// As JavaScript's `encodeURIComponent`.
    case component

    func encode(_ text: String, upperCaseDigits: Bool = true) -> String {
        let kept =
            switch self {
            case .rfc3986: "-._~"
            case .form: "-._*"
            case .component: "-_.!~*'()"
            }
        return text.utf8.map { byte in
            let character = Character(UnicodeScalar(byte))
            if character.isASCII, character.isLetter || character.isNumber || kept.contains(character) {
                return String(character)
            }
            if self == .form, byte == 0x20 { return "+" }
            return String(format: upperCaseDigits ? "%%%02X" : "%%%02x", Int(byte))
        }.joined()
    }
}
