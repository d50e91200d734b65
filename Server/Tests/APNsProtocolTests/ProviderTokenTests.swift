import APNsProtocol
import Crypto
import Foundation
import RichPushModel
import Testing

@Suite("Provider token")
struct ProviderTokenTests {
    private let moment = Timestamp(seconds: 1_800_000_000)

    private static func bytes(base64URL text: Substring) throws -> Data {
        var base64 = String(text).replacing("-", with: "+").replacing("_", with: "/")
        while base64.count % 4 != 0 { base64 += "=" }
        return try #require(Data(base64Encoded: base64))
    }

    @Test("a token has exactly the fields that APNs reads")
    func fields() throws {
        let key = try ProviderTokenKey(privateKey: P256.Signing.PrivateKey(), keyID: "KEY4567890", teamID: "TEAM567890")
        let parts = try ProviderToken(signedBy: key, issuedAt: moment).text.split(separator: ".")
        #expect(parts.count == 3)
        let header = String(decoding: try Self.bytes(base64URL: parts[0]), as: UTF8.self)
        let claims = String(decoding: try Self.bytes(base64URL: parts[1]), as: UTF8.self)
        #expect(header == #"{"alg":"ES256","kid":"KEY4567890"}"#)
        #expect(claims == #"{"iss":"TEAM567890","iat":1800000000}"#)
    }

    @Test("the signature is the raw 64 bytes and verifies with the key")
    func signature() throws {
        let privateKey = P256.Signing.PrivateKey()
        let key = try ProviderTokenKey(pem: privateKey.pemRepresentation, keyID: "KEY4567890", teamID: "TEAM567890")
        let parts = try ProviderToken(signedBy: key, issuedAt: moment).text.split(separator: ".")
        let raw = try Self.bytes(base64URL: parts[2])
        #expect(raw.count == 64)
        let signature = try P256.Signing.ECDSASignature(rawRepresentation: raw)
        #expect(privateKey.publicKey.isValidSignature(signature, for: Data((parts[0] + "." + parts[1]).utf8)))
    }

    @Test("neither a key nor a token prints itself")
    func silence() throws {
        let privateKey = P256.Signing.PrivateKey()
        let key = try ProviderTokenKey(privateKey: privateKey, keyID: "KEY4567890", teamID: "TEAM567890")
        let token = try ProviderToken(signedBy: key, issuedAt: moment)
        #expect("\(key)" == "key KEY4567890 of team TEAM567890")
        #expect(!"\(token)".contains(token.text.suffix(20)))
    }

    @Test(
        "a key file that is none is refused with what it is",
        arguments: [
            ("", ProviderTokenKeyFault.notPEM),
            ("this is not a key", .notPEM),
            ("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----", .notPrivateKey(found: "CERTIFICATE")),
            ("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----", .notPrivateKey(found: "PUBLIC KEY")),
            ("-----BEGIN EC PRIVATE KEY-----\nAAAA\n-----END EC PRIVATE KEY-----", .notPKCS8(found: "EC PRIVATE KEY")),
            ("-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----", .notPKCS8(found: "RSA PRIVATE KEY")),
            ("-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----", .encrypted),
            ("-----BEGIN s3cret-----\nAAAA\n-----END s3cret-----", .notPrivateKey(found: "block of an unknown kind")),
            ("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----", .damaged),
            (P384.Signing.PrivateKey().pemRepresentation, .notP256),
            (P521.Signing.PrivateKey().pemRepresentation, .notP256),
        ])
    func refusedFiles(pem: String, fault: ProviderTokenKeyFault) {
        #expect(throws: fault) { try ProviderTokenKey(pem: pem, keyID: "KEY4567890", teamID: "TEAM567890") }
    }

    @Test("a truncated key is called damaged, and the fault shows nothing of it")
    func truncated() {
        let pem = P256.Signing.PrivateKey().pemRepresentation
        var lines = pem.split(separator: "\n")
        let line = lines.remove(at: 1)
        let fault = #expect(throws: ProviderTokenKeyFault.self) {
            try ProviderTokenKey(pem: lines.joined(separator: "\n"), keyID: "KEY4567890", teamID: "TEAM567890")
        }
        #expect(fault == .damaged)
        #expect(fault.map { !"\($0)".contains(line.prefix(8)) } == true)
    }

    @Test("ids are ten letters and digits", arguments: ["", "SHORT", "ELEVEN67890", "WITH\"QUOTE", "UMLAUT789Ä"])
    func malformedIDs(id: String) {
        let key = P256.Signing.PrivateKey()
        #expect(throws: ProviderTokenKeyFault.malformedKeyID) {
            try ProviderTokenKey(privateKey: key, keyID: id, teamID: "TEAM567890")
        }
        #expect(throws: ProviderTokenKeyFault.malformedTeamID) {
            try ProviderTokenKey(privateKey: key, keyID: "KEY4567890", teamID: id)
        }
    }
}
