import Crypto
import CryptoExtras
import RichPushModel
import WireText

/// A service account of a Firebase project, with which a server shows Google that it may send (Reference/FCM.md#1-1). It signs, and its
/// private key is never printed.
public struct FCMServiceAccount: Sendable {
    /// Where Google gives access tokens.
    public static let googleTokenURL = "https://oauth2.googleapis.com/token"

    /// A digest of account, key and key id. Equal ones share their access token.
    public let id: String
    /// The id of the Firebase project, to which messages go.
    public let projectID: String
    public let clientEmail: String
    /// Names the private key at Google. Absent from a credential that came over the hub protocol.
    public let keyID: String?
    /// Where the account gets its access tokens.
    public let tokenURL: String
    private let key: _RSA.Signing.PrivateKey

    /// The key as PEM. A secret: never print it.
    public var privateKey: String { key.pkcs8PEMRepresentation }

    /// Reads the key file that the Firebase console gives.
    ///
    /// - Parameters:
    ///   - file: JSON with `type`, `project_id`, `private_key`, `client_email`, and perhaps `private_key_id` and `token_uri`.
    ///   - allowingLoopback: whether `token_uri` may be on this machine without TLS, as a local FCM has it.
    /// - Throws: the member that is wrong, without a value of it.
    public init(keyFile file: [UInt8], allowingLoopback: Bool = false) throws(FCMServiceAccountFault) {
        guard let members = JSONValue(json: file)?.members else {
            throw FCMServiceAccountFault("", "the key file is not one JSON object")
        }
        guard members["type"]?.text == "service_account" else {
            throw FCMServiceAccountFault("type", "is not service_account; get a private key from the Firebase console")
        }
        func named(_ name: String) -> Named { (name, members[name]?.text ?? "") }
        try self.init(
            named("project_id"), key: named("private_key"), email: named("client_email"), keyID: members["private_key_id"]?.text,
            tokenURL: members["token_uri"]?.text ?? Self.googleTokenURL, allowingLoopback: allowingLoopback)
    }

    /// Takes the three values of Azure's `FcmV1Credential` (Reference/FCM.md#9-1), and the id of the key where it is known. Line ends of the
    /// key may be written as `\n`.
    ///
    /// - Throws: the value that is wrong, by Azure's name for it.
    public init(
        projectID: String, privateKey: String, clientEmail: String, keyID: String? = nil, tokenURL: String = googleTokenURL,
        allowingLoopback: Bool = false
    ) throws(FCMServiceAccountFault) {
        try self.init(
            ("ProjectId", projectID), key: ("PrivateKey", privateKey), email: ("ClientEmail", clientEmail), keyID: keyID,
            tokenURL: tokenURL, allowingLoopback: allowingLoopback)
    }

    /// A value with its name where it comes from.
    private typealias Named = (name: String, text: String)

    private init(
        _ project: Named, key: Named, email: Named, keyID: String?, tokenURL: String, allowingLoopback: Bool
    ) throws(FCMServiceAccountFault) {
        let isProject =
            project.text.utf8.count <= 100 && project.text.utf8.allSatisfy { $0.isASCIILetterOrDigit || "-.:_".utf8.contains($0) }
        let isEmail = Self.isPlain(email.text) && email.text.split(separator: "@", omittingEmptySubsequences: false).count == 2
        let rules =
            [project, key, email].map { (!$0.text.isEmpty, $0.name, "is missing, empty or no text") } + [
                (isProject, project.name, "is no project id"), (isEmail, email.name, "is no address of a service account"),
                (keyID.map(Self.isPlain) ?? true, "private_key_id", "is no id of a key"),
                (Self.isTokenURL(tokenURL, allowingLoopback), "token_uri", "is not an address with https"),
            ]
        for (holds, name, words) in rules where !holds { throw FCMServiceAccountFault(name, words) }
        self.key = try Self.key(key)
        (projectID, clientEmail, self.keyID, self.tokenURL) = (project.text, email.text, keyID, tokenURL)
        let identity = Array("\(clientEmail)\n\(tokenURL)\n\(keyID ?? "")\n".utf8) + Array(self.key.derRepresentation)
        id = Base64URL.text(of: Array(SHA256.hash(data: identity).prefix(16)))
    }

    private static func key(_ part: Named) throws(FCMServiceAccountFault) -> _RSA.Signing.PrivateKey {
        // As it stands in the key file, when it was copied out of it.
        let pem = part.text.replacing("\\n", with: "\n")
        guard pem.contains("-----BEGIN ") else {
            throw FCMServiceAccountFault(part.name, "is not PEM: it has no block that begins with -----BEGIN")
        }
        guard let key = try? _RSA.Signing.PrivateKey(pemRepresentation: pem) else {
            throw FCMServiceAccountFault(part.name, "cannot be read as an RSA key of at least 2,048 bits without a password")
        }
        return key
    }

    /// `https`, or this machine where that is allowed. A user in front of the host would hide which host it is.
    private static func isTokenURL(_ text: String, _ allowingLoopback: Bool) -> Bool {
        guard isPlain(text), !text.contains("@"), !text.contains("#") else { return false }
        let local = ["http://localhost", "http://127.0.0.1", "http://[::1]"].first(where: text.hasPrefix)
        guard allowingLoopback, let local else {
            return text.hasPrefix("https://") && text.dropFirst(8).first.map { $0 == "[" || $0.isLetter || $0.isNumber } == true
        }
        return [":", "/", nil].contains(text.dropFirst(local.count).first)
    }

    /// Printable, and the same inside quotes and outside.
    private static func isPlain(_ text: String) -> Bool {
        (1...500).contains(text.utf8.count) && text.utf8.allSatisfy { (33...126).contains($0) && $0 != 34 && $0 != 92 }
    }
}

extension FCMServiceAccount {
    /// A statement, signed with RS256, that the account asks for an access token (Reference/FCM.md#1-2). A secret for the hour that it holds.
    ///
    /// - Throws: an error of the signing library.
    public func assertion(at now: Timestamp) throws -> String {
        let header = JSONText.object([("alg", "\"RS256\""), ("typ", "\"JWT\""), ("kid", keyID.map(JSONText.string))])
        let claims = JSONText.object([
            ("iss", JSONText.string(clientEmail)), ("scope", "\"https://www.googleapis.com/auth/firebase.messaging\""),
            ("aud", JSONText.string(tokenURL)),
            ("iat", "\(now.seconds)"), ("exp", "\((now + .seconds(3600)).seconds)"),
        ])
        let message = [header, claims].map { Base64URL.text(of: Array($0.utf8)) }.joined(separator: ".")
        let signature = try key.signature(for: SHA256.hash(data: Array(message.utf8)), padding: .insecurePKCS1v1_5)
        return message + "." + Base64URL.text(of: Array(signature.rawRepresentation))
    }

    /// The request for an access token. Throws an error of the signing library.
    public func tokenRequest(at now: Timestamp) throws -> FCMRequest {
        let form = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=\(try assertion(at: now))"
        return FCMRequest(
            url: tokenURL, headers: [("content-type", "application/x-www-form-urlencoded")], body: Array(form.utf8))
    }
}

extension FCMServiceAccount: CustomStringConvertible, CustomReflectable {
    /// Nothing of the key.
    public var description: String { "service account \(clientEmail) of the project \(projectID)" }
    public var customMirror: Mirror { Mirror(self, children: ["projectID": projectID, "clientEmail": clientEmail]) }
}

/// What is wrong with a service account. The sentence is safe to show: it holds no value.
public struct FCMServiceAccountFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The member as it is called where it came from; empty for the file as a whole.
    public let member: String
    public let description: String

    fileprivate init(_ member: String, _ words: String) {
        (self.member, description) = (member, member.isEmpty ? words : "\(member) \(words)")
    }
}
