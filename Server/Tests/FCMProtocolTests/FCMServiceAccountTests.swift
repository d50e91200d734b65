import Crypto
import CryptoExtras
import FCMProtocol
import Foundation
import RichPushModel
import Testing
import WireText

@Suite("Service accounts of Firebase")
struct FCMServiceAccountTests {
    // The library makes a key of this size whenever it is asked; without one no test here means anything.
    private static let key = try! _RSA.Signing.PrivateKey(keySize: .bits2048)
    private static let email = "push@shop-1234.iam.gserviceaccount.com"
    private let now = Timestamp(seconds: 1_800_000_000)

    /// A key file with members changed, or left out where the value is `nil`.
    private static func file(_ changes: [String: String?] = [:]) -> [UInt8] {
        var members: [String: String] = [
            "type": "service_account", "project_id": "shop-1234", "private_key_id": "0f1e2d",
            "private_key": key.pkcs8PEMRepresentation,
            "client_email": email, "token_uri": "https://oauth2.example/token",
        ]
        for (name, value) in changes { members[name] = value }
        return Array(JSONText.object(members.map { ($0.key, JSONText.string($0.value)) }).utf8)
    }

    private func parts(_ assertion: String) throws -> [[UInt8]] {
        try assertion.split(separator: ".").map { try #require(Base64URL.bytes(of: $0)) }
    }

    private func object(_ bytes: [UInt8]) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
    }

    private func fault(_ changes: [String: String?]) -> FCMServiceAccountFault? {
        #expect(throws: FCMServiceAccountFault.self) { try FCMServiceAccount(keyFile: Self.file(changes)) }
    }

    @Test("a key file is read")
    func keyFile() throws {
        let account = try FCMServiceAccount(keyFile: Self.file())
        #expect(account.projectID == "shop-1234")
        #expect(account.clientEmail == Self.email)
        #expect(account.keyID == "0f1e2d")
        #expect(account.tokenURL == "https://oauth2.example/token")
    }

    @Test("a key file without a token endpoint has Google's")
    func usualEndpoint() throws {
        let account = try FCMServiceAccount(keyFile: Self.file(["token_uri": nil]))
        #expect(account.tokenURL == "https://oauth2.googleapis.com/token")
    }

    @Test("Azure's three values make an account, also with line ends as they stand in the key file")
    func azure() throws {
        let escaped = Self.key.pkcs8PEMRepresentation.replacingOccurrences(of: "\n", with: "\\n")
        let account = try FCMServiceAccount(projectID: "shop-1234", privateKey: escaped, clientEmail: Self.email)
        let plain = try FCMServiceAccount(
            projectID: "shop-1234", privateKey: Self.key.pkcs8PEMRepresentation, clientEmail: Self.email)
        #expect(account.id == plain.id)
        #expect(account.keyID == nil)
    }

    @Test("accounts with another key, key id, address or token endpoint are not the same")
    func identity() throws {
        func id(_ changes: [String: String?] = [:]) throws -> String { try FCMServiceAccount(keyFile: Self.file(changes)).id }
        let other = try _RSA.Signing.PrivateKey(keySize: .bits2048).pkcs8PEMRepresentation
        let ids = try [
            id(), id(["private_key": other]), id(["client_email": "b@example.com"]), id(["token_uri": "https://b.example/token"]),
            id(["private_key_id": "3c4d"]),
        ]
        #expect(Set(ids).count == 5)
        #expect(try id(["project_id": "other"]) == ids[0], "one access token serves all projects of an account")
    }

    @Test(
        "the member that is wrong is named",
        arguments: [
            ("type", nil), ("type", "authorized_user"), ("project_id", nil), ("project_id", ""), ("project_id", "a/b"),
            ("private_key", nil), ("private_key", "no PEM"), ("client_email", nil), ("client_email", "no address"),
            ("client_email", "a\"@b"), ("client_email", "a@b@c"), ("private_key_id", "a b"), ("token_uri", "ftp://a.example"),
        ] as [(String, String?)])
    func wrong(name: String, value: String?) { #expect(fault([name: value])?.member == name) }

    @Test("what is no JSON object is no key file", arguments: ["", "[]", "{", "key"])
    func noJSON(text: String) {
        let fault = #expect(throws: FCMServiceAccountFault.self) { try FCMServiceAccount(keyFile: Array(text.utf8)) }
        #expect(fault?.member == "")
    }

    @Test("a value that is missing is named as Azure names it", arguments: ["ProjectId", "PrivateKey", "ClientEmail"])
    func azureNames(name: String) {
        func value(_ own: String, _ text: String) -> String { own == name ? "" : text }
        let fault = #expect(throws: FCMServiceAccountFault.self) {
            try FCMServiceAccount(
                projectID: value("ProjectId", "shop-1234"), privateKey: value("PrivateKey", Self.key.pkcs8PEMRepresentation),
                clientEmail: value("ClientEmail", Self.email))
        }
        #expect(fault?.member == name)
    }

    @Test("a key of another kind, a short one and an encrypted one are refused")
    func keys() throws {
        let curve = P256.Signing.PrivateKey().pemRepresentation
        let short = try _RSA.Signing.PrivateKey(unsafeKeySize: .init(bitCount: 1_024)).pkcs8PEMRepresentation
        let encrypted = Self.key.pkcs8PEMRepresentation.replacingOccurrences(of: "PRIVATE", with: "ENCRYPTED PRIVATE")
        for key in [curve, short, encrypted] { #expect(fault(["private_key": key])?.member == "private_key") }
    }

    @Test(
        "a token endpoint without TLS is for this machine, and only when that is allowed",
        arguments: [
            ("https://a.example/token", true, true), ("http://127.0.0.1:9000/token", true, false),
            ("http://localhost/token", true, false),
            ("http://[::1]:9000/token", true, false), ("http://a.example/token", false, false),
            ("http://localhost.a.example/token", false, false), ("http://127.0.0.1:80@a.example/token", false, false),
            ("https://127.0.0.1@a.example/token", false, false), ("https://", false, false),
            ("https://a.example/#", false, false),
        ])
    func endpoints(url: String, whenAllowed: Bool, otherwise: Bool) {
        let file = Self.file(["token_uri": url])
        #expect(((try? FCMServiceAccount(keyFile: file, allowingLoopback: true)) != nil) == whenAllowed)
        #expect(((try? FCMServiceAccount(keyFile: file)) != nil) == otherwise)
    }

    @Test("an assertion says what Google asks for, and holds for an hour")
    func assertion() throws {
        let parts = try parts(try FCMServiceAccount(keyFile: Self.file()).assertion(at: now))
        let (header, claims) = (try object(parts[0]), try object(parts[1]))
        #expect(header as? [String: String] == ["alg": "RS256", "typ": "JWT", "kid": "0f1e2d"])
        #expect(claims["iss"] as? String == Self.email)
        #expect(claims["scope"] as? String == "https://www.googleapis.com/auth/firebase.messaging")
        #expect(claims["aud"] as? String == "https://oauth2.example/token")
        #expect(claims["iat"] as? Int == 1_800_000_000)
        #expect(claims["exp"] as? Int == 1_800_003_600)
    }

    @Test("an assertion is signed with the key of the account")
    func signature() throws {
        let assertion = try FCMServiceAccount(keyFile: Self.file()).assertion(at: now)
        let signed = assertion.split(separator: ".").prefix(2).joined(separator: ".")
        let signature = _RSA.Signing.RSASignature(rawRepresentation: try parts(assertion)[2])
        let digest = SHA256.hash(data: Array(signed.utf8))
        #expect(Self.key.publicKey.isValidSignature(signature, for: digest, padding: .insecurePKCS1v1_5))
    }

    @Test("an assertion of an account that was made of values names the key by the id that was given")
    func givenKeyID() throws {
        let account = try FCMServiceAccount(
            projectID: "shop-1234", privateKey: Self.key.pkcs8PEMRepresentation, clientEmail: Self.email, keyID: "0f1e2d")
        #expect(try object(try parts(try account.assertion(at: now))[0])["kid"] as? String == "0f1e2d")
    }

    @Test("an assertion of an account without a key id has none in its header")
    func noKeyID() throws {
        let account = try FCMServiceAccount(
            projectID: "shop-1234", privateKey: Self.key.pkcs8PEMRepresentation, clientEmail: Self.email)
        #expect(try object(try parts(try account.assertion(at: now))[0])["kid"] == nil)
    }

    @Test("the request for a token is a form with grant type and assertion")
    func tokenRequest() throws {
        let request = try FCMServiceAccount(keyFile: Self.file()).tokenRequest(at: now)
        let fields = String(decoding: request.body, as: UTF8.self).split(separator: "&")
        #expect(request.url == "https://oauth2.example/token")
        #expect(request.headers.map(\.value) == ["application/x-www-form-urlencoded"])
        #expect(fields.first == "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer")
        #expect(fields.last?.hasPrefix("assertion=ey") == true)
    }

    @Test("nothing that is printed holds the private key, an assertion or a token")
    func secrets() throws {
        let account = try FCMServiceAccount(keyFile: Self.file())
        let request = try account.tokenRequest(at: now)
        let assertion = try #require(String(decoding: request.body, as: UTF8.self).split(separator: "=").last)
        let line = try #require(Self.key.pkcs8PEMRepresentation.split(separator: "\n").dropFirst().first)
        let message = FCMRequest(url: "https://a.example", headers: [("authorization", "Bearer ya29.secret")], body: [])
        let answer = FCMAnswer(status: 200, body: Array(#"{"access_token":"ya29.secret"}"#.utf8), now: now)
        for value in [account, request, message, answer, fault(["private_key": "-----BEGIN \(line)"]) as Any] {
            var dumped = ""
            dump(value, to: &dumped)
            for text in ["\(value)", String(reflecting: value), dumped] {
                for secret in [line, assertion, "ya29.secret"] { #expect(!text.contains(secret)) }
            }
        }
    }
}
